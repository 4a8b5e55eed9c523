import fc from 'fast-check';
import { expect, it } from 'vitest';
import { layOut, type Row } from '../../../src/surfaces/report-page/lanes.ts';

type Node = { place: number; follows: number[]; joins: number[] };

/** The rows that the lines lead to which begin at this one. */
function follow(rows: readonly Row[], at: number): number[] {
  const begin = (rows[at]?.below ?? []).filter(({ from }) => from === rows[at]?.lane);
  return begin.map(({ to }) => {
    let lane = to;
    for (let next = at + 1; next < rows.length; next++) {
      const line = rows[next]?.above.find(({ from }) => from === lane);
      if (line === undefined) return -1;
      if (line.to === rows[next]?.lane) return next;
      lane = line.to;
    }
    return -1;
  });
}

/** Sessions, each with links to some that are older, newer or not there. */
const graphs = fc.array(
  fc.record({ follows: fc.array(fc.nat(30), { maxLength: 2 }), joins: fc.array(fc.nat(30), { maxLength: 1 }) }),
  { maxLength: 30 },
);

it('every line of the graph leads to a session that was continued or taken in, and to no other', () => {
  fc.assert(
    fc.property(graphs, (given) => {
      const nodes: Node[] = given.map((links, place) => ({ place, ...links }));
      const rows = layOut(nodes, () => []);
      for (const [at, { follows, joins }] of nodes.entries()) {
        const expected = [...follows, ...joins].filter((place) => place > at && place < nodes.length);
        expect(follow(rows, at).sort()).toEqual(expected.sort());
      }
    }),
  );
});

it('no two lines of the graph are in one lane', () => {
  fc.assert(
    fc.property(graphs, (given) => {
      const rows = layOut(
        given.map((links, place) => ({ place, ...links })),
        () => [],
      );
      for (const { above, below } of rows) {
        const starts = above.map(({ from }) => from);
        const ends = below.map(({ to }) => to);
        expect([new Set(starts).size, new Set(ends).size]).toEqual([starts.length, ends.length]);
      }
    }),
  );
});

it('a line leads past a session that is not shown to the one before it', () => {
  const nodes: Node[] = [
    { place: 0, follows: [1], joins: [] },
    { place: 2, follows: [], joins: [] },
  ];
  const rows = layOut(nodes, (place) => (place === 1 ? [2] : []));
  expect(follow(rows, 0)).toEqual([1]);
});

it('sessions in a row stay in one lane, and a branch gets one of its own until it meets the others', () => {
  const nodes: Node[] = [
    { place: 0, follows: [2], joins: [] },
    { place: 1, follows: [2], joins: [] },
    { place: 2, follows: [3], joins: [] },
    { place: 3, follows: [], joins: [] },
  ];
  expect(layOut(nodes, () => []).map(({ lane }) => lane)).toEqual([0, 1, 0, 0]);
});
