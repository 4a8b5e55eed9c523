import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeFactId, FACT_ID } from '../../src/model/fact.ts';
import { formatIdTime, isHandoverId, makeHandoverId } from '../../src/model/id.ts';
import { formatTimestamp } from '../../src/model/time.ts';

describe('handover ids', () => {
  it('have the time in UTC and four characters', () => {
    expect(makeHandoverId(Date.UTC(2026, 0, 31, 12, 5, 9), Uint8Array.of(255, 255, 255))).toBe('20260131-120509-zzzz');
  });

  it('are recognised, and sort as their times do', () => {
    const time = fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) });
    fc.assert(
      fc.property(time, time, fc.uint8Array({ minLength: 3, maxLength: 3 }), (a, b, random) => {
        expect(isHandoverId(makeHandoverId(a, random))).toBe(true);
        expect(Math.sign(Math.floor(a / 1000) - Math.floor(b / 1000))).toBe(
          Math.sign(formatIdTime(a).localeCompare(formatIdTime(b), 'en')),
        );
      }),
    );
  });

  it.each(['20260101-000000', '20260101-000000-002', '20260101-000000-k3fz'])('accept %s', (id) => {
    expect(isHandoverId(id)).toBe(true);
  });

  it.each([
    '',
    '..',
    '20261301-000000-abcd',
    '20260101-000000-../x',
    '20260101-000000-abcde',
    '20260101-000000-ABCD',
    '２０２６0101-000000',
    '20260101-000000\n',
  ])('reject %j', (id) => {
    expect(isHandoverId(id)).toBe(false);
  });

  it('clamp times outside the years that can be written', () => {
    expect(formatTimestamp(-1)).toBe('1970-01-01T00:00:00.000Z');
    expect(formatTimestamp(Number.MAX_SAFE_INTEGER)).toBe('9999-12-31T23:59:59.999Z');
  });
});

describe('fact ids', () => {
  it('ignore spacing, case and final punctuation, and differ by kind', () => {
    const id = computeFactId('decision', 'Use  SQLite\nfor the index.');
    expect(id).toMatch(FACT_ID);
    expect(computeFactId('decision', 'use sqlite for the index')).toBe(id);
    expect(computeFactId('constraint', 'use sqlite for the index')).not.toBe(id);
  });

  it('are exact for paths and commands', () => {
    expect(computeFactId('file', 'src/A.ts')).not.toBe(computeFactId('file', 'src/a.ts'));
    expect(computeFactId('command', 'make  a')).not.toBe(computeFactId('command', 'make a'));
  });
});
