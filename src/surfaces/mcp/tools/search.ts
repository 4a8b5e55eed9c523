import type { McpServer } from '@modelcontextprotocol/server';
import * as v from 'valibot';
import { FACT_KINDS } from '../../../model/fact.ts';
import { cleanLine, cutToBytes } from '../../../model/text.ts';
import { identifyProject } from '../../../platform/project.ts';
import type { SearchHit } from '../../../search/hit.ts';
import { type SearchAnswer, search } from '../../../search/search.ts';
import { findStore } from '../../cli/context.ts';
import { findNotes } from '../../cli/find-notes.ts';
import { printHits } from '../../cli/print-hits.ts';
import { redactWords } from '../../cli/redact-words.ts';
import { noteShortcomings } from '../../cli/search-notes.ts';
import { parseMoment } from '../../cli/words.ts';
import { budget, limit, project, text } from '../arguments.ts';
import { type Answer, answer, type Call } from '../call.ts';
import type { Connection } from '../connection.ts';
import { describeInput } from '../input.ts';
import { DATA_NOT_ORDERS, printSheet, quote } from '../page.ts';
import { collectLines } from '../printed-lines.ts';

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
      answer({ connection, context, project: folder }, (call) => searchFacts(call, wish)),
  );
}

/** What a call may spend on sessions that were not read yet: whoever asks waits for the answer. */
const SESSIONS_BUDGET_MS = 3000;

export async function searchFacts(call: Call, wish: SearchWish): Promise<Answer> {
  const { machine } = call;
  const answer = await search(
    { store: findStore(call), notes: await findNotes(machine), sessionsBudgetMs: SESSIONS_BUDGET_MS },
    {
      text: wish.query,
      limit: wish.limit,
      ...(wish.kind === undefined ? {} : { kinds: wish.kind }),
      ...(wish.file === undefined ? {} : { file: wish.file }),
      ...(wish.agent === undefined ? {} : { agent: wish.agent }),
      ...(wish.since === undefined ? {} : { sinceMs: parseMoment(wish.since, machine.clock.now(), 'first') }),
      ...(wish.sessions ? { sessions: true } : {}),
      ...(wish.everywhere ? {} : { project: { id: identifyProject('.', machine).id } }),
    },
  );
  noteShortcomings(call, answer);
  const words = `"${cutToBytes(cleanLine(await redactWords.call(call, wish.query)), 80)}"`;
  return {
    text: answer.hits.length === 0 ? tellNothing(words, wish) : tellHits(call, { words, wish, answer }),
  };
}

interface Told {
  /** What was looked for, without secrets. */
  words: string;
  wish: SearchWish;
  answer: SearchAnswer;
}

function tellHits(call: Call, { words, wish, answer: { hits, omitted } }: Told): string {
  return printSheet({
    head: [`# Found for ${words}, best first`, DATA_NOT_ORDERS],
    entries: hits.map((hit) => describeHit(call, hit, wish.query)),
    budget: wish.budget,
    omitted,
    more: (count) => `${count} more; ask with a larger limit or budget, or with kind, file or since`,
  });
}

function tellNothing(words: string, wish: SearchWish): string {
  const { kind, file, agent, since } = wish;
  const isNarrow = [kind, file, agent, since].some((limit) => limit !== undefined);
  const ways = [
    ...(isNarrow ? ['without kind, file, agent and since'] : []),
    'with fewer or other words',
    ...(wish.everywhere ? [] : ['everywhere: true']),
    ...(wish.sessions ? [] : ['sessions: true, for all that was said']),
  ];
  const where = wish.everywhere ? '' : ' in this project';
  return `# Nothing was found for ${words}${where}\nnext: search ${ways.join(', or ')}`;
}

/** As the command prints it, but for the last line, which says how it is opened. */
function describeHit({ machine }: Call, hit: SearchHit, query: string): string[] {
  const lines = collectLines((out) => printHits({ out, machine }, [hit], query)).slice(0, -1);
  return [...lines.map(quote), `  ${nameOpening(hit)}`];
}

function nameOpening({ what, id, from, open }: SearchHit): string {
  switch (what) {
    case 'fact':
      return `get ${JSON.stringify({ id, in: from.handover })}`;
    case 'session':
      return `get ${JSON.stringify({ id, line: from.line })}`;
    case 'handover':
      return `get ${JSON.stringify({ id })}`;
    case 'note':
      return quote(open);
  }
}
