import { describe, expect, it } from 'vitest';
import {
  readSessionHandoffRecord,
  writeSessionHandoffRecord,
} from '../../../src/exchange/legacy/session-handoff-record.ts';
import { sealHandover } from '../../../src/handover/seal.ts';
import { computeFactId, type Fact, type FactKind } from '../../../src/model/fact.ts';
import type { HandoverDraft } from '../../../src/model/handover.ts';

/** docs/seed-records.md describes what these tests show: every field of the older records has its place. */

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

  it('is stored beside the handover where cleaning changed it, with signs for what is not seen', () => {
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
      record: { id: '../../etc', title: 'red \u241b[31malert\u2407', summary: 'a\ufffdb' },
    });
  });
});

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

describe('records of agent-handoff and agent-handover', () => {
  it('map a layer note and a HANDOFF.md to a summary with date, tag and mode', () => {
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

  it('map a run to a handover with its steps as tasks', () => {
    const tasks = [fact('task', 'session_note', { status: 'done' }), fact('task', 'publish', { status: 'pending' })];
    const { checksum: _, ...base } = sealHandover(readSessionHandoffRecord({ ...emptyRecord }, project, '~/shop'));
    expect(sealHandover({ ...base, facts: tasks }).facts.map((task) => task.status)).toEqual(['done', 'pending']);
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
