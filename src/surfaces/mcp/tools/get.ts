import type { McpServer } from '@modelcontextprotocol/server';
import * as v from 'valibot';
import { budget, project, text } from '../arguments.ts';
import { answer } from '../call.ts';
import type { Connection } from '../connection.ts';
import { describeInput } from '../input.ts';

const Arguments = v.strictObject({
  id: text(
    'The id of a fact (f-…), of a handover (YYYYMMDD-HHMMSS-xxxx) or of a session, the beginning of one, or "latest" for the newest handover.',
  ),
  events: v.optional(
    v.pipe(
      v.boolean(),
      v.description(
        'With the lines of the transcript that a fact was taken from. True for a fact, false for a handover if left out.',
      ),
    ),
  ),
  line: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(0),
      v.description('For a session: only what was said around this line, as search with sessions tells it.'),
    ),
  ),
  in: v.optional(text('For a fact: the handover that has it; the newest of the project if left out.')),
  budget,
  project,
});
export type GetWish = Omit<v.InferOutput<typeof Arguments>, 'project'>;

export function registerGet(server: McpServer, connection: Connection): void {
  server.registerTool(
    'get',
    {
      title: 'Read a fact, a handover or a session',
      description:
        'One fact in full, with where it comes from, how far it can be trusted, what became of it, and the lines of the transcript behind it; or one handover as a brief; or what was said in one session. Call it when a brief or a search names an id that you need more of, or before you rely on a fact that matters.',
      inputSchema: describeInput(Arguments),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ project: folder, ...wish }, context) =>
      answer({ connection, context, project: folder }, async (call) =>
        (await import('./get.run.ts')).get(call, wish),
      ),
  );
}
