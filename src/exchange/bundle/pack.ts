import { HandoverError } from '../../errors.ts';
import type { Handover } from '../../model/handover.ts';
import { sha256Hex } from '../../model/hash.ts';
import { takeNextInSeries } from '../../store/bundle-series.ts';
import type { Store } from '../../store/store.ts';
import { type Encryption, encryptWithAge } from './age.ts';
import { formatArchive, formatManifest, MAX_BUNDLE_BYTES, MAX_HANDOVERS, type Manifest } from './archive.ts';
import { formatContent } from './content.ts';
import { signFile } from './minisign.ts';
import type { OwnKeys } from './own-keys.ts';

export interface PackOptions {
  createdAt: string;
  expiresAt: string | null;
  /** Null for an unsigned bundle. */
  signer: OwnKeys | null;
  /** Null for an unencrypted bundle. */
  encryption: Encryption | null;
}

/** The handovers must have gone through `prepareExport`. */
export async function packBundle(
  store: Store,
  handovers: readonly Handover[],
  { createdAt, expiresAt, signer, encryption }: PackOptions,
): Promise<Buffer> {
  if (handovers.length > MAX_HANDOVERS) throw tooLargeError(`${MAX_HANDOVERS} handovers`);
  const plain = formatContent(handovers);
  const content = encryption === null ? plain : await encryptWithAge(plain, encryption);
  if (content.length > MAX_BUNDLE_BYTES - 16 * 1024) throw tooLargeError(`${MAX_BUNDLE_BYTES} bytes`);
  const contentName = encryption === null ? 'handovers.jsonl' : 'handovers.jsonl.age';
  const manifest: Manifest = {
    created_at: createdAt,
    expires_at: expiresAt,
    origin: null,
    handovers: handovers.length,
    content: { name: contentName, sha256: sha256Hex(content) },
  };
  const pack = (text: string, signature: Buffer | null): Buffer =>
    formatArchive({ manifest: Buffer.from(text), signature, content, contentName });
  if (signer === null) return pack(formatManifest(manifest), null);
  return takeNextInSeries(store, findScope(handovers), (place) => {
    const { name, secret } = signer;
    const { id, key } = secret;
    const text = formatManifest({ ...manifest, origin: { signer: name, key: { id, key }, ...place } });
    const trusted = `agent-handover bundle of ${name}, number ${place.sequence}, made ${createdAt}`;
    const signature = signFile(Buffer.from(text), secret, { untrusted: 'signature of the manifest', trusted });
    return { digest: sha256Hex(text), bundle: pack(text, Buffer.from(signature)) };
  });
}

/** Each project has its own series. */
function findScope(handovers: readonly Handover[]): string {
  const [first, ...others] = new Set(handovers.map(({ project }) => project.id));
  return first === undefined || others.length > 0 ? 'many' : first;
}

function tooLargeError(limit: string): HandoverError {
  const hint = 'Export them in parts, by --since or --id, or fewer facts with --only.';
  return new HandoverError('HANDOVER_TEXT_TOO_LARGE', `a bundle holds at most ${limit}`, { hint });
}
