import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';
import type { Identity, Recipient } from 'age-encryption';
import { HandoverError } from '../../errors.ts';
import { malformedError } from '../errors.ts';

/** What a bundle is encrypted with: a passphrase, or the public keys of its recipients. */
export type Encryption = { passphrase: Buffer } | { recipients: readonly string[] };

/** The passphrase is asked for only when the file needs one. */
export interface DecryptionKeys {
  identities: readonly string[];
  askPassphrase(): Promise<Buffer>;
}

const WRITTEN_COST = 17;
/** Up to what the age program writes by default: 256 MiB and about a second. */
const READ_COST = { min: 14, max: 18 };
const SALT_LABEL = 'age-encryption.org/v1/scrypt';
const SALT_BYTES = 16;
const FILE_KEY_BYTES = 16;
const TAG_BYTES = 16;

export async function encryptWithAge(bytes: Uint8Array, encryption: Encryption): Promise<Buffer> {
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  if ('passphrase' in encryption) encrypter.addRecipient(await makePassphraseRecipient(encryption.passphrase));
  else for (const recipient of encryption.recipients) addRecipient(encrypter, recipient);
  return Buffer.from(await encrypter.encrypt(bytes));
}

function addRecipient(encrypter: { addRecipient(recipient: string): void }, recipient: string): void {
  try {
    encrypter.addRecipient(recipient);
  } catch (cause) {
    throw new HandoverError('HANDOVER_USAGE', 'a recipient is not an age public key', {
      hint: 'Use the key that age-keygen -y or handover keys export prints: age1…',
      cause,
    });
  }
}

export async function assertRecipient(recipient: string): Promise<void> {
  const { Encrypter } = await import('age-encryption');
  addRecipient(new Encrypter(), recipient);
}

/** With Node's scrypt, which takes a third of the time of the library's. */
async function makePassphraseRecipient(passphrase: Buffer): Promise<Recipient> {
  const { Stanza } = await import('age-encryption');
  return {
    wrapFileKey: (fileKey) => {
      const salt = randomBytes(SALT_BYTES);
      const key = derive(passphrase, salt, WRITTEN_COST);
      const cipher = createCipheriv('chacha20-poly1305', key, Buffer.alloc(12), { authTagLength: TAG_BYTES });
      const body = Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()]);
      const args = ['scrypt', salt.toString('base64').replace(/=+$/, ''), String(WRITTEN_COST)];
      return [new Stanza(args, new Uint8Array(body))];
    },
  };
}

function derive(passphrase: Buffer, salt: Buffer, cost: number): Buffer {
  const N = 2 ** cost;
  const options = { N, r: 8, p: 1, maxmem: 128 * 8 * N + 1024 * 1024 };
  return scryptSync(passphrase, Buffer.concat([Buffer.from(SALT_LABEL), salt]), 32, options);
}

/** Checks the header first, which bounds the work that a hostile file can cause. */
export async function decryptWithAge(bytes: Buffer, opener: DecryptionKeys): Promise<Buffer> {
  const passphraseStanza = inspectHeader(bytes);
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  if (passphraseStanza !== null) {
    const passphrase = await opener.askPassphrase();
    decrypter.addIdentity(makePassphraseIdentity(passphrase, passphraseStanza));
  } else for (const identity of opener.identities) decrypter.addIdentity(identity);
  try {
    return Buffer.from(await decrypter.decrypt(new Uint8Array(bytes)));
  } catch (cause) {
    if (!(cause instanceof Error) || cause instanceof HandoverError) throw cause;
    if (passphraseStanza !== null) throw wrongPassphraseError(cause);
    const message = 'the bundle cannot be opened: it is encrypted to other keys, or damaged';
    throw new HandoverError('HANDOVER_BUNDLE_LOCKED', message, {
      hint: 'Pass the file with your age identity: --identity FILE. Others encrypt to the key that handover keys export prints.',
      cause,
    });
  }
}

export function wrongPassphraseError(cause: unknown): HandoverError {
  const message = 'the bundle cannot be opened: the passphrase is wrong, or the bundle is damaged';
  const hint = 'Try again with the passphrase from the sender.';
  return new HandoverError('HANDOVER_BUNDLE_LOCKED', message, { hint, cause });
}

const MAX_HEADER_BYTES = 64 * 1024;
const MAX_STANZAS = 40;
const PASSPHRASE_STANZA = /^-> scrypt ([A-Za-z0-9+/]{22}) ([1-9][0-9]?)$/;

type PassphraseStanza = { salt: Buffer; cost: number };

/** The passphrase stanza, which must be the only one; null when the file is encrypted to keys. */
function inspectHeader(bytes: Buffer): PassphraseStanza | null {
  const head = bytes.toString('latin1', 0, MAX_HEADER_BYTES);
  const end = head.indexOf('\n--- ');
  if (!head.startsWith('age-encryption.org/v1\n') || end === -1) throw malformedError('age header');
  const lines = head.slice(0, end).split('\n');
  const stanzas = lines.filter((line) => line.startsWith('-> '));
  if (stanzas.length === 0 || stanzas.length > MAX_STANZAS) throw malformedError('age recipients');
  if (!stanzas.some((line) => line.startsWith('-> scrypt'))) return null;
  const [, salt = '', cost = ''] = PASSPHRASE_STANZA.exec(stanzas[0] ?? '') ?? [];
  if (stanzas.length > 1 || salt === '') throw malformedError('age passphrase stanza');
  if (Number(cost) < READ_COST.min || Number(cost) > READ_COST.max) throw malformedError('age passphrase cost');
  return { salt: Buffer.from(salt, 'base64'), cost: Number(cost) };
}

function makePassphraseIdentity(passphrase: Buffer, { salt, cost }: PassphraseStanza): Identity {
  return {
    unwrapFileKey: ([stanza]) => {
      if (stanza?.body.length !== FILE_KEY_BYTES + TAG_BYTES) throw malformedError('age passphrase stanza');
      const body = Buffer.from(stanza.body);
      const key = derive(passphrase, salt, cost);
      const options = { authTagLength: TAG_BYTES };
      const decipher = createDecipheriv('chacha20-poly1305', key, Buffer.alloc(12), options);
      decipher.setAuthTag(body.subarray(FILE_KEY_BYTES));
      return Buffer.concat([decipher.update(body.subarray(0, FILE_KEY_BYTES)), decipher.final()]);
    },
  };
}

export type AgeKeyPair = { identity: string; recipient: string };

export async function generateAgeKey(): Promise<AgeKeyPair> {
  const { generateX25519Identity, identityToRecipient } = await import('age-encryption');
  const identity = await generateX25519Identity();
  return { identity, recipient: await identityToRecipient(identity) };
}

/** The identities in a file of age-keygen. */
export function readIdentities(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => /^AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{50,100}$/.test(line));
}

export async function toRecipient(identity: string): Promise<string> {
  const { identityToRecipient } = await import('age-encryption');
  return await identityToRecipient(identity);
}
