import { isUtf8 } from 'node:buffer';
import type { Redactor } from './redactor.ts';
import { findBySecretlint } from './secretlint.ts';

/** A key, a private part or a line is redacted as a whole up to this length. */
const MAX_BUFFERED = 4 * 1024 * 1024;
/** V8 decodes this much without an allocation outside of its heap. */
const PART = 64 * 1024;

/**
 * Redacts a stream in bounded memory. Bytes that are no UTF-8 stay as they are. A value found by its context is redacted from
 * there on, not in what was yielded before.
 */
export async function* redactBytes(chunks: Iterable<Uint8Array>, redactor: Redactor): AsyncGenerator<Uint8Array> {
  let buffered: Buffer = Buffer.alloc(0);
  for (const chunk of chunks) {
    buffered =
      buffered.length === 0
        ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
        : Buffer.concat([buffered, chunk]);
    while (buffered.length >= PART) {
      const end = findCut(buffered.subarray(0, PART)) || findCut(buffered);
      if (end === 0) break;
      yield await redactPart(buffered.subarray(0, end), redactor);
      buffered = buffered.subarray(end);
    }
  }
  if (buffered.length > 0) yield await redactPart(buffered, redactor);
}

/** Where to cut: behind the last line that is not inside of a key or private part; 0 where more bytes are needed. */
function findCut(bytes: Buffer): number {
  let end = bytes.lastIndexOf(0x0a) + 1;
  while (end > 1 && bytes[end - 2] === 0x5c) end = bytes.lastIndexOf(0x0a, end - 2) + 1;
  const part = bytes.subarray(0, end);
  for (const [open, close] of PAIRS) {
    const start = part.lastIndexOf(open);
    if (start !== -1 && part.indexOf(close, start) === -1) end = Math.min(end, part.lastIndexOf(0x0a, start) + 1);
  }
  return end === 0 && bytes.length >= MAX_BUFFERED ? bytes.length : end;
}

const PAIRS = Object.entries({
  '-----BEGIN ': '-----END ',
  'PuTTY-User-Key-File-': 'Private-MAC: ',
  '<private>': '</private>',
});

async function redactPart(bytes: Buffer, redactor: Redactor): Promise<Uint8Array> {
  const { text, encoding } = decode(bytes);
  const redacted = redactor.redactText(text);
  const more = await findBySecretlint(redacted);
  if (more.length > 0) return Buffer.from(redactor.replaceSpans(redacted, more), encoding);
  if (redacted === text) return bytes;
  const result = Buffer.from(redacted, encoding);
  // What is UTF-8 once other bytes were redacted is read better than as Latin-1.
  return encoding === 'latin1' && isUtf8(result) ? redactFile(result, redactor) : result;
}

/** A whole file; without secrets, the same bytes. */
export function redactFile(bytes: Buffer, redactor: Redactor): Buffer {
  const { text, encoding } = decode(bytes);
  const redacted = redactor.redactText(text);
  if (redacted === text) return bytes;
  const result = Buffer.from(redacted, encoding);
  // What is UTF-8 once other bytes were redacted is read better than as Latin-1.
  return encoding === 'latin1' && isUtf8(result) ? redactFile(result, redactor) : result;
}

function decode(bytes: Buffer): { text: string; encoding: 'utf8' | 'latin1' } {
  const encoding = isUtf8(bytes) ? 'utf8' : 'latin1';
  return { text: bytes.toString(encoding), encoding };
}
