import { sealHandover } from '../../src/handover/seal.ts';
import { computeFactId, type Fact, type FactKind } from '../../src/model/fact.ts';
import { HANDOVER_SCHEMA, type Handover, type UnstampedDraft } from '../../src/model/handover.ts';
import { makeHandoverId } from '../../src/model/id.ts';
import { formatTimestamp } from '../../src/model/time.ts';
import { NOON } from './temp-store.ts';

/** A fact as an agent says it in passing; what is another is given. */
export function makeFact(kind: FactKind, text: string, parts: Partial<Fact> = {}): Fact {
  return {
    id: computeFactId(kind, text),
    kind,
    text,
    trust: 'quoted',
    origin: 'agent',
    sources: [{ line: 1 }],
    ...parts,
  };
}

export const HUMAN: Partial<Fact> = { trust: 'quoted', origin: 'human' };
export const OBSERVED: Partial<Fact> = { trust: 'observed', origin: 'tool' };
export const DECLARED: Partial<Fact> = { trust: 'declared', origin: 'human', sources: [] };

export function makeDraft(facts: Fact[], parts: Partial<UnstampedDraft> = {}): UnstampedDraft {
  return {
    schema: HANDOVER_SCHEMA,
    expires_at: null,
    project: { id: 'p-0000000000000000', name: 'shop', remote: null },
    session: {
      agent: 'claude-code',
      id: 's-1',
      terminal: null,
      model: null,
      transcript: null,
      started_at: null,
    },
    workspace: { root: '/shop', folder: '', worktree: null, git: null },
    title: 'The work',
    summary: '',
    facts,
    previous: null,
    quality: null,
    redactions: [],
    ...parts,
  };
}

let made = 0;

/** Sealed a second after the one before. */
export function sealDraft(draft: UnstampedDraft): Handover {
  const ms = NOON + ++made * 1000;
  return sealHandover({
    ...draft,
    id: makeHandoverId(ms, new Uint8Array(3)),
    created_at: formatTimestamp(ms),
  });
}
