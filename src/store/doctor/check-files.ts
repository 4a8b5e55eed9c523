import { basename, dirname, join, relative, sep } from 'node:path';
import { HandoverError } from '../../errors.ts';
import { formatTimestamp } from '../../model/time.ts';
import { isAbandonedTemp, isTempName, moveFileDurably, removeFile } from '../../platform/durable-file.ts';
import {
  type Entry,
  ensurePrivateFolder,
  isTooOpen,
  makePrivate,
  surveyFolder,
} from '../../platform/folders.ts';
import { REDACTION_KEY } from '../../platform/secret-file.ts';
import { finishForgetting, readHandover } from '../handovers.ts';
import { appendEntry, latestPlausible, nextTimestamp } from '../journal.ts';
import { finishImports, isPendingImportName } from '../pending-imports.ts';
import {
  ARRIVING,
  DOCUMENTS,
  HANDOVERS,
  INSTALLS,
  idOfName,
  JOURNAL,
  LEAVING,
  LOCKS,
  LOG,
  monthOf,
  PUBLISHED,
  QUARANTINE,
  READINGS,
  READY,
  SESSION_TEXTS,
  SPOOL,
  type Store,
} from '../store.ts';

/**
 * How bad a finding is: `damage` means that something kept is not as it was kept, `warning` that something should be
 * put right, `notice` that something is worth knowing.
 */
export type Level = 'damage' | 'warning' | 'notice';

export interface Finding {
  code: string;
  level: Level;
  /** The file it is about; null for the surroundings. */
  path: string | null;
  message: string;
  /** What `--fix` would do; null when there is nothing that is safe to do. */
  remedy: Remedy | null;
}

export interface Remedy {
  /** As in "would …". */
  description: string;
  apply(store: Store): void;
}

export interface FixedFinding extends Finding {
  fixed: boolean;
}

/** Sealed handovers that passed every check: id and checksum. */
export type IntactHandovers = Map<string, string>;

export interface FileCheck {
  findings: Finding[];
  intact: IntactHandovers;
  handoverFiles: number;
}

export type CheckProgress = (checked: number) => void;

/** Looks at every entry below the store's root: what it is, who may read it, and whether a handover is what was sealed. */
export function checkFiles(store: Store, progress?: CheckProgress): FileCheck {
  const check: FileCheck = { findings: [], intact: new Map(), handoverFiles: 0 };
  for (const entry of surveyFolder(store.root)) {
    check.findings.push(...checkAccess(entry));
    if (entry.kind === 'folder') check.findings.push(...checkFolder(store, entry));
    if (entry.kind === 'file') check.findings.push(...checkFile(store, entry, check));
    progress?.(check.handoverFiles);
  }
  return check;
}

function checkAccess(entry: Entry): Finding[] {
  const { path } = entry;
  if (entry.kind === 'link' || entry.kind === 'other') {
    const message = `${path} is a ${entry.kind === 'link' ? 'link' : 'pipe or device'}; the store holds only files and folders`;
    return [
      {
        code: 'not-a-file',
        level: 'damage',
        path,
        message,
        remedy: setAside(path, message),
      },
    ];
  }
  if (!entry.own) {
    return [
      {
        code: 'foreign-owner',
        level: 'warning',
        path,
        message: `${path} belongs to another user`,
        remedy: null,
      },
    ];
  }
  if (!isTooOpen(entry)) return [];
  const mode = entry.mode.toString(8).padStart(4, '0');
  const remedy: Remedy = { description: 'take the access of others away', apply: () => makePrivate(entry) };
  return [
    { code: 'too-open', level: 'warning', path, message: `${path} is open to others (mode ${mode})`, remedy },
  ];
}

const FOLDERS = new RegExp(
  `^(?:|${HANDOVERS}(?:/\\d{4}(?:/(?:0[1-9]|1[0-2]))?)?|${JOURNAL}|${LOCKS}|${LEAVING}|${ARRIVING}|${READINGS}|${INSTALLS}|${PUBLISHED}|${SESSION_TEXTS}|${SPOOL}|${LOG}|${DOCUMENTS}(?:/p-\\w+(?:/\\w+\\.md)?)?|(?:${READY}|${QUARANTINE})(?:/.*)?)$`,
  's',
);

function checkFolder(store: Store, entry: Entry): Finding[] {
  const place = relative(store.root, entry.path).split(sep).join('/');
  if (FOLDERS.test(place)) return [];
  const { path } = entry;
  if (idOfName(entry.name) !== null)
    return [describeDamage(entry, `${path} is a folder with the name of a handover`)];
  const message = `${path} is not a folder of the store`;
  return [{ code: 'unknown-folder', level: 'warning', path, message, remedy: null }];
}

/** Areas whose files are looked at elsewhere, or can be made again. */
const OWN_AREAS: ReadonlySet<string> = new Set([
  JOURNAL,
  LOCKS,
  READINGS,
  INSTALLS,
  READY,
  SPOOL,
  LOG,
  DOCUMENTS,
  PUBLISHED,
  SESSION_TEXTS,
]);

/** Databases that can be made again, with what stands beside them. */
const CACHES = /^(?:index|search|sessions|vectors)\.(?:sqlite(?:-journal|-wal|-shm)?|sum)$/;

function checkFile(store: Store, entry: Entry, check: FileCheck): Finding[] {
  if (isTempName(entry.name)) return checkTemp(entry);
  const parts = relative(store.root, entry.path).split(sep);
  const [area = ''] = parts;
  if (area === HANDOVERS) return checkHandoverFile(store, entry, check);
  if (area === LEAVING && idOfName(entry.name) !== null) return [describeLeaving(entry)];
  if (area === ARRIVING && isPendingImportName(entry.name)) return [describeArriving(entry)];
  if (area === QUARANTINE) return [describeQuarantined(entry)];
  if (parts.length > 1 && OWN_AREAS.has(area)) return [];
  if (parts.length === 1 && entry.name === REDACTION_KEY) return [];
  if (parts.length === 1 && CACHES.test(entry.name)) return [];
  return [describeStranger(entry)];
}

function checkTemp(entry: Entry): Finding[] {
  if (!isAbandonedTemp(entry.path)) return [];
  return [
    {
      code: 'leftover',
      level: 'warning',
      path: entry.path,
      message: `${entry.path} was left by a command that was stopped before it could finish`,
      remedy: { description: 'remove it', apply: () => void removeFile(entry.path) },
    },
  ];
}

function checkHandoverFile(store: Store, entry: Entry, check: FileCheck): Finding[] {
  const id = idOfName(entry.name);
  if (id === null) return [describeStranger(entry)];
  check.handoverFiles++;
  if (join(store.root, HANDOVERS, ...monthOf(id)) !== dirname(entry.path)) {
    return [describeDamage(entry, `${entry.path} stands in another month than its name says`)];
  }
  try {
    const handover = readHandover(store, id);
    if (handover === null) return [];
    check.intact.set(id, handover.checksum);
    const ahead = Date.parse(handover.created_at) > latestPlausible(store.machine.clock.now());
    return ahead ? [describeFuture(entry, handover.created_at)] : [];
  } catch (error) {
    if (!(error instanceof HandoverError)) throw error;
    const newer = error.code === 'HANDOVER_RECORD_NEWER';
    return [newer ? describeNewer(entry, error) : describeDamage(entry, error.message)];
  }
}

function describeDamage(entry: Entry, message: string): Finding {
  return {
    code: 'damaged-handover',
    level: 'damage',
    path: entry.path,
    message,
    remedy: setAside(entry.path, message),
  };
}

function describeNewer(entry: Entry, error: HandoverError): Finding {
  return { code: 'newer-handover', level: 'warning', path: entry.path, message: error.message, remedy: null };
}

function describeFuture(entry: Entry, at: string): Finding {
  const message = `${entry.path} is dated ${at}, in the future: a clock was wrong when it was saved`;
  return { code: 'future-handover', level: 'notice', path: entry.path, message, remedy: null };
}

function describeStranger(entry: Entry): Finding {
  const message = `${entry.path} is not a file of the store`;
  return { code: 'unknown-file', level: 'warning', path: entry.path, message, remedy: null };
}

function describeQuarantined(entry: Entry): Finding {
  const message = `${entry.path} was set aside earlier; look at it, then delete it or put it back`;
  return { code: 'in-quarantine', level: 'notice', path: entry.path, message, remedy: null };
}

function describeLeaving(entry: Entry): Finding {
  return {
    code: 'half-forgotten',
    level: 'warning',
    path: entry.path,
    message: `${entry.path} was being forgotten when the command was stopped`,
    remedy: { description: 'finish forgetting it', apply: (store) => void finishForgetting(store) },
  };
}

function describeArriving(entry: Entry): Finding {
  return {
    code: 'half-imported',
    level: 'warning',
    path: entry.path,
    message: `${entry.path} was being imported when the command was stopped`,
    remedy: { description: 'finish importing it', apply: finishImports },
  };
}

/** Moves a file into quarantine under a name that is free, and says so in the journal. */
export function setAside(path: string, reason: string): Remedy {
  return {
    description: 'move it to the quarantine',
    apply: (store) => {
      const folder = ensurePrivateFolder(store.root, QUARANTINE);
      const at = formatTimestamp(nextTimestamp(store));
      const subject = relative(store.root, path).split(sep).join('/');
      const stored = `${at.replace(/[:.]/g, '')}-${basename(path)}`;
      appendEntry(store, { at, event: 'quarantined', subject, reason, detail: { stored } });
      moveFileDurably(path, join(folder, stored));
    },
  };
}
