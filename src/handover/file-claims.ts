import { resolve } from 'node:path';
import { describePart, findTodos, hasPart, isStructured } from '../distill/names.ts';
import { type Fact, getFileProbe } from '../model/fact.ts';
import { type Handover, isForeign } from '../model/handover.ts';
import { sha256Hex } from '../model/hash.ts';
import { isProse } from '../model/paths.ts';
import { lastWorkOf } from '../model/time.ts';
import type { Claim } from '../model/workspace.ts';
import { readHead } from '../platform/external-file.ts';
import { isFolder, isLexicallyInside, pathExists, resolveRealPath } from '../platform/folders.ts';
import type { Machine } from '../platform/machine.ts';
import { expandHome } from '../platform/paths.ts';
import type { Place } from '../platform/project.ts';

/* What a handover states about files, looked at again. */

export type Found = Pick<Claim, 'state' | 'now'>;
export const HOLDS: Found = { state: 'holds', now: null };
export const UNKNOWN: Found = { state: 'unknown', now: null };

/** A name that is stored with signs for what is not seen in it, or for a secret, is not that of the file. */
export const REVEALED: RegExp = /[\u2400-\u2421\ufffd]|\[redacted:/;
const MAX_FILES = 300;
const MAX_COMPARED_BYTES = 32 * 1024 * 1024;

/** Where a handover is looked at. */
export interface Looked {
  place: Place;
  machine: Machine;
  /** The root of the place, without a link in it. */
  realRoot: string;
}

function listFiles({ facts }: Handover): Fact[] {
  return facts.filter(({ kind, status }) => kind === 'file' && status !== 'mentioned').slice(0, MAX_FILES);
}

export function checkFiles(handover: Handover, looked: Looked): Claim[] {
  const since = Date.parse(lastWorkOf(handover));
  return listFiles(handover).flatMap((fact): Claim[] => {
    const claim = { fact: fact.id, about: 'file' as const, what: fact.text };
    const path = locateWithin(fact, handover, looked);
    if (path === null) return [{ ...claim, ...UNKNOWN }];
    return checkFile(fact, path, since).map((found) => ({ ...claim, ...found }));
  });
}

/** One digest of all files of code that a handover names, as they are now. */
export function digestCode(handover: Handover, looked: Looked): string {
  const digests = listFiles(handover).flatMap((fact) => {
    const path = isProse(fact.text) ? null : locateWithin(fact, handover, looked);
    const head = path === null ? null : readHead(path, MAX_COMPARED_BYTES);
    return path === null ? [] : [[fact.text, head === null ? null : sha256Hex(head.bytes)]];
  });
  return sha256Hex(Buffer.from(JSON.stringify(digests)));
}

/** Null for a file that must not be looked at, or of which nothing could be told. */
function locateWithin(fact: Fact, handover: Handover, { place, machine, realRoot }: Looked): string | null {
  const path = locateFile(fact, handover, { place, machine });
  const isWithin = isLexicallyInside(path, place.root);
  const isOut = isWithin ? leadsOut(path, realRoot) : isForeign(handover) || wasMissing(fact);
  return isOut || REVEALED.test(fact.text) ? null : path;
}

/** Whether a file was not there when the session was captured, as on another machine than the one that it worked on. */
function wasMissing(fact: Fact): boolean {
  return fact.status !== 'deleted' && getFileProbe(fact)?.sha256 === null;
}

/** Whether a path in the worktree is a link to somewhere else, or lies behind one. `root` has no link in it. */
export function leadsOut(path: string, root: string): boolean {
  const real = resolveRealPath(path);
  return real !== null && !isLexicallyInside(real, root);
}

/** Declared paths start from the root, captured ones from the folder that the agent worked in. */
export function locateFile(
  fact: Fact,
  { workspace }: Handover,
  { place, machine }: Pick<Looked, 'place' | 'machine'>,
): string {
  const from = fact.trust === 'declared' ? place.root : resolve(place.root, workspace.folder);
  return resolve(from, expandHome(fact.text, machine));
}

export const GONE = 'gone';
const WRITTEN_SINCE = 'written since';

export function wasWritten({ now }: Claim): boolean {
  return now === WRITTEN_SINCE;
}

/** By content where its digest is known, else by the time of its last change, which tells less; and what it held, where it is another now. */
function checkFile(fact: Fact, path: string, since: number): (Found & Partial<Claim>)[] {
  const probe = getFileProbe(fact);
  if (fact.status === 'deleted') return [pathExists(path) ? { state: 'changed', now: 'is there again' } : HOLDS];
  const digest = probe?.sha256 ?? null;
  const head = readHead(path, digest === null ? 0 : MAX_COMPARED_BYTES);
  if (head === null && isFolder(path)) return [{ state: 'gone', now: 'is a folder now' }];
  if (head === null) return [pathExists(path) ? UNKNOWN : { state: 'gone', now: GONE }];
  // Whoever wrote it may have left it as it was: a checkout, a formatter, a clone.
  if (digest === null) return [head.changedMs > since ? { state: 'unknown', now: WRITTEN_SINCE } : HOLDS];
  const isOther = sha256Hex(head.bytes) !== digest && !hasOtherLineEnds(head.bytes, digest);
  const found: Found = isOther ? { state: 'changed', now: 'changed since' } : HOLDS;
  const content = isOther ? head.bytes.toString('utf8') : null;
  const check = (about: 'name' | 'todo', part: string): Found & Partial<Claim> => {
    const isThere =
      content === null || (about === 'name' ? declares(fact.text, content, part) : hasTodo(content, part));
    const shown = about === 'name' ? describeName(fact.text, part) : `its ${part.slice(0, part.search(/\W|$/))}`;
    const gone: Found = { state: 'gone', now: `no longer has ${shown}` };
    return { about, what: `${fact.text}: ${part}`, ...(isThere ? HOLDS : gone) };
  };
  const [names, todos] = [probe?.names ?? [], probe?.todos ?? []];
  return [found, ...names.map((name) => check('name', name)), ...todos.map((line) => check('todo', line))];
}

/** Whether bytes are those of a digest but for their line ends, which git writes as each machine is set. */
function hasOtherLineEnds(bytes: Buffer, digest: string): boolean {
  if (!bytes.includes('\n')) return false;
  const unix = bytes.toString('latin1').replaceAll('\r\n', '\n');
  return [unix, unix.replaceAll('\n', '\r\n')].some((text) => sha256Hex(Buffer.from(text, 'latin1')) === digest);
}

/** Whether a text has a TODO to the end of its line. */
export function hasTodo(text: string, stored: string): boolean {
  // Older handovers have it with the end of its comment.
  const [todo = stored] = findTodos(stored);
  for (let at = text.indexOf(todo); at !== -1; at = text.indexOf(todo, at + 1)) {
    const end = text.indexOf('\n', at);
    const line = text.slice(at, end === -1 ? undefined : end);
    if (findTodos(line)[0] === todo) return true;
  }
  return false;
}

/** Whether a file still has a name: a heading or a key, where such structure it, else a word of its own. */
export function declares(path: string, text: string, name: string): boolean {
  return isStructured(path) ? hasPart(path, text, name) : hasName(text, name);
}

function describeName(path: string, name: string): string {
  return isStructured(path) ? describePart(path, name) : name;
}

function hasName(text: string, name: string): boolean {
  return new RegExp(`(?<![\\p{L}\\p{N}_$])${name.replace(/[^\p{L}\p{N}_]/gu, '\\$&')}(?![\\p{L}\\p{N}_$])`, 'u').test(
    text,
  );
}
