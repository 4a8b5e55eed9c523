import { join } from 'node:path';
import { parseAny } from '../../agents/shared/json.ts';
import { printLongFingerprint } from '../../model/hash.ts';
import { statFile } from '../../platform/external-file.ts';
import { pathExists } from '../../platform/folders.ts';
import { readHeadCommit } from '../../platform/worktree.ts';
import { HANDOVERS, HOOK_STATE } from '../../store/store.ts';
import type { ResumeState } from './policy.ts';
import {
  FOLDERS,
  hasForm,
  isFlag,
  isNumber,
  isNumberOrNull,
  isOneOf,
  isText,
  isTextOrNull,
  keyOfSession,
  makeKey,
  type RecordOf,
  readRecord,
  readSmallFile,
} from './records.ts';

const WATCHED_FILE = {
  path: isText,
  /** The path for display, with control characters made visible. */
  shown: isText,
  /** Null for a file that did not exist. */
  size: isNumberOrNull,
  changedMs: isNumberOrNull,
};

/** A file that a session changed, as it was when the session was captured. */
export type WatchedFile = RecordOf<typeof WATCHED_FILE>;

/** A text for each agent that it may be delivered to, by their names. */
export type Briefs = Readonly<Record<string, string>>;

function isBriefs(value: unknown): value is Briefs {
  return typeof value === 'object' && value !== null && Object.values(value).every(isText);
}

const VERSION = { schema: isOneOf('ready/4') };
const PREPARED_BRIEF = {
  ...VERSION,
  agent: isText,
  session: isText,
  handover: isText,
  /** Of the handover. */
  checksum: isText,
  /** When the session was last read; its handover may be older, if nothing was new. */
  capturedMs: isNumber,
  root: isText,
  terminal: isTextOrNull,
  process: isTextOrNull,
  /** Whether its agent reported the end of the session. */
  isEnded: isFlag,
  transcript: isTextOrNull,
  transcriptBytes: isNumber,
  compactions: isNumber,
  title: isText,
  head: isTextOrNull,
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

export function openPreparedBrief(store: string, session: { agent: string; session: string }): BriefSearch {
  const text = readSmallFile(pathOfPreparedBrief(store, keyOfSession(session)));
  if (text === null) return MISSING;
  const key = readSmallFile(pathOfSealKey(store));
  const [seal, head = '', ...lines] = text.split('\n');
  if (key === null || seal !== makeSeal(key, head)) return DAMAGED;
  const prepared = parseAny(head);
  if (!hasForm(prepared, VERSION)) return MISSING;
  if (!hasForm(prepared, PREPARED_BRIEF)) return DAMAGED;
  if (prepared.agent !== session.agent || prepared.session !== session.session) return MISSING;
  const readBrief = (agent: string): string | null => {
    const line = lines[Object.keys(prepared.marks).indexOf(agent)];
    const brief = line !== undefined && makeSeal(key, line) === prepared.marks[agent] ? parseAny(line) : null;
    return typeof brief === 'string' ? brief : null;
  };
  return { prepared, readBrief };
}

const POINTER = {
  value: isText,
  agent: isText,
  session: isText,
  root: isText,
  process: isTextOrNull,
  capturedMs: isNumber,
};

/** The session last captured in a terminal or worktree. It only says where to look: what is found there is checked. */
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
  return { path, shown, size: stat?.size ?? null, changedMs: stat?.changedMs ?? null };
}

/** Changes since a session was captured, by size and time of its files: a hook has no time to read them. */
export interface WatchedChanges {
  files: string[];
  head: { before: string; after: string } | null;
}

export function findWatchedChanges({ root, files, head: before }: PreparedBrief): WatchedChanges {
  const after = before === null ? null : readHeadCommit(root);
  const isChanged = ({ path, shown, size, changedMs }: WatchedFile): boolean => {
    const now = watchFile(path, shown);
    return now.size !== size || now.changedMs !== changedMs;
  };
  return {
    files: files.filter(isChanged).map(({ shown }) => shown),
    head: before === null || after === null || before === after ? null : { before, after },
  };
}

/** `named` is the transcript that the agent names for the resumed session. */
export function checkResumed(prepared: PreparedBrief, named: string | null): ResumeState {
  const { transcript, transcriptBytes } = prepared;
  const stat = transcript === null ? null : statFile(transcript);
  const isShort = transcript !== null && (stat?.size ?? 0) < transcriptBytes;
  const isElsewhere = named !== null && named !== transcript && statFile(named) !== null;
  // A session that continued after it was captured may have made the changes itself.
  const changes = stat?.size === transcriptBytes ? findWatchedChanges(prepared) : null;
  const hasChanges = changes !== null && (changes.files.length > 0 || changes.head !== null);
  return { hasTranscript: !isShort || isElsewhere, hasChanges };
}
