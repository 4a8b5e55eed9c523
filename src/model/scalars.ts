import * as v from 'valibot';
import { HANDOVER_ID } from './id.ts';

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

export const HandoverId = v.pipe(v.string(), v.regex(HANDOVER_ID, 'must be a handover id, as 20260131-120000-k3fz'));
export type HandoverId = v.InferOutput<typeof HandoverId>;
