import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { FoundSession } from '../../agents/agent.ts';
import { HOOK_EVENTS } from '../../agents/hook-input.ts';
import { compileBrief } from '../../handover/brief/compile.ts';
import { findReader } from '../../handover/brief/reader.ts';
import { markHandover } from '../../handover/link.ts';
import type { Fact } from '../../model/fact.ts';
import type { Handover } from '../../model/handover.ts';
import { isHandoverId } from '../../model/id.ts';
import { cleanLine, cutToBytes, revealControls } from '../../model/text.ts';
import { createCacheFile, writeCacheFile } from '../../platform/cache-file.ts';
import { statFile } from '../../platform/external-file.ts';
import { ensurePrivateFolder, listFolder } from '../../platform/folders.ts';
import type { Machine } from '../../platform/machine.ts';
import { expandHome } from '../../platform/paths.ts';
import { readHeadCommit } from '../../platform/worktree.ts';
import { readIntact } from '../../store/handovers.ts';
import { readMarked, readMarks } from '../../store/marks.ts';
import { HOOK_STATE, type Store } from '../../store/store.ts';
import type { CaptureJob } from './jobs.ts';
import {
  type Briefs,
  findPointer,
  openPreparedBrief,
  type Pointer,
  type PreparedBrief,
  pathOfPreparedBrief,
  pathOfSealKey,
  printPreparedBrief,
  type WatchedFile,
  watchFile,
} from './prepared-briefs.ts';
import { FOLDERS, keyOfSession, makeKey, readSmallFile, writeRecord } from './records.ts';

interface CapturedSession {
  job: CaptureJob;
  root: string;
  session: FoundSession;
  handover: Handover;
  compactions: number;
}

/** Writes everything that a hook needs to deliver a brief of this session. */
export function prepareBriefs(store: Store, captured: CapturedSession): void {
  const handover = readMarked(store, captured.handover);
  const prepared = describePrepared({ ...captured, handover }, store.machine);
  const { agent, session, root, terminal, process, capturedMs } = prepared;
  const folder = ensurePrivateFolder(store.root, ...FOLDERS.sessions);
  const name = `${keyOfSession(prepared)}.json`;
  const index = ensurePrivateFolder(store.root, ...FOLDERS.handovers);
  writeCacheFile(join(index, prepared.handover), [Buffer.from(name)]);
  const text = printPreparedBrief(ensureSealKey(store), prepared, compileBriefs(handover));
  writeCacheFile(join(folder, name), [Buffer.from(text)]);
  const point = (of: 'terminals' | 'worktrees', value: string): void => {
    // A crashed session that is captured late must not hide a later one.
    if ((findPointer(store.root, of, value)?.capturedMs ?? 0) > capturedMs) return;
    const pointer: Pointer = { value, agent, session, root, process, capturedMs };
    writeRecord(store.root, [FOLDERS[of], `${makeKey(value)}.json`], pointer);
  };
  point('worktrees', root);
  if (terminal !== null) point('terminals', terminal);
}

/** What every agent reads in full, with room for what a hook adds. */
const MAX_CHARACTERS = 9000;
const MAX_TITLE_BYTES = 120;

function describePrepared(
  { job, root, session, handover, compactions }: CapturedSession,
  machine: Machine,
): Omit<PreparedBrief, 'marks'> {
  const { agent, terminal, process, atMs, lastMs, moment } = job;
  const changed = handover.facts.filter(({ kind, status }) => kind === 'file' && CHANGED.has(status ?? ''));
  const watch = ({ text }: Fact): WatchedFile => {
    const path = resolve(root, handover.workspace.folder, expandHome(text, machine));
    return watchFile(path, cutToBytes(revealControls(text), MAX_TITLE_BYTES));
  };
  return {
    schema: 'ready/4',
    agent,
    session: job.session,
    handover: handover.id,
    checksum: handover.checksum,
    capturedMs: lastMs ?? atMs,
    root,
    terminal,
    process,
    isEnded: moment === 'end',
    transcript: session.path,
    transcriptBytes: statFile(session.path)?.size ?? 0,
    compactions,
    title: cutToBytes(cleanLine(handover.title), MAX_TITLE_BYTES),
    head: readHeadCommit(root),
    files: changed.slice(0, FILES_WATCHED).map(watch),
  };
}

/** For every agent that a hook may give them to: each is told what ranks above a brief, and gets it in its own form. */
function compileBriefs(handover: Handover): Briefs {
  const compileFor = (agent: string): [string, string][] => {
    const reader = findReader(agent);
    if (reader === null) return [];
    const maxCharacters = Math.min(reader.maxCharacters ?? MAX_CHARACTERS, MAX_CHARACTERS);
    return [[agent, compileBrief(handover, { ...reader, maxCharacters }).text]];
  };
  return Object.fromEntries(Object.keys(HOOK_EVENTS).flatMap(compileFor));
}

/** Of the files that the session changed, the most important ones: facts are in that order. */
const FILES_WATCHED = 20;
const CHANGED: ReadonlySet<string> = new Set(['created', 'edited', 'deleted']);

/** Made once, by whoever comes first. */
function ensureSealKey(store: Store): string {
  ensurePrivateFolder(store.root, HOOK_STATE);
  const path = pathOfSealKey(store.root);
  createCacheFile(path, randomBytes(32).toString('hex'));
  return readSmallFile(path) ?? '';
}

const MAX_REFRESHED = 100;

/** Rewrites the newest prepared briefs of a project, after its facts were marked. */
export function refreshPreparedBriefs(store: Store, project: string): void {
  const key = readSmallFile(pathOfSealKey(store.root));
  if (key === null) return;
  const marks = readMarks(store, project);
  const ids = listFolder(join(store.root, ...FOLDERS.handovers)).filter(isHandoverId);
  for (const id of ids.sort().slice(-MAX_REFRESHED)) {
    const handover = readIntact(store, id);
    if (handover === null || handover.session.id === null || handover.project.id !== project) continue;
    const { agent, id: session } = handover.session;
    const { prepared } = openPreparedBrief(store.root, { agent, session });
    if (prepared?.handover !== id) continue;
    const { marks: _, ...head } = prepared;
    const text = printPreparedBrief(key, head, compileBriefs(markHandover(handover, marks)));
    writeCacheFile(pathOfPreparedBrief(store.root, keyOfSession(prepared)), [Buffer.from(text)]);
  }
}
