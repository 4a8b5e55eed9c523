import { malformedError } from '../errors.ts';
import { formatPublicKey, type PublicKey, parsePublicKey } from './minisign.ts';
import { isSignerName } from './trust-list.ts';

/** What a signer vouches for: what is in a bundle, by its digest, and where the bundle stands among others. */
export interface Manifest {
  created_at: string;
  expires_at: string | null;
  /** Null in a bundle that nobody signed. */
  origin: SignedOrigin | null;
  handovers: number;
  content: { name: ContentName; sha256: string };
}

export interface SignedOrigin {
  signer: string;
  key: PublicKey;
  /** Bundles that follow each other have one series and a growing sequence. */
  series: string;
  sequence: number;
  /** The digest of the manifest before this one in the series. */
  previous: string | null;
}

export const CONTENT_NAMES = ['handovers.jsonl', 'handovers.jsonl.age'] as const;
export type ContentName = (typeof CONTENT_NAMES)[number];

export const MAX_MANIFEST_BYTES = 4096;
export const MAX_HANDOVERS = 1000;

const NONE = 'none';

/** Lines that `sha256sum -c` takes: all but the last are comments to it. The first one says what is signed here. */
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

/** The manifest, or the name of the field that is wrong. */
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
  for (const [field, time] of [
    ['created', created],
    ['expires', manifest.expires_at],
  ] as const)
    if (time !== null && Number.isNaN(Date.parse(time))) return { wrong: field };
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

/** The first line that is not in its place, by the name that it should have. */
function findWrongField(text: string): string {
  const lines = text.split('\n');
  if (lines[0] !== '# agent-handover bundle 1') return 'version';
  const at = FIELDS.findIndex((field, index) => lines[index + 1]?.startsWith(`# ${field}: `) !== true);
  return FIELDS[at] ?? 'form';
}

/** The members of a bundle, in their order in the file. */
export interface Archive {
  manifest: Buffer;
  /** Null when nobody signed it. */
  signature: Buffer | null;
  content: Buffer;
  contentName: ContentName;
}

const BLOCK = 512;
const MANIFEST_NAME = 'manifest';
const SIGNATURE_NAME = 'manifest.minisig';
const END = Buffer.alloc(2 * BLOCK);
const MAX_SIGNATURE_BYTES = 2048;

/** Nothing is compressed, so nothing in a bundle can be larger than the bundle. */
export const MAX_BUNDLE_BYTES: number = 32 * 1024 * 1024;

/** A tar file that any tar unpacks, and that is the same for the same members. */
export function formatArchive({ manifest, signature, content, contentName }: Archive): Buffer {
  return Buffer.concat([
    ...formatMember(MANIFEST_NAME, manifest),
    ...(signature === null ? [] : formatMember(SIGNATURE_NAME, signature)),
    ...formatMember(contentName, content),
    END,
  ]);
}

/** Whether a file looks like a bundle of ours at all. */
export function isArchive(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, MANIFEST_NAME.length + 1)).equals(Buffer.from(`${MANIFEST_NAME}\0`));
}

/**
 * Takes a bundle apart. Only the very bytes that `formatArchive` gives are accepted: other names, other headers, bytes
 * in between or behind are refused. No size that the file claims is believed beyond its own.
 */
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
  if (name === undefined) throw malformedError(start === 0 ? MANIFEST_NAME : 'members');
  const size = Number.parseInt(header.toString('latin1', 124, 135), 8);
  if (!Number.isSafeInteger(size) || !formatHeader(name, size).equals(header))
    throw malformedError(`header of ${name}`);
  const end = start + BLOCK + roundUp(size);
  if (end > bytes.length) throw malformedError(`size of ${name}`);
  const data = bytes.subarray(start + BLOCK, start + BLOCK + size);
  if (bytes.subarray(start + BLOCK + size, end).some((byte) => byte !== 0))
    throw malformedError(`padding of ${name}`);
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
