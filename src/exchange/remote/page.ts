import * as v from 'valibot';
import { catchAsync, catchIf, isHandoverError } from '../../errors.ts';
import { canonicalize, computeChecksum, sha256Hex } from '../../model/hash.ts';
import { HANDOVER_ID, PROJECT_ID } from '../../model/id.ts';
import { JournalEntry } from '../../model/journal-entry.ts';
import { parseJson, RECORD_LIMITS } from '../../model/json.ts';
import { HandoverId, Timestamp } from '../../model/scalars.ts';
import { type DecryptionKeys, decryptWithAge, encryptWithAge } from '../bundle/age.ts';
import { holdsMoreValues } from '../bundle/content.ts';
import * as minisign from '../bundle/minisign.ts';
import { isSignerName } from '../bundle/trust-list.ts';
import type { LogName, Writer } from './remote.ts';

/** `entries` and `bytes` of a page; `bodies`: of all that one page names, so that a receiver can store them at once. */
export const PAGE_LIMITS = { entries: 200, bytes: 1024 * 1024, bodies: 32 * 1024 * 1024 } as const;
/** The largest body: a record, and what age adds to it. */
export const MAX_BODY_BYTES: number = RECORD_LIMITS.maxBytes + 1024 * 1024;
const MAX_VALUES = 20_000;

/** The events of handovers that are synced. */
export const SYNCED_EVENTS = [
  ...['pinned', 'unpinned', 'resolved', 'refuted', 'superseded'],
  ...['consumed', 'rejected_stale', 'rejected_invalid', 'late'],
] as const;

const BODY_NAME = new RegExp(`${HANDOVER_ID.source.replace(/\$$/, '')}-[0-9a-f]{32}$`);
const Hex = (digits: number) => v.pipe(v.string(), v.regex(new RegExp(`^[0-9a-f]{${digits}}$`)));

const PageEntry = v.variant('kind', [
  v.strictObject({
    kind: v.literal('handover'),
    id: HandoverId,
    body: v.pipe(v.string(), v.regex(BODY_NAME)),
    bytes: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_BODY_BYTES)),
    at: Timestamp,
  }),
  v.strictObject({
    kind: v.literal('journal'),
    entry: v.pipe(
      JournalEntry,
      v.check(({ event }) => SYNCED_EVENTS.some((known) => known === event)),
      v.check((entry) => v.is(HandoverId, entry.subject) && entry.checksum === computeChecksum(entry)),
    ),
  }),
  v.strictObject({ kind: v.literal('forgotten'), id: HandoverId, at: Timestamp }),
]);
/** A handover, an event of one, or that one was forgotten. */
export type PageEntry = v.InferOutput<typeof PageEntry>;

const Entries = v.pipe(v.array(PageEntry), v.maxLength(PAGE_LIMITS.entries));

const head = {
  schema: v.literal('sync-page/1'),
  writer: Hex(32),
  signer: v.pipe(v.string(), v.check(isSignerName)),
  key: v.string(),
  project: v.pipe(v.string(), v.regex(PROJECT_ID)),
  number: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(Number.MAX_SAFE_INTEGER)),
  previous: v.nullable(Hex(64)),
  at: Timestamp,
};
const PageText = v.union([
  v.strictObject({ ...head, entries: Entries }),
  v.strictObject({ ...head, sealed: v.pipe(v.string(), v.base64()) }),
]);

/** One signed page of a log. */
export interface Page extends LogName {
  number: number;
  /** The digest of the page before; null for the first. */
  previous: string | null;
  at: string;
  /** The name that the writer claims. */
  signer: string;
  key: minisign.PublicKey;
  /** The entries, or their bytes encrypted with age. */
  content: PageEntry[] | Buffer;
  /** Of the whole page. */
  digest: string;
}

/** The name of a writer: what `fingerprint` shows, without blanks. */
export function nameWriter(key: minisign.PublicKey): Writer {
  return minisign.fingerprint(key).replaceAll(' ', '');
}

/** Identifies a log, also in paths. */
export function nameLog({ writer, project }: LogName): string {
  return `${writer}/${project}`;
}

export function isLogName({ writer, project }: LogName): boolean {
  return v.is(head.writer, writer) && v.is(head.project, project);
}

/** The name of a handover's body with this content. */
export function nameBody(id: string, bytes: Uint8Array): string {
  return `${id}-${sha256Hex(bytes).slice(0, 32)}`;
}

export type PageDraft = Pick<Page, 'project' | 'number' | 'previous' | 'at'> & { entries: readonly PageEntry[] };

const COMMENT = 'sync page of agent-handover';

/** A signed page. With recipients, only they can read its entries. */
export async function formatPage(
  { entries, project, number, previous, at }: PageDraft,
  { name, secret }: { name: string; secret: minisign.SecretKey },
  recipients: readonly string[],
): Promise<Buffer> {
  const place = { project, number, previous, at };
  const who = { writer: nameWriter(secret), signer: name, key: minisign.formatPublicKey(secret) };
  const text = canonicalize(entries);
  const content =
    recipients.length === 0
      ? { entries }
      : { sealed: (await encryptWithAge(Buffer.from(text), { recipients })).toString('base64') };
  const line = Buffer.from(canonicalize({ schema: 'sync-page/1', ...who, ...place, ...content }));
  const signature = minisign.signFile(line, secret, { untrusted: COMMENT, trusted: `page ${number} of ${project}` });
  return Buffer.concat([line, Buffer.from(`\n${signature}`)]);
}

/** The page, if it belongs in this place and its writer signed it; else what is wrong. It has exactly one byte form. */
export function parsePage(bytes: Buffer, place: LogName & { number: number }): Page | { wrong: string } {
  if (bytes.length > PAGE_LIMITS.bytes) return { wrong: 'its size' };
  const end = bytes.indexOf(0x0a);
  const line = bytes.subarray(0, Math.max(end, 0));
  if (end === -1 || holdsMoreValues(line, MAX_VALUES)) return { wrong: 'its form' };
  const page = parseText(line, PageText);
  if (page === null) return { wrong: 'its form' };
  const { writer, project, number, previous, at, signer } = page;
  if (writer !== place.writer || project !== place.project || number !== place.number)
    return { wrong: 'its place: it belongs elsewhere' };
  if ((previous === null) !== (number === 1)) return { wrong: 'its form' };
  const key = minisign.parsePublicKey(page.key);
  if (key === null || minisign.formatPublicKey(key) !== page.key || nameWriter(key) !== writer)
    return { wrong: 'its key' };
  const text = bytes.toString('utf8', end + 1);
  const signature = text.startsWith(`untrusted comment: ${COMMENT}\n`) ? minisign.parseSignature(text) : null;
  if (signature === null || !text.endsWith('\n') || !minisign.verifyFile(line, signature, key))
    return { wrong: 'its signature' };
  const content = 'entries' in page ? page.entries : Buffer.from(page.sealed, 'base64');
  return { writer, project, number, previous, at, signer, key, content, digest: sha256Hex(bytes) };
}

function parseText<Schema extends v.GenericSchema>(line: Buffer, schema: Schema): v.InferOutput<Schema> | null {
  const text = line.toString('utf8');
  const value = catchIf(isHandoverError, undefined, () => parseJson(text, 'a page', RECORD_LIMITS));
  const { success, output } = v.safeParse(schema, value);
  if (!success) return null;
  // There is no canonical form of a lone surrogate.
  const form = catchIf(
    (error) => error instanceof TypeError,
    null,
    () => canonicalize(output),
  );
  return form === text ? output : null;
}

/** The entries of a page. Null when they are encrypted to other keys, `damaged` when the decrypted text is invalid. */
export async function openEntries({ content }: Page, opener: DecryptionKeys): Promise<PageEntry[] | null | 'damaged'> {
  if (Array.isArray(content)) return content;
  const text = await openSealed(content, opener);
  if (text === null) return null;
  const isLarge = text.length > PAGE_LIMITS.bytes || holdsMoreValues(text, MAX_VALUES);
  return (isLarge ? null : parseText(text, Entries)) ?? 'damaged';
}

/** Null when it is encrypted to other keys, or damaged. */
export async function openSealed(bytes: Buffer, opener: DecryptionKeys): Promise<Buffer | null> {
  return await catchAsync(isHandoverError, null, () => decryptWithAge(bytes, opener));
}
