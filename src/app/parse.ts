import { AGENT_NAMES, type AgentName } from '../agents/agent.ts';
import { findReader, READER_NAMES, type Reader } from '../handover/brief/reader.ts';
import type { FactKind } from '../model/fact.ts';
import { FACT_KINDS } from '../model/fact-kinds.ts';
import { cleanLine, cutToBytes } from '../model/text.ts';
import { usageError } from './failure.ts';

const DAY_MS = 86_400_000;
const UNITS = new Map(Object.entries({ ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS }));

/** A duration such as `90m`, `2h`, `7d`, `2w` or `1h30m`; null for other text. Never zero. */
export function parseDuration(text: string): number | null {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[smhdw]))+$/.test(text)) return null;
  let total = 0;
  for (const [, amount = '', unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdw])/g))
    total += Number(amount) * (UNITS.get(unit) ?? Number.NaN);
  return total > 0 && Number.isFinite(total) ? total : null;
}

const DATE = /^\d{4}-\d\d-\d\d$/;
const DATE_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?$/;

/** So long ago (`2h`), a day in UTC (its first or last millisecond, by `edge`), or a time, without an offset in UTC. */
export function parseMoment(text: string, now: number, edge: 'first' | 'last'): number {
  const ago = parseDuration(text);
  if (ago !== null) return now - ago;
  if (DATE.test(text)) {
    const day = Date.parse(`${text}T00:00:00Z`);
    if (!Number.isNaN(day)) return edge === 'first' ? day : day + DAY_MS - 1;
  }
  if (DATE_TIME.test(text)) {
    const iso = text.replace(' ', 'T');
    const time = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(iso) ? iso : `${iso}Z`);
    if (!Number.isNaN(time)) return time;
  }
  const hint = 'Use a duration such as 90m, 2h or 7d, a date such as 2026-01-31, or a time such as 2026-01-31T12:00Z.';
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
  const name = AGENT_NAMES.find((known) => known === text.trim().toLowerCase());
  if (name !== undefined) return name;
  throw usageError(`unknown agent "${cleanLine(text)}"`, `Use one of: ${AGENT_NAMES.join(', ')}.`);
}

/** The agent that will read a brief, or `generic`. */
export function requireReader(text: string): Reader {
  const reader = findReader(text);
  if (reader !== null) return reader;
  throw usageError(`unknown agent "${cleanLine(text)}"`, `Use one of: ${READER_NAMES.join(', ')}.`);
}

export function requireKind(text: string): FactKind {
  const kind = FACT_KINDS.find((known) => known === text.trim().toLowerCase());
  if (kind !== undefined) return kind;
  const hint = `Use any of: ${FACT_KINDS.join(',')}`;
  throw usageError(`unknown kind of fact "${cutToBytes(cleanLine(text), 80)}"`, hint);
}
