import type { FileEdit } from '../model/event.ts';
import { baseName } from '../model/paths.ts';
import { findBackticked, findPaths } from './names.ts';
import { findStems } from './shell.ts';

type ProseSource = 'user' | 'agent' | 'summary' | 'task' | 'plan';
type CallSource = 'opened' | 'edited' | 'command' | 'pattern';
type ResultSource = 'output' | 'content' | 'hits' | 'report' | 'answer' | 'other';
/** Where a name was seen. Names inside of the text of an edit count as `content`. */
export type MentionSource = ProseSource | CallSource | ResultSource;

export const NAME_KINDS = ['file', 'stem'] as const;
export type NameKind = (typeof NAME_KINDS)[number];

/** How often, and at which call last. */
type Tally = { count: number; last: number };

export type Mentions = Tally & { by: Map<MentionSource, Tally> };

type Counts = Map<string, Map<string, number>>;

export function openNameMaps<T>(): Record<NameKind, Map<string, T>> {
  return { file: new Map(), stem: new Map() };
}

/** Which files, by base name, and which commands, by stem, a session named: where, how often and when. */
export class NameIndex {
  names: Record<NameKind, Map<string, Mentions>> = openNameMaps();
  /** By base name, the paths seen for it, with how often. */
  paths: Counts = new Map();
  /** By base name, the fewest files ever named together with it: a name in a long listing says little. */
  smallestListing = new Map<string, number>();
}

type Place = { source: MentionSource; call: number };

function addMention(index: NameIndex, kind: NameKind, name: string, { source, call }: Place): void {
  const known = index.names[kind];
  let mentions = known.get(name);
  if (mentions === undefined) {
    mentions = { count: 0, last: call, by: new Map() };
    known.set(name, mentions);
  }
  addTally(mentions, 1, call);
  addSourceTally(mentions, source, { count: 1, last: call });
}

function addTally(tally: Tally, count: number, last: number): void {
  tally.count += count;
  tally.last = Math.max(tally.last, last);
}

function addSourceTally({ by }: Mentions, source: MentionSource, tally: Tally): void {
  const known = by.get(source);
  if (known === undefined) by.set(source, tally);
  else addTally(known, tally.count, tally.last);
}

function addFile(index: NameIndex, path: string, place: Place, listed = 1): void {
  const name = baseName(path);
  addMention(index, 'file', name, place);
  lowerTo(index.smallestListing, name, listed);
  if (path.includes('/')) addCount(index.paths, name, path);
}

function lowerTo(counts: Map<string, number>, name: string, count: number): void {
  counts.set(name, Math.min(count, counts.get(name) ?? Number.POSITIVE_INFINITY));
}

const PROSE: ReadonlySet<MentionSource> = new Set(['user', 'agent', 'summary', 'plan', 'task']);

function addText(index: NameIndex, text: string, place: Place): void {
  addPaths(index, findPaths(text), place);
  if (place.source === 'command') addStems(index, text, place);
  if (!PROSE.has(place.source)) return;
  for (const quoted of findBackticked(text)) if (/^[a-z./].* /.test(quoted)) addStems(index, quoted, place);
}

function addStems(index: NameIndex, command: string, place: Place): void {
  for (const stem of findStems(command)) addMention(index, 'stem', stem, place);
}

export function addPaths(index: NameIndex, paths: readonly string[], place: Place): void {
  for (const path of paths) addFile(index, path, place, paths.length);
}

/** Files that an edit names count as if this many had been listed together. */
const LISTED_IN_EDIT = 8;

function addEdit(index: NameIndex, edit: FileEdit, call: number): void {
  addFile(index, edit.path, { source: 'edited', call });
  for (const path of findPaths(edit.after)) addFile(index, path, { source: 'content', call }, LISTED_IN_EDIT);
}

function addCount(counts: Counts, key: string, item: string, count = 1): void {
  const own = counts.get(key) ?? new Map<string, number>();
  own.set(item, (own.get(item) ?? 0) + count);
  counts.set(key, own);
}

/** One index of all, as if everything had been added to it. A single index is returned as it is. */
export function joinIndexes(indexes: readonly NameIndex[]): NameIndex {
  const [first, ...others] = indexes;
  if (first !== undefined && others.length === 0) return first;
  const joined = new NameIndex();
  for (const index of indexes) {
    for (const kind of NAME_KINDS) joinMentions(joined.names[kind], index.names[kind]);
    joinCounts(joined.paths, index.paths);
    for (const [name, listed] of index.smallestListing) lowerTo(joined.smallestListing, name, listed);
  }
  return joined;
}

function joinMentions(joined: Map<string, Mentions>, more: ReadonlyMap<string, Mentions>): void {
  for (const [name, { count, last, by }] of more) {
    const known = joined.get(name) ?? { count: 0, last, by: new Map() };
    joined.set(name, known);
    addTally(known, count, last);
    for (const [source, tally] of by) addSourceTally(known, source, { ...tally });
  }
}

function joinCounts(joined: Counts, more: Counts): void {
  for (const [key, counts] of more) for (const [item, count] of counts) addCount(joined, key, item, count);
}

type QueueItem =
  | { kind: 'text'; text: string; place: Place }
  | { kind: 'file'; path: string; place: Place }
  | { kind: 'edit'; edit: FileEdit; call: number };

/**
 * A part of a session, `CALLS_PER_WINDOW` calls long, with its names. Finding names is most of the work, and names of older
 * windows only are worth next to nothing: so a window's texts are queued, and indexed only if it is one of the last.
 */
export class NameWindow {
  queue: QueueItem[] = [];
  length = 0;
  index: NameIndex = new NameIndex();
}

const CALLS_PER_WINDOW = 500;
const MAX_WINDOWS = 4;
/** Longer queues are indexed at once: here memory is worth more than time. */
const MAX_QUEUED = 4_000_000;

/** To be called for each call, before anything of it is queued. */
export function countCall(windows: NameWindow[], calls: number): void {
  if (calls % CALLS_PER_WINDOW !== 0) return;
  windows.push(new NameWindow());
  if (windows.length > MAX_WINDOWS) windows.shift();
}

export function queueForIndex(windows: readonly NameWindow[], item: QueueItem): void {
  const window = windows.at(-1);
  if (window === undefined) return;
  window.queue.push(item);
  if (item.kind === 'text') window.length += item.text.length;
  else if (item.kind === 'edit') window.length += item.edit.before.length + item.edit.after.length;
  if (window.length > MAX_QUEUED) flushWindow(window);
}

export function flushWindow(window: NameWindow): void {
  const { queue, index } = window;
  window.queue = [];
  window.length = 0;
  for (const item of queue)
    if (item.kind === 'text') addText(index, item.text, item.place);
    else if (item.kind === 'file') addFile(index, item.path, item.place);
    else addEdit(index, item.edit, item.call);
}
