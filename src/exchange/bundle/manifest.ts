import { formatPublicKey, type PublicKey, parsePublicKey } from './minisign.ts';
import { isSignerName } from './signer-name.ts';

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
