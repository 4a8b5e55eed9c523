export const LATEST_TIME: number = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** UTC with milliseconds: the one form in which times are kept. */
export function formatTimestamp(ms: number): string {
  return new Date(Math.min(Math.max(0, Math.trunc(ms)), LATEST_TIME)).toISOString();
}
