import { join } from 'node:path';
import { parseAny } from '../../agents/shared/json.ts';
import { printLongFingerprint } from '../../model/hash.ts';
import { readHead, statFile } from '../../platform/external-file.ts';
import { pathExists } from '../../platform/folders.ts';
import { isAlive, parseIdentity } from '../../platform/process-identity.ts';
import { readBranch, readHeadCommit } from '../../platform/worktree.ts';
import { HANDOVERS, HOOK_STATE } from '../../store/store.ts';
import type { ResumeState } from './policy.ts';
import { FOLDERS, hasForm, is, keyOfSession, makeKey, type RecordOf, readRecord, readSmallFile } from './records.ts';

const WATCHED_FILE = {
  path: is.text,
  /** The path for display, with control characters made visible. */
  shown: is.text,
  /** Null for a file that did not exist. */
  size: is.numberOrNull,
  changedMs: is.numberOrNull,
  /** A fingerprint of its content; null for a file that is too large to be read by a hook. */
  content: is.textOrNull,
};

/** A file that a session changed, as it was when the session was captured. */
export type WatchedFile = RecordOf<typeof WATCHED_FILE>;

const WATCHED_PROCESS = { identity: is.text, shown: is.text };

/** Something that the session left running. */
export type WatchedProcess = RecordOf<typeof WATCHED_PROCESS>;

/** A text for each agent that it may be delivered to, by their names. */
export type Briefs = Readonly<Record<string, string>>;

function isBriefs(value: unknown): value is Briefs {
  return typeof value === 'object' && value !== null && Object.values(value).every(is.text);
}

const VERSION = { schema: is.oneOf('ready/8') };
const PREPARED_BRIEF = {
  ...VERSION,
  agent: is.text,
  session: is.text,
  handover: is.text,
  /** Of the handover. */
  checksum: is.text,
  /** When the session was last read; its handover may be older, if nothing was new. */
  capturedMs: is.number,
  /** When it was last worked on, or added to by hand. */
  workedMs: is.number,
  root: is.text,
  terminal: is.textOrNull,
  process: is.textOrNull,
  /** Whether its agent reported the end of the session. */
  isEnded: is.flag,
  /** Whether it was saved by hand, on the work of the session if there is one. */
  isNote: is.flag,
  transcript: is.textOrNull,
  transcriptBytes: is.number,
  compactions: is.number,
  title: is.text,
  head: is.textOrNull,
  branch: is.textOrNull,
  running: (value: unknown): value is WatchedProcess[] =>
    Array.isArray(value) && value.every((one) => hasForm(one, WATCHED_PROCESS)),
  files: (value: unknown): value is WatchedFile[] =>
    Array.isArray(value) && value.every((file) => hasForm(file, WATCHED_FILE)),
  /** The seals of the briefs. */
  marks: isBriefs,
};

/** All that a hook needs to deliver a brief: it reads nothing else but the watched files. */
export type PreparedBrief = RecordOf<typeof PREPARED_BRIEF>;

export interface OpenBrief {
  prepared: PreparedBrief;
  /** Checks the seal of the brief, so it is called only when the brief is to be delivered. Null when it was changed. */
  readBrief(agent: string): string | null;
}

/** `isDamaged`: the file was changed. False when there is none, or it is of another session or version. */
type BriefSearch = OpenBrief | { prepared: null; isDamaged: boolean };

const MISSING: BriefSearch = { prepared: null, isDamaged: false };
const DAMAGED: BriefSearch = { prepared: null, isDamaged: true };

export function pathOfPreparedBrief(store: string, key: string): string {
  return join(store, ...FOLDERS.sessions, `${key}.json`);
}

export function pathOfSealKey(store: string): string {
  return join(store, HOOK_STATE, 'key');
}

/**
 * The lines of the file are a seal, the record, and the briefs as JSON, in the order of their seals. The first seal is over the record, which holds the
 * seals of the briefs. Seals include a key of this store, so a file written elsewhere does not pass. Whoever can read the
 * file can read the key beside it, so a stronger seal would keep nobody out.
 */
export function printPreparedBrief(key: string, prepared: Omit<PreparedBrief, 'marks'>, briefs: Briefs): string {
  const lines = Object.entries(briefs).map(([agent, brief]) => [agent, JSON.stringify(brief)] as const);
  const marks = Object.fromEntries(lines.map(([agent, line]) => [agent, makeSeal(key, line)]));
  const head = JSON.stringify({ ...prepared, marks });
  return [makeSeal(key, head), head, ...lines.map(([, line]) => line), ''].join('\n');
}

function makeSeal(key: string, text: string): string {
  return printLongFingerprint(`${key}\n${text}`);
}

/** A seal that says that this store wrote a text; null before it has a key. */
export function sealText(store: string, text: string): string | null {
  const secret = readSmallFile(pathOfSealKey(store));
  return secret === null ? null : makeSeal(secret, text);
}

export function openPreparedBrief(store: string, session: { agent: string; session: string }): BriefSearch {
  const found = openPreparedFile(store, keyOfSession(session));
  const { prepared } = found;
  const isOther = prepared !== null && (prepared.agent !== session.agent || prepared.session !== session.session);
  return isOther ? MISSING : found;
}

export function openPreparedFile(store: string, key: string): BriefSearch {
  const text = readSmallFile(pathOfPreparedBrief(store, key));
  if (text === null) return MISSING;
  const secret = readSmallFile(pathOfSealKey(store));
  const [seal, head = '', ...lines] = text.split('\n');
  if (secret === null || seal !== makeSeal(secret, head)) return DAMAGED;
  const prepared = parseAny(head);
  if (!hasForm(prepared, VERSION)) return MISSING;
  if (!hasForm(prepared, PREPARED_BRIEF)) return DAMAGED;
  const readBrief = (agent: string): string | null => {
    const line = lines[Object.keys(prepared.marks).indexOf(agent)];
    const brief = line !== undefined && makeSeal(secret, line) === prepared.marks[agent] ? parseAny(line) : null;
    return typeof brief === 'string' ? brief : null;
  };
  return { prepared, readBrief };
}

const POINTER = {
  value: is.text,
  agent: is.text,
  session: is.text,
  root: is.text,
  process: is.textOrNull,
  /** When the session was captured in the terminal, or last worked on in the worktree. */
  atMs: is.number,
};

/** The last session of a terminal or worktree. It only says where to look: what is found there is checked. */
export type Pointer = RecordOf<typeof POINTER>;

export function findPointer(store: string, of: 'terminals' | 'worktrees', value: string): Pointer | null {
  const pointer = readRecord(join(store, ...FOLDERS[of], `${makeKey(value)}.json`), POINTER);
  return pointer?.value === value ? pointer : null;
}

/** False for a handover that was forgotten, which must not be delivered any more. */
export function isHandoverStored(store: string, { handover }: PreparedBrief): boolean {
  return pathExists(join(store, HANDOVERS, handover.slice(0, 4), handover.slice(4, 6), `${handover}.json`));
}

export function watchFile(path: string, shown: string): WatchedFile {
  const stat = statFile(path);
  const [size, changedMs] = [stat?.size ?? null, stat?.changedMs ?? null];
  return { path, shown, size, changedMs, content: readContent(path, size) };
}

/** So much of so many files a hook reads in a few milliseconds. */
const MAX_CONTENT_BYTES = 64 * 1024;
const MAX_CONTENTS_READ = 20;

function readContent(path: string, size: number | null): string | null {
  const head = size === null || size > MAX_CONTENT_BYTES ? null : readHead(path, MAX_CONTENT_BYTES);
  // Git writes line ends as each machine is set.
  return head === null ? null : printLongFingerprint(head.bytes.toString('latin1').replaceAll('\r\n', '\n'));
}

/**
 * Changes since a session was captured. Only of small files with another time the content is read; what that leaves open,
 * of large or many files of the same size, is not called a change: the second look tells.
 */
export interface WatchedChanges {
  files: string[];
  head: { before: string; after: string } | null;
  /** Whether another branch is checked out. */
  isOnOther: boolean;
  /** What no longer runs. */
  ended: string[];
}

export function findWatchedChanges({ root, files, running, head: before, branch }: PreparedBrief): WatchedChanges {
  const after = before === null ? null : readHeadCommit(root);
  const other = branch === null ? null : markBranch(root);
  const hasEnded = ({ identity }: WatchedProcess): boolean => {
    const known = parseIdentity(identity);
    return known !== null && isAlive(known) === 'dead';
  };
  let contentsRead = 0;
  const isChanged = ({ path, size, changedMs, content }: WatchedFile): boolean => {
    const now = statFile(path);
    const isSameSize = (now?.size ?? null) === size;
    if (isSameSize && (now?.changedMs ?? null) === changedMs) return false;
    const isRead = now !== null && now.size <= MAX_CONTENT_BYTES && content !== null;
    if (!isRead || contentsRead === MAX_CONTENTS_READ) return !isSameSize;
    contentsRead++;
    return readContent(path, now.size) !== content;
  };
  return {
    files: files.filter(isChanged).map(({ shown }) => shown),
    head: before === null || after === null || before === after ? null : { before, after },
    isOnOther: other !== null && other !== branch,
    ended: running.filter(hasEnded).map(({ shown }) => shown),
  };
}

export function hasChanged({ files, head, isOnOther, ended }: WatchedChanges): boolean {
  return files.length + ended.length > 0 || head !== null || isOnOther;
}

/** A fingerprint of the branch: its name may hold a secret, and is not written down. */
export function markBranch(root: string): string | null {
  const branch = readBranch(root);
  return branch === null ? null : printLongFingerprint(branch);
}

/** `named` is the transcript that the agent names for the resumed session. */
export function checkResumed(prepared: PreparedBrief, named: string | null): ResumeState {
  const { transcript, transcriptBytes } = prepared;
  const stat = transcript === null ? null : statFile(transcript);
  const isShort = transcript !== null && (stat?.size ?? 0) < transcriptBytes;
  const isElsewhere = named !== null && named !== transcript && statFile(named) !== null;
  // A session that continued after it was captured may have made the changes itself.
  const changes = stat?.size === transcriptBytes ? findWatchedChanges(prepared) : null;
  return { hasTranscript: !isShort || isElsewhere, hasChanges: changes !== null && hasChanged(changes) };
}
