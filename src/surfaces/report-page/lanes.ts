/** Where a session stands in the graph: its lane, and the lines that meet its row, from lane to lane. */
export interface Row {
  lane: number;
  /** Lines in the upper half: from the row above to this node, or past it. */
  above: readonly Line[];
  /** Lines in the lower half: from this node, or past it, to the row below. */
  below: readonly Line[];
}

export interface Line {
  from: number;
  to: number;
  /** To work that was taken in. */
  isJoined: boolean;
}

interface Node {
  place: number;
  follows: readonly number[];
  joins: readonly number[];
}

/** A lane on the way to the session that it leads to. */
type Lane = { place: number; isJoined: boolean } | null;

/**
 * Lays out sessions, the newest first, as a graph: one that two others follow is where a branch begins, one that follows two is
 * where they meet. Links to what is not shown lead on to what that follows, `linksOf` knows; a link to something newer is left out.
 */
export function layOut(nodes: readonly Node[], linksOf: (place: number) => readonly number[]): Row[] {
  const order = new Map(nodes.map(({ place }, at) => [place, at]));
  const lanes: Lane[] = [];
  return nodes.map((node, at) => {
    const isOwn = (lane: Lane | undefined): boolean => lane?.place === node.place;
    const known = lanes.findIndex(isOwn);
    const lane = known === -1 ? findFree(lanes) : known;
    const above = lanes.flatMap((one, from) =>
      one === null ? [] : [{ from, to: isOwn(one) ? lane : from, isJoined: one.isJoined }],
    );
    for (const [index, one] of lanes.entries()) if (isOwn(one)) lanes[index] = null;
    const past = lanes.flatMap((one, from) => (one === null ? [] : [{ from, to: from, isJoined: one.isJoined }]));
    const isBelow = (place: number): boolean => (order.get(place) ?? -1) > at;
    const lead = (places: readonly number[], isJoined: boolean) =>
      places
        .flatMap((place) => findShown(place, order, linksOf))
        .filter(isBelow)
        .map((place) => ({ place, isJoined }));
    const parents = [...lead(node.follows, false), ...lead(node.joins, true)];
    const below = parents.map((parent, index) => {
      const to = index === 0 ? lane : findFree(lanes);
      lanes[to] = parent;
      return { from: lane, to, isJoined: parent.isJoined };
    });
    return { lane, above, below: [...past, ...below] };
  });
}

function findFree(lanes: Lane[]): number {
  const free = lanes.indexOf(null);
  return free === -1 ? lanes.push(null) - 1 : free;
}

/** The nearest session before this one that is shown, itself included. */
function findShown(
  place: number,
  order: ReadonlyMap<number, number>,
  linksOf: (place: number) => readonly number[],
): number[] {
  const seen = new Set<number>();
  for (let at: number | undefined = place; at !== undefined && !seen.has(at); at = linksOf(at)[0]) {
    if (order.has(at)) return [at];
    seen.add(at);
  }
  return [];
}
