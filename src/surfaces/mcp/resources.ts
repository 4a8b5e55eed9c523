import {
  type McpServer,
  type ReadResourceResult,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { DEFAULT_BUDGET } from '../../handover/brief/compile.ts';
import { identifyProject } from '../../platform/project.ts';
import { takeRows } from '../../store/catalog.ts';
import { findStore, withCatalog } from '../cli/context.ts';
import { pickHandover } from '../cli/pick.ts';
import { type Call, serveCall } from './call.ts';
import type { Connection } from './connection.ts';
import { briefOf } from './tools/get.ts';
import { briefHere } from './tools/resume.ts';

export async function tellCurrent(call: Call): Promise<string> {
  const { text, place } = await briefHere(call, { budget: DEFAULT_BUDGET });
  return text === '' ? `# Nothing is kept of ${place.project.name} yet.\n` : text;
}

export async function tellHandover(call: Call, id: string): Promise<string> {
  return briefOf(call, await pickHandover(call, id), DEFAULT_BUDGET);
}

const LISTED = 20;

export async function listHandovers(call: Call): Promise<{ uri: string; name: string; title: string }[]> {
  const { id: project } = identifyProject('.', call.machine);
  const rows = await withCatalog(call, findStore(call), (catalog) =>
    takeRows(catalog.rows({ project: { id: project } }), LISTED),
  );
  return rows.map(({ id, title }) => ({ uri: `handover://handover/${id}`, name: id, title }));
}

const CURRENT_BRIEF = 'handover://brief';
const MARKDOWN = 'text/markdown';

/** The brief of this project, and each handover as a brief. */
export function registerResources(server: McpServer, connection: Connection): void {
  server.registerResource(
    'brief',
    CURRENT_BRIEF,
    {
      title: 'The current brief',
      description: 'What the last session in this project handed over, and what changed since.',
      mimeType: MARKDOWN,
    },
    (_uri, context) => read({ connection, context, uri: CURRENT_BRIEF }, (call) => tellCurrent(call)),
  );
  server.registerResource(
    'handover',
    new ResourceTemplate('handover://handover/{id}', {
      list: (context) =>
        serveCall({ connection, context }, async (call) => ({
          resources: await listHandovers(call),
        })),
    }),
    { title: 'A handover', description: 'One handover as a brief, by its id.', mimeType: MARKDOWN },
    (uri, { id }, context) =>
      read({ connection, context, uri: uri.href }, (call) => tellHandover(call, String(id))),
  );
}

interface Reading {
  connection: Connection;
  context: ServerContext;
  uri: string;
}

async function read(
  { connection, context, uri }: Reading,
  tell: (call: Call) => Promise<string>,
): Promise<ReadResourceResult> {
  return await serveCall({ connection, context }, async (call) => ({
    contents: [{ uri, mimeType: MARKDOWN, text: await tell(call) }],
  }));
}
