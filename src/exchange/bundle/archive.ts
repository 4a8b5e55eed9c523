import { CONTENT_NAMES, type ContentName, MAX_MANIFEST_BYTES } from './manifest.ts';
import { refuseForm } from './refusals.ts';

/** The members of a bundle, in their order in the file. */
export interface Archive {
  manifest: Buffer;
  /** Null when nobody signed it. */
  signature: Buffer | null;
  content: Buffer;
  contentName: ContentName;
}

const BLOCK = 512;
const MANIFEST = 'manifest';
const SIGNATURE = 'manifest.minisig';
const END = Buffer.alloc(2 * BLOCK);
const MAX_SIGNATURE_BYTES = 2048;

/** Nothing is compressed, so nothing in a bundle can be larger than the bundle. */
export const MAX_BUNDLE_BYTES: number = 32 * 1024 * 1024;

/** A tar file that any tar unpacks, and that is the same for the same members. */
export function formatArchive({ manifest, signature, content, contentName }: Archive): Buffer {
  return Buffer.concat([
    ...formatMember(MANIFEST, manifest),
    ...(signature === null ? [] : formatMember(SIGNATURE, signature)),
    ...formatMember(contentName, content),
    END,
  ]);
}

/** Whether a file looks like a bundle of ours at all. */
export function isArchive(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, MANIFEST.length + 1)).equals(Buffer.from(`${MANIFEST}\0`));
}

/**
 * Takes a bundle apart. Only the very bytes that `formatArchive` gives are accepted: other names, other headers, bytes
 * in between or behind are refused. No size that the file claims is believed beyond its own.
 */
export function parseArchive(bytes: Buffer): Archive {
  if (bytes.length > MAX_BUNDLE_BYTES) throw refuseForm('size');
  const manifest = takeMember(bytes, 0, [MANIFEST]);
  const second = takeMember(bytes, manifest.end, [SIGNATURE, ...CONTENT_NAMES]);
  const isSigned = second.name === SIGNATURE;
  const content = isSigned ? takeMember(bytes, second.end, CONTENT_NAMES) : second;
  const contentName = CONTENT_NAMES.find((name) => name === content.name);
  if (contentName === undefined) throw refuseForm('content');
  if (!bytes.subarray(content.end).equals(END)) throw refuseForm('end');
  if (manifest.bytes.length > MAX_MANIFEST_BYTES) throw refuseForm('manifest');
  if (isSigned && second.bytes.length > MAX_SIGNATURE_BYTES) throw refuseForm('signature');
  return {
    manifest: manifest.bytes,
    signature: isSigned ? second.bytes : null,
    content: content.bytes,
    contentName,
  };
}

interface Member {
  name: string;
  bytes: Buffer;
  /** Where the next one begins. */
  end: number;
}

function takeMember(bytes: Buffer, start: number, names: readonly string[]): Member {
  const header = bytes.subarray(start, start + BLOCK);
  const [told = ''] = header.toString('latin1', 0, 100).split('\0', 1);
  const name = names.find((known) => known === told);
  if (name === undefined) throw refuseForm(start === 0 ? MANIFEST : 'members');
  const size = Number.parseInt(header.toString('latin1', 124, 135), 8);
  if (!Number.isSafeInteger(size) || !formatHeader(name, size).equals(header))
    throw refuseForm(`header of ${name}`);
  const end = start + BLOCK + roundUp(size);
  if (end > bytes.length) throw refuseForm(`size of ${name}`);
  const data = bytes.subarray(start + BLOCK, start + BLOCK + size);
  if (bytes.subarray(start + BLOCK + size, end).some((byte) => byte !== 0))
    throw refuseForm(`padding of ${name}`);
  return { name, bytes: data, end };
}

function formatMember(name: string, data: Buffer): Buffer[] {
  return [formatHeader(name, data.length), data, Buffer.alloc(roundUp(data.length) - data.length)];
}

function roundUp(size: number): number {
  return Math.ceil(size / BLOCK) * BLOCK;
}

/** Neither owner nor time is told: they would only say who packed it, and when. */
function formatHeader(name: string, size: number): Buffer {
  const header = Buffer.alloc(BLOCK);
  header.write(name, 0, 'latin1');
  header.write('0000600\x000000000\x000000000\0', 100, 'latin1');
  header.write(`${size.toString(8).padStart(11, '0')}\0${'0'.repeat(11)}\0`, 124, 'latin1');
  header.write('        0', 148, 'latin1');
  header.write('ustar\x0000', 257, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}
