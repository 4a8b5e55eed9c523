import { describe, expect, it } from 'vitest';
import { type Candidate, decide, type SessionStart } from '../../../src/app/automation/policy.ts';

const MINUTE = 60_000;
const offer = (more: Partial<Candidate> = {}): Candidate => ({
  agent: 'codex',
  session: 'earlier',
  root: '/work/shop',
  ageMs: MINUTE,
  workAgeMs: MINUTE,
  compactions: 0,
  state: 'ended',
  ...more,
});
const own = (more: Partial<Candidate> = {}): Candidate => offer({ session: 'this', state: 'running', ...more });

const occasion = (more: Partial<SessionStart<Candidate>>): SessionStart<Candidate> => ({
  source: 'new',
  agent: 'codex',
  session: 'this',
  root: '/work/shop',
  isSubAgent: false,
  isScheduled: false,
  keepsContext: true,
  resumed: null,
  compactionsAtDelivery: null,
  startup: 'hint',
  freshMs: 20 * MINUTE,
  own: null,
  before: null,
  last: null,
  ...more,
});

const RESUMED = { hasTranscript: true, hasChanges: false };

type Case = [
  when: string,
  gives: 'brief' | 'changes' | 'hint' | 'nothing',
  from: string | null,
  Partial<SessionStart<Candidate>>,
];

const CASES: Case[] = [
  ['after compaction', 'brief', 'this', { source: 'compaction', own: own(), last: offer() }],
  [
    'after a second compaction',
    'brief',
    'this',
    { source: 'compaction', own: own({ compactions: 1 }), compactionsAtDelivery: 0 },
  ],
  [
    'after compaction, without a prepared brief',
    'nothing',
    null,
    { source: 'compaction', before: offer(), last: offer() },
  ],
  [
    'after compaction, moved to another worktree',
    'nothing',
    null,
    { source: 'compaction', own: own({ root: '/work/other' }) },
  ],
  ['resumed, never compacted', 'nothing', null, { source: 'resume', own: own(), resumed: RESUMED }],
  [
    'resumed, never compacted, and its files changed',
    'changes',
    'this',
    { source: 'resume', own: own(), resumed: { ...RESUMED, hasChanges: true } },
  ],
  [
    'resumed in another worktree, and its files changed',
    'nothing',
    null,
    { source: 'resume', own: own({ root: '/work/other' }), resumed: { ...RESUMED, hasChanges: true } },
  ],
  [
    'resumed, never compacted, with nothing that it could be replayed from',
    'brief',
    'this',
    { source: 'resume', own: own(), resumed: { ...RESUMED, hasTranscript: false } },
  ],
  ['resumed, compacted', 'brief', 'this', { source: 'resume', own: own({ compactions: 1 }) }],
  [
    'resumed, with the delivered brief still in context',
    'nothing',
    null,
    { source: 'resume', own: own({ compactions: 1 }), compactionsAtDelivery: 1 },
  ],
  [
    'resumed, compacted since it was captured, by an agent that forgets',
    'brief',
    'this',
    { source: 'resume', own: own(), compactionsAtDelivery: 1, keepsContext: false },
  ],
  [
    'resumed after it was compacted since',
    'brief',
    'this',
    { source: 'resume', own: own({ compactions: 2 }), compactionsAtDelivery: 1 },
  ],
  [
    'resumed, compacted, by an agent that forgets',
    'brief',
    'this',
    { source: 'resume', own: own({ compactions: 1 }), compactionsAtDelivery: 1, keepsContext: false },
  ],
  [
    'resumed, whole, by an agent that forgets',
    'nothing',
    null,
    { source: 'resume', own: own(), compactionsAtDelivery: 0, keepsContext: false },
  ],
  ['resumed, without a prepared brief', 'nothing', null, { source: 'resume', last: offer() }],
  ['cleared', 'brief', 'earlier', { source: 'clear', before: offer() }],
  [
    'cleared, the one before is of another agent',
    'hint',
    'last',
    { source: 'clear', before: offer({ agent: 'gemini' }), last: offer({ session: 'last' }) },
  ],
  ['cleared in another worktree', 'nothing', null, { source: 'clear', before: offer({ root: '/work/other' }) }],
  ['cleared in a terminal that is not known', 'hint', 'earlier', { source: 'clear', last: offer() }],
  ['cleared, with startup off', 'brief', 'earlier', { source: 'clear', before: offer(), startup: 'off' }],
  ['new', 'hint', 'earlier', { last: offer() }],
  ['new, to be given briefs', 'brief', 'earlier', { last: offer(), startup: 'brief' }],
  ['new, with startup off', 'nothing', null, { last: offer(), startup: 'off' }],
  ['new in another worktree', 'nothing', null, { last: offer({ root: '/work/shop-2' }), startup: 'brief' }],
  ['new beside a running one', 'nothing', null, { last: offer({ state: 'running' }), startup: 'brief' }],
  ['new, after one that may still run', 'hint', 'earlier', { last: offer({ state: 'unknown' }), startup: 'brief' }],
  ['new, and the only one here', 'nothing', null, { last: own() }],
  ['stale after compaction', 'hint', 'this', { source: 'compaction', own: own({ ageMs: 21 * MINUTE }) }],
  ['stale after clearing', 'hint', 'earlier', { source: 'clear', before: offer({ ageMs: 21 * MINUTE }) }],
  [
    'new and stale, to be given briefs',
    'hint',
    'earlier',
    { last: offer({ workAgeMs: 21 * MINUTE }), startup: 'brief' },
  ],
  ['new, after more than a week', 'nothing', null, { last: offer({ workAgeMs: 8 * 24 * 60 * MINUTE }) }],
  ['a sub-agent', 'nothing', null, { source: 'compaction', own: own(), isSubAgent: true }],
  ['begun by a timer', 'nothing', null, { last: offer(), startup: 'brief', isScheduled: true }],
];

describe('what a hook delivers to a session', () => {
  it.each(CASES)('%s: %s', (_, gives, from, more) => {
    const decision = decide(occasion(more));
    expect(decision.kind).toBe(gives);
    expect('candidate' in decision ? decision.candidate.session : null).toBe(from);
  });

  it('is reported as stale only where a brief was due', () => {
    const old = { workAgeMs: 21 * MINUTE };
    expect(decide(occasion({ source: 'clear', before: offer({ ageMs: 21 * MINUTE }) }))).toMatchObject({
      isStale: true,
    });
    expect(decide(occasion({ last: offer(old), startup: 'brief' }))).toMatchObject({ isStale: true });
    expect(decide(occasion({ last: offer(old) }))).toMatchObject({ kind: 'hint', isStale: false });
  });
});
