import * as v from 'valibot';
import { findStore, redactInput } from '../../../app/context.ts';
import { toPlainLines } from '../../../app/describe/styled-text.ts';
import { FACT_KINDS } from '../../../model/fact-kinds.ts';
import { quoteInput } from '../../../model/text.ts';
import { describeAge } from '../../../model/time.ts';
import type { SearchHit, SearchQuery } from '../../../search/query.ts';
import { type Answer, type Call, defineTool } from '../call.ts';
import { budget, describeInput, limit, project, READS, text, toggle } from '../input.ts';
import { DATA_NOT_INSTRUCTIONS, printPage, quote } from '../page.ts';

/** An error may come with all of its stack. */
const MAX_QUERY_CHARACTERS = 20_000;

const Arguments = v.strictObject({
  query: text('Any words, a path, an identifier or the text of an error. Typos are tolerated.', MAX_QUERY_CHARACTERS),
  kind: v.optional(
    v.pipe(
      v.array(v.picklist(FACT_KINDS)),
      v.minLength(1),
      v.maxLength(FACT_KINDS.length),
      v.description('Only facts of these kinds.'),
    ),
  ),
  file: v.optional(text('Only what mentions this file: a path, or the end of one.')),
  agent: v.optional(text('Only what this agent handed over.')),
  since: v.optional(text('Only from then on: 2h, 7d, 2026-01-31.')),
  everywhere: toggle('In all projects of this user, not only in this one.'),
  sessions: toggle(
    'Also in all that was said in the sessions of all agents on this machine. At most a few seconds are spent on reading new sessions; the answer says when some are left.',
  ),
  session: v.optional(
    text('Only in this session, by its id: every line that matches, where else only the best of a session is shown.'),
  ),
  limit: limit(8),
  budget,
  project,
});
type SearchRequest = v.InferOutput<typeof Arguments>;

export const registerSearch = defineTool({
  name: 'search',
  title: 'Find a fact',
  description:
    'Finds facts, handovers and notes of earlier sessions by words: decisions and their reasons, errors met before, rejected approaches, files, commands. Call it before you decide something that may have been decided, and when an error looks as if it was met before. Each hit has its trust, where it is from, and the call of get that opens it.',
  inputSchema: describeInput(Arguments),
  annotations: READS,
  work: searchFacts,
});

/** How long a call may read new sessions: the agent waits for the answer, three seconds at most. */
const SESSIONS_BUDGET_MS = 2500;

async function searchFacts(call: Call, request: SearchRequest): Promise<Answer> {
  const { search } = await import('../../../search/search.ts');
  const { findNotes, hideSecretWords, listSearchNotices } = await import('../../../app/search.ts');
  const { parseMoment } = await import('../../../app/parse.ts');
  const { identifyProject } = await import('../../../platform/project.ts');
  const { machine } = call;
  const { session } = request;
  const query: SearchQuery = {
    text: request.query,
    limit: request.limit,
    kinds: request.kind,
    file: request.file,
    agent: request.agent,
    sinceMs: request.since === undefined ? undefined : parseMoment(request.since, machine.clock.now(), 'first'),
    ...(request.sessions || session !== undefined ? { sessions: true } : {}),
    session,
    project: request.everywhere || session !== undefined ? undefined : { id: identifyProject('.', machine).id },
  };
  const place = { store: findStore(call), notes: await findNotes(machine), sessionsBudgetMs: SESSIONS_BUDGET_MS };
  const answer = await search(place, query);
  const found = await hideSecretWords(call, request.query, answer);
  for (const notice of listSearchNotices(found)) call.notify(notice);
  const words = quoteInput(await redactInput(call, request.query));
  const uncaptured = await listUncaptured(call, request, query);
  if (found.hits.length + uncaptured.length === 0) return { text: printNothing(words, request) };
  const { countMore, describeHit } = await import('../../../app/describe/hit.ts');
  const now = machine.clock.now();
  return {
    text: printPage({
      head: [`# Found for ${words}, best first`, DATA_NOT_INSTRUCTIONS],
      entries: [
        ...found.hits.map((hit) => [
          ...toPlainLines(describeHit(hit, request.query, now)).map(quote),
          `  ${nameOpening(hit)}`,
          ...(hit.more === undefined
            ? []
            : [`  ${countMore(hit.more)}; ask with ${JSON.stringify({ session: hit.id })}`]),
        ]),
        ...uncaptured,
      ],
      budget: request.budget,
      omitted: found.omitted,
      more: (count) => `${count} more; ask with a larger limit or budget, or with kind, file or since`,
    }),
  };
}

const MAX_UNCAPTURED = 3;

/** What sessions that were never captured say, where the text of sessions is not asked for anyway. */
async function listUncaptured(call: Call, request: SearchRequest, scope: SearchQuery): Promise<string[][]> {
  const { query, kind, file, sessions, session } = request;
  if (sessions || session !== undefined || kind !== undefined || file !== undefined) return [];
  const { askUncaptured, askWords, listIndexStateNotices } = await import('../../../app/ask/uncaptured.ts');
  const answer = await askUncaptured(findStore(call), { scope, limit: MAX_UNCAPTURED, ...askWords(query) });
  for (const notice of listIndexStateNotices(answer.index)) call.notify(notice);
  return answer.sessions.flatMap(({ agent, session: id, passages: [best] }) => {
    if (best === undefined) return [];
    const age = describeAge(call.machine.clock.now() - Date.parse(best.at));
    const { line, speaker, text: said } = best;
    return [
      [
        quote(`session  ${said}`),
        quote(`  from a session, not captured, ${speaker}, ${agent}, ${age}`),
        `  get ${JSON.stringify({ id, line })}`,
      ],
    ];
  });
}

function printNothing(words: string, request: SearchRequest): string {
  const { kind, file, agent, since } = request;
  const isNarrow = [kind, file, agent, since].some((limit) => limit !== undefined);
  const ways = [
    ...(isNarrow ? ['without kind, file, agent and since'] : []),
    'with fewer or other words',
    ...(request.everywhere ? [] : ['everywhere: true']),
    ...(request.sessions ? [] : ['sessions: true, for all that was said']),
  ];
  const where = request.everywhere ? '' : ' in this project';
  return `# Nothing found for ${words}${where}\nnext: search ${ways.join(', or ')}`;
}

/** The call of `get` that opens a hit. */
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
