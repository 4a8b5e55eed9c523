import { encodeBase32 } from './hash.ts';
import { formatTimestamp } from './time.ts';

/** `YYYYMMDD-HHMMSS-xxxx`; the fourth part is absent or three digits in ids that session-handoff gave. */
export const HANDOVER_ID: RegExp = /^\d{4}(?:0[1-9]|1[0-2])\d{2}-\d{6}(?:-[0-9a-z]{3,4})?$/;

export function isHandoverId(text: string): boolean {
  return HANDOVER_ID.test(text);
}

/** Whether an id could begin like this. */
export function isIdPrefix(text: string): boolean {
  return /^[0-9][0-9a-z-]{0,19}$/.test(text);
}

/** Four base32 characters from three random bytes: 20 bits, so a store must still create exclusively. */
export function makeHandoverId(createdAtMs: number, random: Uint8Array): string {
  return `${formatIdTime(createdAtMs)}-${encodeBase32(random, 4)}`;
}

export function formatIdTime(ms: number): string {
  const [date = '', time = ''] = formatTimestamp(ms).split('T');
  return `${date.replaceAll('-', '')}-${time.slice(0, 8).replaceAll(':', '')}`;
}

/** The second in which a handover with this id was made. */
export function readIdTime(id: string): number {
  const [, year, month, day, hours, minutes, seconds] = /^(....)(..)(..)-(..)(..)(..)/.exec(id) ?? [];
  return Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}Z`);
}

export const PROJECT_ID: RegExp = /^p-[0-9a-hjkmnp-tv-z]{16}$/;
