import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, it } from 'vitest';
import { listFiles } from '../support/source-files.ts';

/** The files that each built file requires as soon as it is loaded. */
function readRequires(folder: string): Map<string, string[]> {
  return new Map(
    listFiles(folder, '.cjs').map((file) => {
      const calls = readFileSync(file, 'utf8').matchAll(/(=>\s*)?\brequire\([`"']\.\/([^`"']+)[`"']\)/g);
      const names = [...calls].flatMap(([, later, name]) => (later === undefined && name !== undefined ? [name] : []));
      return [basename(file), names];
    }),
  );
}

function findCycle(requires: ReadonlyMap<string, readonly string[]>): string[] | null {
  const done = new Set<string>();
  const walk = (name: string, way: readonly string[]): string[] | null => {
    if (way.includes(name)) return [...way.slice(way.indexOf(name)), name];
    if (done.has(name)) return null;
    for (const next of requires.get(name) ?? []) {
      const cycle = walk(next, [...way, name]);
      if (cycle !== null) return cycle;
    }
    done.add(name);
    return null;
  };
  for (const name of requires.keys()) {
    const cycle = walk(name, []);
    if (cycle !== null) return cycle;
  }
  return null;
}

it.each(['dist/cli', 'dist/hook', 'dist/start'])('no two files of %s import each other', (folder) => {
  const requires = readRequires(folder);
  expect(requires.size).toBeGreaterThan(0);
  expect(findCycle(requires)).toBeNull();
});

it('the check for circular imports finds one', () => {
  expect(
    findCycle(
      new Map([
        ['a', ['b']],
        ['b', ['c']],
        ['c', ['b']],
      ]),
    ),
  ).toEqual(['b', 'c', 'b']);
});
