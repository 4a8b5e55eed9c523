import type { HandoverError } from '../../errors.ts';
import type { Machine } from '../../platform/machine.ts';
import { fingerprint, formatPublicKey, isSameKey, type PublicKey } from './minisign.ts';
import { refuse, refuseForm } from './refusals.ts';
import { findTrusted, readTrustList, refuseChanged, refuseRevoked, type TrustedKey } from './trust-list.ts';

/** What a bundle says of its signer. Nothing of it is believed. */
export interface SignerClaim {
  name: string;
  key: PublicKey;
  /** Whether the signature over the bundle is one of this key. */
  isSignedBy(key: PublicKey): boolean;
}

export interface Introduction {
  name: string;
  key: PublicKey;
}

/** Asked when a key is met for the first time: the user vouches for it, and it is pinned, or this throws. */
export type Introduce = (stranger: Introduction) => Promise<void>;

/**
 * Who signed a bundle, by the trust list. The key in the bundle only says which one to look for: what is verified with is
 * the key on the list. A stranger is introduced first, and only with a signature that holds.
 */
export async function checkSigner(
  claim: SignerClaim,
  machine: Machine,
  introduce: Introduce,
): Promise<Introduction> {
  const list = readTrustList(machine);
  const known = list.find((entry) => isSameKey(entry.key, claim.key));
  if (known !== undefined) return verify(known, claim);
  const namesake = findTrusted(list, claim.name);
  if (namesake !== undefined) throw refuseChanged(namesake, claim.key);
  if (!claim.isSignedBy(claim.key)) throw refuseForm('signature');
  const stranger = { name: claim.name, key: claim.key };
  await introduce(stranger);
  return stranger;
}

function verify(entry: TrustedKey, claim: SignerClaim): Introduction {
  if (entry.state === 'revoked') throw refuseRevoked(entry);
  if (!claim.isSignedBy(entry.key)) throw refuseForm('signature');
  return { name: entry.name, key: entry.key };
}

export function unknownSignerError({ name, key }: Introduction): HandoverError {
  return refuse(
    `the bundle is signed by ${name}, whose key is not known here\n  fingerprint: ${fingerprint(key)}`,
    `Compare the fingerprint with the sender, then: handover keys trust ${formatPublicKey(key)} --name "${name}"`,
    { signer: name, fingerprint: fingerprint(key), key: formatPublicKey(key) },
  );
}
