import { openRedactor } from '../redact/open-redactor.ts';
import { readMarks } from '../store/marks.ts';
import { scanHandovers } from '../store/scan-catalog.ts';
import { describeFact, describeHandover, textOfHandover } from './describe.ts';
import { passes, passesFact } from './filter.ts';
import type { FactFilter, Finder, FoundFact, Gathered, SearchDesk } from './finder.ts';
import { knowWordsOf, mayMatch } from './know-words.ts';
import { listNotesFiles, type NotesPlace, readPieces, timeOfNotes } from './notes.ts';
import type { ParsedQuery } from './parsed-query.ts';
import type { SearchQuery } from './query.ts';
import type { Searched } from './searched.ts';
import { foldText } from './tokens.ts';

/** Answers from the files alone, where there is no SQLite. */
export function openScanFinder(desk: SearchDesk): Finder {
  const { store } = desk;
  return {
    by: 'scan',
    indexFailure: null,
    gather: async (query, parsed) => gather(desk, query, parsed),
    facts: (filter) => scanFacts(desk, filter),
    countHolders: async ({ fact, handover }) => {
      let count = 0;
      for (const each of scanHandovers(store, { project: { id: handover.project.id } }, new Map()))
        if (each.facts.some(({ id }) => id === fact.id)) count++;
      return count;
    },
    marks: async (project) => readMarks(store, project),
    projectOf: async (roots) => {
      for (const root of roots)
        for (const { project } of scanHandovers(store, { project: { root } }, new Map())) return project.id;
      return null;
    },
    close: () => undefined,
  };
}

/** Reads everything twice: how rare the words are has to be known before it is known what is worth keeping. */
function gather(desk: SearchDesk, query: SearchQuery, parsed: ParsedQuery): Gathered {
  const known = knowWordsOf(scanTexts(desk, {}), parsed);
  const texts: Searched[] = [];
  for (const searched of scanTexts(desk, query))
    if (passes(query, searched) && mayMatch(known, foldText(searched.text))) texts.push(searched);
  return { texts, known };
}

/** Newest handover first, then the notes. */
function* scanTexts(desk: SearchDesk, query: Partial<SearchQuery>): Iterable<Searched> {
  const { sinceMs } = query;
  for (const handover of scanHandovers(desk.store, sinceMs === undefined ? {} : { sinceMs }, new Map())) {
    const described = describeHandover(handover);
    yield { what: 'handover', text: textOfHandover(handover), handover: described };
    for (const fact of handover.facts) {
      const each = describeFact(fact);
      yield { what: 'fact', text: each.text, handover: described, fact: each };
    }
  }
  if (desk.notes !== undefined && desk.notes !== null && query.project === undefined)
    yield* scanNotes(desk, desk.notes);
}

function* scanNotes({ store }: SearchDesk, place: NotesPlace): Iterable<Searched> {
  const redactor = openRedactor(store.machine, { folder: place.folder, makesKey: false });
  for (const file of listNotesFiles(place, store.machine))
    for (const { text, line } of readPieces(file))
      yield { what: 'note', text: redactor.redactText(text), path: file.path, line, at: timeOfNotes(file) };
}

async function* scanFacts({ store }: SearchDesk, filter: FactFilter): AsyncIterable<FoundFact> {
  const { sinceMs } = filter;
  for (const handover of scanHandovers(store, sinceMs === undefined ? {} : { sinceMs }, new Map())) {
    const described = describeHandover(handover);
    for (const each of handover.facts) {
      const fact = describeFact(each);
      if (passesFact(filter, fact, described)) yield { fact, handover: described };
    }
  }
}
