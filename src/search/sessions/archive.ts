import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import * as v from 'valibot';
import { AGENT_NAMES, type FoundSession } from '../../agents/agent.ts';
import { catchIf, isFailure } from '../../errors.ts';
import { shortHash } from '../../model/hash.ts';
import { writeCacheFile } from '../../platform/cache-file.ts';
import {
  createFileDurably,
  identifyFile,
  measureRegularFile,
  readRegularFile,
  removeFile,
} from '../../platform/durable-file.ts';
import { statFile } from '../../platform/external-file.ts';
import { ensurePrivateFolder, listFolder } from '../../platform/folders.ts';
import { SESSION_TEXTS, type Store } from '../../store/store.ts';
import { type Passage, SPEAKERS } from './passage.ts';

export const SessionHead = v.strictObject({
  agent: v.picklist(AGENT_NAMES),
  id: v.string(),
  /** The transcript, which may be gone. */
  path: v.string(),
  cwd: v.nullable(v.string()),
  title: v.nullable(v.string()),
  project: v.nullable(v.strictObject({ id: v.string(), name: v.string() })),
  startedMs: v.nullable(v.number()),
  /** As of when the transcript was read. */
  changedMs: v.number(),
  bytes: v.number(),
});
export type SessionHead = v.InferOutput<typeof SessionHead>;

export function describeSession(session: FoundSession, project: SessionHead['project']): SessionHead {
  const { agent, id, path, cwd, title, startedMs, changedMs, bytes } = session;
  return { agent, id, path, cwd, title, project, startedMs, changedMs, bytes };
}

/** What was said in a session, without secrets. */
export type SessionText = { head: SessionHead; passages: Passage[] };

const FORMAT = 'session-text/1';
const HeadLine = v.strictObject({ format: v.literal(FORMAT), ...SessionHead.entries });
const NumberOrNull = v.nullable(v.number());
const COMMON = [v.number(), NumberOrNull, NumberOrNull, v.picklist(SPEAKERS), v.string()] as const;
/** A call has its tool as well. */
const PassageLine = v.union([v.strictTuple(COMMON), v.strictTuple([...COMMON, v.string()])]);

const SUFFIX = '.gz';
const MAX_BYTES = 256 * 1024 * 1024;
const MAX_TEXT_BYTES = 1024 * 1024 * 1024;

export function nameText({ agent, id }: Pick<SessionHead, 'agent' | 'id'>): string {
  return shortHash(`${agent}\n${id}`, 32);
}

/** A part of an archive is a gzip member of its own, so that more can be appended. */
export function packPart(head: SessionHead, passages: readonly Passage[]): Buffer {
  const lines = passages.map(({ line, offset, at, speaker, text, tool }) =>
    JSON.stringify([line, offset, at, speaker, text, ...(tool === undefined ? [] : [tool])]),
  );
  return gzipSync([JSON.stringify({ format: FORMAT, ...head }), ...lines, ''].join('\n'));
}

/** The head of the last part counts. Null when anything is damaged. */
export function unpackParts(bytes: Uint8Array): SessionText | null {
  return catchIf(isDamage, null, () =>
    parseLines(gunzipSync(bytes, { maxOutputLength: MAX_TEXT_BYTES }).toString('utf8')),
  );
}

const PART_START = Buffer.from([0x1f, 0x8b, 0x08]);

/** The intact parts of a damaged archive; null when there are none. */
export function salvageParts(bytes: Uint8Array): SessionText | null {
  const buffer = Buffer.from(bytes);
  const starts: number[] = [];
  for (let at = buffer.indexOf(PART_START); at !== -1; at = buffer.indexOf(PART_START, at + 1)) starts.push(at);
  const ends = [...starts.slice(1), buffer.length];
  const whole = starts.flatMap((start, index) => unpackParts(buffer.subarray(start, ends[index])) ?? []);
  const head = whole.at(-1)?.head;
  return head === undefined ? null : { head, passages: whole.flatMap(({ passages }) => passages) };
}

function parseLines(text: string): SessionText | null {
  let head: SessionHead | null = null;
  const passages: Passage[] = [];
  for (const row of text.split('\n')) {
    if (row === '') continue;
    const parsed: unknown = JSON.parse(row);
    if (Array.isArray(parsed)) {
      const [line, offset, at, speaker, piece, tool] = v.parse(PassageLine, parsed);
      passages.push({ line, offset, at, speaker, ...(tool === undefined ? {} : { tool }), text: piece });
    } else {
      const { format: _, ...rest } = v.parse(HeadLine, parsed);
      head = rest;
    }
  }
  return head === null ? null : { head, passages };
}

function isDamage(error: unknown): boolean {
  if (error instanceof SyntaxError || error instanceof v.ValiError) return true;
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return false;
  return error.code.startsWith('Z_') || error.code === 'ERR_BUFFER_TOO_LARGE';
}

/** The names of all archives, in order. */
export function listTexts(store: Store): string[] {
  return listFolder(join(store.root, SESSION_TEXTS))
    .filter((name) => /^[0-9a-z]{32}\.gz$/.test(name))
    .map((name) => name.slice(0, -SUFFIX.length))
    .sort();
}

/** The names of the archives that were written last, the newest first. */
export function listNewestTexts(store: Store, most: number): string[] {
  return listTexts(store)
    .map((name) => ({ name, changedMs: statFile(pathOfText(store, name))?.changedMs ?? 0 }))
    .sort((a, b) => b.changedMs - a.changedMs || (a.name < b.name ? -1 : 1))
    .slice(0, most)
    .map(({ name }) => name);
}

export function readArchive(store: Store, name: string): Buffer | null {
  const path = pathOfText(store, name);
  return catchIf(isFailure, null, () => (measureRegularFile(path) === null ? null : readRegularFile(path, MAX_BYTES)));
}

export function readText(store: Store, name: string): SessionText | null {
  const bytes = readArchive(store, name);
  return bytes === null ? null : unpackParts(bytes);
}

/** Atomic, but not flushed: as long as the agent keeps its transcript, the archive can be made again. */
export function writeArchive(store: Store, name: string, parts: readonly Uint8Array[]): void {
  ensurePrivateFolder(store.root, SESSION_TEXTS);
  writeCacheFile(pathOfText(store, name), parts);
}

/** Changes whenever an archive is replaced; null when there is none. */
export function identifyArchive(store: Store, name: string): string | null {
  return identifyFile(pathOfText(store, name));
}

export function removeText(store: Store, name: string): boolean {
  return removeFile(pathOfText(store, name));
}

const FORGOTTEN = '.forgotten';

/** The sessions that the user does not want to be archived. */
export function listForgotten(store: Store): Set<string> {
  return new Set(
    listFolder(join(store.root, SESSION_TEXTS))
      .filter((name) => name.endsWith(FORGOTTEN))
      .map((name) => name.slice(0, -FORGOTTEN.length)),
  );
}

export function markForgotten(store: Store, name: string): void {
  const folder = ensurePrivateFolder(store.root, SESSION_TEXTS);
  createFileDurably(join(folder, `${name}${FORGOTTEN}`), '');
}

export function pathOfText(store: Store, name: string): string {
  return join(store.root, SESSION_TEXTS, `${name}${SUFFIX}`);
}
