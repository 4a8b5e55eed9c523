import type { Fact } from '../model/fact.ts';
import { type Handover, isForeign } from '../model/handover.ts';
import { cutToBytes } from '../model/text.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import { readMarks } from '../store/marks.ts';
import { scanHandovers } from '../store/scan-catalog.ts';
import {
  type Candidates,
  type FactFilter,
  type FactRecord,
  type Finder,
  type FoundFact,
  type HandoverRecord,
  passes,
  passesFact,
  type SearchContext,
  type SearchDocument,
} from './finder.ts';
import { listNotesFiles, type NotesPlace, readPieces, timeOfNotes } from './notes.ts';
import type { ParsedQuery, SearchQuery } from './query.ts';
import { countTerms, mayMatch } from './term-stats.ts';
import { foldText } from './tokens.ts';

/* Apart from `searched`, because the schema of handovers takes longer to load than a search. */

export function describeHandover(handover: Handover): HandoverRecord {
  const { session, project, workspace } = handover;
  return {
    id: handover.id,
    at: handover.created_at,
    startedAt: session.started_at,
    agent: withoutNul(session.agent),
    session: session.id === null ? null : withoutNul(session.id),
    project: { id: project.id, name: withoutNul(project.name) },
    root: withoutNul(workspace.root),
    folder: withoutNul(workspace.folder),
    isForeign: isForeign(handover),
  };
}

/** SQLite ends a text at its first NUL. */
function withoutNul(text: string): string {
  return text.replaceAll('\u0000', '\ufffd');
}

export function describeFact({ id, kind, text, status, trust, origin, pinned, sources }: Fact): FactRecord {
  const [source] = sources;
  return {
    id,
    kind,
    text: withoutNul(text),
    status: status ?? null,
    trust,
    origin,
    pinned: pinned === true,
    line: source?.line ?? null,
    from: source?.session ?? null,
    ref: source?.ref ?? null,
  };
}

const MAX_SUMMARY_BYTES = 16 * 1024;

/** The title in the first line, and what was summed up below it. */
export function textOfHandover({ title, summary }: Handover): string {
  const text =
    summary === '' || summary === title ? title : `${title}\n${cutToBytes(summary, MAX_SUMMARY_BYTES)}`;
  return withoutNul(text);
}

/** Answers from the files alone, where there is no SQLite. */
export function openScanFinder(desk: SearchContext): Finder {
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
function gather(desk: SearchContext, query: SearchQuery, parsed: ParsedQuery): Candidates {
  const known = countTerms(scanTexts(desk, {}), parsed);
  const texts: SearchDocument[] = [];
  for (const searched of scanTexts(desk, query))
    if (passes(query, searched) && mayMatch(known, foldText(searched.text))) texts.push(searched);
  return { texts, known };
}

/** Newest handover first, then the notes. */
function* scanTexts(desk: SearchContext, query: Partial<SearchQuery>): Iterable<SearchDocument> {
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

function* scanNotes({ store }: SearchContext, place: NotesPlace): Iterable<SearchDocument> {
  const redactor = openRedactor(store.machine, { folder: place.folder, makesKey: false });
  for (const file of listNotesFiles(place, store.machine))
    for (const { text, line } of readPieces(file))
      yield { what: 'note', text: redactor.redactText(text), path: file.path, line, at: timeOfNotes(file) };
}

async function* scanFacts({ store }: SearchContext, filter: FactFilter): AsyncIterable<FoundFact> {
  const { sinceMs } = filter;
  for (const handover of scanHandovers(store, sinceMs === undefined ? {} : { sinceMs }, new Map())) {
    const described = describeHandover(handover);
    for (const each of handover.facts) {
      const fact = describeFact(each);
      if (passesFact(filter, fact, described)) yield { fact, handover: described };
    }
  }
}
