import { createHmac } from 'node:crypto';
import { encodeBase32 } from '../model/hash.ts';

const OPENING = '[redacted:';
const MARK_LENGTH = 8;
const PLACEHOLDER = /(\[redacted:[a-z0-9-]{1,40}:[0-9a-z]{8}\])/;

/** What stands for a secret: its kind, and a mark that is the same for the same secret and tells nothing without the key. */
export function formatPlaceholder(kind: string, mark: string): string {
  return `${OPENING}${kind}:${mark}]`;
}

/** The digest is asked for as text: as bytes, V8 throws away all machine code that works on bytes. */
export function computeMark(secret: string, key: Uint8Array): string {
  const digest = createHmac('sha256', key).update(secret).digest('hex');
  return encodeBase32(Buffer.from(digest, 'hex'), MARK_LENGTH);
}

export function hasPlaceholders(text: string): boolean {
  return text.includes(OPENING);
}

/** The text between placeholders at even places, the placeholders themselves at odd ones. */
export function splitAtPlaceholders(text: string): string[] {
  return hasPlaceholders(text) ? text.split(PLACEHOLDER) : [text];
}
