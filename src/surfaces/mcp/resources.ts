import {
  type McpServer,
  type ReadResourceResult,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { DEFAULT_BUDGET } from '../../brief/compile.ts';
import { takeRows } from '../../store/catalog.ts';
import { identifyProject } from '../../workspace/project.ts';
import { findStore, withCatalog } from '../cli/context.ts';
import { pickHandover } from '../cli/pick.ts';
import { type Call, openCall, openNotes, tellFailure } from './call.ts';
import type { Connection } from './connection.ts';
import { briefOf } from './tools/get.ts';
import { briefHere } from './tools/resume.ts';

export const CURRENT_BRIEF = 'handover://brief';
const MARKDOWN = 'text/markdown';
const LISTED = 20;

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
    (_uri, context) => read({ connection, context, uri: CURRENT_BRIEF }, tellCurrent),
  );
  server.registerResource(
    'handover',
    new ResourceTemplate('handover://handover/{id}', {
      list: async (context) => ({ resources: await list(connection, context) }),
    }),
    { title: 'A handover', description: 'One handover as a brief, by its id.', mimeType: MARKDOWN },
    (uri, { id }, context) =>
      read({ connection, context, uri: uri.href }, async (call) =>
        briefOf(call, await pickHandover(call, String(id)), DEFAULT_BUDGET),
      ),
  );
}

async function tellCurrent(call: Call): Promise<string> {
  const { text, place } = await briefHere(call, { budget: DEFAULT_BUDGET });
  return text === '' ? `# Nothing is kept of ${place.project.name} yet.\n` : text;
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
  try {
    const call = await openCall({ connection, context, project: undefined }, openNotes().output);
    return { contents: [{ uri, mimeType: MARKDOWN, text: await tell(call) }] };
  } catch (error) {
    throw new Error(tellFailure(connection, error), { cause: error });
  }
}

async function list(
  connection: Connection,
  context: ServerContext,
): Promise<{ uri: string; name: string }[]> {
  const call = await openCall({ connection, context, project: undefined }, openNotes().output);
  const { id: project } = identifyProject('.', call.machine);
  const rows = await withCatalog(call, findStore(call), (catalog) =>
    takeRows(catalog.rows({ project: { id: project } }), LISTED),
  );
  return rows.map(({ id, title }) => ({
    uri: `handover://handover/${id}`,
    name: id,
    title,
    mimeType: MARKDOWN,
  }));
}
