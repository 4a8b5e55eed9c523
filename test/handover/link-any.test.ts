import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addsNothing, linkHandover, type Predecessors } from '../../src/handover/link.ts';
import { FACT_KINDS, type Fact } from '../../src/model/fact.ts';
import type { Handover, UnstampedDraft } from '../../src/model/handover.ts';
import { HUMAN, makeDraft, makeFact, sealDraft } from '../support/facts.ts';

const { session } = makeDraft([]);
const SECOND: Partial<UnstampedDraft> = { session: { ...session, id: 's-2' } };
const THIRD: Partial<UnstampedDraft> = { session: { ...session, id: 's-3' } };

function follow(previous: Handover, draft: UnstampedDraft): UnstampedDraft {
  return linkHandover(draft, { previous, byHand: null });
}

const anyFact: fc.Arbitrary<Fact> = fc
  .record({
    kind: fc.constantFrom(...FACT_KINDS),
    text: fc.constantFrom('a', 'b', 'c', 'npm test', 'A', 'Fix the parser', 'Never retry'),
    status: fc.constantFrom(undefined, 'pending', 'completed', 'ok', 'failed', 'edited', 'read'),
    trust: fc.constantFrom('observed', 'quoted', 'declared', 'inferred', 'imported'),
    origin: fc.constantFrom('human', 'agent', 'tool'),
    line: fc.option(fc.nat(40)),
    pinned: fc.boolean(),
    detail: fc.constantFrom(
      {},
      { role: 'current', message: 1 },
      { role: 'message', message: 2 },
      { role: 'stopped' },
      { stem: 'npm test' },
      { command: 'npm test' },
      { about: 'a' },
    ),
  })
  .map(({ kind, text, status, trust, origin, line, pinned, detail }) =>
    makeFact(kind, text, {
      ...(status === undefined ? {} : { status }),
      ...(pinned ? { pinned } : {}),
      trust,
      origin,
      sources: line === null ? [] : [{ line }],
      detail,
    }),
  );
const anyFacts = fc.uniqueArray(anyFact, { selector: (fact) => fact.id, maxLength: 25 });
/** What is written by hand is declared. */
const anyDeclared = anyFacts.map((facts) => facts.map((fact): Fact => ({ ...fact, trust: 'declared' })));
const anyLine = fc.record({ before: anyFacts, byHand: fc.option(anyDeclared) }).map(
  ({ before, byHand }): Predecessors => ({
    previous: sealDraft(makeDraft(before)),
    byHand: byHand === null ? null : sealDraft(makeDraft(byHand, { session: { ...session, id: null } })),
  }),
);
const anyDraft = fc
  .record({ facts: anyFacts, other: fc.boolean() })
  .map(({ facts, other }) => makeDraft(facts, other ? SECOND : {}));

describe('linking any two handovers', () => {
  it('gives every earlier fact exactly one outcome, and loses no new one', () => {
    fc.assert(
      fc.property(anyLine, anyDraft, (line, draft) => {
        const { facts, chain } = linkHandover(draft, line);
        const ids = facts.map((fact) => fact.id);
        expect(new Set(ids).size).toBe(ids.length);
        expect(ids.slice(0, draft.facts.length)).toEqual(draft.facts.map((fact) => fact.id));
        const { resolved = [], superseded = [], dropped = [], carried = -1 } = chain ?? {};
        const parted = [
          ...resolved.flatMap((group) => group.ids),
          ...superseded.map(({ id }) => id),
          ...dropped.flatMap((group) => group.ids),
        ];
        expect(new Set(parted).size).toBe(parted.length);
        const earlier = new Set([...line.previous.facts, ...(line.byHand?.facts ?? [])].map(({ id }) => id));
        const rest = [...earlier].filter((id) => !parted.includes(id));
        expect(parted.length + rest.length).toBe(earlier.size);
        expect(carried).toBe(rest.length);
        for (const id of rest) expect(ids).toContain(id);
        for (const { by } of superseded) expect(ids).toContain(by);
        for (const group of dropped) for (const id of group.ids) expect(ids).not.toContain(id);
      }),
      { numRuns: 500 },
    );
  });

  it('with the same facts changes nothing', () => {
    fc.assert(
      fc.property(anyLine, anyDraft, (line, draft) => {
        const kept = sealDraft(linkHandover(draft, line));
        const again: Predecessors = { previous: kept, byHand: null };
        const linked = linkHandover(draft, again);
        expect(sealDraft(linked).facts).toEqual(kept.facts);
        expect(linked.chain).toEqual({
          carried: kept.facts.length,
          resolved: [],
          superseded: [],
          dropped: [],
        });
        expect(addsNothing(linked, again)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('carries a rule of the first into a third', () => {
    const rule = makeFact('constraint', 'Never retry on 404', HUMAN);
    fc.assert(
      fc.property(anyFacts, anyFacts, (second, third) => {
        const first = sealDraft(makeDraft([rule]));
        const middle = sealDraft(follow(first, makeDraft(second, SECOND)));
        const last = follow(middle, makeDraft(third, THIRD));
        expect(last.facts.filter((fact) => fact.id === rule.id)).toHaveLength(1);
      }),
    );
  });
});
