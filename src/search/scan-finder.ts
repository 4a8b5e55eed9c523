import { STATED_AT } from '../handover/marks.ts';
import { type Fact, readTold } from '../model/fact.ts';
import { isGuess, isProgressNote } from '../model/fact-roles.ts';
import { type Handover, isForeign } from '../model/handover.ts';
import { cutToBytes } from '../model/text.ts';
import { isSavedByHand, lastWorkOf } from '../model/time.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import { readMarks } from '../store/marks.ts';
import { scanHandovers } from '../store/scan-catalog.ts';
import * as finder from './finder.ts';
import { listNotesFiles, readPieces, timeOfNotes } from './notes.ts';
import { countTerms, mayMatch } from './term-stats.ts';
import { foldText, withoutNul } from './tokens.ts';

export function openScanFinder(context: finder.SearchContext): finder.Finder {
  const { store } = context;
  return {
    by: 'scan',
    indexFailure: null,
    gather: async (query, parsed) => {
      // Everything is read twice: the weight of the words must be known before any text can be judged.
      const known = countTerms(scanDocuments(context, {}), parsed);
      const texts = [...scanDocuments(context, query)].filter(({ text }) => mayMatch(known, foldText(text)));
      return { texts, known };
    },
    facts: async function* (filter): AsyncIterable<finder.FactDocument> {
      for (const document of scanDocuments({ store }, filter)) if (document.what === 'fact') yield document;
    },
    files: async () => null,
    countHolders: async ({ fact, handover }) => {
      let count = 0;
      for (const each of scanHandovers(store, { project: { id: handover.project.id, aliases: [] } }, new Map()))
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

function* scanDocuments(context: finder.SearchContext, filter: finder.FactFilter): Iterable<finder.SearchDocument> {
  const { sinceMs } = filter;
  for (const handover of scanHandovers(context.store, sinceMs === undefined ? {} : { sinceMs }, new Map()))
    for (const document of listDocuments(handover, describeHandover(handover)))
      if (finder.passes(filter, document)) yield document;
  if (filter.project !== undefined) return;
  for (const document of scanNotes(context)) if (finder.passes(filter, document)) yield document;
}

function* scanNotes({ store, notes = null }: finder.SearchContext): Iterable<finder.SearchDocument> {
  if (notes === null) return;
  const redactor = openRedactor(store.machine, { folder: notes.folder, makesKey: false });
  for (const file of listNotesFiles(notes, store.machine))
    for (const { text, line } of readPieces(file, redactor))
      yield { what: 'note', text, path: file.path, line, at: timeOfNotes(file) };
}

/** The handover itself first, then its facts, without those about how far its session was. */
export function listDocuments(source: Handover, handover: finder.HandoverRecord): finder.HandoverDocument[] {
  const facts = source.facts
    .filter((each) => !isProgressNote(each))
    .map((each): finder.HandoverDocument => {
      const fact = describeFact(each);
      return { what: 'fact', text: fact.text, fact, handover };
    });
  return [{ what: 'handover', text: textOfHandover(source), handover }, ...facts];
}

export function describeHandover(handover: Handover): finder.HandoverRecord {
  const { session, project, workspace } = handover;
  return {
    id: handover.id,
    at: handover.created_at,
    workedAt: lastWorkOf(handover),
    isNoted: isSavedByHand(handover),
    startedAt: session.started_at,
    agent: withoutNul(session.agent),
    session: session.id === null ? null : withoutNul(session.id),
    project: { id: project.id, name: withoutNul(project.name) },
    root: withoutNul(workspace.root),
    folder: withoutNul(workspace.folder),
    isForeign: isForeign(handover),
  };
}

function describeFact(fact: Fact): finder.FactRecord {
  const { id, kind, text, status, trust, origin, pinned, sources, detail } = fact;
  const { line = null, session: from = null, ref = null } = sources[0] ?? {};
  const whose = readTold(fact)?.origin ?? origin;
  const said = { id, kind, text: withoutNul(text), status: status ?? null, trust, origin: whose };
  const statedAt = typeof detail?.[STATED_AT] === 'string' ? detail[STATED_AT] : null;
  return { ...said, pinned: pinned === true, isGuess: isGuess(fact), line, from, ref, statedAt };
}

const MAX_SUMMARY_BYTES = 16 * 1024;

function textOfHandover({ title, summary }: Handover): string {
  if (summary === '' || summary === title) return withoutNul(title);
  return withoutNul(`${title}\n${cutToBytes(summary, MAX_SUMMARY_BYTES)}`);
}
