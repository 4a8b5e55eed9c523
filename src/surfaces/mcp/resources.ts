import {
  type McpServer,
  type ReadResourceResult,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { type Call, serveCall } from './call.ts';
import type { Connection } from './connection.ts';

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
    (_uri, context) =>
      read({ connection, context, uri: CURRENT_BRIEF }, async (call) =>
        (await import('./resources.run.ts')).tellCurrent(call),
      ),
  );
  server.registerResource(
    'handover',
    new ResourceTemplate('handover://handover/{id}', {
      list: (context) =>
        serveCall({ connection, context }, async (call) => ({
          resources: await (await import('./resources.run.ts')).listHandovers(call),
        })),
    }),
    { title: 'A handover', description: 'One handover as a brief, by its id.', mimeType: MARKDOWN },
    (uri, { id }, context) =>
      read({ connection, context, uri: uri.href }, async (call) =>
        (await import('./resources.run.ts')).tellHandover(call, String(id)),
      ),
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
