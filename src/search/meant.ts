import type { HandoverError } from '../errors.ts';
import { pathExists } from '../platform/folders.ts';
import type { Machine } from '../platform/machine.ts';
import { pathOfUserConfig } from '../platform/paths.ts';
import { namesFile } from './filter.ts';
import type { FactFilter, Finder, FoundFact, SearchDesk } from './finder.ts';
import { openFinder } from './open-finder.ts';
import type { SearchQuery } from './query.ts';
import type { Searched } from './searched.ts';
import type { Candidate, Coverage, Embedding } from './semantic/rank.ts';

/** How far meaning had a say, and what kept it from more. */
export interface MeaningOutcome extends Coverage {
  trouble: HandoverError | null;
}

const MOST_LOOKED_AT = 20_000;

/** The facts that mean what was asked, best first; null when the user has set no model for it. */
export async function findMeant(
  { store, embedProgress: progress }: SearchDesk,
  finder: Finder,
  query: SearchQuery,
): Promise<{ ranked: Searched[]; outcome: MeaningOutcome } | null> {
  if (!(await isMeaningSet(store.machine))) return null;
  const { rankByMeaning } = await import('./semantic/rank.ts');
  const candidates = await collectFacts(finder, query, MOST_LOOKED_AT);
  const ranking = await rankByMeaning(store, { text: query.text, candidates, progress });
  if (ranking === null) return null;
  const { ranked, ...outcome } = ranking;
  return {
    ranked: ranked.map(({ fact, handover }) => ({ what: 'fact', text: fact.text, handover, fact })),
    outcome,
  };
}

/** Reading settings takes longer than a search: where the user has none, they are not even loaded. */
async function isMeaningSet(machine: Machine): Promise<boolean> {
  if (!pathExists(pathOfUserConfig(machine))) return false;
  return (await import('./semantic/settings.ts')).readMeaningSettings(machine) !== null;
}

/** Embeds every fact that has no vector yet. */
export async function embedFacts(desk: SearchDesk): Promise<Embedding> {
  const { embedAll } = await import('./semantic/rank.ts');
  const finder = await openFinder(desk);
  try {
    const facts = await collectFacts(finder, {}, Number.POSITIVE_INFINITY);
    return await embedAll(desk.store, facts, desk.embedProgress);
  } finally {
    finder.close();
  }
}

/** The newest telling of each fact, newest first. */
async function collectFacts(
  finder: Finder,
  { kinds, agent, project, sinceMs, file }: Partial<SearchQuery>,
  most: number,
): Promise<Candidate<FoundFact>[]> {
  const filter: FactFilter = {
    ...(kinds === undefined ? {} : { kinds }),
    ...(agent === undefined ? {} : { agent }),
    ...(project === undefined ? {} : { project }),
    ...(sinceMs === undefined ? {} : { sinceMs }),
  };
  const seen = new Set<string>();
  const facts: Candidate<FoundFact>[] = [];
  for await (const found of finder.facts(filter)) {
    const { fact, handover } = found;
    const name = `${handover.project.id}\n${fact.id}`;
    if (seen.has(name) || (file !== undefined && !namesFile(fact.text, file))) continue;
    seen.add(name);
    facts.push({ key: found, text: fact.text });
    if (facts.length >= most) break;
  }
  return facts;
}
