import { resolve } from 'node:path';
import { baseName, joinParts, toSlashes } from '../../model/paths.ts';
import { isFolder, pathExists } from '../../platform/folders.ts';
import type { Machine } from '../../platform/machine.ts';
import { toRelativePath } from '../../platform/project.ts';
import { compilePattern, isPattern } from './path-pattern.ts';

/** The files that somebody asks about. */
export interface AskedPath {
  kind: 'file' | 'folder' | 'pattern';
  /** From the project's root; empty for the root itself. */
  path: string;
  /** As it was typed, without the way to where it begins. */
  typed: string;
  /** A name in the file that the question is limited to. */
  symbol: string | null;
}

/** How a path that is told of stands to the one asked about. The earlier in this list, the surer. */
export const NEARNESS = ['exact', 'ending', 'name'] as const;
export type Nearness = (typeof NEARNESS)[number];

const SYMBOL = /^(.{2,}?):([\p{L}_$#][\p{L}\p{N}_$#.:]*)$/u;
const POSITION = /^(.{2,}?)(?::\d+){1,2}$/;

/** What was typed where the machine's user stands, in a project with this root. `FILE:SYMBOL` and `FILE:LINE` are read as such. */
export function readAskedPath(words: string, root: string, machine: Machine): AskedPath {
  const isThere = pathExists(resolve(machine.cwd, words));
  const [, file = words, symbol = null] = isThere ? [] : (SYMBOL.exec(words) ?? POSITION.exec(words) ?? []);
  const isSymbol = symbol !== null && !/^\d/.test(symbol);
  const absolute = resolve(machine.cwd, file);
  const inside = toRelativePath(root, absolute);
  const path = inside === '..' || inside.startsWith('../') ? toSlashes(absolute) : inside;
  return {
    kind: kindOf(file, absolute),
    path,
    typed: joinParts('', toSlashes(file)).replace(/^(?:\.\.\/)+/, ''),
    symbol: isSymbol ? symbol : null,
  };
}

function kindOf(file: string, absolute: string): AskedPath['kind'] {
  if (pathExists(absolute)) return isFolder(absolute) ? 'folder' : 'file';
  if (isPattern(file)) return 'pattern';
  return /[\\/]$/.test(file) ? 'folder' : 'file';
}

export type PathTest = (path: string) => boolean;

/** A test of paths, from the root of their project, that lets pass what is as near as this, or nearer. */
export function testPaths({ kind, path, typed }: AskedPath, nearness: Nearness): PathTest {
  if (kind === 'pattern') {
    const [whole, ending] = [compilePattern(path), compilePattern(`**/${typed}`)];
    return (other) => (nearness === 'exact' ? whole : ending).test(other);
  }
  if (kind === 'folder') {
    if (path === '') return (other) => !/^(?:[/~]|\.\.\/|[A-Za-z]:)/.test(other);
    if (nearness === 'exact') return (other) => other.startsWith(`${path}/`);
    return (other) => `/${other}`.includes(`/${typed}/`);
  }
  if (nearness === 'exact') return (other) => other === path;
  if (nearness === 'ending')
    return (other) => `/${other}`.endsWith(`/${typed}`) || `/${path}`.endsWith(`/${other}`);
  const name = baseName(path);
  return (other) => baseName(other) === name;
}

const PATH_LIKE = /[\p{L}\p{N}_.@~+/\\-]*[\p{L}\p{N}_]/gu;

/** Whether a text speaks of files that a test lets pass, by a path or by the end of one. */
export function makeMentionTest({ kind, path }: AskedPath, test: PathTest): (text: string) => boolean {
  const fits = (word: string): boolean => {
    if (kind === 'folder') return word === path || test(word);
    return test(word) || (kind === 'file' && (path === word || path.endsWith(`/${word}`)));
  };
  return (text) =>
    [...text.matchAll(PATH_LIKE)].some(([word]) => {
      const spelled = joinParts('', toSlashes(word));
      return spelled !== '' && fits(spelled);
    });
}
