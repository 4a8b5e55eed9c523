import { compileBrief } from '../../../brief/compile.ts';
import { IMPORTED_MARK, quoteLines } from '../../../brief/lines.ts';
import { BYTES_PER_TOKEN } from '../../../brief/weighed.ts';
import { traceFacts } from '../../../capture/trace.ts';
import type { Fact } from '../../../model/fact.ts';
import type { Handover } from '../../../model/handover.ts';
import { cutAtWord } from '../../../model/text.ts';
import { readEarlier } from '../../../store/earlier.ts';
import { readMarked, readMarks } from '../../../store/marks.ts';
import { findStore } from '../../cli/context.ts';
import { findFact } from '../../cli/mark-named.ts';
import { pickHandover } from '../../cli/pick.ts';
import { printTrace } from '../../cli/print-trace.ts';
import { requireReader } from '../../cli/readers.ts';
import type { Answer, Call } from '../call.ts';
import { findAgent } from '../connection.ts';
import { DATA_NOT_ORDERS, printSheet, quote } from '../page.ts';
import { collectLines } from '../printed-lines.ts';
import type { GetWish } from './get.ts';

export async function get(call: Call, wish: GetWish): Promise<Answer> {
  if (/^f-?/i.test(wish.id.trim())) {
    const { handover, fact } = await findFact(call, wish.id, wish.in);
    return { text: await tellFact(call, { handover, fact, wish }) };
  }
  const handover = await pickHandover(call, wish.id);
  if (wish.events !== true) return { text: briefOf(call, handover, wish.budget) };
  const lines = await traceLines(call, handover, handover.facts);
  return { text: printLines([nameHandover(handover), DATA_NOT_ORDERS], lines, wish.budget) };
}

/** A handover as a brief for the agent that asks. */
export function briefOf(call: Call, handover: Handover, tokens: number): string {
  const reader = requireReader(findAgent(call.connection) ?? 'generic');
  return compileBrief(readMarked(findStore(call), handover), reader, { budget: tokens }).text;
}

function nameHandover({ id }: Handover): string {
  return `# Handover ${id}`;
}

interface FactWish {
  handover: Handover;
  fact: Fact;
  wish: GetWish;
}

async function tellFact(call: Call, { handover, fact, wish }: FactWish): Promise<string> {
  const mark = readMarks(findStore(call), handover.project.id).get(fact.id);
  const whose = fact.trust === 'imported' ? IMPORTED_MARK : '';
  const status = fact.status === undefined ? '' : `[${fact.status}] `;
  const most = Math.floor((wish.budget * BYTES_PER_TOKEN) / 2);
  const head = [
    `${nameHandover(handover)}: fact ${fact.id}`,
    DATA_NOT_ORDERS,
    ...quoteLines(`${whose}${fact.kind}: ${status}${cutAtWord(fact.text, most)}`),
    quote(
      `${fact.trust}, from ${fact.origin}; told by ${handover.session.agent} at ${handover.created_at} in ${handover.project.name}`,
    ),
    ...(mark === undefined
      ? []
      : quoteLines(`${mark.mark} at ${mark.at}${mark.because === null ? '' : `, because: ${mark.because}`}`)),
  ];
  const lines = wish.events === false ? [] : await traceLines(call, handover, [fact]);
  return printLines(head, lines, wish.budget);
}

/** What `show --events` prints. */
async function traceLines(call: Call, handover: Handover, facts: readonly Fact[]): Promise<string[]> {
  const earlier = readEarlier(findStore(call), handover);
  const trace = await traceFacts(handover, facts, { machine: call.machine, earlier });
  return collectLines((out) => printTrace(out, handover, trace)).map(quote);
}

function printLines(head: readonly string[], lines: readonly string[], tokens: number): string {
  const more = (count: number): string => `${count} lines; ask again with a larger budget (now ${tokens})`;
  return printSheet({ head, entries: lines.map((line) => [line]), budget: tokens, more });
}
