import { type Agent, type FoundSession, type Reading, startReading } from '../../agents/agent.ts';
import type { Bookmark } from '../../agents/transcript.ts';
import { type Account, openAccount } from '../../distill/account.ts';
import { sha256Bytes, sha256Hex, shortHash } from '../../model/hash.ts';
import { isShapedLike } from '../../model/shape.ts';
import { decodePlainData, encodePlainData, RUNTIME } from '../../platform/cache-file.ts';
import { type FileStat, readEnds } from '../../platform/external-file.ts';
import { startOfFile } from '../../platform/lines.ts';
import type { FoundMarks, Redactor } from '../../redact/redactor.ts';
import { findReading, keepReading } from '../../store/readings.ts';
import type { Store } from '../../store/store.ts';
import { BUILD, VERSION } from '../../version.ts';
import { startTally, type Tally } from './judge-reading.ts';

/** What a transcript has told so far: how far it was read, what was met on the way, and what happened. */
export interface TranscriptReading {
  bookmark: Bookmark;
  reading: Reading;
  account: Account;
  tally: Tally;
}

/** A transcript, the file that it is in now, and what takes the secrets out of it. */
export interface TranscriptFile {
  agent: Agent;
  session: FoundSession;
  sight: FileStat;
  redactor: Redactor;
}

export interface KeptReading extends TranscriptReading {
  /** The secrets that were taken out, by kind, and whose marks they are. */
  found: FoundMarks;
  redactor: string;
  prefix: string;
}

const EXAMPLE: KeptReading = {
  bookmark: { position: startOfFile(), state: null },
  reading: startReading(),
  account: openAccount(),
  tally: startTally(),
  found: new Map(),
  redactor: '',
  prefix: '',
};

const CHECKSUM_BYTES = 32;

/**
 * What is known of a transcript from the last time, if it is still good: made by this very program, from this very file,
 * which has not been written anew since.
 */
export function findTranscriptReading(store: Store, file: TranscriptFile): KeptReading | null {
  const bytes = findReading(store, nameReading(file));
  if (bytes === null) return null;
  const data = bytes.subarray(CHECKSUM_BYTES);
  if (!bytes.subarray(0, CHECKSUM_BYTES).equals(computeChecksum(file, data))) return null;
  const kept = decodePlainData(data);
  if (!isShapedLike(kept, EXAMPLE) || kept.redactor !== identify(file.redactor, kept.found)) return null;
  return isSameBeginning(file, kept.bookmark.position.offset, kept.prefix) ? kept : null;
}

/** Placeholders are as good as what they were made with. */
function identify(redactor: Redactor, found: FoundMarks): string {
  return found.size === 0 ? redactor.settingsIdentity : redactor.identity;
}

/**
 * A reading as bytes that can be kept: the reading itself may be changed afterwards. Null when the file is no longer what
 * was read, and when the reader still holds a secret: none is written.
 */
export function packTranscriptReading(
  file: TranscriptFile,
  { bookmark, reading, account, tally }: TranscriptReading,
): Buffer | null {
  const prefix = sumBeginning(file, bookmark.position.offset);
  if (prefix === null || holdsSecret([bookmark.state, reading], file.redactor)) return null;
  const { found } = file.redactor;
  const redactor = identify(file.redactor, found);
  return encodePlainData({ bookmark, reading, account, tally, found, redactor, prefix });
}

export function keepTranscriptReading(store: Store, file: TranscriptFile, data: Buffer): void {
  keepReading(store, nameReading(file), [computeChecksum(file, data), data]);
}

function nameReading({ agent, session }: TranscriptFile): string {
  return shortHash(`${agent.name}\n${session.path}`, 32);
}

function computeChecksum(file: TranscriptFile, data: Uint8Array): Buffer {
  return sha256Bytes(identifyReading(file), data);
}

type SightedFile = Pick<TranscriptFile, 'agent' | 'session' | 'sight'>;

/** All that a reading depends on besides what was read, so that it is not even decoded where that is different. */
export function identifyReading({ agent, session, sight }: SightedFile): string {
  const { path, id, cwd, parent } = session;
  return JSON.stringify([VERSION, BUILD, RUNTIME, agent.name, path, id, cwd, parent, sight.identity]);
}

/**
 * Tells whether a file still begins with what was read. Only the ends of that are looked at: agents add to a file, or write
 * it anew, and a new one does not end in the same 64 KB at the same place. A change in the middle alone would not be seen.
 */
export function sumBeginning({ session, sight }: SightedFile, length: number): string | null {
  if (length > sight.size) return null;
  const ends = readEnds(session.path, length);
  return ends === null ? null : sha256Hex(ends);
}

export function isSameBeginning(file: SightedFile, length: number, sum: string): boolean {
  return sumBeginning(file, length) === sum;
}

/** Whether a secret shows in any text of a value, which may be made of maps and sets too. */
export function holdsSecret(value: unknown, redactor: Redactor): boolean {
  if (typeof value === 'string') return redactor.holdsSecret(value);
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return false;
  const parts =
    value instanceof Map || value instanceof Set || Array.isArray(value) ? [...value] : Object.values(value);
  return parts.some((part) => holdsSecret(part, redactor));
}
