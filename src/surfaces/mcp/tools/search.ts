import type { McpServer } from '@modelcontextprotocol/server';
import * as v from 'valibot';
import { FACT_KINDS } from '../../../model/fact.ts';
import { budget, limit, project, text } from '../arguments.ts';
import { answer } from '../call.ts';
import type { Connection } from '../connection.ts';
import { describeInput } from '../input.ts';

/** An error may come with all of its stack. */
const MOST_OF_A_QUERY = 20_000;

const Arguments = v.strictObject({
  query: text(
    'Any words, a path, an identifier or the text of an error. Typing errors are forgiven.',
    MOST_OF_A_QUERY,
  ),
  kind: v.optional(
    v.pipe(
      v.array(v.picklist(FACT_KINDS)),
      v.minLength(1),
      v.maxLength(FACT_KINDS.length),
      v.description('Only facts of these kinds.'),
    ),
  ),
  file: v.optional(text('Only what names this file: a path, or the end of one.')),
  agent: v.optional(text('Only what this agent handed over.')),
  since: v.optional(text('Only from then on: 2h, 7d, 2026-01-31.')),
  everywhere: v.optional(
    v.pipe(v.boolean(), v.description('In all projects of this user, not in this one alone.')),
    false,
  ),
  sessions: v.optional(
    v.pipe(
      v.boolean(),
      v.description(
        'Also in all that was said in the sessions of all agents on this machine. At most a few seconds go into reading sessions that are new; the answer says when some are left.',
      ),
    ),
    false,
  ),
  limit: limit(8),
  budget,
  project,
});
export type SearchWish = Omit<v.InferOutput<typeof Arguments>, 'project'>;

export function registerSearch(server: McpServer, connection: Connection): void {
  server.registerTool(
    'search',
    {
      title: 'Find a fact',
      description:
        'Finds facts, handovers and notes of earlier sessions by words: decisions and their reasons, errors met before, rejected approaches, files, commands. Call it before you decide something that may have been decided, and when an error looks as if it was met before. Each hit has its trust, where it is from, and the call of get that opens it.',
      inputSchema: describeInput(Arguments),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ project: folder, ...wish }, context) =>
      answer({ connection, context, project: folder }, async (call) =>
        (await import('./search.run.ts')).searchFacts(call, wish),
      ),
  );
}
