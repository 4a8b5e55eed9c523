import type { HandoverError } from '../../errors.ts';
import type { Handover, Imported, Signer } from '../../model/handover.ts';
import { sha256Hex } from '../../model/hash.ts';
import { findReceived } from '../../store/bundle-series.ts';
import type { Store } from '../../store/store.ts';
import { decryptWithAge } from './age.ts';
import { type Archive, parseArchive } from './archive.ts';
import { BUNDLE_FORMAT, receiveHandover } from './arrive.ts';
import { checkSigner, type Introduction } from './check-signer.ts';
import { parseContent } from './content.ts';
import { type Manifest, parseManifest, type SignedOrigin } from './manifest.ts';
import { fingerprint, parseSignature, verifyFile } from './minisign.ts';
import type { Opened, OpenOptions } from './opened.ts';
import { refuse, refuseForm, refuseUnsigned } from './refusals.ts';

/**
 * Opens a bundle of ours. In this order: the form of the file, the signature of the manifest, the digest of the content,
 * expiry and sequence, and only then keys, passphrases and JSON.
 */
export async function openOwnBundle(store: Store, bytes: Buffer, options: OpenOptions): Promise<Opened> {
  const archive = parseArchive(bytes);
  const manifest = readManifest(archive);
  const digest = sha256Hex(archive.manifest);
  const signer = await findSigner(archive, manifest, options);
  if (sha256Hex(archive.content) !== manifest.content.sha256) throw refuseForm('digest of the content');
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
  return { digest, signer, missing, detail, handovers: receive(handovers, signer, options) };
}

function readManifest(archive: Archive): Manifest {
  const manifest = parseManifest(archive.manifest.toString('utf8'));
  if ('wrong' in manifest) throw refuseForm(`manifest, ${manifest.wrong}`);
  if (manifest.content.name !== archive.contentName) throw refuseForm('name of the content');
  return manifest;
}

/** Null when nobody signed it and that is allowed. A signature that is there is never passed over. */
async function findSigner(
  archive: Archive,
  { origin }: Manifest,
  options: OpenOptions,
): Promise<Signer | null> {
  if (archive.signature === null) {
    if (!options.allowUnsigned) throw refuseUnsigned();
    return null;
  }
  const signature = parseSignature(archive.signature.toString('utf8'));
  if (signature === null || origin === null) throw refuseForm('signature');
  const claim = {
    name: origin.signer,
    key: origin.key,
    isSignedBy: (key: Introduction['key']) => verifyFile(archive.manifest, signature, key),
  };
  const known = await checkSigner(claim, options.machine, options.introduce);
  return { name: known.name, key: fingerprint(known.key) };
}

function checkExpiry({ expires_at }: Manifest, { machine }: OpenOptions): void {
  if (expires_at === null || machine.clock.now() <= Date.parse(expires_at)) return;
  throw refuse(`the bundle expired at ${expires_at}`, 'Ask the sender for a new one.');
}

/** What has come once, or is older than what has come, does not come again: it could undo what was learned since. */
function checkSequence(
  store: Store,
  origin: SignedOrigin,
  { digest, allowOlder }: { digest: string; allowOlder: boolean },
): Opened['detail'] {
  const { series, sequence, previous } = origin;
  const key = fingerprint(origin.key);
  const last = findReceived(store, key, series);
  const isNext = last !== null && sequence === last.sequence + 1;
  if (isNext && previous !== last.digest && !allowOlder) throw refuseFork(sequence);
  if (last !== null && sequence <= last.sequence && !allowOlder) {
    const isSame = digest === last.digest;
    throw refuse(
      isSame
        ? `this bundle was imported before (number ${sequence})`
        : `the bundle is number ${sequence} of its series, and number ${last.sequence} was imported before`,
      isSame ? 'There is nothing to do. See: handover list' : 'To take it nevertheless: --allow-older',
      { sequence, last: last.sequence },
    );
  }
  return { key, series, sequence };
}

function refuseFork(sequence: number): HandoverError {
  return refuse(
    `the bundle, number ${sequence} of its series, does not follow the one that was imported before it`,
    'Two senders may use one key. Ask the sender; to take it nevertheless: --allow-older',
  );
}

/** The same handover is the same again in every bundle of its signer: nothing of the bundle is kept in it. */
function receive(
  handovers: readonly Handover[],
  signer: Signer | null,
  { makeRedactor }: OpenOptions,
): Handover[] {
  const inBundle = new Set(handovers.map(({ id }) => id));
  return handovers.map((handover) => {
    const { id, imported: earlier } = handover;
    const detail = earlier === undefined ? {} : { detail: { earlier: describeEarlier(earlier) } };
    const imported = { format: BUNDLE_FORMAT, id, signer, ...detail };
    return receiveHandover(handover, { imported, inBundle, redactor: makeRedactor() });
  });
}

/** Where it had come from before, as the signer says. */
function describeEarlier({ format, id, signer }: Imported): Record<string, unknown> {
  return { format, id, ...(signer === undefined ? {} : { signer }) };
}
