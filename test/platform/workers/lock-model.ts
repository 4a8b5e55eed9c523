/*
 * The steps of the lock as a state machine, run through every order of steps of a few processes. A listing takes
 * time: what is there throughout is in it; what appears or vanishes meanwhile may be in it or not.
 */
interface ModelProcess {
  at: 'idle' | 'looking' | 'judging' | 'raising' | 'raised' | 'listing' | 'comparing' | 'inside' | 'gone';
  rounds: number;
  /** While it lists: the generations that were there all the time, and those that were there at some time. */
  throughout: number[];
  sometime: number[];
  top: number;
  own: number;
  rivals: number[];
  passed: number[];
}

interface ModelState {
  claims: Record<number, { owner: number; held: boolean }>;
  processes: ModelProcess[];
  crashesLeft: number;
}

type EntryRule = 'meet no live claim' | 'be the highest';

interface ModelRules {
  rounds: readonly number[];
  crashes: number;
  rule: EntryRule;
}

const RESTING = { throughout: [], sometime: [], top: 0, own: 0, rivals: [], passed: [] };

/** Counts the states in which two are inside, and those in which all have come to an end. */
export function explore({ rounds, crashes, rule }: ModelRules): {
  violations: number;
  ends: number;
} {
  const processes = rounds.map((count): ModelProcess => ({ at: 'idle', rounds: count, ...RESTING }));
  const seen = new Set<string>();
  const open = [JSON.stringify({ claims: {}, processes, crashesLeft: crashes } satisfies ModelState)];
  let violations = 0;
  let ends = 0;
  for (let text = open.pop(); text !== undefined; text = open.pop()) {
    if (seen.has(text)) continue;
    seen.add(text);
    const state: ModelState = JSON.parse(text);
    if (state.processes.filter(({ at }) => at === 'inside').length > 1) {
      violations += 1;
      continue;
    }
    if (state.processes.every(({ at }) => at === 'gone')) ends += 1;
    state.processes.forEach((process, index) => {
      if (process.at === 'gone') return;
      for (const next of stepModel(state, index, rule)) open.push(JSON.stringify(next));
      if (state.crashesLeft === 0) return;
      const crashed = structuredClone(state);
      crashed.processes[index] = { at: 'gone', rounds: 0, ...RESTING };
      crashed.crashesLeft -= 1;
      open.push(JSON.stringify(crashed));
    });
  }
  return { violations, ends };
}

function possibleListings({ throughout, sometime }: ModelProcess): number[][] {
  const passing = sometime.filter((generation) => !throughout.includes(generation));
  return passing.reduce(
    (listings, generation) => listings.flatMap((listing) => [listing, [...listing, generation]]),
    [throughout],
  );
}

function stepModel(before: ModelState, index: number, rule: EntryRule): ModelState[] {
  const states: ModelState[] = [];
  const advance = (change: (process: ModelProcess, state: ModelState) => void): void => {
    const state = structuredClone(before);
    const process = state.processes[index];
    if (process === undefined) throw new Error('no such process');
    change(process, state);
    states.push(state);
  };
  const present = Object.keys(before.claims).map(Number);
  const bars = (generation: number): boolean => {
    const claim = before.claims[generation];
    return claim?.held === true && before.processes[claim.owner]?.at !== 'gone';
  };
  const beginListing = (process: ModelProcess): void => {
    Object.assign(process, { throughout: present, sometime: present });
  };
  const remove = (state: ModelState, generation: number): void => {
    delete state.claims[generation];
    for (const process of state.processes) {
      process.throughout = process.throughout.filter((there) => there !== generation);
    }
  };
  const now = before.processes[index];
  if (now === undefined) throw new Error('no such process');
  const listings = possibleListings(now);

  switch (now.at) {
    case 'idle':
      advance((process) => {
        process.at = 'looking';
        beginListing(process);
      });
      break;
    case 'looking':
      for (const listing of listings) {
        advance((process) => Object.assign(process, RESTING, { at: 'judging', top: Math.max(0, ...listing) }));
      }
      break;
    case 'judging':
      advance((process) => {
        const isFree = now.top === 0 || (present.includes(now.top) && !bars(now.top));
        process.at = isFree ? 'raising' : 'idle';
      });
      break;
    case 'raising':
      advance((process, state) => {
        const own = now.top + 1;
        if (present.includes(own)) Object.assign(process, RESTING, { at: 'idle' });
        else {
          state.claims[own] = { owner: index, held: true };
          for (const other of state.processes) {
            const isListing = other.at === 'looking' || other.at === 'listing';
            if (isListing && !other.sometime.includes(own)) other.sometime.push(own);
          }
          Object.assign(process, { at: 'raised', own });
        }
      });
      break;
    case 'raised':
      advance((process) => {
        process.at = 'listing';
        beginListing(process);
      });
      break;
    case 'listing':
      for (const listing of listings) {
        advance((process, state) => {
          if (Math.max(0, ...listing) === now.own) {
            const rivals = listing.filter((generation) => generation !== now.own).sort((a, b) => a - b);
            Object.assign(process, { at: 'comparing', throughout: [], sometime: [], rivals, passed: [] });
          } else {
            remove(state, now.own);
            Object.assign(process, RESTING, { at: 'idle' });
          }
        });
      }
      break;
    case 'comparing':
      advance((process) => {
        const rival = process.rivals.shift();
        const isOwn = before.claims[now.own]?.owner === index;
        if (rival === undefined) process.at = isOwn || rule === 'be the highest' ? 'inside' : 'idle';
        else if (rule === 'meet no live claim' && bars(rival)) process.at = 'raised';
        else if (present.includes(rival)) process.passed.push(rival);
      });
      break;
    case 'inside':
      advance((process, state) => {
        const leftover = process.passed.shift();
        if (leftover !== undefined) return remove(state, leftover);
        state.claims[now.own] = { owner: index, held: false };
        const roundsLeft = now.rounds - 1;
        Object.assign(process, RESTING, { at: roundsLeft === 0 ? 'gone' : 'idle', rounds: roundsLeft });
      });
      break;
    case 'gone':
      break;
  }
  return states;
}
