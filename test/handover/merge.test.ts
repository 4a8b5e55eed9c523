import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findLost, isToKeep, traceFacts } from '../../src/handover/line-of-work.ts';
import { addByHand, linkHandover, listResolved } from '../../src/handover/link.ts';
import type { Mark, Marks } from '../../src/handover/marks.ts';
import { mergeHandovers } from '../../src/handover/merge.ts';
import type { Fact } from '../../src/model/fact.ts';
import { isUserMessage } from '../../src/model/fact-roles.ts';
import type { Handover } from '../../src/model/handover.ts';
import { DECLARED, HUMAN, makeDraft, makeFact, OBSERVED, sealDraft } from '../support/facts.ts';

const WORKSPACE = makeDraft([]).workspace;

function merge(ours: Handover, theirs: Handover, base: Handover | null): ReturnType<typeof mergeHandovers> {
  return mergeHandovers(
    { newest: ours, since: base, line: [ours], resolved: new Map() },
    { newest: theirs, since: base, line: [theirs], resolved: new Map() },
    { base, workspace: WORKSPACE },
  );
}

const follow = (previous: Handover, facts: Fact[], session = 's-2', marks: Marks = new Map()): Handover =>
  sealDraft(
    linkHandover(
      makeDraft(facts, { session: { ...makeDraft([]).session, id: session } }),
      { previous, byHand: null },
      marks,
    ),
  );

/** Without the fact that names what was merged. */
const textsOf = ({ facts }: { facts: Fact[] }): string[] =>
  facts.map(({ text }) => text).filter((text) => !text.startsWith('merged: '));

describe('two lines of work', () => {
  const rule = makeFact('constraint', 'Never use eval', DECLARED);
  const step = makeFact('next', 'Write the docs', DECLARED);
  const base = sealDraft(makeDraft([rule, step]));

  it('are joined: what both have is there once, what each found is there, and both are named', () => {
    const ours = follow(base, [makeFact('decision', 'Keep the cache small', DECLARED)]);
    const theirs = follow(base, [makeFact('decision', 'Log to a file', DECLARED)], 's-3');
    const { draft, contradictions } = merge(ours, theirs, base);
    expect(textsOf(draft).sort()).toEqual(
      ['Keep the cache small', 'Log to a file', 'Never use eval', 'Write the docs'].sort(),
    );
    expect([draft.previous, draft.chain?.joined, contradictions]).toEqual([ours.id, theirs.id, []]);
  });

  it('agree on what one of them resolved', () => {
    const marks = new Map<string, Mark>([
      [step.id, { mark: 'resolved', at: '2027-01-01T00:00:00.000Z', because: 'done', pinnedFact: null }],
    ]);
    const theirs = follow(base, [], 's-3', marks);
    const { draft } = merge(follow(base, []), theirs, base);
    expect(textsOf(draft)).toEqual(['Never use eval']);
    expect(draft.chain?.resolved).toEqual([{ reason: 'resolved by hand: done', ids: [step.id] }]);
  });

  it.each<[what: string, ours: Fact, theirs: Fact]>([
    [
      'decided differently',
      makeFact('decision', 'Which store? → SQLite', HUMAN),
      makeFact('decision', 'Which store? → files', HUMAN),
    ],
    [
      'rejected here, decided there',
      makeFact('rejected', 'Use Redis', DECLARED),
      makeFact('decision', 'Use Redis', DECLARED),
    ],
    [
      'decided here, rejected there',
      makeFact('decision', 'Use Redis', DECLARED),
      makeFact('rejected', 'Use Redis', DECLARED),
    ],
    [
      'rejected here, decided there',
      makeFact('rejected', 'Use Redis: too slow', DECLARED),
      makeFact('decision', 'use  Redis (it is there)', DECLARED),
    ],
    [
      'decided here, rejected there',
      makeFact('decision', 'Use Redis', DECLARED),
      makeFact('rejected', 'Use Redis - too slow', DECLARED),
    ],
    [
      'rejected here, done there',
      makeFact('rejected', 'Move it to Redis', DECLARED),
      makeFact('task', 'Move it to Redis', { ...OBSERVED, status: 'completed' }),
    ],
    ...(
      [
        ['Use pnpm', 'Use npm'],
        ['Retry at most 3 times', 'Retry at most 5 times.'],
        ['Package manager: Volta', 'Package manager: Proto'],
        ['Retries: 3', 'Retries: 5'],
        ['Queue: Redis', 'Queue: Rabbit'],
        ['Database: Postgres 16', 'Database: MySQL'],
        ['Log level: debug', 'Log level: info'],
        ['Retry 3 times', 'Retry 5 times'],
        ['Indent with 2 spaces', 'Indent with 4 spaces'],
        ['Sessions expire after 1 hour', 'Sessions expire after 2 hours'],
        ['Never use eval', 'use eval'],
        ['Do not commit generated files', 'Commit generated files'],
        ['Always squash commits', 'Never squash commits'],
      ] as const
    ).map(([one, other]): [string, Fact, Fact] => [
      'decided differently',
      makeFact('decision', one, DECLARED),
      makeFact('constraint', other, DECLARED),
    ]),
    [
      'completed here, cancelled there',
      makeFact('task', 'Sort it', { ...OBSERVED, status: 'completed' }),
      makeFact('task', 'Sort it', { ...OBSERVED, status: 'cancelled' }),
    ],
  ])('say first, and pinned, what was %s', (what, one, other) => {
    const { draft, contradictions } = merge(follow(base, [one]), follow(base, [other], 's-3'), base);
    expect(contradictions.map(({ text }) => text)).toEqual([expect.stringContaining(`${what}: `)]);
    expect(draft.facts[0]).toMatchObject({ kind: 'question', status: 'open', pinned: true });
  });

  it('keep the outcome of a command apart from that of the same one with other arguments', () => {
    const check = (text: string, status: string): Fact => ({
      ...makeFact('check', text, { ...OBSERVED, status }),
      id: makeFact('check', 'npm test').id,
    });
    const start = sealDraft(makeDraft([check('npm test -- a', 'ok')]));
    const theirs = follow(start, [check('npm test -- b', 'failed')], 's-3');
    const { draft } = merge(follow(start, [check('npm test -- a', 'ok')], 's-1'), theirs, start);
    expect(draft.facts[0]).toMatchObject({ text: 'npm test -- a', status: 'ok' });
  });

  it('do not contradict each other where they say different things of one topic', () => {
    const [no, yes] = [
      makeFact('rejected', 'Cache: in memory', DECLARED),
      makeFact('decision', 'Cache: on disk', DECLARED),
    ];
    expect(merge(follow(base, [no]), follow(base, [yes], 's-3'), base).contradictions).toEqual([]);
  });

  it.each([
    ['Use zod', 'Use vitest'],
    ['Test the upload', 'Test the download'],
    ['Keep uploads in S3', 'Keep downloads in S3'],
    ['Support Node 20 fully', 'Support Node 22 fully'],
    ['Close issue 12', 'Close issue 13'],
    ['Phase 1 is done', 'Phase 2 is done'],
    ['Migration 0042 adds users', 'Migration 0043 adds users'],
    ['Version 1.2 is out', 'Version 1.3 is out'],
    ['Dependency: zod', 'Dependency: vitest'],
    ['Use Redis: fast', 'Use Redis: simple'],
    ['Phase 1: Parser', 'Phase 1: Writer'],
    ['Errors: Tell the user', 'Errors: Log the stack'],
    ['Use pnpm for installs', 'Use npm for publishing'],
    ['Never use eval in tests', 'Use eval'],
  ])('do not contradict each other where both can hold: %s, %s', (one, other) => {
    const [ours, theirs] = [makeFact('decision', one, DECLARED), makeFact('decision', other, DECLARED)];
    expect(merge(follow(base, [ours]), follow(base, [theirs], 's-3'), base).contradictions).toEqual([]);
  });

  it('keep what was written of the other, and all that was imported, marked as such', () => {
    const summary = 'The port is 8080.\nThe rest is open.';
    const session = { ...makeDraft([]).session, agent: 'manual', id: null };
    const written = sealDraft(makeDraft([], { summary, session }));
    expect(merge(follow(base, []), written, null).draft.facts).toContainEqual(
      expect.objectContaining({ kind: 'note', text: summary, trust: 'declared', origin: 'human' }),
    );
    const told = { told: { trust: 'declared', origin: 'human', by: 'alice' } };
    const parts: Partial<Fact> = { trust: 'imported', origin: 'import', sources: [], detail: told };
    const foreign = sealDraft({
      ...makeDraft([makeFact('decision', 'Use Redis', parts), makeFact('note', 'Ask Ann', parts)], {
        summary,
        session,
      }),
      imported: { format: 'bundle/1', id: 'x', signer: { name: 'alice', key: 'k' } },
    });
    const { draft, contradictions } = merge(follow(base, [makeFact('rejected', 'Use Redis', DECLARED)]), foreign, null);
    expect(findLost(sealDraft(draft), [foreign])).toEqual([]);
    for (const text of ['Use Redis', 'Ask Ann', summary])
      expect(draft.facts).toContainEqual(expect.objectContaining({ text, trust: 'imported', detail: told }));
    expect(draft.facts.find(({ text }) => text.startsWith('merged: '))?.trust).toBe('imported');
    expect(contradictions.map(({ text }) => text)).toEqual([
      expect.stringContaining('imported, unverified: "Use Redis"'),
    ]);
  });

  it('do not contradict each other where only one of them moved on', () => {
    const task = (status: string): Fact => makeFact('task', 'Sort it', { ...OBSERVED, status });
    const start = sealDraft(makeDraft([task('pending')]));
    const { draft, contradictions } = merge(
      follow(start, [task('pending')], 's-1'),
      follow(start, [task('completed')], 's-3'),
      start,
    );
    expect([contradictions, draft.facts[0]?.status]).toEqual([[], 'completed']);
  });
});

const KINDS = [
  'constraint',
  'decision',
  'rejected',
  'task',
  'next',
  'note',
  'file',
  'question',
  'error',
  'goal',
] as const;
/** What a user may ask for, in no language: nothing in its words says that it is a rule. */
const ASKED = ['Xyz abc, ghi jkl.', 'Xyz:\n- abc def\n- ghi jkl'];
const ANSWERED: Partial<Fact> = { ...HUMAN, detail: { role: 'answer' } };
const fact = fc
  .record({
    kind: fc.constantFrom(...KINDS),
    text: fc.constantFrom('one', 'two', 'Which? → this', 'Which? → that', 'never do it', 'six', 'src/a.ts', ...ASKED),
    parts: fc.constantFrom(DECLARED, HUMAN, OBSERVED, {}, ANSWERED),
    status: fc.constantFrom(undefined, 'open', 'pending', 'completed', 'edited'),
    pinned: fc.boolean(),
  })
  .map(({ kind, text, parts, status, pinned }) =>
    // Only decisions are answers.
    makeFact(kind, text, {
      ...(parts === ANSWERED && kind !== 'decision' ? HUMAN : parts),
      ...(status === undefined ? {} : { status }),
      ...(pinned ? { pinned } : {}),
    }),
  );
const answer = fc.constantFrom('Which? → this', 'Which? → that').map((text) => makeFact('decision', text, ANSWERED));
const facts = fc
  .array(fc.oneof({ weight: 6, arbitrary: fact }, { weight: 1, arbitrary: answer }), { maxLength: 6 })
  .map((list) => [...new Map(list.map((one) => [one.id, one])).values()]);
const operation = fc.record({
  what: fc.constantFrom('capture', 'again', 'by hand', 'branch', 'merge', 'mark'),
  facts,
  pick: fc.nat(),
  mark: fc.constantFrom<Mark['mark']>('resolved', 'refuted', 'pinned', 'unpinned'),
});

/** How what a user asked for may end: by somebody, as where another goal was declared. */
/** The same words, as what they were said to be on purpose. */
const STILL_TOLD = /^now told as an? /;
const BY_SOMEBODY = [
  'resolved by hand',
  'a newer goal',
  'completed as a task',
  'rewound by the user',
  'not in any more',
];
const isAnswer = ({ kind, text, trust, status, pinned, detail }: Fact): boolean =>
  kind === 'decision' &&
  text.includes(' → ') &&
  [trust, status !== 'refuted', pinned === true, detail?.role].join() === 'quoted,true,false,answer';

describe('along a line of work', () => {
  it('nothing vanishes without a record: through captures, saves, branches, merges and marks', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 12 }), (operations) => {
        const start = sealDraft(makeDraft([]));
        const known = new Map([[start.id, start]]);
        const marks = new Map<string, Mark>();
        let [ours, theirs, session]: [Handover, Handover | null, number] = [start, null, 1];
        let base = start;
        const since: Record<'ours' | 'theirs', Handover[]> = { ours: [], theirs: [] };
        for (const { what, facts: given, pick, mark } of operations) {
          const open = ours.facts[pick % Math.max(1, ours.facts.length)];
          if (what === 'mark' && open !== undefined)
            marks.set(open.id, { mark, at: ours.created_at, because: null, pinnedFact: null });
          else if (what === 'branch' && theirs === null) {
            [base, theirs] = [ours, follow(ours, given, `t-${++session}`, marks)];
            Object.assign(since, { ours: [], theirs: [theirs] });
          } else if (what === 'merge' && theirs !== null) {
            const resolvedIn = (newest: Handover) => new Map(listResolved(newest, marks));
            const line = {
              ours: { newest: ours, since: base, line: since.ours, resolved: resolvedIn(ours) },
              theirs: { newest: theirs, since: base, line: since.theirs, resolved: resolvedIn(theirs) },
            };
            ours = sealDraft(mergeHandovers(line.ours, line.theirs, { base, workspace: WORKSPACE }).draft);
            theirs = null;
          } else if (what === 'by hand') {
            const declared = given.map((one) => ({ ...one, ...DECLARED, sources: [] }));
            ours = sealDraft(addByHand(makeDraft(declared), ours, marks));
          } else ours = follow(ours, given, what === 'again' ? (ours.session.id ?? '') : `s-${++session}`, marks);
          since.ours.push(ours);
          for (const made of [ours, theirs]) if (made !== null) known.set(made.id, made);
        }
        for (const handover of known.values()) {
          const before = [handover.previous, handover.chain?.joined ?? null].flatMap((id) => known.get(id ?? '') ?? []);
          expect(findLost(handover, before)).toEqual([]);
        }
        const line: Handover[] = [];
        for (let at: Handover | undefined = ours; at !== undefined; at = known.get(at.previous ?? '')) line.unshift(at);
        const traced = traceFacts(line);
        expect(traced.filter(({ end }) => end?.how === 'lost')).toEqual([]);
        const standing = new Set(traced.filter(({ end }) => end === null).map(({ fact: { id } }) => id));
        const ended = new Set(traced.filter(({ end }) => end !== null).map(({ fact: { id } }) => id));
        for (const one of ours.facts.filter(isToKeep)) expect(standing.has(one.id) || ended.has(one.id)).toBe(true);
        const said = line.flatMap(({ facts }) => facts).filter(isUserMessage);
        for (const { text } of said) expect(traced.some(({ fact }) => fact.text === text)).toBe(true);
        for (const { fact, end } of traced)
          if (end !== null && isUserMessage(fact) && ASKED.includes(fact.text))
            expect(STILL_TOLD.test(end.reason ?? '') || BY_SOMEBODY.includes(end.reason ?? '')).toBe(true);
        for (const [at, { facts }] of line.entries()) {
          const before = line[at - 1]?.facts ?? [];
          const isOwn = ({ id, sources: [source] }: Fact): boolean =>
            source?.session === undefined && !before.some((one) => one.id === id);
          if (line[at]?.chain?.joined === undefined && facts.some((one) => isAnswer(one) && isOwn(one)))
            expect(
              facts.filter(
                (one) => isAnswer(one) && one.pinned !== true && !isOwn(one) && one.sources[0]?.session !== undefined,
              ),
            ).toEqual([]);
        }
      }),
      { numRuns: 500 },
    );
  });
});
