import type { HandoverError } from '../../errors.ts';
import type { Handover, Imported, Signer } from '../../model/handover.ts';
import { sha256Hex } from '../../model/hash.ts';
import type { Machine } from '../../platform/machine.ts';
import type { Redactor } from '../../redact/redactor.ts';
import { findReceived } from '../../store/series.ts';
import type { Store } from '../../store/store.ts';
import { malformedError, unsignedError, untrustedError } from '../errors.ts';
import { acceptHandover, BUNDLE_FORMAT } from './accept-import.ts';
import { decryptWithAge, type Opener } from './age.ts';
import { type Archive, type Manifest, parseArchive, parseManifest, type SignedOrigin } from './archive.ts';
import { parseContent } from './content.ts';
import { fingerprint, parseSignature, verifyFile } from './minisign.ts';
import { type ConfirmSigner, checkSigner, type SignerIdentity } from './trust-list.ts';

export interface OpenOptions {
  machine: Machine;
  opener: Opener;
  confirmSigner: ConfirmSigner;
  /** For each handover one of its own. */
  makeRedactor(): Redactor;
  allowUnsigned: boolean;
  /** Also what is not newer than what was imported before. */
  allowOlder: boolean;
}

/** A bundle that was verified and read: handovers as they are kept here. */
export interface BundleContents {
  digest: string;
  /** Null when nobody vouches for it. */
  signer: Signer | null;
  /** What a reader would want to rely on, and cannot. */
  missing: readonly string[];
  /** Where it stands in its series, for the journal. */
  detail: { key?: string; series?: string; sequence?: number };
  handovers: Handover[];
}

/**
 * Opens a bundle of ours. In this order: the form of the file, the signature of the manifest, the digest of the content,
 * expiry and sequence, and only then keys, passphrases and JSON.
 */
export async function openOwnBundle(
  store: Store,
  bytes: Buffer,
  options: OpenOptions,
): Promise<BundleContents> {
  const archive = parseArchive(bytes);
  const manifest = readManifest(archive);
  const digest = sha256Hex(archive.manifest);
  const signer = await findSigner(archive, manifest, options);
  if (sha256Hex(archive.content) !== manifest.content.sha256) throw malformedError('digest of the content');
  checkExpiry(manifest, options);
  const origin = signer === null ? null : manifest.origin;
  const detail =
    origin === null ? {} : checkSequence(store, origin, { digest, allowOlder: options.allowOlder });
  const content =
    archive.contentName === 'handovers.jsonl'
      ? archive.content
      : await decryptWithAge(archive.content, options.opener);
  const handovers = parseContent(content, manifest.handovers);
  const missing = signer === null ? ['a signature'] : [];
  return { digest, signer, missing, detail, handovers: acceptHandovers(handovers, signer, options) };
}

function readManifest(archive: Archive): Manifest {
  const manifest = parseManifest(archive.manifest.toString('utf8'));
  if ('wrong' in manifest) throw malformedError(`manifest, ${manifest.wrong}`);
  if (manifest.content.name !== archive.contentName) throw malformedError('name of the content');
  return manifest;
}

/** Null when nobody signed it and that is allowed. A signature that is there is never passed over. */
async function findSigner(
  archive: Archive,
  { origin }: Manifest,
  options: OpenOptions,
): Promise<Signer | null> {
  if (archive.signature === null) {
    if (!options.allowUnsigned) throw unsignedError();
    return null;
  }
  const signature = parseSignature(archive.signature.toString('utf8'));
  if (signature === null || origin === null) throw malformedError('signature');
  const claim = {
    name: origin.signer,
    key: origin.key,
    isSignedBy: (key: SignerIdentity['key']) => verifyFile(archive.manifest, signature, key),
  };
  const known = await checkSigner(claim, options.machine, options.confirmSigner);
  return { name: known.name, key: fingerprint(known.key) };
}

function checkExpiry({ expires_at }: Manifest, { machine }: OpenOptions): void {
  if (expires_at === null || machine.clock.now() <= Date.parse(expires_at)) return;
  throw untrustedError(`the bundle expired at ${expires_at}`, 'Ask the sender for a new one.');
}

/** What has come once, or is older than what has come, does not come again: it could undo what was learned since. */
function checkSequence(
  store: Store,
  origin: SignedOrigin,
  { digest, allowOlder }: { digest: string; allowOlder: boolean },
): BundleContents['detail'] {
  const { series, sequence, previous } = origin;
  const key = fingerprint(origin.key);
  const last = findReceived(store, key, series);
  const isNext = last !== null && sequence === last.sequence + 1;
  if (isNext && previous !== last.digest && !allowOlder) throw forkError(sequence);
  if (last !== null && sequence <= last.sequence && !allowOlder) {
    const isSame = digest === last.digest;
    throw untrustedError(
      isSame
        ? `this bundle was imported before (number ${sequence})`
        : `the bundle is number ${sequence} of its series, and number ${last.sequence} was imported before`,
      isSame ? 'There is nothing to do. See: handover list' : 'To take it nevertheless: --allow-older',
      { sequence, last: last.sequence },
    );
  }
  return { key, series, sequence };
}

function forkError(sequence: number): HandoverError {
  return untrustedError(
    `the bundle, number ${sequence} of its series, does not follow the one that was imported before it`,
    'Two senders may use one key. Ask the sender; to take it nevertheless: --allow-older',
  );
}

/** The same handover is the same again in every bundle of its signer: nothing of the bundle is kept in it. */
function acceptHandovers(
  handovers: readonly Handover[],
  signer: Signer | null,
  { makeRedactor }: OpenOptions,
): Handover[] {
  const inBundle = new Set(handovers.map(({ id }) => id));
  return handovers.map((handover) => {
    const { id, imported: earlier } = handover;
    const detail = earlier === undefined ? {} : { detail: { earlier: describeEarlier(earlier) } };
    const imported = { format: BUNDLE_FORMAT, id, signer, ...detail };
    return acceptHandover(handover, { imported, inBundle, redactor: makeRedactor() });
  });
}

/** Where it had come from before, as the signer says. */
function describeEarlier({ format, id, signer }: Imported): Record<string, unknown> {
  return { format, id, ...(signer === undefined ? {} : { signer }) };
}
