import { ResourceTemplate, type ServerContext } from '@modelcontextprotocol/server';
import { disarmFrames } from '../../model/text.ts';
import { type Call, serveCall } from './call.ts';
import type { Connection } from './connection.ts';
import { DEFAULT_TOKENS } from './input.ts';
import { briefOf } from './tools/get.ts';
import { briefHere } from './tools/resume.ts';
import { listNewest } from './tools/status.ts';

async function readCurrent(call: Call): Promise<string> {
  const { text, place } = await briefHere(call, { budget: DEFAULT_TOKENS });
  return text === '' ? `# ${place.project.name} has no handover yet.\n` : text;
}

async function readHandover(call: Call, id: string): Promise<string> {
  const { pickToSend } = await import('../../app/find-handover.ts');
  return await briefOf(call, await pickToSend(call, id), DEFAULT_TOKENS);
}

const LISTED = 20;

async function listHandovers(call: Call): Promise<{ uri: string; name: string; title: string }[]> {
  const { identifyProject } = await import('../../platform/project.ts');
  const { id: project } = identifyProject('.', call.machine);
  const rows = await listNewest(call, project, LISTED);
  return rows.map(({ id, title }) => ({ uri: `handover://handover/${id}`, name: id, title: disarmFrames(title) }));
}

const CURRENT_BRIEF = 'handover://brief';
const MARKDOWN = 'text/markdown';

/** The brief of this project, and each handover as a brief. */
export function registerResources(connection: Connection): void {
  const { server } = connection;
  server.registerResource(
    'brief',
    CURRENT_BRIEF,
    {
      title: 'The current brief',
      description: 'What the last session in this project handed over, and what changed since.',
      mimeType: MARKDOWN,
    },
    (_uri, context) => read({ connection, context, uri: CURRENT_BRIEF }, readCurrent),
  );
  server.registerResource(
    'handover',
    new ResourceTemplate('handover://handover/{id}', {
      list: (context) => serveCall({ connection, context }, async (call) => ({ resources: await listHandovers(call) })),
    }),
    { title: 'A handover', description: 'One handover as a brief, by its id.', mimeType: MARKDOWN },
    (uri, { id }, context) => read({ connection, context, uri: uri.href }, (call) => readHandover(call, String(id))),
  );
}

function read(
  { uri, ...request }: { connection: Connection; context: ServerContext; uri: string },
  print: (call: Call) => Promise<string>,
) {
  return serveCall(request, async (call) => ({ contents: [{ uri, mimeType: MARKDOWN, text: await print(call) }] }));
}
