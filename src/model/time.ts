import * as v from 'valibot';

/** UTC with milliseconds, as `Date.prototype.toISOString` writes years 0000 to 9999. */
export const Timestamp = v.pipe(
  v.string(),
  v.regex(
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
    'must be a UTC time with milliseconds, as 2026-01-31T12:00:00.000Z',
  ),
  v.check((text) => !Number.isNaN(Date.parse(text)), 'must be a real date and time'),
);
export type Timestamp = v.InferOutput<typeof Timestamp>;

export const LATEST_TIME: number = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

export function formatTimestamp(ms: number): Timestamp {
  return new Date(Math.min(Math.max(0, Math.trunc(ms)), LATEST_TIME)).toISOString();
}
