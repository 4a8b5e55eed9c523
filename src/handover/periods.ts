import { HandoverError } from '../errors.ts';
import type { Env } from '../platform/machine.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** For so long a handover is restored without being asked for by name. */
export const DEFAULT_FRESHNESS_MS: number = 20 * MINUTE_MS;
export const DEFAULT_RETENTION_MS: number = 90 * DAY_MS;

export function readFreshness(env: Env): number {
  return readPeriod(env, 'HANDOFF_FRESHNESS_MINUTES', MINUTE_MS) ?? DEFAULT_FRESHNESS_MS;
}

/** After so long a handover may be cleaned up. */
export function readRetention(env: Env): number {
  return readPeriod(env, 'HANDOFF_RETENTION_DAYS', DAY_MS) ?? DEFAULT_RETENTION_MS;
}

const MOST = 100_000;

function readPeriod(env: Env, name: string, unit: number): number | null {
  const text = env[name]?.trim();
  if (text === undefined || text === '') return null;
  const count = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (count > 0 && count <= MOST) return count * unit;
  throw new HandoverError('HANDOVER_CONFIG_INVALID', `${name} is not a whole number from 1 to ${MOST}`, {
    hint: `Set it to such a number, or unset it.`,
  });
}
