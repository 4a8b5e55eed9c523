import { pickSession } from '../../../agents/find-session.ts';
import { type Context, findStore, withCatalog } from '../../../app/context.ts';
import type { DebtKind } from '../../../app/debt/find-again.ts';
import { type Debt, type Debts, gatherDebts } from '../../../app/debt/gather.ts';
import { ENOUGH, listWeeks, type Median, type Side, splitSides, suggestFacts } from '../../../app/debt/statistics.ts';
import { bold, dim } from '../../../app/describe/styled-text.ts';
import { isLatest, pickHandover } from '../../../app/find-handover.ts';
import { notFoundError } from '../../../errors.ts';
import { isHandoverId } from '../../../model/id.ts';
import { countNouns } from '../../../model/text.ts';
import { describeAge } from '../../../model/time.ts';
import { type Filter, listByWork } from '../../../store/catalog.ts';
import type { CliContext } from '../context.ts';
import { filterFlags, suggestAll, toLimit } from '../filters.ts';
import { command, type FlagValues, optionalArgument, tuple } from '../flags.ts';
import type { Output } from '../output.ts';
import { askFlags, printNext, shorten, toScope } from '../questions.ts';

const flags = { ...askFlags, until: filterFlags.until };
type DebtFlags = FlagValues<typeof flags>;

export const debt = command('debt', runDebt, {
  positional: tuple(
    optionalArgument('Show each line behind the numbers of this session, or of this handover’s', 'session'),
  ),
  flags,
});

const SESSIONS = 50;

async function runDebt(this: CliContext, values: DebtFlags, words?: string): Promise<void> {
  const store = findStore(this);
  if (words !== undefined) {
    const session = await findSession(this, words);
    const { debts } = await gatherDebts(this, { store, scope: {}, limit: null, session });
    if (debts.length === 0) throw nothingFollowedError(session);
    if (values.json) return this.out.json({ session, successors: debts.toReversed().map(itemsToJson) });
    for (const one of debts.toReversed()) printItems(this.out, one);
    return;
  }
  const scope: Filter = await toScope(values, this);
  const found = await gatherDebts(this, { store, scope, limit: toLimit(values, SESSIONS) });
  if (values.json) return this.out.json(toJson(found));
  printDebts(this, found, values);
  if (found.debts.length === 0) await printNext(this, values, 'debt');
}

/** The id of a session that is named by it, or by one of its handovers. */
async function findSession(context: Context, words: string): Promise<string> {
  const named = isLatest(words) || isHandoverId(words.trim()) ? null : await findById(context, words);
  if (named !== null) return named;
  const { id, session } = await pickHandover(context, words);
  if (session.id !== null) return session.id;
  throw notFoundError(`${id} was written by hand and has no session`, 'List sessions: handover sessions');
}

async function findById(context: Context, words: string): Promise<string | null> {
  return await withCatalog(context, findStore(context), async (catalog) => {
    const sessions: { id: string }[] = [];
    for await (const { session } of listByWork(catalog, {})) if (session !== null) sessions.push({ id: session });
    return pickSession(sessions, words)?.id ?? null;
  });
}

function nothingFollowedError(session: string): Error {
  const message = `session ${session} follows no session that can be read, and was not compacted`;
  return notFoundError(message, 'List those that do: handover debt --all');
}

const KINDS: readonly (readonly [kind: DebtKind, plural: string, heading: string])[] = [
  ['file', 'files', 'read again, unchanged'],
  ['command', 'commands', 'asked again, unchanged'],
  ['error', 'errors', 'met again, though solved'],
  ['rejected', 'rejected', 'tried again, though rejected'],
  ['question', 'questions', 'asked the user again'],
];

function toJson({ debts, unread, hasMore }: Debts): unknown {
  const { brief, other } = splitSides(debts);
  return {
    with_brief: brief,
    without: other,
    weeks: listWeeks(debts),
    suggestions: suggestFacts(debts),
    successors: debts.map(debtToJson),
    unread,
    has_more: hasMore,
  };
}

function debtToJson({ found, facts: _, ...one }: Debt): Record<string, unknown> {
  const counts = KINDS.map(([kind, plural]) => [plural, found.filter((item) => item.kind === kind).length]);
  return { ...one, found_again: found.length, ...Object.fromEntries(counts), open: `handover debt ${one.session}` };
}

function itemsToJson(one: Debt): unknown {
  const items = one.found.map((item) => ({ ...item, open: openLine(one.session, item.line) }));
  return { ...debtToJson(one), items };
}

function openLine(session: string, line: number): string {
  return `handover sessions ${session} --line ${line}`;
}

function printDebts({ out, err, machine }: CliContext, { debts, unread, hasMore }: Debts, values: DebtFlags): void {
  if (debts.length === 0) out.line('no captured session here follows another one, or was compacted');
  else {
    printSides(out, splitSides(debts));
    for (const { week, successors, found_again, calls } of listWeeks(debts))
      out.line(
        dim(`week of ${week}  `),
        `${countNouns(successors, 'successor')}, found again ${printMedian(found_again)}, calls before the first edit ${printMedian(calls)}`,
      );
    out.line();
    for (const one of debts) printDebt(out, one, machine.clock.now());
  }
  const suggestions = suggestFacts(debts);
  if (suggestions.length > 0) out.line(bold('found out again and again'));
  for (const { kind, text, successors, command: next } of suggestions) {
    out.line(`  ${kind} ${shorten(text)}  `, dim(`in ${successors} successors`));
    out.line(dim(`    put it into every brief: ${next}`));
  }
  if (unread > 0)
    err.line(dim(`${countNouns(unread, 'session')} left out: no transcript of it, or of the one before it`));
  if (hasMore) err.line(dim(`there are earlier sessions; show all: ${suggestAll('debt', values)}`));
}

function printSides(out: Output, { brief, other }: { brief: Side; other: Side }): void {
  const rows: [string, 'found_again' | 'calls' | 'tokens' | 'minutes'][] = [
    ['how much', 'found_again'],
    ['calls before the first edit', 'calls'],
    ['tokens before the first edit', 'tokens'],
    ['minutes before the first edit', 'minutes'],
  ];
  const column = (text: string): string => text.padEnd(NUMBERS);
  out.line(bold(`${''.padEnd(LABELS)}${column('with a brief')}a hint or nothing`));
  out.line(`${'successors'.padEnd(LABELS)}${column(String(brief.successors))}${other.successors}`);
  out.line(`${'that found anything out again'.padEnd(LABELS)}${column(String(brief.with_debt))}${other.with_debt}`);
  for (const [label, key] of rows)
    out.line(`${label.padEnd(LABELS)}${column(printMedian(brief[key]))}${printMedian(other[key])}`);
  out.line(dim(judge(brief, other)));
  out.line();
}

const LABELS = 32;
const NUMBERS = 26;

function judge(brief: Side, other: Side): string {
  const few = [brief.enough ? '' : 'with a brief', other.enough ? '' : 'without'].filter((side) => side !== '');
  if (few.length > 0) return `too few to tell: fewer than ${ENOUGH} ${few.join(' and ')}`;
  return 'medians, with the interval that holds the true one in 95 of 100 cases; where two overlap, no difference is shown';
}

function printMedian(found: Median | null): string {
  if (found === null) return '-';
  const { median, low, high } = found;
  const number = (value: number): string => (Math.round(value * 10) / 10).toLocaleString('en-US');
  return low === null || high === null ? number(median) : `${number(median)} (${number(low)} to ${number(high)})`;
}

function printDebt(out: Output, one: Debt, now: number): void {
  const age = describeAge(now - Date.parse(one.at));
  out.line(bold(one.session), `  ${one.agent.padEnd(12)}  ${shorten(one.title)}`);
  out.line(dim(`  ${age}, ${describeBegin(one)}`));
  out.line(`  ${describeCounts(one)}; ${describeEdit(one)}`);
}

function describeBegin({ part, follows, given }: Debt): string {
  const begin = part === 0 ? `after ${follows}` : `after compaction ${part}`;
  return `${begin}, given ${given === 'nothing' ? 'nothing' : `a ${given}`}`;
}

function describeCounts({ found, calls }: Debt): string {
  const counts = KINDS.flatMap(([kind]) => {
    const count = found.filter((item) => item.kind === kind).length;
    return count === 0 ? [] : [kind === 'rejected' ? `${count} rejected` : countNouns(count, kind)];
  });
  return `${counts.length === 0 ? 'nothing' : counts.join(', ')} found again in ${countNouns(calls, 'call')}`;
}

function describeEdit({ first_edit: edit }: Debt): string {
  if (edit === null) return 'no edit';
  const tokens = edit.tokens === null ? '' : `, ${edit.tokens.toLocaleString('en-US')} tokens`;
  return `first edit after ${countNouns(edit.calls, 'call')}${tokens}, ${edit.minutes} min`;
}

function printItems(out: Output, one: Debt): void {
  out.line(bold(one.session), `  ${one.agent}  ${shorten(one.title)}`);
  out.line(dim(`  line ${one.line}: ${describeBegin(one)}`));
  const edit = one.first_edit === null ? '' : `, at line ${one.first_edit.line}`;
  out.line(`  ${describeCounts(one)}; ${describeEdit(one)}${edit}`);
  for (const [kind, , heading] of KINDS) {
    const items = one.found.filter((item) => item.kind === kind);
    if (items.length > 0) out.line(`  ${heading}`);
    for (const { text, line, before } of items) {
      const where = before.in === 'previous' ? ` of ${one.follows}` : '';
      const first = before.line === null ? '' : `, first at line ${before.line}${where}`;
      out.line(`  - ${shorten(text)}`, dim(`${first}`));
      out.line(dim(`    see it: ${openLine(one.session, line)}`));
    }
  }
}
