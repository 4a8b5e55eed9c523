import type { McpServer } from '@modelcontextprotocol/server';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { project } from '../arguments.ts';
import { answer } from '../call.ts';
import type { Connection } from '../connection.ts';
import { describeInput } from '../input.ts';

const Arguments = v.strictObject({ project });

const Status = v.object({
  version: v.string(),
  project: v.object({ id: v.string(), name: v.string(), root: v.string() }),
  store: v.string(),
  session: v.nullable(v.object({ agent: v.string(), id: v.string() })),
  newest: v.array(v.object({ id: v.string(), agent: v.string(), created_at: v.string(), title: v.string() })),
  run: v.object({ status: v.string(), pending: v.array(v.string()) }),
  paused: v.nullable(v.object({ path: v.string(), why: v.nullable(v.string()) })),
});
export type Status = v.InferOutput<typeof Status>;

export function registerStatus(server: McpServer, connection: Connection): void {
  server.registerTool(
    'status',
    {
      title: 'What is kept here',
      description:
        'Where things stand: which project this is, the newest handovers of it, whether your session is known, whether a run of steps was interrupted, and whether writing is paused. Call it when another tool finds nothing or refuses.',
      inputSchema: describeInput(Arguments),
      outputSchema: toStandardJsonSchema(Status),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ project: folder }, context) =>
      answer({ connection, context, project: folder }, async (call) =>
        (await import('./status.run.ts')).tellStatus(call),
      ),
  );
}
