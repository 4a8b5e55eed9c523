import type { Signer } from '../../model/handover.ts';
import { sha256Hex } from '../../model/hash.ts';
import { describeLostProject, readSessionHandoffRecord } from '../legacy/session-handoff-view.ts';
import { receiveHandover } from './arrive.ts';
import { checkSigner } from './check-signer.ts';
import { fingerprint } from './minisign.ts';
import type { Opened, OpenOptions } from './opened.ts';
import { refuseUnsigned } from './refusals.ts';
import {
  parseBundleJson,
  readSessionHandoffBundle,
  type SessionHandoffBundle,
} from './session-handoff-bundle.ts';
import { isLocked, unlockSessionHandoff } from './session-handoff-lock.ts';
import { isSignerName } from './signer-name.ts';

/**
 * Opens a bundle of session-handoff. Its signature lies inside the encryption and covers the record alone, so the header
 * is checked word by word first. What it does not have, a sequence and an expiry, cannot be checked.
 */
export async function openSessionHandoffBundle(bytes: Buffer, options: OpenOptions): Promise<Opened> {
  const outer = parseBundleJson(bytes);
  const inner = isLocked(outer) ? await unlock(outer, options) : outer;
  const bundle = readSessionHandoffBundle(inner);
  const signer = await findSigner(bundle, options);
  const record = { ...bundle.record, next: bundle.record.next ?? [] };
  const draft = readSessionHandoffRecord(record, describeLostProject(record.project), '.');
  const { format, id } = draft.imported ?? { format: '', id: '' };
  const handover = receiveHandover(draft, {
    imported: { format, id, signer },
    inBundle: new Set(),
    redactor: options.makeRedactor(),
  });
  return { digest: sha256Hex(bytes), signer, missing: bundle.missing, detail: {}, handovers: [handover] };
}

async function unlock(outer: unknown, { opener }: OpenOptions): Promise<unknown> {
  const plain = await unlockSessionHandoff(outer, () => opener.askPassphrase());
  return parseBundleJson(plain);
}

async function findSigner(
  { claim }: SessionHandoffBundle,
  { allowUnsigned, machine, introduce }: OpenOptions,
): Promise<Signer | null> {
  if (claim === null) {
    if (!allowUnsigned) throw refuseUnsigned();
    return null;
  }
  const name = isSignerName(claim.name) ? claim.name : `key ${claim.key.id.toString('hex')}`;
  const known = await checkSigner({ ...claim, name }, machine, introduce);
  return { name: known.name, key: fingerprint(known.key) };
}
