import { describe, expect, it } from 'vitest';
import { type CatalogRow, sortByWork } from '../../src/store/catalog.ts';

/** Rows as a catalog gives them: those captured last first. Times are hours of a day. */
async function sort(...rows: { captured: number; worked?: number }[]): Promise<number[]> {
  const at = (hour: number): string => `2026-02-01T${String(hour).padStart(2, '0')}:00:00.000Z`;
  let read = 0;
  async function* give(): AsyncIterable<CatalogRow> {
    for (const { captured, worked } of rows) {
      read++;
      yield {
        id: String(captured),
        created_at: at(captured),
        last_at: worked === undefined ? null : at(worked),
        noted_at: null,
        agent: 'codex',
        project: { id: 'p', name: 'p' },
        root: '/p',
        title: '',
        next: [],
        session: null,
        terminal: null,
        score: null,
      };
    }
  }
  const sorted: number[] = [];
  for await (const { id } of sortByWork(give())) {
    if (sorted.length === 0) sorted.push(read);
    sorted.push(Number(id));
  }
  return sorted;
}

describe('handovers in the order of their work', () => {
  it('have a session that was captured late where its work was done', async () => {
    const [, ...ids] = await sort(
      { captured: 9, worked: 2 },
      { captured: 8 },
      { captured: 5, worked: 4 },
      { captured: 1 },
    );
    expect(ids).toEqual([8, 5, 9, 1]);
  });

  it('are told without reading more than may be newer', async () => {
    expect(await sort({ captured: 9, worked: 8 }, { captured: 7 }, { captured: 6 })).toEqual([2, 9, 7, 6]);
  });

  it('keep their order where times are equal, and do not believe work after the capture', async () => {
    const [, ...ids] = await sort({ captured: 9, worked: 3 }, { captured: 8, worked: 3 }, { captured: 2, worked: 23 });
    expect(ids).toEqual([9, 8, 2]);
  });
});
