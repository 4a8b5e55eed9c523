import { createPublicKey, type KeyObject } from 'node:crypto';
import { HandoverError } from '../../errors.ts';
import { type PublicKey, parsePublicKey } from './minisign.ts';
import { idOfKey } from './session-handoff-bundle.ts';

/**
 * A public key in any form that people pass on: as minisign has it, in one line or in a file, or in PEM, also of the
 * secret key file of session-handoff, of which only the public part is used.
 */
export function readPublicKey(text: string): PublicKey {
  const key = parsePublicKey(text) ?? (text.includes('-----BEGIN') ? readPem(text) : null);
  if (key !== null) return key;
  throw new HandoverError('HANDOVER_INPUT_INVALID', 'that is not a public key for signatures', {
    hint: 'Give the line that handover keys export prints, a minisign .pub file, or an Ed25519 key in PEM.',
  });
}

function readPem(text: string): PublicKey | null {
  const key = openPem(text);
  if (key === null || key.asymmetricKeyType !== 'ed25519') return null;
  const bytes = key.export({ format: 'der', type: 'spki' }).subarray(-32);
  return { id: idOfKey(bytes), key: bytes };
}

function openPem(text: string): KeyObject | null {
  try {
    return createPublicKey(text);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null;
    throw error;
  }
}
