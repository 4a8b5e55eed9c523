import * as v from 'valibot';
import type { Trace } from '../../../app/capture/trace.ts';
import { findStore } from '../../../app/context.ts';
import { type Line, toPlainLines } from '../../../app/describe/styled-text.ts';
import { HandoverError } from '../../../errors.ts';
import { BYTES_PER_TOKEN } from '../../../handover/brief/block.ts';
import { markImported, quoteLines } from '../../../handover/brief/lines.ts';
import { type Fact, readTold } from '../../../model/fact.ts';
import { isProgressNote } from '../../../model/fact-roles.ts';
import type { Handover } from '../../../model/handover.ts';
import { countNouns, cutAtWord } from '../../../model/text.ts';
import { type Answer, type Call, defineTool } from '../call.ts';
import { findAgent } from '../connection.ts';
import { budget, describeInput, project, READS, text } from '../input.ts';
import { DATA_NOT_INSTRUCTIONS, printPage, quote } from '../page.ts';

const Arguments = v.strictObject({
  id: text(
    'The id of a fact (f-…), of a handover (YYYYMMDD-HHMMSS-xxxx) or of a session, the start of one, or "latest" for the newest handover.',
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
      v.description('For a session: only what was said around this line, as search with sessions gives it.'),
    ),
  ),
  in: v.optional(text('For a fact: the handover that has it; the newest of the project if left out.')),
  budget,
  project,
});
type GetRequest = v.InferOutput<typeof Arguments>;

export const registerGet = defineTool({
  name: 'get',
  title: 'Read a fact, a handover or a session',
  description:
    'One fact in full, with where it comes from, how far it can be trusted, what became of it, and the lines of the transcript behind it; or one handover as a brief; or what was said in one session. Call it when a brief or a search names an id that you need more of, or before you rely on a fact that matters.',
  inputSchema: describeInput(Arguments),
  annotations: READS,
  work: get,
});

async function get(call: Call, request: GetRequest): Promise<Answer> {
  const id = request.id.trim();
  if (/^f-/i.test(id)) return { text: await readFact(call, request) };
  if (request.line !== undefined) return { text: await readSession(call, request) };
  try {
    return { text: await readHandover(call, id, request) };
  } catch (refusal) {
    if (!isNotFound(refusal)) throw refusal;
    try {
      return { text: await readSession(call, request) };
    } catch (error) {
      // If there is no such session either, report the error about the handover.
      throw isNotFound(error) ? refusal : error;
    }
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof HandoverError && error.code === 'HANDOVER_NOT_FOUND';
}

async function readHandover(call: Call, id: string, request: GetRequest): Promise<string> {
  const { pickToSend } = await import('../../../app/find-handover.ts');
  const handover = await pickToSend(call, id);
  if (request.events !== true) return await briefOf(call, handover, request.budget);
  const { describeTrace } = await import('../../../app/describe/trace.ts');
  const facts = handover.facts.filter((fact) => !isProgressNote(fact));
  const lines = await traceLines(call, handover, { facts, describe: describeTrace });
  return printLines([`# Handover ${handover.id}`, DATA_NOT_INSTRUCTIONS], lines, request.budget);
}

/** What was said in a session, all of it or around a line. */
async function readSession(call: Call, { id, line, budget: tokens }: GetRequest): Promise<string> {
  const { openSession } = await import('../../../search/sessions/read-session.ts');
  const { describeSession } = await import('../../../app/describe/session.ts');
  const session = await openSession(findStore(call), id);
  const { head } = session;
  return printPage({
    head: [`# Session ${head.id} of ${head.agent}`, DATA_NOT_INSTRUCTIONS],
    entries: toPlainLines(describeSession(session, line ?? null, call.machine).slice(1)).map((words) => [quote(words)]),
    budget: tokens,
    more: (count) => `${countNouns(count, 'line')}; ask with a larger budget, or with "line"`,
  });
}

/** A handover as a brief for the agent that asks. */
export async function briefOf(call: Call, handover: Handover, tokens: number): Promise<string> {
  const { briefAgain } = await import('../../../app/resume.ts');
  const { requireReader } = await import('../../../app/parse.ts');
  const reader = requireReader(findAgent(call.connection) ?? 'generic');
  return briefAgain(call, handover, { reader, budget: tokens }).text;
}

async function readFact(call: Call, request: GetRequest): Promise<string> {
  const { findFact } = await import('../../../app/mark.ts');
  const { readMarks } = await import('../../../store/marks.ts');
  const { describeSources } = await import('../../../app/describe/trace.ts');
  const { handover, fact } = await findFact(call, request.id, request.in);
  const last = readMarks(findStore(call), handover.project.id).get(fact.id);
  const whose = fact.trust === 'imported' ? markImported(readTold(fact)) : '';
  const status = fact.status === undefined ? '' : `[${fact.status}] `;
  const most = Math.floor((request.budget * BYTES_PER_TOKEN) / 2);
  const head = [
    `# Handover ${handover.id}: fact ${fact.id}`,
    DATA_NOT_INSTRUCTIONS,
    ...quoteLines(`${whose}${fact.kind}: ${status}${cutAtWord(fact.text, most)}`),
    quote(
      `${fact.trust}, from ${fact.origin}; saved by ${handover.session.agent} at ${handover.created_at} in ${handover.project.name}`,
    ),
    ...[last?.ended, last].flatMap((mark) =>
      mark === undefined
        ? []
        : quoteLines(`${mark.mark} at ${mark.at}${mark.because === null ? '' : `, because: ${mark.because}`}`),
    ),
  ];
  const lines =
    request.events === false ? [] : await traceLines(call, handover, { facts: [fact], describe: describeSources });
  return printLines(head, lines, request.budget);
}

async function traceLines(
  call: Call,
  handover: Handover,
  { facts, describe }: { facts: readonly Fact[]; describe(handover: Handover, trace: Trace): Line[] },
): Promise<string[]> {
  const { traceFacts } = await import('../../../app/capture/trace.ts');
  const { readHistory } = await import('../../../store/handovers.ts');
  const earlier = readHistory(findStore(call), handover);
  const trace = await traceFacts(handover, facts, { machine: call.machine, earlier });
  return toPlainLines(describe(handover, trace)).map(quote);
}

function printLines(head: readonly string[], lines: readonly string[], tokens: number): string {
  const more = (count: number): string =>
    `${countNouns(count, 'line')}; ask again with a larger budget (now ${tokens})`;
  return printPage({ head, entries: lines.map((line) => [line]), budget: tokens, more });
}
