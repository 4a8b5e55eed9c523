import { basename, dirname, join } from 'node:path';
import { HandoverError } from '../errors.ts';
import { encodeBase32 } from '../model/hash.ts';
import { formatTimestamp } from '../model/time.ts';
import { withLock } from '../platform/lock.ts';
import { ensureLockFolder, ensureProjectFolder, readProjectFile, writeProjectFile } from '../platform/project-file.ts';
import * as layout from './layout.ts';
import { appendNote, formatHeader, formatNote, parseNoteFile, readFrontMatter } from './note-file.ts';
import { MAX_MEMORY_BYTES, type Memory, readText } from './read-memory.ts';

const MAX_NOTE_BYTES = 2 * 1024 * 1024;

interface NewNote {
  text: string;
  tag?: string;
  /** `YYYY-MM-DD`; the day of `at` if left out. */
  date?: string;
  /** In milliseconds; now if left out. */
  at?: number;
  /** Idempotency key: a second write with the same one does nothing. */
  effect?: string;
}

/** `isNew` is false when it was already there. */
type WriteResult = { path: string; isNew: boolean };
/** `past` is where the previous state was moved; null when there was none. */
type StateResult = WriteResult & { past: string | null };

/** The memory itself is no link either: one that leads out of the project could have come with it. */
export function ensureMemoryFolder({ root }: Pick<Memory, 'root'>, ...parts: readonly string[]): string {
  return ensureProjectFolder(dirname(root), basename(root), ...parts);
}

export function withMemoryLock<T>({ root, machine }: Memory, work: () => T): T {
  const folder = ensureLockFolder(ensureMemoryFolder({ root }));
  return withLock({ folder, name: 'memory', waitMs: 60_000, clock: machine.clock }, work);
}

/** Appends a note to the file of its day (layer 1) or to the archive of its month (layer 3). */
export function addNote(memory: Memory, layer: 1 | 3, note: NewNote): WriteResult {
  const { at, date, text, key } = checkNote(memory, note);
  const place = placeNote(layer, { ...note, date });
  return withMemoryLock(memory, () => {
    const path = preparePath(memory, place);
    const content = readText(path) ?? formatHeader(layer, date);
    if (parseNoteFile(content).notes.some((known) => known.key === key)) return { path, isNew: false };
    writeProjectFile(path, appendNote(content, { at, key, text }));
    return { path, isNew: true };
  });
}

/** The path that `addNote` would write to. */
export function placeOfNewNote(memory: Memory, layer: 1 | 3, note: Omit<NewNote, 'text'>): string {
  return layout.pathOf(memory.root, placeNote(layer, { ...note, date: findDate(memory, note) }));
}

function placeNote(layer: 1 | 3, { tag = layout.DEFAULT_TAG, date }: { tag?: string; date: string }): layout.FilePlace {
  const safeTag = layout.parseTag(tag);
  return layer === 1 ? layout.placeOfNotes(safeTag, date) : layout.placeOfArchive(safeTag, date.slice(0, 7));
}

/** Keeps the previous state in `layer2/history`, and its front matter here unless the new text has its own. */
export function replaceState(memory: Memory, state: Omit<NewNote, 'tag'>): StateResult {
  const { at, date, text, key } = checkNote(memory, state);
  return withMemoryLock(memory, () => {
    const path = preparePath(memory, layout.PLACE_OF_STATE);
    const bytes = readProjectFile(path, MAX_MEMORY_BYTES);
    const before = bytes?.toString('utf8') ?? '';
    const [current] = parseNoteFile(before).notes;
    const isWritten =
      state.effect === undefined
        ? current?.text === text.trimEnd()
        : current?.key === key || wasReplaced(memory, at, key);
    if (isWritten) return { path, isNew: false, past: null };
    const past = bytes === null ? null : keepPastState(memory, bytes);
    const front = readFrontMatter(text) === '' ? readFrontMatter(before) : '';
    writeProjectFile(path, `${front}${formatHeader(2, date)}${formatNote({ at, key, text })}`);
    return { path, isNew: true, past };
  });
}

/** The name comes from the time in the state itself, so that a repeated attempt keeps one copy. */
function keepPastState(memory: Memory, bytes: Buffer): string {
  const { date, notes } = parseNoteFile(bytes.toString('utf8'));
  ensureMemoryFolder(memory, ...layout.PLACE_OF_PAST_STATES);
  for (let round = 1; ; round++) {
    const path = pathOfPast(memory, notes[0]?.at ?? date ?? '', round);
    const present = readProjectFile(path, MAX_MEMORY_BYTES);
    if (present === null) writeProjectFile(path, bytes);
    if (present === null || present.equals(bytes)) return path;
  }
}

/** Whether the state with this time and key was already replaced by a later one. */
function wasReplaced(memory: Memory, at: string, key: string): boolean {
  for (let round = 1; ; round++) {
    const past = readText(pathOfPast(memory, at, round));
    if (past === null) return false;
    if (parseNoteFile(past).notes[0]?.key === key) return true;
  }
}

/** `round`, from 1, distinguishes states of the same second. */
function pathOfPast({ root }: Memory, at: string, round: number): string {
  const time = at.replace(/\.\d+Z$/, 'Z').replaceAll(':', '');
  const stem = /^[0-9TZ-]+$/.test(time) ? time : 'undated';
  return join(root, ...layout.PLACE_OF_PAST_STATES, `${stem}${round === 1 ? '' : `-${round}`}.md`);
}

function checkNote(memory: Memory, note: NewNote) {
  if (note.text.trim() === '') {
    const hint = 'Pass the text to remember.';
    throw new HandoverError('HANDOVER_INPUT_INVALID', 'the note is empty', { hint });
  }
  if (Buffer.byteLength(note.text) > MAX_NOTE_BYTES)
    throw new HandoverError('HANDOVER_TEXT_TOO_LARGE', `the note has more than ${MAX_NOTE_BYTES} bytes`, {
      hint: 'Write a shorter note, and name the file with the long text in it.',
    });
  const { clock, random } = memory.machine;
  const at = formatTimestamp(note.at ?? clock.now());
  const key = note.effect === undefined ? `n-${encodeBase32(random.bytes(8), 12)}` : keyOfEffect(note.effect);
  return { at, key, date: findDate(memory, note), text: note.text.toWellFormed() };
}

function findDate(memory: Memory, { date, at }: { date?: string; at?: number }): string {
  return layout.parseDate(date ?? formatTimestamp(at ?? memory.machine.clock.now()).slice(0, 10));
}

function preparePath(memory: Memory, place: layout.FilePlace): string {
  ensureMemoryFolder(memory, ...place.folder);
  return layout.pathOf(memory.root, place);
}

/** Injective: two effects never have the same key. */
function keyOfEffect(effect: string): string {
  const plain = [...Buffer.from(effect)].map((byte) =>
    /[0-9a-z-]/.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : `_${byte.toString(16)}`,
  );
  return `n-${plain.join('')}`;
}

export function assertLayer(layer: number): layout.Layer {
  if (layer === 1 || layer === 2 || layer === 3) return layer;
  const hint = 'Layer 1 holds notes, 2 the current state, 3 archives.';
  throw new HandoverError('HANDOVER_INPUT_INVALID', `invalid layer: ${layer}`, { hint });
}
