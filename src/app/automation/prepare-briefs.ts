import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { FoundSession } from '../../agents/agent.ts';
import { HOOK_EVENTS } from '../../agents/hook-input.ts';
import { prepareBrief } from '../../handover/brief/compile.ts';
import { findReader } from '../../handover/brief/reader.ts';
import { markHandover } from '../../handover/link.ts';
import type { Fact } from '../../model/fact.ts';
import { FILE_CHANGES } from '../../model/fact-roles.ts';
import type { Handover } from '../../model/handover.ts';
import { isHandoverId } from '../../model/id.ts';
import { cleanLine, cutToBytes, revealControls } from '../../model/text.ts';
import { lastChangeOf } from '../../model/time.ts';
import { createCacheFile, writeCacheFile } from '../../platform/cache-file.ts';
import { statFile } from '../../platform/external-file.ts';
import { ensurePrivateFolder, listFolder } from '../../platform/folders.ts';
import { listAliases } from '../../platform/known-projects.ts';
import type { Machine } from '../../platform/machine.ts';
import { expandHome } from '../../platform/paths.ts';
import { readHeadCommit } from '../../platform/worktree.ts';
import { readIntact } from '../../store/handovers.ts';
import { noteLate, readLate } from '../../store/held-tasks.ts';
import { readMarked, readMarks } from '../../store/marks.ts';
import { HOOK_STATE, type Store } from '../../store/store.ts';
import type { CaptureJob } from './jobs.ts';
import * as briefs from './prepared-briefs.ts';
import { FOLDERS, keyOfSession, makeKey, readSmallFile, writeRecord } from './records.ts';

export interface CapturedSession {
  job: CaptureJob;
  root: string;
  session: FoundSession;
  handover: Handover;
  compactions: number;
}

/** Writes everything that a hook needs to deliver a brief of this session. */
export function prepareBriefs(store: Store, { job, root, session, handover, compactions }: CapturedSession): void {
  const { agent, terminal, process, atMs, lastMs, moment } = job;
  writePrepared(store, handover, {
    agent,
    session: job.session,
    capturedMs: lastMs ?? atMs,
    root,
    terminal,
    process,
    isEnded: moment === 'end',
    isNote: false,
    transcript: session.path,
    transcriptBytes: statFile(session.path)?.size ?? 0,
    compactions,
  });
}

/**
 * The same for a handover that was written by hand: it takes the place of the session's brief that it adds to. It was
 * saved for whoever comes next, so that the session need not be over.
 */
export function prepareSaved(store: Store, handover: Handover, root: string): void {
  const name = readSmallFile(join(store.root, ...FOLDERS.handovers, handover.previous ?? 'none'))?.trim() ?? '';
  const { prepared } = briefs.openPreparedFile(store.root, name.replace(/\.json$/, ''));
  const unknown = { terminal: null, process: null, transcript: null, transcriptBytes: 0, compactions: 0 };
  const of = prepared?.root === root ? prepared : { agent: handover.session.agent, session: handover.id, ...unknown };
  const { agent, session, terminal, process, transcript, transcriptBytes, compactions } = of;
  const known = { agent, session, terminal, process, transcript, transcriptBytes, compactions };
  writePrepared(store, handover, {
    ...known,
    root,
    isEnded: true,
    isNote: true,
    capturedMs: store.machine.clock.now(),
  });
}

type Origin = Omit<
  briefs.PreparedBrief,
  'schema' | 'marks' | 'handover' | 'checksum' | 'title' | 'workedMs' | 'head' | 'branch' | 'running' | 'files'
>;

function writePrepared(store: Store, sealed: Handover, origin: Origin): void {
  const handover = readMarked(store, sealed);
  const prepared = describePrepared(handover, origin, store.machine);
  const { agent, session, root, terminal, process, capturedMs, workedMs } = prepared;
  const folder = ensurePrivateFolder(store.root, ...FOLDERS.sessions);
  const name = `${keyOfSession(prepared)}.json`;
  const index = ensurePrivateFolder(store.root, ...FOLDERS.handovers);
  writeCacheFile(join(index, prepared.handover), [Buffer.from(name)]);
  const text = briefs.printPreparedBrief(ensureSealKey(store), prepared, compileBriefs(handover));
  writeCacheFile(join(folder, name), [Buffer.from(text)]);
  const point = (of: 'terminals' | 'worktrees', value: string, atMs: number): void => {
    // A session that is captured late must not hide a later one.
    if ((briefs.findPointer(store.root, of, value)?.atMs ?? 0) > atMs) return;
    const pointer: briefs.Pointer = { value, agent, session, root, process, atMs };
    writeRecord(store.root, [FOLDERS[of], `${makeKey(value)}.json`], pointer);
  };
  point('worktrees', root, workedMs);
  if (terminal !== null) point('terminals', terminal, capturedMs);
}

/** What every agent reads in full, with room for what a hook adds. */
const MAX_CHARACTERS = 9000;
const MAX_TITLE_BYTES = 120;

function describePrepared(handover: Handover, origin: Origin, machine: Machine): Omit<briefs.PreparedBrief, 'marks'> {
  const touched = handover.facts.filter(({ kind, status }) => kind === 'file' && status !== 'mentioned');
  const [changed, read] = [true, false].map((is) => touched.filter(({ status }) => FILE_CHANGES.has(status) === is));
  const watch = ({ text }: Fact): briefs.WatchedFile => {
    const path = resolve(origin.root, handover.workspace.folder, expandHome(text, machine));
    return briefs.watchFile(path, cutToBytes(revealControls(text), MAX_TITLE_BYTES));
  };
  return {
    schema: 'ready/8',
    ...origin,
    handover: handover.id,
    checksum: handover.checksum,
    title: cutToBytes(cleanLine(handover.title), MAX_TITLE_BYTES),
    workedMs: Date.parse(lastChangeOf(handover)),
    head: readHeadCommit(origin.root),
    branch: briefs.markBranch(origin.root),
    running: handover.facts.flatMap(({ text, probe }) =>
      probe !== undefined && 'process' in probe && probe.process !== null
        ? [{ identity: probe.process, shown: cutToBytes(cleanLine(text), MAX_TITLE_BYTES) }]
        : [],
    ),
    files: [...(changed ?? []), ...(read ?? [])].slice(0, FILES_WATCHED).map(watch),
  };
}

/** One for every agent with hooks: each names what ranks above a brief, in the form that the agent expects. */
function compileBriefs(handover: Handover): briefs.Briefs {
  const printFor = prepareBrief(handover);
  const compileFor = (agent: string): [string, string][] => {
    const reader = findReader(agent);
    if (reader === null) return [];
    const maxCharacters = Math.min(reader.maxCharacters ?? MAX_CHARACTERS, MAX_CHARACTERS);
    return [[agent, printFor({ ...reader, maxCharacters }).text]];
  };
  return Object.fromEntries(Object.keys(HOOK_EVENTS).flatMap(compileFor));
}

/** Those that the session changed, then those that it read, the most important ones first: facts are in that order. */
const FILES_WATCHED = 60;

/** Creates the key if there is none. */
function ensureSealKey(store: Store): string {
  ensurePrivateFolder(store.root, HOOK_STATE);
  const path = briefs.pathOfSealKey(store.root);
  createCacheFile(path, randomBytes(32).toString('hex'));
  return readSmallFile(path) ?? '';
}

const MAX_REFRESHED = 100;

/** Rewrites the newest prepared briefs of a project, after its facts were marked. */
export function refreshPreparedBriefs(store: Store, project: string): void {
  const key = readSmallFile(briefs.pathOfSealKey(store.root));
  if (key === null) return;
  const marks = readMarks(store, project);
  const late = readLate(store);
  const projects = new Set(listAliases(store.machine, project));
  const ids = listFolder(join(store.root, ...FOLDERS.handovers)).filter(isHandoverId);
  for (const id of ids.sort().slice(-MAX_REFRESHED)) {
    const handover = readIntact(store, id);
    if (handover === null || handover.session.id === null || !projects.has(handover.project.id)) continue;
    const { agent, id: session } = handover.session;
    const { prepared } = briefs.openPreparedBrief(store.root, { agent, session });
    if (prepared?.handover !== id) continue;
    const { marks: _, ...head } = prepared;
    const shown = noteLate(markHandover(handover, marks), late.get(id));
    const text = briefs.printPreparedBrief(key, head, compileBriefs(shown));
    writeCacheFile(briefs.pathOfPreparedBrief(store.root, keyOfSession(prepared)), [Buffer.from(text)]);
  }
}
