export const DAY_MS = 86_400_000;
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
    ['d', DAY_MS],
    ['h', 3_600_000],
    ['m', 60_000],
  ] as const) {
    if (ms >= length) return `${Math.floor(ms / length)}${unit} ago`;
  }
  return 'just now';
}

type DatedHandover = { session: { last_at?: string }; created_at: string; noted_at?: string };

/** When the work of a handover was done: at the last event of its session, which may be long before it was captured. */
export function lastWorkOf({ session: { last_at }, created_at }: DatedHandover): string {
  return last_at === undefined || last_at > created_at ? created_at : last_at;
}

/** When it was last worked on, or added to by hand. */
export function lastChangeOf(handover: DatedHandover): string {
  const worked = lastWorkOf(handover);
  const { noted_at } = handover;
  return noted_at === undefined || noted_at < worked ? worked : noted_at;
}

/** Whether it is a note that was added by hand to the work of a session, and not a capture of that work. */
export function isSavedByHand({ noted_at, created_at }: { noted_at?: string | null; created_at?: string }): boolean {
  return created_at !== undefined && noted_at === created_at;
}

const SAME_TIME_MS = 300_000;

/** Whether a session was captured so long after its end that git may have said something else by then. */
export function wasCapturedLate({ session: { last_at }, created_at, noted_at }: DatedHandover): boolean {
  if (last_at === undefined || noted_at !== undefined) return false;
  return Date.parse(created_at) - Date.parse(last_at) >= SAME_TIME_MS;
}
