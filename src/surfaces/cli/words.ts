import { HandoverError } from '../../errors.ts';

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** A length of time as `90m`, `2h`, `7d`, `2w`, or several together as `1h30m`; null for other text. Never zero. */
export function parseDuration(text: string): number | null {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[smhdw]))+$/.test(text)) return null;
  let total = 0;
  for (const [, amount = '', unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdw])/g)) {
    total += Number(amount) * (UNITS[unit] ?? Number.NaN);
  }
  return total > 0 && Number.isFinite(total) ? total : null;
}

const DATE = /^\d{4}-\d\d-\d\d$/;
const DATE_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?$/;
const DAY_MS = 86_400_000;

/**
 * A moment: so long ago (`2h`), a day (`2026-01-31`, in UTC; its first or last instant, by `edge`), or a time, in UTC
 * unless it says otherwise.
 */
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
  throw new HandoverError('HANDOVER_USAGE', `"${text}" is not a time`, {
    hint: 'Give a length such as 90m, 2h or 7d, a day such as 2026-01-31, or a time such as 2026-01-31T12:00Z.',
  });
}

/** A whole number from `smallest` on. */
export function parseCount(text: string, smallest: number): number {
  const count = /^-?\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= smallest) return count;
  throw new HandoverError('HANDOVER_USAGE', `"${text}" is not a whole number from ${smallest} on`, {
    hint: `Give a number such as ${Math.max(smallest, 20)}.`,
  });
}
