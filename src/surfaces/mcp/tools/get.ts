import type { McpServer } from '@modelcontextprotocol/server';
import * as v from 'valibot';
import { traceFacts } from '../../../app/capture/trace.ts';
import { HandoverError } from '../../../errors.ts';
import { compileBrief } from '../../../handover/brief/compile.ts';
import { IMPORTED_MARK, quoteLines } from '../../../handover/brief/lines.ts';
import { BYTES_PER_TOKEN } from '../../../handover/brief/weighed.ts';
import type { Fact } from '../../../model/fact.ts';
import type { Handover } from '../../../model/handover.ts';
import { cutAtWord } from '../../../model/text.ts';
import { openSession } from '../../../search/sessions/open-session.ts';
import { readEarlier } from '../../../store/earlier.ts';
import { readMarked, readMarks } from '../../../store/marks.ts';
import { findStore } from '../../cli/context.ts';
import { findFact } from '../../cli/mark-named.ts';
import { pickHandover } from '../../cli/pick.ts';
import { printSession } from '../../cli/print-session.ts';
import { printSources, printTrace } from '../../cli/print-trace.ts';
import { requireReader } from '../../cli/readers.ts';
import { budget, project, text } from '../arguments.ts';
import { type Answer, answer, type Call } from '../call.ts';
import { type Connection, findAgent } from '../connection.ts';
import { describeInput } from '../input.ts';
import { DATA_NOT_ORDERS, printSheet, quote } from '../page.ts';
import { collectLines } from '../printed-lines.ts';

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
      answer({ connection, context, project: folder }, (call) => get(call, wish)),
  );
}

export async function get(call: Call, wish: GetWish): Promise<Answer> {
  const id = wish.id.trim();
  if (/^f-/i.test(id)) return { text: await tellFact(call, wish) };
  if (wish.line !== undefined) return { text: await tellSession(call, wish) };
  try {
    return { text: await tellHandover(call, await pick(call, id), wish) };
  } catch (error) {
    if (!(error instanceof HandoverError && error.code === 'HANDOVER_NOT_FOUND')) throw error;
    return { text: await tellSessionOr(call, wish, error) };
  }
}

/** The latest is that of the project that is asked about. */
async function pick(call: Call, id: string): Promise<Handover> {
  return await pickHandover(call, id.toLowerCase() === 'latest' ? undefined : id);
}

async function tellHandover(call: Call, handover: Handover, wish: GetWish): Promise<string> {
  if (wish.events !== true) return briefOf(call, handover, wish.budget);
  const lines = await traceLines(call, handover, { facts: handover.facts, print: printTrace });
  return printLines([nameHandover(handover), DATA_NOT_ORDERS], lines, wish.budget);
}

/** What was said in a session, around the line that was asked for. */
async function tellSession(call: Call, { id, line, budget }: GetWish): Promise<string> {
  const session = await openSession(findStore(call), id);
  const { head } = session;
  const lines = collectLines((out) => printSession({ out, machine: call.machine }, session, line ?? null));
  const about = [`# Session ${head.id} of ${head.agent}`, DATA_NOT_ORDERS];
  const entries = lines.slice(1).map((text) => [quote(text)]);
  const more = (count: number): string => `${count} lines; ask with a larger budget, or with "line"`;
  return printSheet({ head: about, entries, budget, more });
}

/** What is neither a handover nor a session is told as no handover. */
async function tellSessionOr(call: Call, wish: GetWish, refusal: HandoverError): Promise<string> {
  try {
    return await tellSession(call, wish);
  } catch (error) {
    if (error instanceof HandoverError && error.code === 'HANDOVER_NOT_FOUND') throw refusal;
    throw error;
  }
}

/** A handover as a brief for the agent that asks. */
export function briefOf(call: Call, handover: Handover, tokens: number): string {
  const reader = requireReader(findAgent(call.connection) ?? 'generic');
  return compileBrief(readMarked(findStore(call), handover), reader, { budget: tokens }).text;
}

function nameHandover({ id }: Handover): string {
  return `# Handover ${id}`;
}

async function tellFact(call: Call, wish: GetWish): Promise<string> {
  const { handover, fact } = await findFact(call, wish.id, wish.in);
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
  const lines =
    wish.events === false ? [] : await traceLines(call, handover, { facts: [fact], print: printSources });
  return printLines(head, lines, wish.budget);
}

interface Tracing {
  facts: readonly Fact[];
  print: typeof printTrace;
}

/** What `show --events` prints, or a part of it. */
async function traceLines(call: Call, handover: Handover, { facts, print }: Tracing): Promise<string[]> {
  const earlier = readEarlier(findStore(call), handover);
  const trace = await traceFacts(handover, facts, { machine: call.machine, earlier });
  return collectLines((out) => print(out, handover, trace)).map(quote);
}

function printLines(head: readonly string[], lines: readonly string[], tokens: number): string {
  const more = (count: number): string => `${count} lines; ask again with a larger budget (now ${tokens})`;
  return printSheet({ head, entries: lines.map((line) => [line]), budget: tokens, more });
}
