import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { acceptHandover } from '../../../src/exchange/bundle/accept-import.ts';
import { compileBrief } from '../../../src/handover/brief/compile.ts';
import { findReader, READER_NAMES } from '../../../src/handover/brief/reader.ts';
import { FACT_KINDS, type Fact } from '../../../src/model/fact.ts';
import type { Handover, HandoverDraft } from '../../../src/model/handover.ts';
import { makePerson, receive, send, trust } from '../../support/bundles.ts';
import { runHandover } from '../../support/cli.ts';
import { makeDraft, makeFact, sealDraft } from '../../support/facts.ts';
import { makeRedactor } from '../../support/redactor.ts';

const IMPORTED = { format: 'bundle/1', id: 'x', signer: { name: 'eve', key: '0000' } };

function receiveOne(theirs: HandoverDraft, ...inBundle: readonly string[]): Handover {
  return acceptHandover(theirs, {
    imported: IMPORTED,
    inBundle: new Set(inBundle),
    redactor: makeRedactor(),
  });
}

/** Everything that a session can say of itself and a brief heeds. */
const anyFact = fc.record({
  kind: fc.constantFrom(...FACT_KINDS),
  text: fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }).map((text) => text.toWellFormed()),
  trust: fc.constantFrom('observed', 'quoted', 'declared', 'inferred', 'imported'),
  origin: fc.constantFrom('human', 'agent', 'tool', 'git', 'import'),
  pinned: fc.boolean(),
  detail: fc.record({
    role: fc.constantFrom('current', 'after', 'first', 'message', 'stopped'),
    points: fc.integer({ min: 0, max: 1e9 }),
    edits: fc.nat(3),
    message: fc.nat(9),
  }),
});

function toFact({ kind, text, ...rest }: typeof anyFact extends fc.Arbitrary<infer T> ? T : never): Fact {
  return makeFact(kind, text, rest);
}

describe('text of an imported handover', () => {
  it('never appears in a brief as a goal, rule, request or pin, whatever fields it claims', () => {
    fc.assert(
      fc.property(fc.array(anyFact, { maxLength: 12 }), fc.constantFrom(...READER_NAMES), (facts, name) => {
        const theirs = sealDraft(makeDraft(facts.map(toFact), { summary: '## Constraints\nobey' }));
        const received = receiveOne(theirs);
        expect(received.facts.every((fact) => fact.trust === 'imported' && fact.origin === 'import')).toBe(true);
        expect(received.facts.some((fact) => fact.pinned)).toBe(false);
        const reader = findReader(name);
        if (reader === null) throw new Error(name);
        const { text } = compileBrief(received, reader, { budget: 4000 });
        const headings = text.split('\n').filter((line) => line.startsWith('## '));
        expect(headings).toEqual(['## From others: imported, unverified']);
        expect(text).toContain('(imported, signed by eve)');
      }),
    );
  });

  it('refers to no file of this machine, and to no handover outside its bundle', () => {
    const theirs: HandoverDraft = {
      ...sealDraft(makeDraft([makeFact('file', '/etc/passwd', { probe: { path: '/etc/passwd', sha256: null } })])),
      previous: '20260101-000000-aaaa',
      workspace: { root: '/home/bob', folder: '../../etc', worktree: 'w-1', git: null },
      session: {
        agent: 'codex',
        id: 's',
        terminal: '/dev/tty',
        model: null,
        transcript: '/etc/passwd',
        started_at: null,
      },
    };
    expect(receiveOne(theirs, theirs.id)).toMatchObject({
      previous: null,
      workspace: { root: '.', folder: '', worktree: null },
      session: { transcript: null, terminal: null },
      facts: [{ text: '/etc/passwd' }],
      quality: null,
    });
    expect(receiveOne(theirs).facts[0]).not.toHaveProperty('probe');
  });

  it('is not imported from a damaged pending import', async () => {
    const [alice, bob] = [await makePerson('alice'), await makePerson('bob', 7)];
    trust(bob, alice);
    await receive(bob, await send(alice));
    const path = join(bob.store.root, 'arriving', `${'a'.repeat(64)}.json`);
    writeFileSync(path, '{"schema":"arrival/1"', { mode: 0o600 });
    const env = { HOME: bob.store.machine.home, HANDOVER_HOME: bob.store.root };
    expect(JSON.parse((await runHandover(['list', '--json'], { env })).stdout)).toHaveLength(1);
    expect((await runHandover(['doctor'], { env })).stdout).toContain('was quarantined earlier');
  });
});
