export const LATEST_TIME: number = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** The nearest time that can be stored: whole milliseconds from 1970 to 9999. */
export function clampTime(ms: number): number {
  return Math.min(Math.max(0, Math.trunc(ms)), LATEST_TIME);
}

/** UTC with milliseconds: the one form in which times are stored. */
export function formatTimestamp(ms: number): string {
  return new Date(clampTime(ms)).toISOString();
}

/** How long ago, in the largest unit that gives a whole number of at least one. */
export function describeAge(ms: number): string {
  if (ms < 0) return 'in the future';
  for (const [unit, length] of [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['m', 60_000],
  ] as const) {
    if (ms >= length) return `${Math.floor(ms / length)}${unit} ago`;
  }
  return 'just now';
}
