import { describe, expect, it } from 'vitest';
import { computeV2Checksum, parseV2Record } from '../../../src/exchange/legacy/v2-envelope.ts';
import { readV2Record } from '../../../src/exchange/legacy/v2-import.ts';
import { writeV2Envelope } from '../../../src/exchange/legacy/v2-view.ts';
import { sealHandover } from '../../../src/handover/seal.ts';
import { computeFactId, type Fact, type FactKind } from '../../../src/model/fact.ts';
import type { Handover, HandoverDraft } from '../../../src/model/handover.ts';
import { makeMachine } from '../../support/temp-store.ts';

const machine = makeMachine('/tmp', { home: '/home/ann' });

function fact(kind: FactKind, text: string, more: Partial<Fact> = {}): Fact {
  const id = computeFactId(kind, text);
  return { id, kind, text, trust: 'quoted', origin: 'agent', sources: [{ line: 1 }], ...more };
}

function makeHandover(facts: readonly Fact[], more: Partial<HandoverDraft> = {}): Handover {
  return sealHandover({
    schema: 'handover/1',
    id: '20260131-120000-aaaa',
    created_at: '2026-01-31T12:00:00.123Z',
    expires_at: null,
    project: { id: 'p-0123456789abcdef', name: 'shop', remote: null },
    session: {
      agent: 'claude-code',
      id: 'session-2',
      terminal: 'env_tab-3',
      model: null,
      transcript: '~/.claude/projects/-shop/session-2.jsonl',
      started_at: null,
    },
    workspace: { root: '~/shop', folder: '', worktree: null, git: null },
    title: 'Retries',
    summary: '',
    facts: [...facts],
    previous: null,
    quality: null,
    redactions: [],
    ...more,
  });
}

const view = (handover: Handover, history: readonly Handover[] = []) => writeV2Envelope(handover, { machine, history });

const first = makeHandover([], {
  id: '20260130-120000-aaaa',
  created_at: '2026-01-30T12:00:00.000Z',
  session: {
    agent: 'claude-code',
    id: 'session-1',
    terminal: null,
    model: null,
    transcript: '~/.claude/projects/-shop/session-1.jsonl',
    started_at: null,
  },
});

const full = makeHandover(
  [
    fact('goal', 'Make the  upload\nretry: über 😀', {
      origin: 'human',
      detail: { role: 'current', message: 1, age: 9 },
    }),
    fact('note', 'Never mind the docs?', {
      origin: 'human',
      detail: { role: 'message', message: 2, age: 1 },
    }),
    fact('task', 'Add a retry', { status: 'completed' }),
    fact('task', 'Test the retry', { status: 'in_progress' }),
    fact('constraint', 'Never retry on 404', { origin: 'human', detail: { age: 8 } }),
    fact('rejected', 'A queue instead of backoff', { trust: 'declared', detail: { age: 30 } }),
    fact('decision', 'We use backoff', { trust: 'declared', detail: { age: 2 } }),
    fact('blocker', 'Waiting for the key', { trust: 'declared', detail: { age: 1 } }),
    fact('blocker', 'Waiting for the old key', { trust: 'declared', detail: { age: 90 } }),
    fact('question', 'Which port?', { detail: { age: 0 } }),
    fact('running', 'npm run dev', { status: 'unfinished', detail: { age: 3 } }),
    fact('file', 'src/read.ts', { status: 'read', detail: { age: 0 } }),
    fact('file', 'src/old.ts', { status: 'edited', detail: { age: 20 } }),
    fact('file', 'src/new.ts', {
      status: 'created',
      detail: { age: 4 },
      probe: { path: 'src/new.ts', sha256: 'a'.repeat(64) },
    }),
    fact('file', '/etc/hosts', {
      status: 'read',
      detail: { age: 1 },
      probe: { path: '/etc/hosts', sha256: 'b'.repeat(64) },
    }),
    fact('file', 'src/named.ts', { status: 'mentioned' }),
  ],
  { quality: { score: 0.8999, rating: 'Good', axes: {} } },
);

describe('the V2 envelope of a handover', () => {
  const envelope = view(full, [first]);
  const snapshot = envelope.resume_snapshot;

  it('has the fields in the order in which the tool writes them', () => {
    expect(Object.keys(envelope)).toEqual([
      'schema_version',
      'resume_snapshot',
      'decision_register',
      'evidence_index',
      'checksum',
    ]);
    expect(Object.keys(snapshot)).toEqual([
      'schema_version',
      'snapshot_id',
      'terminal_id',
      'source_session_id',
      'created_at',
      'expires_at',
      'status',
      'goal',
      'current_task',
      'progress_percent',
      'progress_state',
      'blockers',
      'active_files',
      'pending_operations',
      'next_step',
      'decision_refs',
      'evidence_refs',
      'n_1_transcript_path',
      'n_2_transcript_path',
      'message_intent',
      'goal_origin',
      'quality_score',
      'tasks_snapshot',
      'open_questions',
      'session_chain',
      'last_user_message',
    ]);
  });

  it('describes the work', () => {
    expect(snapshot).toMatchObject({
      schema_version: 2,
      terminal_id: 'env_tab-3',
      source_session_id: 'session-2',
      created_at: '2026-01-31T12:00:00.123000+00:00',
      expires_at: '2026-01-31T12:20:00.123000+00:00',
      status: 'pending',
      goal: 'Make the  upload\nretry: über 😀',
      current_task: 'Make the upload retry: über 😀',
      progress_percent: 50,
      progress_state: 'blocked',
      blockers: [{ type: 'awaiting_approval', summary: 'Waiting for the key' }],
      active_files: ['src/new.ts', 'src/old.ts', 'src/read.ts', '/etc/hosts'],
      pending_operations: [{ type: 'command', target: 'npm run dev', state: 'in_progress' }],
      next_step: '(advisory) Task in progress: Test the retry',
      n_1_transcript_path: '/home/ann/.claude/projects/-shop/session-2.jsonl',
      n_2_transcript_path: '/home/ann/.claude/projects/-shop/session-1.jsonl',
      message_intent: 'instruction',
      goal_origin: 'user_message',
      quality_score: 0.9,
      open_questions: ['Which port?'],
      session_chain: ['session-1', 'session-2'],
      last_user_message: 'Never mind the docs?',
    });
    expect(snapshot.snapshot_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(snapshot.tasks_snapshot?.map(({ title, status }) => [title, status])).toEqual([
      ['Add a retry', 'completed'],
      ['Test the retry', 'in_progress'],
    ]);
  });

  it('lists decisions, the user’s first, then the latest, with kinds that the tool knows', () => {
    expect(envelope.decision_register.map(({ kind, summary, priority }) => [kind, summary, priority])).toEqual([
      ['constraint', 'Never retry on 404', 'high'],
      ['blocker_rule', 'Waiting for the key', 'high'],
      ['settled_decision', 'We use backoff', 'medium'],
      ['anti_goal', 'A queue instead of backoff', 'medium'],
      ['blocker_rule', 'Waiting for the old key', 'high'],
    ]);
    expect(snapshot.decision_refs).toEqual(envelope.decision_register.map(({ id }) => id));
    for (const { id, source_refs } of envelope.decision_register) {
      expect(id).toMatch(/^dec_[0-9a-f]{32}$/);
      expect(source_refs).toEqual([envelope.evidence_index[0]?.id]);
    }
  });

  it('lists the transcript and the files under "evidence", with hashes only for project files', () => {
    expect(envelope.evidence_index.map(({ type, label, content_hash }) => [type, label, content_hash])).toEqual([
      ['transcript', 'Session transcript', null],
      ['file', 'new.ts', `sha256:${'a'.repeat(64)}`],
      ['file', 'old.ts', undefined],
      ['file', 'read.ts', undefined],
      ['file', 'hosts', undefined],
    ]);
    expect(snapshot.evidence_refs).toEqual(envelope.evidence_index.map(({ id }) => id));
  });

  it('has the checksum that Python computes', () => {
    expect(envelope.checksum).toBe('sha256:991d07e2fcc76bbacb1452ffb558b7c215172e18e372422855f5259efda9e5d7');
  });

  it('is the same every time', () => {
    expect(view(full, [first])).toEqual(envelope);
  });
});

describe('the checksum of an envelope', () => {
  const vector = {
    schema_version: 1,
    resume_snapshot: { goal: 'über 😀 del\u007f "q"', quality_score: 0.9, schema_version: 2 },
    decision_register: [],
    evidence_index: [],
  };
  const expected = 'sha256:48cd9a5b453a43946da997f292dd4d5bea52b027bea52c5df677122e0bb47a0c';

  it('is that of the ASCII form, whatever the order of the keys', () => {
    expect(computeV2Checksum(vector)).toBe(expected);
  });

  it('does not cover itself, the environment, the intent and status changes', () => {
    const changed = {
      ...vector,
      checksum: 'x',
      environment_context: { git: {} },
      resume_snapshot: {
        ...vector.resume_snapshot,
        message_intent: 'question',
        consumed_at: 'now',
        consumed_by_session_id: 's',
        rejected_at: 'now',
        rejected_by_session_id: 's',
        rejection_reason: 'old',
      },
    };
    expect(computeV2Checksum(changed)).toBe(expected);
    const consumed = { ...vector, resume_snapshot: { ...vector.resume_snapshot, status: 'consumed' } };
    expect(computeV2Checksum(consumed)).not.toBe(expected);
  });
});

describe('the V2 envelope of a handover with little content', () => {
  it('uses the default texts of the tool', () => {
    const { resume_snapshot, evidence_index } = view(makeHandover([]));
    expect(resume_snapshot).toMatchObject({
      goal: 'Unknown task',
      current_task: 'Unknown task',
      progress_percent: 0,
      progress_state: 'ready',
      next_step: 'Ask the user what to work on next.',
      n_2_transcript_path: null,
      session_chain: ['session-2'],
    });
    expect(evidence_index).toHaveLength(1);
    expect(Object.keys(resume_snapshot)).not.toContain('quality_score');
  });

  it('has an empty transcript path for a handover without a transcript, since the field is a string', () => {
    const { session, ...rest } = makeHandover([]);
    const envelope = view({ ...rest, session: { ...session, transcript: null } });
    expect(envelope.resume_snapshot.n_1_transcript_path).toBe('');
    expect(envelope.evidence_index).toEqual([]);
    expect(envelope.checksum).toBe(computeV2Checksum(envelope));
    const place = { project: rest.project, root: null, shownRoot: '.', machine };
    expect(readV2Record(parseV2Record(JSON.stringify(envelope)), place).session.transcript).toBeNull();
  });

  it.each([
    ['/review src/upload.ts', 'instruction', 'slash_command_with_args'],
    ['/compact', 'instruction', 'slash_command_bare'],
    ['Why does it fail?', 'question', 'user_message'],
    ['なぜ失敗しますか？', 'question', 'user_message'],
    ['No, the other file', 'correction', 'user_message'],
    ['Notes belong in docs/', 'instruction', 'user_message'],
  ])('gives %j as a message of kind %s, from %s', (text, intent, origin) => {
    const { resume_snapshot } = view(makeHandover([fact('goal', text, { origin: 'human' })]));
    expect(resume_snapshot).toMatchObject({ message_intent: intent, goal_origin: origin, goal: text });
  });

  it('prefers a goal set for the next session to one of the last', () => {
    const asked = fact('goal', 'Port it', { origin: 'human', detail: { role: 'current', age: 0 } });
    const given = fact('goal', 'Ship it', { origin: 'human', trust: 'declared' });
    expect(view(makeHandover([asked, given])).resume_snapshot.goal).toBe('Ship it');
  });

  it.each<[Fact[], string]>([
    [
      [fact('next', 'Write the test', { trust: 'declared', detail: { age: 2 } })],
      '(advisory) Next step: Write the test',
    ],
    [
      [
        fact('next', 'Long ago', { trust: 'declared', detail: { age: 50 } }),
        fact('task', 'Ship it', { status: 'pending' }),
      ],
      '(advisory) Next task: Ship it',
    ],
    [[fact('running', 'make all')], '(advisory) Previous session had pending: make all'],
    [
      [fact('note', 'So:\nThe parser is half done.', { detail: { role: 'stopped' } })],
      '(advisory) Previous session context: The parser is half done.',
    ],
    [[fact('goal', 'Port it')], '(advisory) Previous session goal: Port it'],
  ])('gives for %j the next step %j', (facts, step) => {
    expect(view(makeHandover(facts)).resume_snapshot.next_step).toBe(step);
  });
});
