import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeFact } from '../../src/handover/declare.ts';
import { formatHandover, openHandover, sealHandover } from '../../src/handover/seal.ts';
import type { HandoverDraft } from '../../src/model/handover.ts';
import { computeChecksum } from '../../src/model/hash.ts';
import { cleanText } from '../../src/model/text.ts';
import { readHandover, saveHandover } from '../../src/store/handovers.ts';
import { findUnsafe } from '../support/printable.ts';
import { makeStore, saveOne } from '../support/temp-store.ts';

function makeDraft(): HandoverDraft {
  const { checksum: _checksum, ...draft } = saveOne(makeStore(), 'a title');
  return draft;
}

const BY_HUMAN = { by: 'human', pinned: false } as const;
const NOON = '2026-01-31T12:00:00.000Z';
const NO_CHANGES = {
  ...{ branch: null, head: null, upstream: null, ahead: null, behind: null, operation: null },
  ...{ staged: [], unstaged: [], untracked: [], conflicted: [], changed_total: 0, changed_cut: false, commits: [] },
};

const open = (bytes: string | Uint8Array, id: string) => openHandover(Buffer.from(bytes), id, 'the file');

describe('a sealed handover', () => {
  it('opens to what was sealed, and has one form in bytes', () => {
    const draft = makeDraft();
    const sealed = sealHandover(draft);
    expect(open(formatHandover(sealed), sealed.id)).toEqual(sealed);
    const { schema, id, title, ...rest } = draft;
    expect(formatHandover(sealHandover({ title, ...rest, id, schema }))).toBe(formatHandover(sealed));
  });

  it('keeps nothing that no reader sees, but in the paths that are opened later', () => {
    const draft = makeDraft();
    const anything = fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }).map((text) => text.toWellFormed());
    fc.assert(
      fc.property(anything, (text) => {
        const git = {
          ...NO_CHANGES,
          branch: text,
          untracked: [text],
          commits: [{ hash: text, at: NOON, subject: text }],
        };
        const workspace = { root: text, folder: text, worktree: null, git };
        const facts = [{ ...makeFact('note', 'x', BY_HUMAN), text, detail: { [`a ${text}`]: [text] } }];
        const sealed = sealHandover({ ...draft, facts, workspace, session: { ...draft.session, transcript: text } });
        const { root, folder, ...shown } = sealed.workspace;
        expect([root, folder, sealed.session.transcript]).toEqual([text, text, text]);
        expect(findUnsafe(JSON.stringify([shown, sealed.facts]))).toEqual([]);
        expect(sealed.facts[0]?.text.replace(/[\n\t]/g, '')).toBe(
          cleanText(sealed.facts[0]?.text ?? '').replace(/[\n\t]/g, ''),
        );
        expect(open(formatHandover(sealed), sealed.id)).toEqual(sealed);
      }),
    );
  });

  it('is refused with more facts than it can hold, in words', () => {
    const facts = Array.from({ length: 10_001 }, (_, at) => makeFact('note', `fact ${at}`, BY_HUMAN));
    expect(() => sealHandover({ ...makeDraft(), facts })).toThrow(
      expect.objectContaining({ code: 'HANDOVER_TEXT_TOO_LARGE', message: expect.stringContaining('10001 facts') }),
    );
  });

  it('does not open when any single bit is flipped', () => {
    const sealed = sealHandover(makeDraft());
    const bytes = Buffer.from(formatHandover(sealed));
    for (let i = 0; i < bytes.length; i++) {
      const flipped = Buffer.from(bytes);
      flipped[i] = (flipped[i] ?? 0) ^ (1 << (i % 8));
      expect(() => open(flipped, sealed.id)).toThrow(expect.objectContaining({ code: 'HANDOVER_RECORD_DAMAGED' }));
    }
  });

  it('does not open under another id, when cut, or when written another way', () => {
    const sealed = sealHandover(makeDraft());
    const text = formatHandover(sealed);
    expect(() => open(text, '20260131-120000-zzzz')).toThrow(/another id/);
    for (const length of [0, 1, 10, text.length - 1])
      expect(() => open(text.slice(0, length), sealed.id)).toThrow(/damaged/);
    expect(() => open(JSON.stringify(sealed), sealed.id)).toThrow(/not the ones that were written/);
    expect(() => open(`\ufeff${text}`, sealed.id)).toThrow(/damaged/);
    expect(() => open(Buffer.from([0xff, 0xfe, 0x00]), sealed.id)).toThrow(/not UTF-8/);
  });

  it('of a later version is refused as newer; a flipped version is damage', () => {
    const sealed = sealHandover(makeDraft());
    const later = { ...sealed, schema: 'handover/2', something: 'new' };
    const whole = JSON.stringify({ ...later, checksum: computeChecksum(later) });
    expect(() => open(whole, sealed.id)).toThrow(expect.objectContaining({ code: 'HANDOVER_RECORD_NEWER' }));
    const unknown = formatHandover(sealed).replace('handover/1', 'handover/99');
    expect(() => open(unknown, sealed.id)).toThrow(expect.objectContaining({ code: 'HANDOVER_RECORD_NEWER' }));
    expect(() => open('{"schema":"handover/2"}', sealed.id)).toThrow(
      expect.objectContaining({ code: 'HANDOVER_RECORD_NEWER' }),
    );
    const flipped = formatHandover(sealed).replace('handover/1', 'handover/2');
    expect(() => open(flipped, sealed.id)).toThrow(expect.objectContaining({ code: 'HANDOVER_RECORD_DAMAGED' }));
  });

  it('is limited in bytes, so that whatever is sealed can be read back', () => {
    const store = makeStore();
    const base = makeDraft();
    const withFacts = (count: number): HandoverDraft => ({
      ...base,
      facts: Array.from({ length: count }, (_, index) =>
        makeFact('note', `${index} ${'漢'.repeat(21_000)}`, { by: 'human', pinned: false }),
      ),
    });
    const { handover } = saveHandover(store, (stamp) => sealHandover({ ...withFacts(260), ...stamp }));
    expect(readHandover(store, handover.id)).toEqual(handover);
    expect(() => sealHandover(withFacts(280))).toThrow(
      expect.objectContaining({
        code: 'HANDOVER_TEXT_TOO_LARGE',
        hint: expect.stringContaining('several handovers'),
      }),
    );
  });

  it('has an id with its time', () => {
    expect(() => sealHandover({ ...makeDraft(), id: '20200101-000000-abcd' })).toThrow(/id/);
  });

  it('is refused when it does not fit the schema', () => {
    expect(() => sealHandover({ ...makeDraft(), title: '' })).toThrow();
    expect(() => sealHandover({ ...makeDraft(), created_at: 'yesterday' })).toThrow();
  });
});
