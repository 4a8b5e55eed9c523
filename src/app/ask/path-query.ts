import { resolve } from 'node:path';
import { baseName, joinParts, toSlashes } from '../../model/paths.ts';
import { isFolder, pathExists } from '../../platform/folders.ts';
import type { Machine } from '../../platform/machine.ts';
import { toRelativePath } from '../../platform/project.ts';

/** A glob: `*` and `?` within a part of the path, `**` across folders, `[ab]`, `{a,b}`. Unclosed, they are literal. */
export function compilePattern(pattern: string): RegExp {
  let source = '';
  let depth = 0;
  for (let at = 0; at < pattern.length; at++) {
    const rest = pattern.slice(at);
    const [token = rest.charAt(0)] = /^(?:\*\*\/|\*+|\[[^\]/]+\])/.exec(rest) ?? [];
    at += token.length - 1;
    if (token === '**/') source += '(?:[^/]+/)*';
    else if (token.startsWith('*')) source += token === '*' ? '[^/]*' : '.*';
    else if (token === '?') source += '[^/]';
    else if (token.length > 1) source += compileClass(token);
    else if (token === '{' && rest.includes('}')) {
      depth++;
      source += '(?:';
    } else if (token === '}' && depth > 0) {
      depth--;
      source += ')';
    } else source += token === ',' && depth > 0 ? '|' : quoteText(token);
  }
  return new RegExp(`^${source}${')'.repeat(depth)}$`, 'su');
}

function compileClass(token: string): string {
  const inner = token.slice(1, -1);
  const isNegated = /^[!^]/.test(inner);
  const members = inner.slice(isNegated ? 1 : 0).replace(/[\\\]^[]/g, '\\$&');
  if (members === '') return quoteText(token);
  const ordered = [...members.matchAll(/(.)-(.)/gsu)].every(([, from = '', to = '']) => from <= to);
  return `[${isNegated ? '^' : ''}${ordered ? members : members.replaceAll('-', '\\-')}]`;
}

function quoteText(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

export interface PathQuery {
  kind: 'file' | 'folder' | 'pattern';
  /** Relative to the project's root; empty for the root itself. */
  path: string;
  /** As it was typed, without leading `../`. */
  typed: string;
  symbol: string | null;
}

/** How a path in a fact matches the one asked about, the surest first. */
export const PATH_MATCHES = ['exact', 'ending', 'name'] as const;
export type PathMatch = (typeof PATH_MATCHES)[number];

const SYMBOL = /^(.{2,}?):([\p{L}_$#][\p{L}\p{N}_$#.:]*)$/u;
const POSITION = /^(.{2,}?)(?::\d+){1,2}$/;

/** Parses what was typed in the current folder: a path, `FILE:SYMBOL` or `FILE:LINE`. */
export function parsePathQuery(words: string, root: string, machine: Machine): PathQuery {
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

function kindOf(file: string, absolute: string): PathQuery['kind'] {
  if (pathExists(absolute)) return isFolder(absolute) ? 'folder' : 'file';
  if (/[*?[\]{}]/.test(file)) return 'pattern';
  return /[\\/]$/.test(file) ? 'folder' : 'file';
}

type PathTest = (path: string) => boolean;

/** Tests paths, relative to the root of their project, for a match of this nearness or a better one. */
export function testPaths({ kind, path, typed }: PathQuery, nearness: PathMatch): PathTest {
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
  if (nearness === 'ending') return (other) => `/${other}`.endsWith(`/${typed}`) || `/${path}`.endsWith(`/${other}`);
  const name = baseName(path);
  return (other) => baseName(other) === name;
}

const PATH_LIKE = /[\p{L}\p{N}_.@~+/\\-]*[\p{L}\p{N}_]/gu;

/** Tests whether a text mentions a file that passes the test, by a path or by the end of one. */
export function makeMentionTest({ kind, path }: PathQuery, test: PathTest): (text: string) => boolean {
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
