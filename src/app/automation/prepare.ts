import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { FoundSession } from '../../agents/agent.ts';
import { compileBrief } from '../../handover/brief/compile.ts';
import { findReader, type Reader } from '../../handover/brief/reader.ts';
import type { Handover } from '../../model/handover.ts';
import { cleanLine, cutToBytes, revealControls } from '../../model/text.ts';
import { createCacheFile, writeCacheFile } from '../../platform/cache-file.ts';
import { statFile } from '../../platform/external-file.ts';
import { ensurePrivateFolder } from '../../platform/folders.ts';
import { readHeadCommit } from '../../platform/git-history.ts';
import type { Machine } from '../../platform/machine.ts';
import { expandHome } from '../../platform/paths.ts';
import { readMarked } from '../../store/marks.ts';
import { READY, type Store } from '../../store/store.ts';
import { describeEvidence } from './evidence.ts';
import { keyOfSession, makeKey, READY_FOLDERS } from './folders.ts';
import {
  type BriefFor,
  type Evidence,
  findPointer,
  KEY_NAME,
  type Pointer,
  printReady,
  type Ready,
} from './ready.ts';
import { readSmallFile, writeRecord } from './small-records.ts';
import type { CaptureNote } from './spool.ts';

export interface Captured {
  note: CaptureNote;
  root: string;
  session: FoundSession;
  handover: Handover;
  compactions: number;
}

/** Lays everything ready that a hook will need to hand this session over. */
export function prepareReady(store: Store, captured: Captured): void {
  const shown = { ...captured, handover: readMarked(store, captured.handover) };
  const ready = describeReady(shown, store.machine);
  const { agent, session, root, terminal, process, capturedMs } = ready;
  const folder = ensurePrivateFolder(store.root, ...READY_FOLDERS.sessions);
  const name = `${keyOfSession(ready)}.json`;
  const index = ensurePrivateFolder(store.root, ...READY_FOLDERS.handovers);
  writeCacheFile(join(index, ready.handover), [Buffer.from(name)]);
  writeCacheFile(join(folder, name), [
    Buffer.from(printReady(ensureKey(store), ready, compileBriefs(shown.note.agent, shown.handover))),
  ]);
  const point = (of: 'terminals' | 'worktrees', value: string): void => {
    // A session that is found late to be over must not hide one that came after it.
    if ((findPointer(store.root, of, value)?.capturedMs ?? 0) > capturedMs) return;
    const pointer: Pointer = { value, agent, session, root, process, capturedMs };
    writeRecord(store.root, [READY_FOLDERS[of], `${makeKey(value)}.json`], pointer);
  };
  point('worktrees', root);
  if (terminal !== null) point('terminals', terminal);
}

/** What an agent takes whole, with room for what a hook adds. */
const MOST_CHARACTERS = 9000;
const MAX_TITLE_BYTES = 120;

function describeReady(
  { note, root, session, handover, compactions }: Captured,
  machine: Machine,
): Omit<Ready, 'marks'> {
  const { agent, terminal, process, atMs, lastMs, moment } = note;
  return {
    schema: 'ready/3',
    agent,
    session: note.session,
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
    files: listEvidence(handover, { root, machine }),
  };
}

export function compileBriefs(agent: string, handover: Handover): Record<BriefFor, string> {
  return {
    own: compileFor(handover, findReader(agent)),
    any: compileFor(handover, findReader('generic')),
  };
}

function compileFor(handover: Handover, reader: Reader | null): string {
  if (reader === null) return '';
  const maxCharacters = Math.min(reader.maxCharacters ?? MOST_CHARACTERS, MOST_CHARACTERS);
  return compileBrief(handover, { ...reader, maxCharacters }).text;
}

const FILES_WATCHED = 20;
const CHANGED: ReadonlySet<string> = new Set(['created', 'edited', 'deleted']);

/** The files that the session changed, the first of them: they stand in the order of their worth. */
function listEvidence(
  { facts, workspace }: Handover,
  { root, machine }: { root: string; machine: Machine },
): Evidence[] {
  return facts
    .filter((fact) => fact.kind === 'file' && CHANGED.has(fact.status ?? ''))
    .slice(0, FILES_WATCHED)
    .map((fact) =>
      describeEvidence(
        resolve(root, workspace.folder, expandHome(fact.text, machine)),
        cutToBytes(revealControls(fact.text), MAX_TITLE_BYTES),
      ),
    );
}

/** Made once; whoever comes second takes what the first one made. */
function ensureKey(store: Store): string {
  const path = join(ensurePrivateFolder(store.root, READY), KEY_NAME);
  createCacheFile(path, randomBytes(32).toString('hex'));
  return readSmallFile(path) ?? '';
}
