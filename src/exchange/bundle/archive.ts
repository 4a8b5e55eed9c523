import { malformedError } from '../errors.ts';
import { formatPublicKey, type PublicKey, parsePublicKey } from './minisign.ts';
import { isSignerName } from './trust-list.ts';

/** What the signature covers: the digest of the content, and the bundle's position in its series. */
export interface Manifest {
  created_at: string;
  expires_at: string | null;
  /** Null in an unsigned bundle. */
  origin: SignedOrigin | null;
  handovers: number;
  content: { name: ContentName; sha256: string };
}

export interface SignedOrigin {
  signer: string;
  key: PublicKey;
  /** Successive bundles share a series and have growing sequence numbers. */
  series: string;
  sequence: number;
  /** The digest of the previous manifest of the series. */
  previous: string | null;
}

export const CONTENT_NAMES = ['handovers.jsonl', 'handovers.jsonl.age'] as const;
type ContentName = (typeof CONTENT_NAMES)[number];

const MAX_MANIFEST_BYTES = 4096;
export const MAX_HANDOVERS = 1000;

const NONE = 'none';

/** Valid input for `sha256sum -c`, to which all lines but the last are comments. */
export function formatManifest({ created_at, expires_at, origin, handovers, content }: Manifest): string {
  return `${[
    '# agent-handover bundle 1',
    `# created: ${created_at}`,
    `# expires: ${expires_at ?? NONE}`,
    `# signer: ${origin?.signer ?? NONE}`,
    `# key: ${origin === null ? NONE : formatPublicKey(origin.key)}`,
    `# series: ${origin?.series ?? NONE}`,
    `# sequence: ${origin?.sequence ?? 0}`,
    `# previous: ${origin?.previous ?? NONE}`,
    `# handovers: ${handovers}`,
    `${content.sha256}  ${content.name}`,
  ].join('\n')}\n`;
}

const TIME = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;
const MANIFEST = new RegExp(
  [
    '^# agent-handover bundle 1',
    `# created: (${TIME})`,
    `# expires: (${TIME}|none)`,
    '# signer: ([^\\n]{1,64})',
    '# key: ([A-Za-z0-9+/=]{4,60})',
    '# series: ([0-9a-z]{4,32})',
    '# sequence: (\\d{1,15})',
    '# previous: ([0-9a-f]{64}|none)',
    '# handovers: (\\d{1,6})',
    '([0-9a-f]{64})  (handovers\\.jsonl(?:\\.age)?)\n$',
  ].join('\n'),
);

/** The manifest, or the name of the invalid field. */
export function parseManifest(text: string): Manifest | { wrong: string } {
  const fields = MANIFEST.exec(text);
  if (fields === null) return { wrong: findWrongField(text) };
  const [, created = '', expires = '', signer = '', key = '', series = '', ...rest] = fields;
  const [sequence = '', previous = '', handovers = '', sha256 = '', name = ''] = rest;
  const content = CONTENT_NAMES.find((known) => known === name);
  if (content === undefined) return { wrong: 'content' };
  const origin = readOrigin({ signer, key, series, sequence, previous });
  if (typeof origin === 'string') return { wrong: origin };
  const manifest: Manifest = {
    created_at: created,
    expires_at: expires === NONE ? null : expires,
    origin,
    handovers: Number(handovers),
    content: { name: content, sha256 },
  };
  if (Number.isNaN(Date.parse(created))) return { wrong: 'created' };
  if (expires !== NONE && Number.isNaN(Date.parse(expires))) return { wrong: 'expires' };
  if (manifest.handovers < 1 || manifest.handovers > MAX_HANDOVERS) return { wrong: 'handovers' };
  return formatManifest(manifest) === text ? manifest : { wrong: 'form' };
}

type OriginFields = Record<'signer' | 'key' | 'series' | 'sequence' | 'previous', string>;

function readOrigin(fields: OriginFields): SignedOrigin | null | keyof OriginFields {
  const { signer, series } = fields;
  const previous = fields.previous === NONE ? null : fields.previous;
  const sequence = Number(fields.sequence);
  if (fields.key === NONE) return signer === NONE && series === NONE && sequence === 0 ? null : 'key';
  const key = parsePublicKey(fields.key);
  if (key === null) return 'key';
  if (!isSignerName(signer)) return 'signer';
  if (series === NONE) return 'series';
  return sequence < 1 ? 'sequence' : { signer, key, series, sequence, previous };
}

const FIELDS = ['created', 'expires', 'signer', 'key', 'series', 'sequence', 'previous', 'handovers'];

function findWrongField(text: string): string {
  const lines = text.split('\n');
  if (lines[0] !== '# agent-handover bundle 1') return 'version';
  const at = FIELDS.findIndex((field, index) => lines[index + 1]?.startsWith(`# ${field}: `) !== true);
  return FIELDS[at] ?? 'form';
}

/** The members of a bundle, in file order. */
export interface Archive {
  manifest: Buffer;
  /** Null when unsigned. */
  signature: Buffer | null;
  content: Buffer;
  contentName: ContentName;
}

const BLOCK = 512;
const MANIFEST_NAME = 'manifest';
const SIGNATURE_NAME = 'manifest.minisig';
const END = Buffer.alloc(2 * BLOCK);
const MAX_SIGNATURE_BYTES = 2048;

/** Nothing is compressed, so this bounds the content too. */
export const MAX_BUNDLE_BYTES: number = 32 * 1024 * 1024;

/** A tar file, deterministic. */
export function formatArchive({ manifest, signature, content, contentName }: Archive): Buffer {
  return Buffer.concat([
    ...formatMember(MANIFEST_NAME, manifest),
    ...(signature === null ? [] : formatMember(SIGNATURE_NAME, signature)),
    ...formatMember(contentName, content),
    END,
  ]);
}

export function isArchive(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, MANIFEST_NAME.length + 1)).equals(Buffer.from(`${MANIFEST_NAME}\0`));
}

/** Accepts only the exact bytes that `formatArchive` writes: no other names, headers, or extra bytes. */
export function parseArchive(bytes: Buffer): Archive {
  if (bytes.length > MAX_BUNDLE_BYTES) throw malformedError('size');
  const manifest = takeMember(bytes, 0, [MANIFEST_NAME]);
  const second = takeMember(bytes, manifest.end, [SIGNATURE_NAME, ...CONTENT_NAMES]);
  const isSigned = second.name === SIGNATURE_NAME;
  const content = isSigned ? takeMember(bytes, second.end, CONTENT_NAMES) : second;
  const contentName = CONTENT_NAMES.find((name) => name === content.name);
  if (contentName === undefined) throw malformedError('content');
  if (!bytes.subarray(content.end).equals(END)) throw malformedError('end');
  if (manifest.bytes.length > MAX_MANIFEST_BYTES) throw malformedError('manifest');
  if (isSigned && second.bytes.length > MAX_SIGNATURE_BYTES) throw malformedError('signature');
  const signature = isSigned ? second.bytes : null;
  return { manifest: manifest.bytes, signature, content: content.bytes, contentName };
}

/** `end` is the start of the next one. */
function takeMember(bytes: Buffer, start: number, names: readonly string[]) {
  const header = bytes.subarray(start, start + BLOCK);
  const [claimed = ''] = header.toString('latin1', 0, 100).split('\0', 1);
  const name = names.find((known) => known === claimed);
  if (name === undefined) throw malformedError(start === 0 ? MANIFEST_NAME : 'members');
  const size = Number.parseInt(header.toString('latin1', 124, 135), 8);
  if (!Number.isSafeInteger(size) || !formatHeader(name, size).equals(header))
    throw malformedError(`header of ${name}`);
  const end = start + BLOCK + roundUp(size);
  if (end > bytes.length) throw malformedError(`size of ${name}`);
  const padding = bytes.subarray(start + BLOCK + size, end);
  if (padding.some((byte) => byte !== 0)) throw malformedError(`padding of ${name}`);
  return { name, bytes: bytes.subarray(start + BLOCK, start + BLOCK + size), end };
}

function formatMember(name: string, data: Buffer): Buffer[] {
  return [formatHeader(name, data.length), data, Buffer.alloc(roundUp(data.length) - data.length)];
}

function roundUp(size: number): number {
  return Math.ceil(size / BLOCK) * BLOCK;
}

/** Without owner and time, which would only reveal who packed it and when. */
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
