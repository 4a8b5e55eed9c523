import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JOURNAL_EVENTS, type JournalDraft } from '../../src/model/journal-entry.ts';
import { formatTimestamp } from '../../src/model/time.ts';
import { appendEntry, readJournalFile, readLastTime } from '../../src/store/journal.ts';
import { listJournalFiles } from '../../src/store/store.ts';
import { makeStore, NOON } from '../support/temp-store.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 40 }).filter((value) => value.isWellFormed());

const anyDraft: fc.Arbitrary<JournalDraft> = fc.record(
  {
    at: fc.integer({ min: NOON, max: NOON + 1e6 }).map(formatTimestamp),
    event: fc.constantFrom(...JOURNAL_EVENTS),
    subject: text,
    reason: text,
    fact: text,
    detail: fc.dictionary(
      fc.string({ maxLength: 8 }).filter((key) => key !== '__proto__'),
      fc.oneof(text, fc.integer(), fc.boolean()),
    ),
  },
  { requiredKeys: ['at', 'event', 'subject'] },
);

describe('the journal', () => {
  it('returns what was appended', () => {
    fc.assert(
      fc.property(fc.array(anyDraft, { minLength: 1, maxLength: 5 }), (drafts) => {
        const store = makeStore();
        for (const draft of drafts) appendEntry(store, draft);
        const pages = listJournalFiles(store).map(readJournalFile);
        expect(pages.flatMap((page) => page.damage)).toEqual([]);
        expect(pages.flatMap((page) => page.entries)).toEqual(drafts.map((draft) => expect.objectContaining(draft)));
      }),
      { numRuns: 50 },
    );
  });

  it('reads any bytes without failing, and loses no complete line', () => {
    const store = makeStore();
    appendEntry(store, { at: formatTimestamp(NOON), event: 'saved', subject: 'first' });
    const [path = ''] = listJournalFiles(store);
    const whole = readFileSync(path);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (noise) => {
        writeFileSync(path, Buffer.concat([whole, noise, Buffer.from('\n'), whole]));
        const page = readJournalFile(path);
        expect(page.entries.filter((entry) => entry.subject === 'first')).toHaveLength(2);
      }),
    );
  });

  it('tolerates an incomplete last line, and reports earlier damage with its line', () => {
    const store = makeStore();
    for (const subject of ['a', 'b', 'c']) appendEntry(store, { at: formatTimestamp(NOON), event: 'saved', subject });
    const [path = ''] = listJournalFiles(store);
    const lines = readFileSync(path, 'utf8').split('\n');
    writeFileSync(path, [lines[0], lines[1]?.replace('"b"', '"x"'), lines[2]?.slice(0, 20)].join('\n'));
    const page = readJournalFile(path);
    expect(page.entries.map((entry) => entry.subject)).toEqual(['a']);
    expect(page.damage.map(({ line, torn }) => ({ line, torn }))).toEqual([
      { line: 2, torn: false },
      { line: 3, torn: true },
    ]);
  });

  it('knows the time of the newest entry, also before an incomplete line', () => {
    const store = makeStore();
    expect(readLastTime(store)).toBeNull();
    appendEntry(store, { at: formatTimestamp(NOON), event: 'saved', subject: 'a' });
    appendEntry(store, { at: formatTimestamp(NOON + 5), event: 'saved', subject: 'b' });
    appendFileSync(listJournalFiles(store)[0] ?? '', '{"torn');
    expect(readLastTime(store)).toBe(NOON + 5);
  });
});
