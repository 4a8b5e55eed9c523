import type { Handover, Signer } from '../../model/handover.ts';
import { sha256Hex } from '../../model/hash.ts';
import type { Redactor } from '../../redact/redactor.ts';
import { findReceived } from '../../store/bundle-series.ts';
import type { Store } from '../../store/store.ts';
import { malformedError, untrustedError } from '../errors.ts';
import { acceptHandover, BUNDLE_FORMAT } from './accept-import.ts';
import { type DecryptionKeys, decryptWithAge } from './age.ts';
import { type Archive, type Manifest, parseArchive, parseManifest, type SignedOrigin } from './archive.ts';
import { parseContent } from './content.ts';
import { fingerprint, parseSignature, verifyFile } from './minisign.ts';
import { checkSigner, type SignerClaim, type SignerOptions } from './trust-list.ts';

export interface OpenOptions extends SignerOptions {
  opener: DecryptionKeys;
  /** A new one for each handover. */
  makeRedactor(): Redactor;
  /** Accept bundles that are not newer than the last one imported. */
  allowOlder: boolean;
}

/** A verified bundle: its handovers as they are stored here. */
export interface BundleContents {
  digest: string;
  signer: Signer | null;
  /** What could not be checked. */
  missing: readonly string[];
  /** Its position in its series, for the journal. */
  detail: { key?: string; series?: string; sequence?: number };
  handovers: Handover[];
}

/** Checks, in order: file format, signature, digest, expiry, sequence; only then decrypts the content and parses it. */
export async function openBundle(store: Store, bytes: Buffer, options: OpenOptions): Promise<BundleContents> {
  const archive = parseArchive(bytes);
  const manifest = readManifest(archive);
  const digest = sha256Hex(archive.manifest);
  const signer = await checkSigner(readClaim(archive, manifest), options);
  if (sha256Hex(archive.content) !== manifest.content.sha256) throw malformedError('digest of the content');
  const { expires_at, origin } = manifest;
  if (expires_at !== null && options.machine.clock.now() > Date.parse(expires_at))
    throw untrustedError(`the bundle expired at ${expires_at}`, { hint: 'Ask the sender for a new one.' });
  const detail = signer !== null && origin !== null ? checkSequence(store, origin, digest, options) : {};
  const isPlain = archive.contentName === 'handovers.jsonl';
  const content = isPlain ? archive.content : await decryptWithAge(archive.content, options.opener);
  const handovers = acceptHandovers(parseContent(content, manifest.handovers), signer, options.makeRedactor);
  return { digest, signer, missing: signer === null ? ['a signature'] : [], detail, handovers };
}

function readManifest(archive: Archive): Manifest {
  const manifest = parseManifest(archive.manifest.toString('utf8'));
  if ('wrong' in manifest) throw malformedError(`manifest, ${manifest.wrong}`);
  if (manifest.content.name !== archive.contentName) throw malformedError('name of the content');
  return manifest;
}

/** Null when there is no signature. An invalid one is always an error. */
function readClaim(archive: Archive, { origin }: Manifest): SignerClaim | null {
  if (archive.signature === null) return null;
  const signature = parseSignature(archive.signature.toString('utf8'));
  if (signature === null || origin === null) throw malformedError('signature');
  const { signer: name, key } = origin;
  return { name, key, isSignedBy: (known) => verifyFile(archive.manifest, signature, known) };
}

/** Replayed and older bundles are refused: they could undo newer knowledge. */
function checkSequence(store: Store, origin: SignedOrigin, digest: string, { allowOlder }: OpenOptions) {
  const { series, sequence, previous } = origin;
  const key = fingerprint(origin.key);
  const last = findReceived(store, key, series);
  const isNext = last !== null && sequence === last.sequence + 1;
  if (isNext && previous !== last.digest && !allowOlder)
    throw untrustedError(
      `the bundle, number ${sequence} of its series, does not follow the one that was imported before it`,
      { hint: 'Two senders may use one key. Ask the sender; to import it anyway: --allow-older' },
    );
  if (last !== null && sequence <= last.sequence && !allowOlder) {
    const isSame = digest === last.digest;
    throw untrustedError(
      isSame
        ? `this bundle was imported before (number ${sequence})`
        : `the bundle is number ${sequence} of its series, and number ${last.sequence} was imported before`,
      {
        hint: isSame ? 'There is nothing to do. See: handover list' : 'To import it anyway: --allow-older',
        data: { sequence, last: last.sequence },
      },
    );
  }
  return { key, series, sequence };
}

/** Nothing of the bundle is stored in a handover, so that it is the same in every bundle of its signer. */
function acceptHandovers(handovers: Handover[], signer: Signer | null, makeRedactor: () => Redactor) {
  const inBundle = new Set(handovers.map(({ id }) => id));
  return handovers.map((handover) => {
    const { id, imported: earlier } = handover;
    // Where it came from before, as the signer says.
    const { detail: _, ...origin } = earlier ?? {};
    const detail = earlier === undefined ? {} : { detail: { earlier: origin } };
    const imported = { format: BUNDLE_FORMAT, id, signer, ...detail };
    return acceptHandover(handover, { imported, inBundle, redactor: makeRedactor() });
  });
}
