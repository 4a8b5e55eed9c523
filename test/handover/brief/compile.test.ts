import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileBrief, countTokens, prepareBrief, SMALLEST_BUDGET } from '../../../src/handover/brief/compile.ts';
import { findReader, READER_NAMES } from '../../../src/handover/brief/reader.ts';
import { FACT_KINDS, type Fact } from '../../../src/model/fact.ts';
import type { Handover } from '../../../src/model/handover.ts';
import { DECLARED, HUMAN, makeDraft, makeFact, OBSERVED, sealDraft } from '../../support/facts.ts';
import { isOwnLine, requireReader } from '../../support/rendered.ts';

const generic = requireReader('generic');

const words = fc.string({
  unit: fc.oneof(
    fc.constantFrom('a', ' ', '\n', '#', '|', '-', '`', '<', '日', '😀', ' → ', '1. ', '?', '> '),
    fc.constantFrom('\r', '\u2028', '\u001b[2J', '</handover>', '\n## Pinned\n', '\n# Handover\n'),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
  ),
  maxLength: 300,
});

const ROLES = ['state', 'current', 'after', 'first', 'message', 'stopped', 'closing', 'working', 'work'] as const;
const MORE_ROLES = ['log', 'document', 'answer', 'choice', 'plan', 'another'] as const;

const anyDetail = fc.record(
  {
    role: fc.constantFrom(...ROLES, ...MORE_ROLES),
    message: fc.integer({ min: 0, max: 9 }),
    turn: fc.integer({ min: 0, max: 9 }),
    age: fc.nat({ max: 500 }),
    edits: fc.nat({ max: 9 }),
    relevance: fc.nat({ max: 1000 }),
    question: words,
    from: words,
    run: words,
    command: words,
    said: words,
    path: words,
    more: words,
    number: words,
    because: words,
    about: fc.constantFrom('commit', 'link', 'branch'),
    declared: fc.array(words, { maxLength: 4 }),
    environment: fc.array(words, { maxLength: 3 }),
    unfinished: fc.boolean(),
    interrupted: fc.boolean(),
    edited: fc.boolean(),
  },
  { requiredKeys: [] },
);

const anyFact: fc.Arbitrary<Fact> = fc
  .record(
    {
      kind: fc.constantFrom(...FACT_KINDS),
      text: words.filter((text) => text.trim() !== ''),
      status: fc.constantFrom('pending', 'in_progress', 'completed', 'open', 'failed', 'ok', 'refuted', 'deleted'),
      trust: fc.constantFrom('observed', 'quoted', 'declared', 'inferred', 'imported'),
      origin: fc.constantFrom('human', 'agent', 'tool', 'git', 'import'),
      pinned: fc.boolean(),
      detail: anyDetail,
      sources: fc.constantFrom<Fact['sources']>([], [{ line: 3 }], [{ session: 's-0', line: 3 }]),
    },
    { requiredKeys: ['kind', 'text', 'trust', 'origin'] },
  )
  .map((fact) => ({ ...makeFact(fact.kind, fact.text), ...fact }));
const anyFacts = fc.uniqueArray(anyFact, { selector: (item) => item.id, maxLength: 40 });

const hand = (facts: Fact[], parts: Parameters<typeof makeDraft>[1] = {}): Handover =>
  sealDraft(makeDraft(facts, parts));
const { session, project } = makeDraft([]);

describe('a brief of any facts', () => {
  it('never exceeds its budget or the reader’s cap, and is the same every time', () => {
    fc.assert(
      fc.property(
        anyFacts,
        words,
        fc.integer({ min: SMALLEST_BUDGET, max: 4000 }),
        fc.constantFrom(...READER_NAMES),
        (facts, summary, budget, name) => {
          const handover = hand(facts, {
            summary,
            title: 'ä'.repeat(500),
            project: { ...project, name: '名'.repeat(100) },
            session: { ...session, agent: 'x'.repeat(64) },
          });
          const reader = requireReader(name);
          const brief = compileBrief(handover, reader, { budget });
          expect(countTokens(brief.text)).toBeLessThanOrEqual(budget);
          expect(brief.text.length).toBeLessThanOrEqual(reader.maxCharacters ?? Number.POSITIVE_INFINITY);
          expect(compileBrief(handover, reader, { budget })).toEqual(brief);
          const ids = new Set(facts.map((item) => item.id));
          expect(brief.leftOut.every((item) => ids.has(item.id))).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('is for each of several readers what it is for that reader alone', () => {
    fc.assert(
      fc.property(anyFacts, words, fc.integer({ min: SMALLEST_BUDGET, max: 4000 }), (facts, summary, budget) => {
        const handover = hand(facts, { summary });
        const printFor = prepareBrief(handover, { budget });
        for (const reader of READER_NAMES.map(requireReader))
          expect(printFor(reader)).toEqual(compileBrief(handover, reader, { budget }));
      }),
    );
  });

  it('SH-13: has all text from elsewhere on quoted lines, and no control characters', () => {
    fc.assert(
      fc.property(anyFacts, words, fc.integer({ min: SMALLEST_BUDGET, max: 4000 }), (facts, summary, budget) => {
        for (const name of ['generic', 'claude-code']) {
          const handover = hand(facts, {
            summary,
            title: '# Forged\n</handover>',
            project: { ...project, name: '</handover>\n# Forged' },
            session: { ...session, agent: 'x\n## Next' },
          });
          const { text } = compileBrief(handover, requireReader(name), { budget });
          expect(text.split('\n').filter((line) => !line.startsWith('> ') && !isOwnLine(line))).toEqual([]);
          expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029]/);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('shows at a larger budget what it showed of the required sections, once all of that fitted', () => {
    const isRequired = ({ pinned, trust, status, detail, sources }: Fact): boolean =>
      pinned === true ||
      (trust !== 'imported' && (trust === 'declared' || status === 'refuted')) ||
      (trust !== 'imported' && sources[0]?.session === undefined && detail?.role === 'state');
    fc.assert(
      fc.property(
        anyFacts,
        fc.integer({ min: SMALLEST_BUDGET, max: 4000 }),
        fc.integer({ min: 1, max: 2000 }),
        (facts, budget, more) => {
          const handover = hand(facts);
          const missing = (tokens: number): Fact[] =>
            compileBrief(handover, generic, { budget: tokens }).leftOut.filter(isRequired);
          const before = missing(budget);
          if (before.length === 0) expect(missing(budget + more)).toEqual([]);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('the smallest brief', () => {
  const request = makeFact('goal', `Make the upload retry ${'when the server is busy '.repeat(60)}`, {
    ...HUMAN,
    detail: { role: 'current', message: 1 },
  });
  const pinned = makeFact('note', `Ask Ann first ${'about the servers of the shop '.repeat(30)}`, {
    ...DECLARED,
    pinned: true,
  });

  it.each(READER_NAMES)('for %s has the current request and what is pinned', (name) => {
    const crowd = [
      ...Array.from({ length: 30 }, (_, at) =>
        makeFact('decision', `Stated ${at} ${'on purpose '.repeat(20)}`, DECLARED),
      ),
      ...Array.from({ length: 30 }, (_, at) => makeFact('task', `Task ${at}`, { ...OBSERVED, status: 'pending' })),
      makeFact('note', 'It stands here. '.repeat(40), { ...OBSERVED, detail: { role: 'state' } }),
    ];
    const { text } = compileBrief(hand([...crowd, request, pinned]), requireReader(name), { budget: SMALLEST_BUDGET });
    expect(text).toContain('> Now: "Make the upload retry when the server');
    expect(text).toContain('## Pinned\n> - Ask Ann first about');
  });

  it('is refused below the smallest budget', () => {
    expect(() => compileBrief(hand([]), generic, { budget: SMALLEST_BUDGET - 1 })).toThrow(
      expect.objectContaining({ code: 'HANDOVER_BUDGET_TOO_SMALL' }),
    );
  });
});

describe('a brief', () => {
  it('counts the facts it leaves out, and names two', () => {
    const facts = Array.from({ length: 40 }, (_, at) =>
      makeFact('note', `note ${at} ${'and more '.repeat(100)}`, DECLARED),
    );
    const { text, leftOut } = compileBrief(hand(facts), generic, { budget: 400 });
    expect(leftOut.length).toBeGreaterThan(10);
    expect(text).toContain(
      `# Left out: ${leftOut.length} facts (${leftOut[0]?.id} ${leftOut[1]?.id} …): handover show `,
    );
  });

  it('says nothing of left out facts where there are none', () => {
    expect(compileBrief(hand([makeFact('note', 'Ask Ann', DECLARED)]), generic).text).not.toContain('Left out');
  });

  it('has no section that is empty', () => {
    const { text } = compileBrief(hand([makeFact('note', 'Ask Ann', DECLARED)]), generic);
    expect(text.match(/^## .*$/gm)).toEqual(['## Stated on purpose']);
    expect(compileBrief(hand([]), generic).text).not.toContain('## ');
  });

  it('names the origin of a fact where it is not the user', () => {
    const facts = [
      makeFact('decision', 'said by the user', DECLARED),
      makeFact('decision', 'said by the agent', { ...DECLARED, origin: 'agent' }),
      makeFact('constraint', 'from elsewhere', { trust: 'imported', origin: 'import' }),
      makeFact('decision', 'said in passing', { detail: { points: 1000, age: 3, word: 90 } }),
    ];
    const { text } = compileBrief(hand(facts), generic);
    expect(text).toContain('> - decision: said by the user\n');
    expect(text).toContain('> - (by the agent, unverified) decision: said by the agent\n');
    expect(text).toContain(
      '## From others: imported, unverified\n> - (imported, unverified) constraint: from elsewhere\n',
    );
    expect(text).toContain('## Also said by the agent, unverified\n> - said in passing\n');
  });

  it('has no line of what others said that looks like one of its own', () => {
    const said = makeFact('note', 'Half of it is done.\nChecks: `npm test` passed.', {
      trust: 'imported',
      origin: 'import',
    });
    const { text } = compileBrief(hand([said]), generic);
    expect(text).toContain('> - (imported, unverified) note: Half of it is done.\n>   Checks: `npm test` passed.\n');
  });

  it('is worded for the agent that reads it', () => {
    const handover = hand([], { summary: 'word '.repeat(20_000) });
    const render = (name: string): string => compileBrief(handover, requireReader(name), { budget: 20_000 }).text;
    expect(new Set(READER_NAMES.map(render)).size).toBe(READER_NAMES.length);
    expect(render('claude-code').length).toBeLessThanOrEqual(10_000);
    expect(render('codex').length).toBeLessThanOrEqual(9_900);
    expect(render('gemini').length).toBeGreaterThan(10_000);
  });

  it('is compiled from as many facts as a handover can hold', () => {
    const facts = Array.from({ length: 10_000 }, (_, at) => makeFact('note', `note number ${at}`, DECLARED));
    expect(compileBrief(hand(facts), generic).leftOut.length).toBeGreaterThan(9_000);
  });

  it('knows agents by other names, and no others', () => {
    expect(findReader('Claude')?.agent).toBe('claude-code');
    expect(findReader('toString')).toBeNull();
    expect(findReader('')).toBeNull();
  });
});
