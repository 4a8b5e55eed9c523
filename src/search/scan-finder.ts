import { openRedactor } from '../redact/open-redactor.ts';
import { readMarks } from '../store/marks.ts';
import { scanHandovers } from '../store/scan-catalog.ts';
import { passes, passesFact } from './filter.ts';
import type { FactFilter, Finder, FoundFact, Gathered, SearchDesk } from './finder.ts';
import { findAlike, isNotedStem } from './misspelt.ts';
import { listNotesFiles, type NotesPlace, readPieces, timeOfNotes } from './notes.ts';
import type { ParsedQuery } from './parsed-query.ts';
import type { SearchQuery } from './query.ts';
import { type KnownWord, LEAST_SHARE, shareOf, weighWord } from './rank.ts';
import { describeFact, describeHandover, type Searched, textOfHandover } from './searched.ts';
import { foldText, splitWords, stemWord } from './tokens.ts';

/** Answers from the files alone, where there is no SQLite. */
export function openScanFinder(desk: SearchDesk): Finder {
  const { store } = desk;
  return {
    by: 'scan',
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
  const known = knowWords(desk, parsed);
  const texts: Searched[] = [];
  for (const searched of scanTexts(desk, query))
    if (passes(query, searched) && mayMatch(known, foldText(searched.text))) texts.push(searched);
  return { texts, known };
}

function knowWords(desk: SearchDesk, { words }: ParsedQuery): KnownWord[] {
  const counts = new Map<string, number>();
  const starts = new Set(words.flatMap(({ stem: [first = '', second = ''] }) => [first, second]));
  let total = 0;
  for (const { text } of scanTexts(desk, {})) {
    total++;
    for (const stem of new Set(splitWords(foldText(text)).map(stemWord)))
      if (starts.has(stem.charAt(0))) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  }
  return words.map((word) => {
    const count = counts.get(word.stem) ?? 0;
    const alike = count > 0 || word.isUnspaced ? [] : findAlike(word.stem, listStemsNear(word.stem, counts));
    const most = Math.max(count, ...alike.map((stem) => counts.get(stem) ?? 0));
    return { word, weight: weighWord(most, Math.max(1, total)), alike };
  });
}

function listStemsNear(stem: string, stems: ReadonlyMap<string, number>): string[] {
  const [first = '', second = ''] = stem;
  return [...stems.keys()].filter(
    (each) => isNotedStem(each) && (each.startsWith(first) || each.startsWith(`${second}${first}`)),
  );
}

function mayMatch(known: readonly KnownWord[], folded: string): boolean {
  const stems = new Set(splitWords(folded).map(stemWord));
  return known.some(
    ({ word, alike }) =>
      stems.has(word.stem) || alike.some((stem) => stems.has(stem)) || shareOf(word, folded) >= LEAST_SHARE,
  );
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
