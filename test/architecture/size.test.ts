import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { listFiles } from '../support/source-files.ts';

interface Measured {
  file: string;
  lines: number;
}

const measured: Measured[] = listFiles('src', '.ts')
  .map((file) => ({ file, lines: readFileSync(file, 'utf8').split('\n').length - 1 }))
  .sort((a, b) => a.lines - b.lines);
const lines = measured.reduce((sum, file) => sum + file.lines, 0);

function folderOf({ file }: Measured): string {
  return file.split('/')[1] ?? '';
}

/** The table of folders in the documentation: folder, files, lines. */
function readTable(): Map<string, { files: number; lines: number }> {
  const rows = readFileSync('docs/architecture.md', 'utf8').matchAll(/^\| `(\w+)` \| .*\| (\d+) \| ([\d,]+) \|$/gm);
  return new Map(
    [...rows].map(([, folder = '', files, count = '']) => [
      folder,
      { files: Number(files), lines: Number(count.replaceAll(',', '')) },
    ]),
  );
}

describe('the size of the source', () => {
  it('is printed, and stays within its limits', () => {
    const [smallest, largest] = [measured[0], measured.at(-1)];
    process.stdout.write(
      `src: ${measured.length} files, ${lines} lines, ` +
        `largest ${largest?.file} (${largest?.lines}), smallest ${smallest?.file} (${smallest?.lines})\n`,
    );
    expect(measured.length).toBeLessThanOrEqual(473);
    expect(lines).toBeLessThanOrEqual(68_000);
    expect(measured.filter((file) => file.lines <= 20).length).toBeLessThanOrEqual(20);
    expect(measured.filter((file) => file.lines > 400)).toEqual([]);
  });

  it('is what docs/architecture.md says: every folder, its files exactly, its lines within a tenth', () => {
    const inFolders = measured.filter(({ file }) => file.split('/').length > 2);
    const folders = [...new Set(inFolders.map(folderOf))];
    const table = readTable();
    expect([...table.keys()].sort()).toEqual(folders.sort());
    for (const folder of folders) {
      const files = inFolders.filter((file) => folderOf(file) === folder);
      const count = files.reduce((sum, file) => sum + file.lines, 0);
      expect([folder, table.get(folder)?.files]).toEqual([folder, files.length]);
      expect(Math.abs((table.get(folder)?.lines ?? 0) - count) / count).toBeLessThan(0.1);
    }
  });
});

describe('docs/architecture.md', () => {
  const page = readFileSync('docs/architecture.md', 'utf8');

  it('names only files and functions that exist', () => {
    const named = [...page.matchAll(/`(src\/[\w./-]+\.ts)`(?:\s+`(\w+)`)?/g)];
    expect(named.length).toBeGreaterThan(30);
    const missing = named.filter(([, file = '', name]) => {
      const source = existsSync(file) ? readFileSync(file, 'utf8') : null;
      return source === null || (name !== undefined && !new RegExp(`(?:function|const) ${name}\\b`).test(source));
    });
    expect(missing.map(([words]) => words)).toEqual([]);
  });

  it('leads from a hook to a sealed handover in at most 30 steps', () => {
    const walk = page.slice(page.indexOf('calls its hook:'), page.indexOf('The next session starts'));
    const steps = walk.match(/^\d+\. /gm) ?? [];
    expect(steps.length).toBeGreaterThan(5);
    expect(steps.length).toBeLessThanOrEqual(30);
  });
});

describe('docs/glossary.md', () => {
  it('has at most 50 words, each once', () => {
    const words = [...readFileSync('docs/glossary.md', 'utf8').matchAll(/^\| ([^|]+) \|/gm)].map(([, word]) => word);
    expect(words.length - 2).toBeLessThanOrEqual(50);
    expect(new Set(words).size).toBe(words.length);
  });
});
