import type { Handover } from '../model/handover.ts';

/** Whether a handover may be restored now. What stands against it also says what it thereby becomes, if anything. */
export type Restorability = { ok: true } | { ok: false; reason: string; becomes: 'rejected_stale' | null };

export interface Moment {
  nowMs: number;
  freshnessMs: number;
  status: string;
}

/** Only what still waits, and is fresh. Files that have changed since are no reason: the brief tells of them. */
export function judgeRestorable(
  { created_at, expires_at }: Handover,
  { nowMs, freshnessMs, status }: Moment,
): Restorability {
  if (status !== 'pending') return { ok: false, reason: `it is ${status}`, becomes: null };
  const until = expires_at === null ? Date.parse(created_at) + freshnessMs : Date.parse(expires_at);
  if (nowMs <= until) return { ok: true };
  const minutes = Math.floor((nowMs - Date.parse(created_at)) / 60_000);
  return { ok: false, reason: `it expired: it is ${minutes} minutes old`, becomes: 'rejected_stale' };
}
