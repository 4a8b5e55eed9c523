import { describe, expect, it } from 'vitest';
import { formatHandover, openHandover, sealHandover } from '../../src/handover/seal.ts';
import {
  readSessionHandoffRecord,
  writeSessionHandoffRecord,
} from '../../src/handover/session-handoff-view.ts';
import { computeFactId, type Fact, type FactKind } from '../../src/model/fact.ts';
import type { Handover, HandoverDraft } from '../../src/model/handover.ts';
import type { JournalDraft } from '../../src/model/journal-entry.ts';

/** docs/seed-records.md tells in words what these tests show: every field of the older records has its place. */

const project = { id: 'p-0123456789abcdef', name: 'shop', remote: 'example.org/team/shop' };

describe('a session-handoff record', () => {
  const record = {
    id: '20260101-000000',
    created_at: '2026-01-01T00:00:00Z',
    tool: 'codex',
    project: '/home/ann/shop',
    title: 'ünïcode 😀 <a>&b</a>',
    summary: 'tab\tnl\nquotes "q" \\ / end',
    next: ['write the tests', 'release'],
    changed: ['a -> b', 'ż/x'],
  };

  it('becomes a handover and back, field by field', () => {
    const sealed = sealHandover(readSessionHandoffRecord(record, project, '/home/ann/shop'));
    expect(writeSessionHandoffRecord(sealed)).toEqual(record);
    expect(sealed.imported).toEqual({ format: 'session-handoff/1', id: record.id });
  });

  it('is kept beside the handover where cleaning changed it', () => {
    const wild = {
      ...record,
      id: '../../etc',
      title: 'red \u001b[31malert\u0007',
      summary: 'a\u202eb',
      next: [],
      changed: [],
    };
    const sealed = sealHandover(readSessionHandoffRecord(wild, project, '/home/ann/shop'));
    expect(sealed).toMatchObject({ title: 'red alert', summary: 'ab', facts: [] });
    expect(sealed.id).toMatch(/^20260101-000000-[0-9a-z]{4}$/);
    expect(sealed.imported?.detail).toMatchObject({
      record: { id: '../../etc', title: wild.title, summary: wild.summary },
    });
  });
});

/** A V2 envelope with every field that its two forms have. */
const envelope = {
  resume_snapshot: {
    snapshot_id: 'b1c8d3a0-2f5e-4d57-9d35-111111111111',
    terminal_id: 'env_tab-3',
    source_session_id: 'session-9',
    created_at: '2026-01-01T10:00:00.123456+00:00',
    expires_at: '2026-01-01T10:20:00.123456+00:00',
    status: 'consumed',
    goal: 'Make the import resumable',
    current_task: 'Make the import resumable',
    progress_percent: 65,
    progress_state: 'in_progress',
    blockers: [{ type: 'awaiting_approval', summary: 'The plan is not approved' }],
    active_files: ['src/import.py'],
    pending_operations: [{ type: 'edit', target: 'src/import.py', state: 'in_progress' }],
    next_step: '(advisory) finish the checkpoint',
    n_1_transcript_path: '/t/session-9.jsonl',
    n_2_transcript_path: '/t/session-8.jsonl',
    message_intent: 'instruction',
    goal_origin: 'user_message',
    quality_score: 0.9,
    tasks_snapshot: [{ id: '1', subject: 'checkpoint', status: 'in_progress' }],
    open_questions: ['Which database?'],
    session_chain: ['session-8', 'session-9'],
    last_user_message: 'go on',
    consumed_at: '2026-01-01T10:05:00.000001+00:00',
    consumed_by_session_id: 'session-10',
  },
  decision_register: [
    {
      id: 'dec_0',
      kind: 'settled_decision',
      summary: 'Use a checkpoint file',
      details: 'Use a checkpoint file',
      priority: 'medium',
      applies_when: 'always',
      source_refs: ['ev_0'],
    },
  ],
  evidence_index: [
    {
      id: 'ev_0',
      type: 'file',
      label: 'import',
      path: 'src/import.py',
      content_hash: `sha256:${'a'.repeat(64)}`,
    },
  ],
  environment_context: { git: { branch: 'main' } },
  checksum: `sha256:${'b'.repeat(64)}`,
};

function fact(kind: FactKind, text: string, more: Partial<Fact> = {}): Fact {
  return {
    id: computeFactId(kind, text),
    kind,
    text,
    trust: 'imported',
    origin: 'import',
    sources: [],
    ...more,
  };
}

function express(): { handover: Handover; journal: JournalDraft[] } {
  const { resume_snapshot: s, decision_register, evidence_index, environment_context, checksum } = envelope;
  const [decision] = decision_register;
  const [evidence] = evidence_index;
  const draft: HandoverDraft = {
    schema: 'handover/1',
    id: '20260101-100000-aaaa',
    created_at: '2026-01-01T10:00:00.123Z',
    expires_at: '2026-01-01T10:20:00.123Z',
    project,
    session: {
      agent: 'claude-code',
      id: s.source_session_id,
      terminal: s.terminal_id,
      model: null,
      transcript: s.n_1_transcript_path,
      started_at: null,
    },
    workspace: { root: '~/shop', folder: '', worktree: null, git: null },
    title: s.current_task,
    summary: '',
    facts: [
      fact('goal', s.goal, {
        detail: { intent: s.message_intent, origin: s.goal_origin, last_message: s.last_user_message },
      }),
      ...s.blockers.map((blocker) => fact('blocker', blocker.summary, { detail: { type: blocker.type } })),
      ...s.pending_operations.map((op) =>
        fact('running', op.target, { status: op.state, detail: { type: op.type } }),
      ),
      fact('next', s.next_step),
      ...s.tasks_snapshot.map((task) =>
        fact('task', task.subject, { status: task.status, detail: { id: task.id } }),
      ),
      ...s.open_questions.map((question) => fact('question', question)),
      fact('decision', decision?.summary ?? '', {
        sources: [{ ref: decision?.source_refs[0] ?? '' }],
        detail: {
          id: decision?.id,
          kind: decision?.kind,
          details: decision?.details,
          priority: decision?.priority,
          applies_when: decision?.applies_when,
        },
      }),
      fact('file', evidence?.path ?? '', {
        probe: { path: evidence?.path ?? '', sha256: evidence?.content_hash.slice('sha256:'.length) ?? null },
        detail: {
          id: evidence?.id,
          type: evidence?.type,
          label: evidence?.label,
          active: s.active_files.includes(evidence?.path ?? ''),
        },
      }),
    ],
    previous: null,
    quality: { score: s.quality_score, rating: 'Excellent', axes: {} },
    redactions: [],
    imported: {
      format: 'handoff-v2',
      id: s.snapshot_id,
      detail: {
        checksum,
        environment: environment_context,
        progress_percent: s.progress_percent,
        progress_state: s.progress_state,
        previous_transcript: s.n_2_transcript_path,
        session_chain: s.session_chain,
        created_at: s.created_at,
        expires_at: s.expires_at,
      },
    },
  };
  const journal: JournalDraft[] = [
    {
      at: '2026-01-01T10:05:00.000Z',
      event: 'consumed',
      subject: draft.id,
      session: s.consumed_by_session_id,
      detail: { at: s.consumed_at },
    },
  ];
  return { handover: sealHandover(draft), journal };
}

/** Every leaf of the envelope as `path = value`. */
function listLeaves(value: unknown, path: string): { path: string; value: unknown }[] {
  if (typeof value !== 'object' || value === null) return [{ path, value }];
  return Object.entries(value).flatMap(([key, child]) => listLeaves(child, `${path}.${key}`));
}

describe('a V2 envelope', () => {
  it('is expressed by a handover and its journal without losing a value', () => {
    const { handover, journal } = express();
    const kept = JSON.stringify([
      openHandover(Buffer.from(formatHandover(handover)), handover.id, 'it'),
      journal,
    ]);
    const lost = listLeaves(envelope, 'envelope').filter(({ value }) => {
      const text = String(value).replace(/^sha256:/, '');
      return !kept.includes(JSON.stringify(value)) && !kept.includes(JSON.stringify(text));
    });
    expect(lost).toEqual([]);
  });
});

describe('the records of the other two', () => {
  it('a layer note and a HANDOFF.md are a summary with its date, tag and mode', () => {
    const draft: HandoverDraft = {
      ...sealHandover(readSessionHandoffRecord({ ...emptyRecord }, project, '~/shop')),
      summary: '# Notes\n\nverbatim Markdown, kept as it is\n',
      imported: {
        format: 'agent-handover/layer1',
        id: 'layer1/2026-01/general-2026-01-01.md',
        detail: { layer: 1, tag: 'general', date: '2026-01-01' },
      },
    };
    const { checksum: _, ...open } = { checksum: '', ...draft };
    expect(sealHandover(open).summary).toBe(draft.summary);
  });

  it('a run is a handover with its steps as tasks', () => {
    const tasks = [
      fact('task', 'session_note', { status: 'done' }),
      fact('task', 'publish', { status: 'pending' }),
    ];
    const { checksum: _, ...base } = sealHandover(
      readSessionHandoffRecord({ ...emptyRecord }, project, '~/shop'),
    );
    expect(sealHandover({ ...base, facts: tasks }).facts.map((task) => task.status)).toEqual([
      'done',
      'pending',
    ]);
  });
});

const emptyRecord = {
  id: '20260101-000000',
  created_at: '2026-01-01T00:00:00Z',
  tool: 'x',
  project: '/p',
  title: 't',
  summary: 's',
  next: [],
  changed: [],
};
