import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { HandoverError } from '../../errors.ts';
import { sha256Hex } from '../../model/hash.ts';
import { parseJson } from '../../model/json.ts';
import { SessionHandoffRecord } from '../legacy/session-handoff-view.ts';
import { nameField } from './content.ts';
import { holdsMoreValues } from './count-values.ts';
import { formatGoRecord, formatGoText, indentJson } from './go-json.ts';
import { decodeBase64, type PublicKey, type SecretKey, signBytes, verifyBytes } from './minisign.ts';
import { refuseForm } from './refusals.ts';

/** A record as it is signed: whether its steps are null or none makes another checksum. */
export type RawRecord = Omit<SessionHandoffRecord, 'next'> & { next: string[] | null };

const Bundle = v.object({
  version: v.number(),
  checksum: v.nullish(v.string()),
  signer: v.nullish(
    v.object({ name: v.nullish(v.string()), key_id: v.nullish(v.string()), public_key: v.string() }),
  ),
  signature: v.nullish(v.string()),
  record: v.object({ ...SessionHandoffRecord.entries, next: v.nullish(v.array(v.string()), null) }),
});

/** A bundle of session-handoff, checked for all but who signed it. */
export interface SessionHandoffBundle {
  record: RawRecord;
  /** Null where nothing is signed, or what is signed is not what is said. */
  claim: { name: string; key: PublicKey; isSignedBy(key: PublicKey): boolean } | null;
  /** What is given up when it is taken without a signature. */
  missing: readonly string[];
}

/** One record, perhaps in base64: nobody vouches for it yet when it is parsed. */
const LIMITS = { maxBytes: 8 * 1024 * 1024, maxDepth: 16 };
const MAX_VALUES = 20_000;

export function parseBundleJson(bytes: Buffer): unknown {
  if (bytes.length > LIMITS.maxBytes) throw refuseForm('size');
  if (holdsMoreValues(bytes, MAX_VALUES)) throw refuseForm('number of values');
  try {
    return parseJson(bytes.toString('utf8'), 'the bundle', LIMITS);
  } catch (error) {
    if (error instanceof HandoverError) throw refuseForm('JSON');
    throw error;
  }
}

/** Versions that are not known are refused whatever is allowed: nobody knows what they mean. */
export function readSessionHandoffBundle(value: unknown): SessionHandoffBundle {
  const result = v.safeParse(Bundle, value);
  if (!result.success || Array.isArray(value))
    throw refuseForm(`field ${result.success ? 'root' : nameField(result.issues[0])}`);
  const { version, checksum, signer, signature, record } = result.output;
  if (![1, 2, 3].includes(version)) throw refuseForm('version');
  const sum = sha256Hex(formatGoRecord({ ...record, changed: record.changed ?? [] }));
  const hasSum = typeof checksum === 'string' && checksum !== '';
  if ((version > 1 || hasSum) && checksum !== sum) throw refuseForm('checksum');
  const raw: RawRecord = { ...record, next: record.next ?? null, changed: record.changed ?? [] };
  const isSigned = (signature ?? '') !== '' || (signer ?? null) !== null;
  if (version === 3) {
    const claim = readClaim(signer?.name ?? '', signer?.public_key ?? '', {
      signature: signature ?? '',
      sum,
    });
    if (claim === null) throw refuseForm('signature');
    return { record: raw, claim, missing: [] };
  }
  const missing = ['a signature', ...(hasSum ? [] : ['a checksum'])];
  if (isSigned) missing.unshift(`the version that its signature needs (it says ${version})`);
  return { record: raw, claim: null, missing };
}

function readClaim(
  name: string,
  publicKey: string,
  { signature, sum }: { signature: string; sum: string },
): SessionHandoffBundle['claim'] {
  const key = decodeBase64(publicKey, 32);
  const bytes = decodeBase64(signature, 64);
  if (key === null || bytes === null) return null;
  const isSignedBy = (known: PublicKey): boolean => verifyBytes(Buffer.from(sum), bytes, known);
  return { name, key: { id: idOfKey(key), key }, isSignedBy };
}

/** The first eight bytes of the digest of a key, by which session-handoff names it. */
export function idOfKey(key: Buffer): Buffer {
  return createHash('sha256').update(key).digest().subarray(0, 8);
}

/** Version 3 with a key, else version 2. Without a line end, as it is encrypted. */
export function formatSessionHandoffBundle(
  record: RawRecord,
  signer: { name: string; secret: SecretKey } | null,
): string {
  const canonical = formatGoRecord(record);
  const sum = sha256Hex(canonical);
  if (signer === null) return indentJson(`{"version":2,"checksum":"${sum}","record":${canonical}}`);
  const { name, secret } = signer;
  const who = `{"name":${formatGoText(name)},"key_id":"${idOfKey(secret.key).toString('hex')}","public_key":"${secret.key.toString('base64')}"}`;
  const signature = signBytes(Buffer.from(sum), secret).toString('base64');
  return indentJson(
    `{"version":3,"checksum":"${sum}","signer":${who},"signature":"${signature}","record":${canonical}}`,
  );
}
