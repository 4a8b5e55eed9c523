import type { FactFilter, FoundFact, SearchDesk } from './finder.ts';
import { openFinder } from './open-finder.ts';

/** Facts with the handovers that tell them, newest first; what is not asked for is not read. */
export async function* findFacts(desk: SearchDesk, filter: FactFilter): AsyncIterable<FoundFact> {
  const finder = await openFinder(desk);
  try {
    yield* finder.facts(filter);
  } finally {
    finder.close();
  }
}
