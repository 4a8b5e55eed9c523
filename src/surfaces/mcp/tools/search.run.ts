import { cleanLine, cutToBytes } from '../../../model/text.ts';
import { identifyProject } from '../../../platform/project.ts';
import type { SearchHit } from '../../../search/query.ts';
import { type SearchAnswer, search } from '../../../search/search.ts';
import { findStore } from '../../cli/context.ts';
import { findNotes } from '../../cli/find-notes.ts';
import { printHits } from '../../cli/print-hits.ts';
import { redactWords } from '../../cli/redact-words.ts';
import { noteShortcomings } from '../../cli/search-notes.ts';
import { parseMoment } from '../../cli/words.ts';
import type { Answer, Call } from '../call.ts';
import { DATA_NOT_ORDERS, printSheet, quote } from '../page.ts';
import { collectLines } from '../printed-lines.ts';
import type { SearchWish } from './search.ts';

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
