import { describe, expect, it } from 'vitest';
import { startReadStats } from '../../../src/agents/agent.ts';
import { countEvents, type EventCount, judgeReading } from '../../../src/app/capture/drift.ts';
import type { Event } from '../../../src/model/event.ts';

interface Case {
  rows: number;
  unknown?: Record<string, number>;
  unreadable?: number;
  told?: number;
  byAgent?: number;
  bytes?: number;
}

function judge({ rows, unknown = {}, unreadable = 0, told = 10, byAgent = told, bytes = 4000 }: Case) {
  const tally: EventCount = { total: told, byAgent, compactions: 0 };
  return judgeReading({ ...startReadStats(), rows, unknown, unreadable }, tally, bytes);
}

describe('the check for format drift', () => {
  it.each<[string, Case]>([
    ['all of which is known', { rows: 500 }],
    ['without a message yet', { rows: 49, told: 0 }],
    ['of one question', { rows: 49, told: 1, byAgent: 0 }],
    ['of a database with much in it, of which this session has nothing', { rows: 0, told: 0, bytes: 1e9 }],
  ])('accepts a transcript %s', (_, measures) => {
    expect(judge(measures).understanding).toBe('fine');
  });

  it.each<[string, Case]>([
    ['one unreadable row', { rows: 3, unreadable: 1 }],
    ['four new rows of five', { rows: 5, unknown: { mood: 4 } }],
    ['fewer new rows than a tenth', { rows: 51, unknown: { mood: 5 } }],
    ['a torn beginning', { rows: 2, unreadable: 1, told: 0, bytes: 65_535 }],
  ])('warns of a transcript with %s', (_, measures) => {
    expect(judge(measures).understanding).toBe('odd');
  });

  it.each<[string, Case]>([
    ['a tenth of new rows', { rows: 50, unknown: { mood: 3, tone: 2 } }],
    ['a tenth of unreadable rows', { rows: 50, unreadable: 5 }],
    ['questions and no answer', { rows: 50, told: 4, byAgent: 0 }],
  ])('reports drift for a transcript with %s', (_, measures) => {
    expect(judge(measures).understanding).toBe('drift');
  });

  it.each<[string, Case]>([
    ['of fifty rows', { rows: 50, told: 0 }],
    ['of some new rows', { rows: 10, unknown: { mood: 5 }, told: 0 }],
    ['of one endless row', { rows: 1, unreadable: 1, told: 0, bytes: 65_536 }],
  ])('finds nothing in a transcript %s', (_, measures) => {
    expect(judge(measures).understanding).toBe('nothing');
  });

  it('lists the unknown kinds, the most frequent first', () => {
    const { unknown, rows, unreadable } = judge({ rows: 90, unknown: { a: 1, c: 2, b: 2 }, unreadable: 3 });
    expect({ unknown, rows, unreadable }).toEqual({
      unknown: [
        { kind: 'b', count: 2 },
        { kind: 'c', count: 2 },
        { kind: 'a', count: 1 },
      ],
      rows: 90,
      unreadable: 3,
    });
  });
});

describe('counting the events of a transcript', () => {
  const place = { at: null, ref: { line: 1, id: null } };

  it('leaves out events without content', () => {
    const events: Event[] = [
      { type: 'prompt', ...place, text: 'a' },
      { type: 'reply', ...place, text: 'b' },
      { type: 'compaction', ...place, summary: null },
      { type: 'compaction', ...place, summary: 'c' },
      { type: 'injected', ...place, text: 'd' },
    ];
    expect(countEvents(events)).toEqual({ total: 3, byAgent: 2, compactions: 2 });
  });
});
