import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';
import * as v from 'valibot';
import { HandoverError } from '../../errors.ts';
import { nameField } from './content.ts';
import { indentJson } from './go-json.ts';
import { decodeBase64 } from './minisign.ts';
import { refuseForm } from './refusals.ts';

const ALGORITHM = 'aes-256-gcm';
const DERIVATION = 'scrypt(N=32768,r=8,p=1)';
const COST = { N: 32768, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** What session-handoff writes when it encrypts. Only these words and lengths are known: all else is refused unread. */
const Locked = v.object({
  version: v.literal(1),
  algorithm: v.literal(ALGORITHM),
  kdf: v.literal(DERIVATION),
  salt: v.string(),
  nonce: v.string(),
  ciphertext: v.string(),
});

export function isLocked(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'ciphertext' in value;
}

export interface LockSeed {
  salt: Buffer;
  nonce: Buffer;
}

export function makeLockSeed(): LockSeed {
  return { salt: randomBytes(SALT_BYTES), nonce: randomBytes(NONCE_BYTES) };
}

export function deriveSessionHandoffKey(passphrase: Buffer, salt: Buffer): Buffer {
  return scryptSync(passphrase, salt, 32, COST);
}

export function lockSessionHandoff(plain: Buffer, passphrase: Buffer, { salt, nonce }: LockSeed): string {
  const cipher = createCipheriv(ALGORITHM, deriveSessionHandoffKey(passphrase, salt), nonce);
  const ciphertext = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  const encode = (bytes: Buffer): string => bytes.toString('base64');
  const fields = {
    version: 1,
    algorithm: ALGORITHM,
    kdf: DERIVATION,
    salt: encode(salt),
    nonce: encode(nonce),
  };
  return indentJson(JSON.stringify({ ...fields, ciphertext: encode(ciphertext) }));
}

/** Everything that the header says is checked before the passphrase is asked for or any key derived. */
export async function unlockSessionHandoff(
  value: unknown,
  askPassphrase: () => Promise<Buffer>,
): Promise<Buffer> {
  const result = v.safeParse(Locked, value);
  if (!result.success) throw refuseForm(`field ${nameField(result.issues[0])}`);
  const { salt, nonce, ciphertext } = result.output;
  const saltBytes = decodeBase64(salt, SALT_BYTES);
  const nonceBytes = decodeBase64(nonce, NONCE_BYTES);
  const sealed = Buffer.from(ciphertext, 'base64');
  if (saltBytes === null) throw refuseForm('field salt');
  if (nonceBytes === null) throw refuseForm('field nonce');
  if (sealed.length < TAG_BYTES || sealed.toString('base64') !== ciphertext)
    throw refuseForm('field ciphertext');
  const key = deriveSessionHandoffKey(await askPassphrase(), saltBytes);
  const decipher = createDecipheriv(ALGORITHM, key, nonceBytes);
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()]);
  } catch (cause) {
    throw new HandoverError(
      'HANDOVER_BUNDLE_LOCKED',
      'the bundle cannot be opened: the passphrase is wrong, or the bundle is damaged',
      { hint: 'Try again with the passphrase that the sender told you.', cause },
    );
  }
}
