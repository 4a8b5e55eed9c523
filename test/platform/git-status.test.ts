import { basename } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { revealControls } from '../../src/model/text.ts';
import { makeTempPath } from '../../src/platform/durable-file.ts';
import { parseStatus } from '../../src/platform/git-state.ts';

const HASH = 'a'.repeat(40);

function toBytes(...records: string[]): Buffer {
  return Buffer.from(records.map((record) => `${record}\0`).join(''));
}

function ordinary(xy: string, path: string): string {
  return `1 ${xy} N... 100644 100644 100644 ${HASH} ${HASH} ${path}`;
}

function renamed(xy: string, path: string): string {
  return `2 ${xy} N... 100644 100644 100644 ${HASH} ${HASH} R100 ${path}`;
}

function unmerged(path: string): string {
  return `u UU N... 100644 100644 100644 100644 ${HASH} ${HASH} ${HASH} ${path}`;
}

describe('parseStatus', () => {
  it('leaves out our own temporary files, and nothing that only looks like them', () => {
    const ours = basename(makeTempPath('docs/HANDOFF.md'));
    const { untracked, changed_total } = parseStatus(toBytes(`? docs/${ours}`, '? .a.b.1.tmp'), 10);
    expect({ untracked, changed_total }).toEqual({ untracked: ['.a.b.1.tmp'], changed_total: 1 });
  });

  it('reads the branch and how far it is from its upstream', () => {
    const bytes = toBytes(
      `# branch.oid ${HASH}`,
      '# branch.head feature/x y',
      '# branch.upstream origin/main',
      '# branch.ab +2 -13',
      '# stash 4',
    );
    expect(parseStatus(bytes, 10)).toEqual({
      branch: 'feature/x y',
      head: HASH,
      upstream: 'origin/main',
      ahead: 2,
      behind: 13,
      staged: [],
      unstaged: [],
      untracked: [],
      conflicted: [],
      changed_total: 0,
      changed_cut: false,
    });
  });

  it('lists both sides of a change, and counts the file once', () => {
    const bytes = toBytes(ordinary('MD', 'a b'), ordinary('.T', 'link'), ordinary('A.', 'new'), '? other');
    expect(parseStatus(bytes, 10)).toMatchObject({
      staged: [
        { path: 'a b', change: 'modified' },
        { path: 'new', change: 'added' },
      ],
      unstaged: [
        { path: 'a b', change: 'deleted' },
        { path: 'link', change: 'type-changed' },
      ],
      untracked: ['other'],
      changed_total: 4,
      changed_cut: false,
    });
  });

  it('takes the record after a rename as the old path, whatever it looks like', () => {
    const bytes = toBytes(renamed('RM', 'new'), '? old', renamed('.C', 'copy'), ordinary('M.', 'source'));
    expect(parseStatus(bytes, 10)).toMatchObject({
      staged: [{ path: 'new', change: 'renamed', from: '? old' }],
      unstaged: [
        { path: 'new', change: 'modified' },
        { path: 'copy', change: 'copied', from: ordinary('M.', 'source') },
      ],
      untracked: [],
      changed_total: 2,
    });
  });

  it('keeps conflicts first and untracked files last when it has to cut, and still counts all', () => {
    const bytes = toBytes(...['a', 'b', 'c'].map((path) => ordinary('M.', path)), unmerged('z'), '? u');
    expect(parseStatus(bytes, 3)).toMatchObject({
      conflicted: ['z'],
      staged: [{ path: 'a' }, { path: 'b' }],
      untracked: [],
      changed_total: 5,
      changed_cut: true,
    });
  });

  it('leaves out a last record that was cut off', () => {
    const whole = toBytes('? one', '? two');
    expect(parseStatus(whole.subarray(0, whole.length - 2), 10)).toMatchObject({
      untracked: ['one'],
      changed_total: 1,
    });
    expect(parseStatus(toBytes(renamed('R.', 'new')), 10).changed_total).toBe(0);
  });

  it('reads any paths, as they are shown', () => {
    const path = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((text) => !text.includes('\0'));
    const record = fc.oneof(
      path.map((text) => ({ records: [`? ${text}`], untracked: [text], conflicted: [], staged: [] })),
      path.map((text) => ({ records: [unmerged(text)], untracked: [], conflicted: [text], staged: [] })),
      path.map((text) => ({
        records: [ordinary('D.', text)],
        untracked: [],
        conflicted: [],
        staged: [text],
      })),
      fc.tuple(path, path).map(([text, from]) => ({
        records: [renamed('R.', text), from],
        untracked: [],
        conflicted: [],
        staged: [text],
      })),
    );
    fc.assert(
      fc.property(fc.array(record, { maxLength: 20 }), (entries) => {
        const facts = parseStatus(toBytes(...entries.flatMap(({ records }) => records)), 100);
        expect(facts.untracked).toEqual(entries.flatMap(({ untracked }) => untracked).map(revealControls));
        expect(facts.conflicted).toEqual(entries.flatMap(({ conflicted }) => conflicted).map(revealControls));
        expect(facts.staged.map((file) => file.path)).toEqual(
          entries.flatMap(({ staged }) => staged).map(revealControls),
        );
        expect(facts.changed_total).toBe(entries.length);
      }),
    );
  });

  it('never throws, never lists more than the limit and gives well-formed text, for any bytes', () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 30 }),
      fc
        .constantFrom('1 ', '2 R. ', 'u ', '? ', '# branch.ab +1 -', '# branch.head ', '\0', ' ', `${HASH} `)
        .map(Buffer.from),
      fc.constantFrom(ordinary('MM', 'x'), renamed('R.', 'y'), unmerged('z')).map((text) => Buffer.from(`${text}\0`)),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), fc.nat({ max: 5 }), (pieces, limit) => {
        const facts = parseStatus(Buffer.concat(pieces), limit);
        const { staged, unstaged, untracked, conflicted, changed_total: total } = facts;
        const tracked = new Set([...staged, ...unstaged].map((file) => file.path)).size;
        expect(tracked + untracked.length + conflicted.length).toBeLessThanOrEqual(Math.min(limit, total ?? 0));
        expect(JSON.parse(JSON.stringify(facts))).toEqual(facts);
        expect(JSON.stringify(facts)).not.toMatch(/\\ud[89a-f]/i);
      }),
      { numRuns: 2000 },
    );
  });
});
