import { AGENT_NAMES, type AgentName } from '../agents/agent.ts';
import { usageError } from '../errors.ts';
import { findReader, nameAgent, READER_NAMES, type Reader } from '../handover/brief/reader.ts';
import type { FactKind } from '../model/fact.ts';
import { FACT_KINDS } from '../model/fact-kinds.ts';
import { quoteInput } from '../model/text.ts';
import { DAY_MS, formatTimestamp } from '../model/time.ts';
import { suggestOneOf } from '../search/typos.ts';

const UNITS = new Map(Object.entries({ ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS }));

/** A duration such as `90m`, `2h`, `7d`, `2w` or `1h30m`; null for other text. Never zero. */
export function parseDuration(text: string): number | null {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[smhdw]))+$/.test(text)) return null;
  let total = 0;
  for (const [, amount = '', unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdw])/g))
    total += Number(amount) * (UNITS.get(unit) ?? Number.NaN);
  return total > 0 && Number.isFinite(total) ? total : null;
}

/** Days in UTC, as `timeline` counts them. */
const DAYS_AGO: ReadonlyMap<string, number> = new Map([
  ['today', 0],
  ['yesterday', 1],
]);
const DATE = /^\d{4}-\d\d-\d\d$/;
const DATE_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?$/;

/** A duration before now (`2h`), a day in UTC (its first or last millisecond, by `edge`), `today`, `yesterday`, or a time, in UTC unless it has an offset. */
export function parseMoment(text: string, now: number, edge: 'first' | 'last'): number {
  const ago = parseDuration(text);
  if (ago !== null) return now - ago;
  const named = DAYS_AGO.get(text.trim().toLowerCase());
  const date = named === undefined ? text : formatTimestamp(now - named * DAY_MS).slice(0, '2026-01-31'.length);
  if (DATE.test(date)) {
    const day = Date.parse(`${date}T00:00:00Z`);
    if (!Number.isNaN(day)) return edge === 'first' ? day : day + DAY_MS - 1;
  }
  if (DATE_TIME.test(text)) {
    const iso = text.replace(' ', 'T');
    const time = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(iso) ? iso : `${iso}Z`);
    if (!Number.isNaN(time)) return time;
  }
  const hint =
    'Use today, yesterday, a duration such as 90m, 2h or 7d, a date such as 2026-01-31, or a time such as 2026-01-31T12:00Z.';
  throw usageError(`"${text}" is not a time`, hint);
}

/** A whole number of at least `smallest`. */
export function parseCount(text: string, smallest: number): number {
  const count = /^-?\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= smallest) return count;
  const hint = `Use a number such as ${Math.max(smallest, 20)}.`;
  throw usageError(`"${text}" is not a whole number of at least ${smallest}`, hint);
}

export function requireAgent(text: string): AgentName {
  const wanted = nameAgent(text).trim().toLowerCase();
  const name = AGENT_NAMES.find((known) => known === wanted);
  if (name !== undefined) return name;
  throw usageError(`unknown agent ${quoteInput(text)}`, suggestOneOf(text, AGENT_NAMES));
}

/** The agent that will read a brief, or `generic`. */
export function requireReader(text: string): Reader {
  const reader = findReader(text);
  if (reader !== null) return reader;
  throw usageError(`unknown agent ${quoteInput(text)}`, suggestOneOf(text, READER_NAMES));
}

export function requireKind(text: string): FactKind {
  const kind = FACT_KINDS.find((known) => known === text.trim().toLowerCase());
  if (kind !== undefined) return kind;
  throw usageError(`unknown kind of fact ${quoteInput(text)}`, suggestOneOf(text, FACT_KINDS));
}
