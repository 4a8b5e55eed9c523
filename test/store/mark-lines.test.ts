import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openMarkSearch, readMarkLines } from '../../src/store/mark-lines.ts';
import { makeStore } from '../support/temp-store.ts';

const EVENTS = ['saved', 'pinned', 'unpinned', 'resolved', 'refuted', 'forgotten', 'delivered'] as const;

const anyLine = fc
  .record({
    month: fc.constantFrom('2026-01', '2026-02'),
    event: fc.constantFrom(...EVENTS),
    reason: fc.string({ unit: 'grapheme', maxLength: 20 }),
    padding: fc.constantFrom(0, 0, 200, 150_000),
  })
  .map(({ month, event, reason, padding }) => {
    const entry = { schema: 'journal/1', at: `${month}-31T12:00:00.000Z`, event, reason, more: 'x'.repeat(padding) };
    return { month, event, line: JSON.stringify(entry) };
  });

function makeJournal() {
  const store = makeStore();
  const folder = join(store.root, 'journal');
  mkdirSync(folder, { recursive: true });
  const pathOf = (month: string): string => join(folder, `${month}.jsonl`);
  return { store, pathOf, cache: join(store.root, 'readings', 'marks') };
}

describe('the marks of a long journal', () => {
  it('are the same lines however often and wherever in between they were read before', () => {
    let cached = 0;
    fc.assert(
      fc.property(fc.array(fc.array(anyLine, { maxLength: 8 }), { maxLength: 6 }), (rounds) => {
        const { store, pathOf, cache } = makeJournal();
        const written = new Map<string, string[]>();
        for (const round of rounds) {
          for (const { month, event, line } of round) {
            appendFileSync(pathOf(month), `${line}\n`);
            const isMark = ['pinned', 'unpinned', 'resolved', 'refuted', 'forgotten'].includes(event);
            if (isMark) written.set(month, [...(written.get(month) ?? []), line]);
          }
          expect(readMarkLines(store)).toEqual(['2026-01', '2026-02'].flatMap((month) => written.get(month) ?? []));
        }
        cached += Number(existsSync(cache));
      }),
      { numRuns: 60 },
    );
    expect(cached).toBeGreaterThan(0);
  });

  const mark = (reason: string): string =>
    JSON.stringify({ schema: 'journal/1', at: '2026-01-31T12:00:00.000Z', event: 'pinned', reason });
  /** As every line, it ends with its checksum. */
  const save = (checksum: string): string => {
    const entry = { schema: 'journal/1', at: '2026-01-31T12:00:00.000Z', event: 'saved', more: 'x'.repeat(300_000) };
    return JSON.stringify({ ...entry, checksum: checksum.repeat(64) });
  };

  it('are read anew where the journal was replaced, or the cache is damaged', () => {
    const { store, pathOf, cache } = makeJournal();
    writeFileSync(pathOf('2026-01'), `${mark('a')}\n${save('a')}\n`);
    expect(readMarkLines(store)).toEqual([mark('a')]);
    expect(readFileSync(cache, 'utf8')).toContain(mark('a'));
    writeFileSync(pathOf('2026-01'), `${mark('b')}\n`);
    expect(readMarkLines(store)).toEqual([mark('b')]);
    writeFileSync(pathOf('2026-01'), `${mark('c')}\n${save('c')}\n${mark('d')}\n`);
    expect(readMarkLines(store)).toEqual([mark('c'), mark('d')]);
    const whole = readFileSync(cache);
    for (const length of [0, 5, 20, whole.length - 10]) {
      writeFileSync(cache, whole.subarray(0, length));
      expect(readMarkLines(store)).toEqual([mark('c'), mark('d')]);
    }
  });

  it('are taken only once they are whole', () => {
    const { store, pathOf } = makeJournal();
    writeFileSync(pathOf('2026-01'), `${save('a')}\n${mark('a').slice(0, 100)}`);
    expect(readMarkLines(store)).toEqual([]);
    appendFileSync(pathOf('2026-01'), `${mark('a').slice(100)}\n`);
    expect(readMarkLines(store)).toEqual([mark('a')]);
  });

  it('show whether something ended in a month or later', () => {
    const { store, pathOf } = makeJournal();
    const ended = mark('a').replace('pinned', 'resolved');
    writeFileSync(pathOf('2026-01'), `${mark('b')}\n${ended}\n`);
    writeFileSync(pathOf('2026-02'), `${mark('b').replace('-01-', '-02-')}\n`);
    const isMarked = openMarkSearch(store);
    expect(['2025-12', '2026-01', '2026-02'].map(isMarked)).toEqual([true, true, false]);
    expect(openMarkSearch(makeStore())('2026-01')).toBe(false);
  });
});
