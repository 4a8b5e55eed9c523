import { HandoverError } from '../errors.ts';
import type { Handover } from '../model/handover.ts';
import { DAY_MS, describeAge, lastChangeOf } from '../model/time.ts';
import type { Env } from '../platform/machine.ts';

const MINUTE_MS = 60_000;

/** How long after its last work a handover may be restored. */
export const DEFAULT_FRESHNESS_MS: number = 20 * MINUTE_MS;
export const DEFAULT_RETENTION_MS: number = 90 * DAY_MS;

export function readFreshness(env: Env): number {
  return readPeriod(env, 'HANDOFF_FRESHNESS_MINUTES', MINUTE_MS) ?? DEFAULT_FRESHNESS_MS;
}

/** How old a handover must be before `cleanup` deletes it. */
export function readRetention(env: Env): number {
  return readPeriod(env, 'HANDOFF_RETENTION_DAYS', DAY_MS) ?? DEFAULT_RETENTION_MS;
}

const MAX_PERIOD = 100_000;

function readPeriod(env: Env, name: string, unit: number): number | null {
  const text = env[name]?.trim();
  if (text === undefined || text === '') return null;
  const count = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (count > 0 && count <= MAX_PERIOD) return count * unit;
  throw new HandoverError('HANDOVER_CONFIG_INVALID', `${name} is not a whole number from 1 to ${MAX_PERIOD}`, {
    hint: `Set it to such a number, or unset it.`,
  });
}

/** Whether a handover may be restored now; if not, why, and which status that gives it, if any. */
export type Restorability = { ok: true } | { ok: false; reason: string; becomes: 'rejected_stale' | null };

export type RestoreContext = { nowMs: number; freshnessMs: number; status: string };

/** Only a pending and fresh handover may be restored. Files that have changed since do not matter: the brief lists them. */
export function judgeRestorable(handover: Handover, { nowMs, freshnessMs, status }: RestoreContext): Restorability {
  if (status !== 'pending') return { ok: false, reason: `it is ${status}`, becomes: null };
  const worked = Date.parse(lastChangeOf(handover));
  const until = handover.expires_at === null ? worked + freshnessMs : Date.parse(handover.expires_at);
  if (nowMs <= until) return { ok: true };
  return { ok: false, reason: `it expired; its work ended ${describeAge(nowMs - worked)}`, becomes: 'rejected_stale' };
}
