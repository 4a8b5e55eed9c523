import { basename, dirname, join } from 'node:path';
import * as v from 'valibot';
import { catchIf, isFailure } from '../errors.ts';
import { sha256Bytes, sha256Hex, shortHash } from '../model/hash.ts';
import { decodePlainData, encodePlainData, RUNTIME, trimCacheFolder, writeCacheFile } from '../platform/cache-file.ts';
import { readRegularFile, removeFile } from '../platform/durable-file.ts';
import { type FileStat, readEnds } from '../platform/external-file.ts';
import { ensurePrivateFolder, listFolder } from '../platform/folders.ts';
import type { Redactor } from '../redact/redactor.ts';
import { BUILD, VERSION } from '../version.ts';
import type { Agent, Bookmark, FoundSession } from './agent.ts';

/** A transcript and the file that it is in now. */
export type TranscriptFile = { agent: Agent; session: FoundSession; stat: FileStat };

/** How far a transcript was read, and what the reader made of it so far. */
export type Checkpoint<State> = { bookmark: Bookmark; state: State };

const CheckpointData = v.object({
  bookmark: v.object({ position: v.object({ offset: v.number(), number: v.number() }), state: v.unknown() }),
  state: v.unknown(),
  prefix: v.string(),
});

const CHECKSUM_BYTES = 32;

/** Checkpoints are a cache: without them everything works, only slower. */
const LIMITS = { files: 64, bytes: 64 * 1024 * 1024 };

/** The last checkpoint, if it is of this very build and file, which has only grown. `isState` checks the reader's part. */
export function readCheckpoint<State>(
  folder: string,
  file: TranscriptFile,
  isState: (value: unknown) => value is State,
): Checkpoint<State> | null {
  const bytes = catchIf(isFailure, null, () => readRegularFile(join(folder, nameCheckpoint(file)), LIMITS.bytes));
  if (bytes === null) return null;
  const data = bytes.subarray(CHECKSUM_BYTES);
  if (!bytes.subarray(0, CHECKSUM_BYTES).equals(sha256Bytes(identifyReading(file), data))) return null;
  const value = decodePlainData(data);
  if (!v.is(CheckpointData, value)) return null;
  const { bookmark, state, prefix } = value;
  const isValid = isState(state) && hashPrefix(file, bookmark.position.offset) === prefix;
  return isValid ? { bookmark, state } : null;
}

/** Null when the file is no longer what was read. The caller makes sure that no secret is in the checkpoint. */
export function packCheckpoint(file: TranscriptFile, { bookmark, state }: Checkpoint<unknown>): Buffer | null {
  const prefix = hashPrefix(file, bookmark.position.offset);
  return prefix === null ? null : encodePlainData({ bookmark, state, prefix });
}

/** Does nothing where nothing can be written: the next reading then starts from the beginning. */
export function writeCheckpoint(folder: string, file: TranscriptFile, data: Buffer): void {
  catchIf(isFailure, undefined, () => {
    ensurePrivateFolder(dirname(folder), basename(folder));
    writeCacheFile(join(folder, nameCheckpoint(file)), [sha256Bytes(identifyReading(file), data), data]);
    trimCacheFolder(folder, LIMITS);
  });
}

/** Forgotten handovers must not live on in what was read of their sessions. */
export function dropCheckpoints(folder: string): void {
  for (const name of listFolder(folder)) removeFile(join(folder, name));
}

function nameCheckpoint({ agent, session }: TranscriptFile): string {
  return shortHash(`${agent.name}\n${session.path}`, 32);
}

/** All that a reading depends on besides the transcript, so that a checkpoint is not even decoded where that differs. */
export function identifyReading({ agent, session, stat }: TranscriptFile): string {
  const { path, id, cwd, parent } = session;
  return JSON.stringify([VERSION, BUILD, RUNTIME, agent.name, path, id, cwd, parent, stat.identity]);
}

/** Hashes only the ends: agents append, or rewrite, which changes them. A change in the middle alone is not seen. */
export function hashPrefix({ session, stat }: TranscriptFile, length: number): string | null {
  const ends = length > stat.size ? null : readEnds(session.path, length);
  return ends === null ? null : sha256Hex(ends);
}

/** Whether there is a secret in any text of a value, which may be made of maps and sets too. */
export function holdsSecret(value: unknown, redactor: Redactor): boolean {
  if (typeof value === 'string') return redactor.holdsSecret(value);
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return false;
  const parts =
    value instanceof Map || value instanceof Set || Array.isArray(value) ? [...value] : Object.values(value);
  return parts.some((part) => holdsSecret(part, redactor));
}
