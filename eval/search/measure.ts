import { sealHandover } from '../../src/handover/seal.ts';
import { computeFactId, type Fact } from '../../src/model/fact.ts';
import type { HandoverDraft } from '../../src/model/handover.ts';
import { shortHash } from '../../src/model/hash.ts';
import type { Finder } from '../../src/search/finder.ts';
import { parseQuery } from '../../src/search/query.ts';
import { fuse, rankTexts } from '../../src/search/rank.ts';
import { openFinder, search } from '../../src/search/search.ts';
import { saveHandover } from '../../src/store/handovers.ts';

import type { Store } from '../../src/store/store.ts';
import type { Labelled, ToldFact } from './queries.ts';

/** Ways to find, from one table alone to all that the command does. */
export const ARMS = ['porter', 'trigram', 'fused', 'fused, typos'] as const;
export type Arm = (typeof ARMS)[number];

export interface Score {
  queries: number;
  /** The share of queries whose fact is among the first five. */
  recall: number;
  /** The mean of one through the place of the fact, and of none where it is not among the first ten. */
  rank: number;
}

/** By arm, then by sort of query; `all` is over all of them. */
export type Scores = Map<Arm, Map<string, Score>>;

const LOOKED_AT = 10;

export async function measureSearch(store: Store, { facts, queries }: Labelled): Promise<Scores> {
  const places = new Map<Arm, { sort: string; place: number }[]>(ARMS.map((arm) => [arm, []]));
  for (const { sort, text, fact } of queries) {
    const told = facts[fact];
    if (told === undefined) throw new Error(`no fact ${fact}`);
    for (const [arm, found] of await findByAll(store, text))
      places.get(arm)?.push({ sort, place: found.indexOf(idOf(told)) });
  }
  return new Map([...places].map(([arm, of]) => [arm, scoreSorts(of)]));
}

/** The ids of the facts that each arm finds, best first. */
async function findByAll(store: Store, text: string): Promise<Map<Arm, string[]>> {
  const finder = await openFinder({ store });
  try {
    const { hits } = await search({ store }, { text, limit: LOOKED_AT });
    return new Map([...(await rankApart(finder, text)), ['fused, typos', hits.map(({ id }) => id)]]);
  } finally {
    finder.close();
  }
}

/** Without a guess at what mistyped words are to mean. */
async function rankApart(finder: Finder, text: string): Promise<[Arm, string[]][]> {
  const parsed = parseQuery(text);
  const { texts, known } = await finder.gather({ text, limit: LOOKED_AT }, parsed);
  const keyed = texts.map((searched) => ({
    key: searched.what === 'fact' ? searched.fact.id : '',
    text: searched.text,
  }));
  const typed = known.map((word) => ({ ...word, corrections: [] }));
  const { words, grams } = rankTexts(parsed, typed, keyed);
  const fused = fuse([{ keys: words }, { keys: grams }]).map(({ key }) => key);
  return [
    ['porter', words],
    ['trigram', grams],
    ['fused', fused],
  ];
}

function scoreSorts(places: readonly { sort: string; place: number }[]): Map<string, Score> {
  const names = [...new Set(places.map(({ sort }) => sort))];
  const byName = names.map((name) => [name, places.filter(({ sort }) => sort === name)] as const);
  return new Map(
    [...byName, ['all', places] as const].map(([name, of]) => [name, score(of.map(({ place }) => place))]),
  );
}

function score(places: readonly number[]): Score {
  const found = places.filter((place) => place >= 0 && place < LOOKED_AT);
  const share = (sum: number): number => (places.length === 0 ? 0 : sum / places.length);
  return {
    queries: places.length,
    recall: share(found.filter((place) => place < 5).length),
    rank: share(found.reduce((sum, place) => sum + 1 / (place + 1), 0)),
  };
}

const FACTS_A_HANDOVER = 20;

/** Keeps facts as handovers of their projects. */
export function keepFacts(store: Store, facts: readonly ToldFact[]): void {
  for (const project of new Set(facts.map((fact) => fact.project))) {
    const told = facts.filter((fact) => fact.project === project);
    for (let at = 0; at < told.length; at += FACTS_A_HANDOVER) {
      const some = told.slice(at, at + FACTS_A_HANDOVER).map(makeFact);
      saveHandover(store, (stamp) => sealHandover({ ...describeWork(project), ...stamp, facts: some }));
    }
  }
}

function idOf({ kind, text }: ToldFact): string {
  return computeFactId(kind, text);
}

function makeFact(told: ToldFact): Fact {
  return {
    id: idOf(told),
    kind: told.kind,
    text: told.text,
    trust: 'observed',
    origin: 'agent',
    sources: [],
  };
}

function describeWork(project: string): Omit<HandoverDraft, 'id' | 'created_at' | 'facts'> {
  return {
    schema: 'handover/1',
    expires_at: null,
    project: { id: `p-${shortHash(project, 16)}`, name: project, remote: null },
    session: { agent: 'codex', id: null, terminal: null, model: null, transcript: null, started_at: null },
    workspace: { root: `~/${project}`, folder: '', worktree: null, git: null },
    title: `Work on ${project}`,
    summary: '',
    previous: null,
    quality: null,
    redactions: [],
  };
}

/** Facts that say nothing, in the plain words of those that are looked for, but not in their names: the same for the same ones. */
export function makeNoise(facts: readonly ToldFact[], count: number): ToldFact[] {
  const words = facts.flatMap(({ text }) => text.split(' ')).filter((word) => /^[a-z]{2,}$/.test(word));
  const next = makeChoice();
  return Array.from({ length: count }, () => ({
    project: `noise${next(5)}`,
    kind: 'note',
    text: Array.from({ length: 6 + next(9) }, () => words[next(words.length)]).join(' '),
  }));
}

/** Numbers below a given one, always the same. */
export function makeChoice(): (below: number) => number {
  let state = 1;
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >> 8) % below;
  };
}
