import { join, relative, sep } from 'node:path';
import { HandoverError } from '../../errors.ts';
import { isHandoverId } from '../../model/id.ts';
import type { JournalEntry, JournalEvent } from '../../model/journal-entry.ts';
import { formatTimestamp } from '../../model/time.ts';
import { writeFileDurably } from '../../platform/durable-file.ts';
import { ensurePrivateFolder } from '../../platform/folders.ts';
import { hasHandover, isBeingForgotten } from '../handovers.ts';
import {
  appendEntry,
  type DamagedLine,
  type JournalPage,
  nextTimestamp,
  readJournalFile,
} from '../journal.ts';
import { idOfName, listJournalFiles, pathOfHandover, QUARANTINE, type Store } from '../store.ts';
import type { Finding, IntactHandovers } from './check-files.ts';

export interface JournalCheck {
  findings: Finding[];
  entries: number;
}

/** Checks every line of the journal, and the journal against the handovers that are there. */
export function checkJournal(
  store: Store,
  intact: IntactHandovers,
  damagedPaths: ReadonlySet<string>,
): JournalCheck {
  const pages = listJournalFiles(store).map(readPageOrDamage);
  const entries = pages.flatMap((page) => ('entries' in page ? page.entries : []));
  const known = new Set(
    entries.filter((entry) => entry.event === 'acknowledged').map((entry) => keyOf(entry)),
  );
  const lineFindings = pages.flatMap((page) =>
    'entries' in page ? page.damage.map((line) => describeLine(store, page, line, known)) : [page],
  );
  return {
    findings: [...lineFindings, ...compareWithFiles(store, { entries, intact, damagedPaths })],
    entries: entries.length,
  };
}

function readPageOrDamage(path: string): JournalPage | Finding {
  try {
    return readJournalFile(path);
  } catch (error) {
    if (!(error instanceof HandoverError)) throw error;
    return { code: 'unreadable-journal', level: 'damage', path, message: error.message, remedy: null };
  }
}

function keyOf(entry: JournalEntry): string {
  return `${entry.subject} ${String(entry.detail?.sha256)}`;
}

/**
 * History is never rewritten, so a damaged line stays. Fixing keeps a copy of its bytes and appends an entry that says
 * it was seen; from then on it is only mentioned.
 */
function describeLine(
  store: Store,
  page: JournalPage,
  line: DamagedLine,
  known: ReadonlySet<string>,
): Finding {
  const subject = relative(store.root, page.path).split(sep).join('/');
  const where = `${page.path}:${line.line}`;
  if (known.has(`${subject} ${line.sha256}`)) {
    return {
      code: 'known-journal-damage',
      level: 'notice',
      path: page.path,
      message: `${where} is damaged, as noted before`,
      remedy: null,
    };
  }
  const message = line.torn
    ? `${where} is cut short: a write did not finish, or the end of the file was lost`
    : `${where} is damaged: the line is not the one that was written`;
  return {
    code: line.torn ? 'torn-journal-line' : 'damaged-journal-line',
    level: line.torn ? 'warning' : 'damage',
    path: page.path,
    message,
    remedy: {
      description: 'keep a copy in the quarantine and note it in the journal',
      apply: () => acknowledge(store, subject, line),
    },
  };
}

function acknowledge(store: Store, subject: string, line: DamagedLine): void {
  const stored = `${subject.replaceAll('/', '-')}-${line.line}-${line.sha256.slice(0, 12)}`;
  writeFileDurably(join(ensurePrivateFolder(store.root, QUARANTINE), stored), line.bytes);
  const at = formatTimestamp(nextTimestamp(store));
  appendEntry(store, {
    at,
    event: 'acknowledged',
    subject,
    detail: { line: line.line, sha256: line.sha256, stored },
  });
}

interface Comparison {
  entries: readonly JournalEntry[];
  intact: IntactHandovers;
  damagedPaths: ReadonlySet<string>;
}

function compareWithFiles(store: Store, { entries, intact, damagedPaths }: Comparison): Finding[] {
  const kept = collectKept(entries);
  const findings: Finding[] = [];
  const absent: string[] = [];
  for (const [id, checksum] of kept) {
    const path = pathOfHandover(store, id);
    const present = intact.get(id);
    if (present === undefined && !damagedPaths.has(path)) absent.push(id);
    if (present !== undefined && present !== checksum) findings.push(describeReplaced(path));
  }
  findings.push(...findMissing(store, absent).map((id) => describeMissing(pathOfHandover(store, id))));
  for (const [id, checksum] of intact) {
    if (!kept.has(id)) findings.push(describeUnjournaled(store, id, checksum));
  }
  return findings;
}

const KEEPING: ReadonlySet<JournalEvent> = new Set(['saved', 'migrated', 'imported']);

/** What should be there according to the journal: id and checksum. */
function collectKept(entries: readonly JournalEntry[]): Map<string, string> {
  const kept = new Map<string, string>();
  for (const entry of entries) {
    if (KEEPING.has(entry.event) && isHandoverId(entry.subject))
      kept.set(entry.subject, String(entry.detail?.checksum));
    if (entry.event === 'forgotten') kept.delete(entry.subject);
    if (entry.event === 'quarantined') kept.delete(idOfName(entry.subject.split('/').at(-1) ?? '') ?? '');
  }
  return kept;
}

/**
 * Other commands may be at work: a handover may have been saved after the files were looked at, or be on its way out.
 * The journal is asked last, for a removal is noted in it before the last trace of the file is gone.
 */
function findMissing(store: Store, absent: readonly string[]): string[] {
  const suspects = absent.filter((id) => !hasHandover(store, id) && !isBeingForgotten(store, id));
  if (suspects.length === 0) return [];
  const pages = listJournalFiles(store).map(readPageOrDamage);
  const kept = collectKept(pages.flatMap((page) => ('entries' in page ? page.entries : [])));
  return suspects.filter((id) => kept.has(id));
}

function describeMissing(path: string): Finding {
  const message = `${path} is missing: the journal says that it was kept and never forgotten`;
  return { code: 'missing-handover', level: 'damage', path, message, remedy: null };
}

function describeReplaced(path: string): Finding {
  const message = `${path} is whole, but not the handover that the journal says was kept`;
  return { code: 'replaced-handover', level: 'damage', path, message, remedy: null };
}

function describeUnjournaled(store: Store, id: string, checksum: string): Finding {
  const path = pathOfHandover(store, id);
  return {
    code: 'not-in-journal',
    level: 'notice',
    path,
    message: `${path} is whole, but the journal does not mention it`,
    remedy: {
      description: 'note it in the journal',
      apply: () => {
        const at = formatTimestamp(nextTimestamp(store));
        appendEntry(store, {
          at,
          event: 'saved',
          subject: id,
          reason: 'found by doctor',
          detail: { checksum },
        });
      },
    },
  };
}
