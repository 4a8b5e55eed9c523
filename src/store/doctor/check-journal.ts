import { join, relative, sep } from 'node:path';
import { type HandoverError, isHandoverError, rescue } from '../../errors.ts';
import { isHandoverId } from '../../model/id.ts';
import type { JournalEntry, JournalEvent } from '../../model/journal-entry.ts';
import { writeFileDurably } from '../../platform/durable-file.ts';
import { ensurePrivateFolder } from '../../platform/folders.ts';
import { hasHandover, isBeingForgotten } from '../handovers.ts';
import { appendEntry, type DamagedLine, type JournalPage, readJournalFile } from '../journal.ts';
import { idOfName, listJournalFiles, pathOfHandover, QUARANTINE, type Store } from '../store.ts';
import type { Finding, IntactHandovers } from './check-files.ts';

/** Checks every line of the journal, and the journal against the handovers that are there. */
export function checkJournal(
  store: Store,
  intact: IntactHandovers,
  damagedPaths: ReadonlySet<string>,
): { findings: Finding[]; entries: number } {
  const pages = listJournalFiles(store).map(readPage);
  const entries = collectEntries(pages);
  const known = entries.filter((entry) => entry.event === 'acknowledged');
  const acknowledged = new Set(known.map(({ subject, detail }) => `${subject} ${String(detail?.sha256)}`));
  const lines = pages.flatMap((page) => {
    if (!('entries' in page)) return [page];
    const subject = relative(store.root, page.path).split(sep).join('/');
    return page.damage.map((line): Finding => {
      const { path } = page;
      if (!acknowledged.has(`${subject} ${line.sha256}`)) return describeLine(path, line, subject);
      const message = `${path}:${line.line} is damaged, as noted before`;
      return { code: 'known-journal-damage', level: 'notice', path, message, remedy: null };
    });
  });
  const differences = compareWithFiles(store, { entries, intact, damagedPaths });
  return { findings: [...lines, ...differences], entries: entries.length };
}

function readPage(path: string): JournalPage | Finding {
  const report = ({ message }: HandoverError): Finding => {
    return { code: 'unreadable-journal', level: 'damage', path, message, remedy: null };
  };
  return rescue(isHandoverError, report, () => readJournalFile(path));
}

function collectEntries(pages: readonly (JournalPage | Finding)[]): JournalEntry[] {
  return pages.flatMap((page) => ('entries' in page ? page.entries : []));
}

/** History is never rewritten: fixing saves the bytes and acknowledges the line, which is only mentioned after that. */
function describeLine(path: string, line: DamagedLine, subject: string): Finding {
  const where = `${path}:${line.line}`;
  const remedy = {
    description: 'copy it to the quarantine and record that in the journal',
    apply: (store: Store) => acknowledge(store, subject, line),
  };
  if (line.torn) {
    const message = `${where} is cut short: a write did not finish, or the end of the file was lost`;
    return { code: 'torn-journal-line', level: 'warning', path, message, remedy };
  }
  const message = `${where} is damaged: the line is not the one that was written`;
  return { code: 'damaged-journal-line', level: 'damage', path, message, remedy };
}

function acknowledge(store: Store, subject: string, { line, sha256, bytes }: DamagedLine): void {
  const stored = `${subject.replaceAll('/', '-')}-${line}-${sha256.slice(0, 12)}`;
  writeFileDurably(join(ensurePrivateFolder(store.root, QUARANTINE), stored), bytes);
  appendEntry(store, { event: 'acknowledged', subject, detail: { line, sha256, stored } });
}

type Comparison = { entries: readonly JournalEntry[]; intact: IntactHandovers; damagedPaths: ReadonlySet<string> };

function compareWithFiles(store: Store, { entries, intact, damagedPaths }: Comparison): Finding[] {
  const expected = collectExpected(entries);
  const replaced: Finding[] = [];
  const absent: string[] = [];
  for (const [id, checksum] of expected) {
    const path = pathOfHandover(store, id);
    const present = intact.get(id);
    if (present === undefined && !damagedPaths.has(path)) absent.push(id);
    if (present === undefined || present === checksum) continue;
    const message = `${path} is intact, but not the handover that the journal records as saved`;
    replaced.push({ code: 'replaced-handover', level: 'damage', path, message, remedy: null });
  }
  const missing = findMissing(store, absent).map((id): Finding => {
    const path = pathOfHandover(store, id);
    const message = `${path} is missing: the journal records it as saved and never forgotten`;
    return { code: 'missing-handover', level: 'damage', path, message, remedy: null };
  });
  const unjournaled = [...intact]
    .filter(([id]) => !expected.has(id))
    .map(([id, checksum]) => describeUnjournaled(pathOfHandover(store, id), id, checksum));
  return [...replaced, ...missing, ...unjournaled];
}

const SAVING: ReadonlySet<JournalEvent> = new Set(['saved', 'migrated', 'imported']);

/** The handovers that should be there according to the journal: id and checksum. */
function collectExpected(entries: readonly JournalEntry[]): Map<string, string> {
  const expected = new Map<string, string>();
  for (const { event, subject, detail } of entries) {
    if (SAVING.has(event) && isHandoverId(subject)) expected.set(subject, String(detail?.checksum));
    if (event === 'forgotten') expected.delete(subject);
    if (event === 'quarantined') expected.delete(idOfName(subject.split('/').at(-1) ?? '') ?? '');
  }
  return expected;
}

/** Others may be running, so the journal is read last: it has a removal before the last trace of the file is gone. */
function findMissing(store: Store, absent: readonly string[]): string[] {
  const suspects = absent.filter((id) => !hasHandover(store, id) && !isBeingForgotten(store, id));
  if (suspects.length === 0) return [];
  const expected = collectExpected(collectEntries(listJournalFiles(store).map(readPage)));
  return suspects.filter((id) => expected.has(id));
}

function describeUnjournaled(path: string, id: string, checksum: string): Finding {
  const entry = { event: 'saved', subject: id, reason: 'found by doctor', detail: { checksum } } as const;
  const message = `${path} is intact, but the journal does not mention it`;
  const remedy = { description: 'record it in the journal', apply: (store: Store) => appendEntry(store, entry) };
  return { code: 'not-in-journal', level: 'notice', path, message, remedy };
}
