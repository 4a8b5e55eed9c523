import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HandoverError } from '../../../src/errors.ts';
import { parseV2Record } from '../../../src/exchange/legacy/v2-envelope.ts';
import { readV2Record } from '../../../src/exchange/legacy/v2-import.ts';
import { writeV2Envelope } from '../../../src/exchange/legacy/v2-view.ts';
import { sealHandover } from '../../../src/handover/seal.ts';
import type { HandoverDraft } from '../../../src/model/handover.ts';
import { describeMachine } from '../../../src/platform/machine.ts';
import { makeEnvelope, makeOldEnvelope, writeEnvelope, writeEnvelopeWithFloat } from '../../fixtures/v2-envelopes.ts';
import { PLACE } from '../../support/samples.ts';
import { tornBytes } from '../../support/torn-bytes.ts';

const machine = describeMachine({ HOME: '/home/ann' }, '/');
const origin = { project: PLACE.project, root: '/home/ann/shop', shownRoot: '~/shop', machine };

function read(text: string): HandoverDraft {
  return readV2Record(parseV2Record(text), origin);
}

/** Null for what was refused with a coded error; anything else that is thrown fails the test. */
function readOrRefuse(text: string): HandoverDraft | null {
  try {
    return read(text);
  } catch (error) {
    if (error instanceof HandoverError) return null;
    throw error;
  }
}

describe('reading an envelope of handoff V2', () => {
  it('accepts both forms, and numbers as Python writes them', () => {
    expect(read(writeEnvelope(makeEnvelope())).facts.length).toBeGreaterThan(8);
    expect(read(writeEnvelope(makeOldEnvelope())).session.transcript).toContain('session-9');
    const perfect = makeEnvelope({ snapshot: { quality_score: 1 } });
    expect(read(writeEnvelopeWithFloat(perfect, 'quality_score')).quality).toMatchObject({ score: 1 });
    const text = writeEnvelope(perfect).replace('"quality_score": 1,', '"quality_score": 1.0,');
    expect(() => read(text)).toThrow('checksum');
  });

  it('makes paths of the project relative, and names no user', () => {
    const snapshot = { active_files: ['/home/ann/shop/src/a.ts', '/home/ann/notes.md', '/etc/hosts'] };
    const draft = read(writeEnvelope(makeEnvelope({ snapshot })));
    const files = draft.facts.filter(({ kind }) => kind === 'file').map(({ text }) => text);
    expect(files).toEqual(['src/import.py', 'src/a.ts', '~/notes.md', '/etc/hosts']);
    expect(JSON.stringify(draft)).not.toContain('ann');
  });

  it('gives the same content when written again', () => {
    const envelope = makeEnvelope();
    const handover = sealHandover(read(writeEnvelope(envelope)));
    const again = writeV2Envelope(handover, { machine, history: [] });
    expect(again.resume_snapshot).toMatchObject({
      snapshot_id: '0b8f5a60-7c3e-4a57-9c39-3f0a4a9b7a11',
      terminal_id: 'env_pane-7',
      source_session_id: '9d1c7a3e-0000-4000-8000-000000000009',
      goal: 'Make the import resumable',
      active_files: ['src/import.py', 'src/state.py'],
      blockers: [{ summary: 'The plan is not approved' }],
      pending_operations: [{ type: 'edit', target: 'src/state.py' }],
      open_questions: ['Which database?'],
      quality_score: 0.9,
      last_user_message: 'Go on with the checkpoint, please',
    });
    expect(again.decision_register).toMatchObject([
      { kind: 'blocker_rule', summary: 'The plan is not approved' },
      { kind: 'settled_decision', summary: 'We chose a checkpoint file' },
    ]);
    expect(parseV2Record(JSON.stringify(again)).checksum).toBe(again.checksum);
  });

  it('refuses an envelope that is cut or flipped anywhere, and never crashes', () => {
    const text = writeEnvelope(makeEnvelope({ environment: { git: { branch: 'main' } } }));
    fc.assert(
      fc.property(tornBytes(Buffer.from(text)), (bytes) => {
        const draft = readOrRefuse(bytes.toString('utf8'));
        if (draft !== null) sealHandover(draft);
      }),
      { numRuns: 300 },
    );
  });

  it('gives a handover that can be sealed, whatever its texts', () => {
    const text = fc.string({ unit: 'binary', maxLength: 80 });
    // What is named so is dropped, and then the envelope is not the one that was sealed.
    const value = fc.jsonValue({ maxDepth: 3 }).filter((json) => !JSON.stringify(json).includes('__proto__'));
    const parts = fc.record(
      {
        goal: text,
        current_task: text,
        next_step: text,
        terminal_id: text,
        source_session_id: text,
        snapshot_id: text.filter((id) => id.trim() !== ''),
        active_files: fc.array(text, { maxLength: 4 }),
        open_questions: fc.array(text, { maxLength: 4 }),
        blockers: fc.array(fc.record({ type: text, summary: text }), { maxLength: 3 }),
        progress_percent: fc.integer({ min: 0, max: 100 }),
        session_chain: fc.array(value, { maxLength: 3 }),
        consumed_by_session_id: text,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(parts, value, (snapshot, environment) => {
        const draft = readOrRefuse(writeEnvelope(makeEnvelope({ snapshot, environment })));
        expect(draft).not.toBeNull();
        if (draft !== null) expect(sealHandover(draft).facts.every(({ trust }) => trust === 'imported')).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it('refuses too deep nesting and invalid numbers', () => {
    const deep = '['.repeat(60) + ']'.repeat(60);
    const base = makeEnvelope({ environment: 'HERE' });
    expect(readOrRefuse(writeEnvelope(base).replace('"HERE"', deep))).toBeNull();
    const huge = readOrRefuse(writeEnvelope(base).replace('"HERE"', '1e999'));
    expect(huge?.imported?.detail?.environment).toBe('Infinity');
  });
});
