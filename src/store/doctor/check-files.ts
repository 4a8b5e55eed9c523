import { dirname, join, relative, sep } from 'node:path';
import { HandoverError } from '../../errors.ts';
import { findLost } from '../../handover/line-of-work.ts';
import type { Fact } from '../../model/fact.ts';
import type { Handover } from '../../model/handover.ts';
import { cleanLine, countNouns, cutAtWord } from '../../model/text.ts';
import { isAbandonedTemp, isTempName, removeFile } from '../../platform/durable-file.ts';
import { type Entry, isTooOpen, makePrivate, walkFolder } from '../../platform/folders.ts';
import { KNOWN_PROJECTS } from '../../platform/known-projects.ts';
import { REDACTION_KEY } from '../../platform/secret-file.ts';
import { quarantineFile } from '../copies.ts';
import { finishForgetting, idOfLeaving, readHandover, readIntact } from '../handovers.ts';
import { latestPlausible } from '../journal.ts';
import { finishImports, isPendingImportName } from '../pending-imports.ts';
import type { Store } from '../store.ts';
import * as places from '../store.ts';

/** `damage`: a saved file is not as it was saved; `warning`: something should be fixed; `notice`: good to know. */
export type Level = 'damage' | 'warning' | 'notice';

export interface Finding {
  code: string;
  level: Level;
  /** The file it is about; null when it is about the environment. */
  path: string | null;
  message: string;
  /** What `--fix` would do; null when nothing is safe to do. */
  remedy: Remedy | null;
}

export interface Remedy {
  /** As in "would …". */
  description: string;
  apply(store: Store): void;
}

export type FixedFinding = Finding & { fixed: boolean };

/** Sealed handovers that passed every check: id and checksum. */
export type IntactHandovers = Map<string, string>;

/** `newer`: how many handovers a newer version wrote. */
export type FileCheck = { findings: Finding[]; intact: IntactHandovers; handoverFiles: number; newer: number };

export type CheckProgress = (checked: number, total: number) => void;

/** Checks every entry below the store's root: what it is, who may read it, and whether a handover is what was sealed. */
export function checkFiles(store: Store, progress?: CheckProgress): FileCheck {
  const check: FileCheck = { findings: [], intact: new Map(), handoverFiles: 0, newer: 0 };
  const entries = [...walkFolder(store.root)];
  for (const [index, entry] of entries.entries()) {
    const parts = relative(store.root, entry.path).split(sep);
    const findings = [
      checkAccess(entry),
      entry.kind === 'folder' ? checkFolder(entry, parts.join('/')) : null,
      entry.kind === 'file' ? checkFile(store, entry, parts, check) : null,
    ];
    check.findings.push(...findings.filter((finding) => finding !== null));
    progress?.(index + 1, entries.length);
  }
  return check;
}

function checkAccess(entry: Entry): Finding | null {
  const { path, kind } = entry;
  if (kind === 'link' || kind === 'other') {
    const message = `${path} is a ${kind === 'link' ? 'link' : 'pipe or device'}; the store holds only files and folders`;
    return { code: 'not-a-file', level: 'damage', path, message, remedy: quarantineRemedy(path, message) };
  }
  if (!entry.own) return warn('foreign-owner', path, `${path} belongs to another user`);
  if (!isTooOpen(entry)) return null;
  const mode = entry.mode.toString(8).padStart(4, '0');
  const remedy = { description: 'remove the access of others', apply: () => makePrivate(entry) };
  return { ...warn('too-open', path, `${path} is open to others (mode ${mode})`), remedy };
}

const FOLDERS = new RegExp(
  `^(?:|${places.HANDOVERS}(?:/\\d{4}(?:/(?:0[1-9]|1[0-2]))?)?|${places.JOURNAL}|${places.LOCKS}|${places.BEING_FORGOTTEN}|${places.PENDING_IMPORTS}|${places.TRANSCRIPT_CHECKPOINTS}|${places.HOOK_RECEIPTS}|${places.PUBLISH_STATES}|${places.REMOTES}(?:/.*)?|${places.SESSION_TEXTS}|${places.SPOOL}|${places.LOG}|${places.DOCUMENTS}(?:/p-\\w+(?:/\\w+\\.md)?)?|(?:${places.HOOK_STATE}|${places.QUARANTINE})(?:/.*)?)$`,
  's',
);

function checkFolder({ path, name }: Entry, place: string): Finding | null {
  if (FOLDERS.test(place)) return null;
  if (places.idOfName(name) !== null) return describeDamage(path, `${path} is a folder with the name of a handover`);
  return warn('unknown-folder', path, `${path} is not a folder of the store`);
}

/** Folders whose files are checked elsewhere, or can be made again. */
const SKIPPED = [
  places.JOURNAL,
  places.LOCKS,
  places.TRANSCRIPT_CHECKPOINTS,
  places.HOOK_RECEIPTS,
  places.HOOK_STATE,
  places.SPOOL,
  places.LOG,
  places.DOCUMENTS,
  places.PUBLISH_STATES,
  places.REMOTES,
  places.SESSION_TEXTS,
];

const OWN_FILES = [REDACTION_KEY, KNOWN_PROJECTS];

/** Databases that can be made again, with their companion files. */
const CACHES = /^(?:index|search|sessions|vectors)\.(?:sqlite(?:-journal|-wal|-shm)?|sum)$/;

function checkFile(store: Store, entry: Entry, parts: readonly string[], check: FileCheck): Finding | null {
  const { path, name } = entry;
  const [area = ''] = parts;
  const isKnown = parts.length > 1 ? SKIPPED.includes(area) : OWN_FILES.includes(name) || CACHES.test(name);
  if (isTempName(name)) {
    const remedy = { description: 'remove it', apply: () => void removeFile(path) };
    const message = `${path} was left by a command that was stopped before it could finish`;
    return isAbandonedTemp(path) ? { ...warn('leftover', path, message), remedy } : null;
  }
  if (area === places.HANDOVERS && places.idOfName(name) !== null) return checkHandoverFile(store, entry, check);
  if (area === places.BEING_FORGOTTEN && idOfLeaving(name) !== null)
    return {
      ...warn('half-forgotten', path, `${path} was being forgotten when the command was stopped`),
      remedy: { description: 'finish forgetting it', apply: (store) => void finishForgetting(store) },
    };
  if (area === places.PENDING_IMPORTS && isPendingImportName(name))
    return {
      ...warn('half-imported', path, `${path} was being imported when the command was stopped`),
      remedy: { description: 'finish importing it', apply: finishImports },
    };
  if (area === places.QUARANTINE) {
    const message = `${path} was quarantined earlier; look at it, then delete it or put it back`;
    return { ...warn('in-quarantine', path, message), level: 'notice' };
  }
  return isKnown ? null : warn('unknown-file', path, `${path} is not a file of the store`);
}

function checkHandoverFile(store: Store, { path, name }: Entry, check: FileCheck): Finding | null {
  const id = places.idOfName(name) ?? '';
  check.handoverFiles++;
  if (join(store.root, places.HANDOVERS, ...places.monthOf(id)) !== dirname(path))
    return describeDamage(path, `${path} is in another month than its name says`);
  try {
    const handover = readHandover(store, id);
    if (handover === null) return null;
    check.intact.set(id, handover.checksum);
    const lost = findLost(handover, listPredecessors(store, handover));
    if (lost.length > 0) return describeBreak(path, handover, lost);
    const { created_at } = handover;
    if (Date.parse(created_at) <= latestPlausible(store.machine.clock.now())) return null;
    const message = `${path} is dated ${created_at}, in the future: a clock was wrong when it was saved`;
    return { ...warn('future-handover', path, message), level: 'notice' };
  } catch (error) {
    if (!(error instanceof HandoverError)) throw error;
    if (error.code !== 'HANDOVER_RECORD_NEWER') return describeDamage(path, error.message);
    check.newer++;
    return warn('newer-handover', path, `${error.message}; update agent-handover to read it`);
  }
}

/** None of a handover that keeps no record of them: then there is nothing to compare. */
function listPredecessors(store: Store, { previous, chain }: Handover): Handover[] {
  if (chain === undefined) return [];
  return [previous, chain.joined ?? null].flatMap((id) => (id === null ? [] : (readIntact(store, id) ?? [])));
}

function describeBreak(path: string, { id }: Handover, lost: readonly Fact[]): Finding {
  const named = lost.slice(0, 3).map((fact) => `${fact.id} "${cutAtWord(cleanLine(fact.text), 80)}"`);
  const message = `${id} does not say what became of ${countNouns(lost.length, 'fact')} of the handover before it: ${named.join(', ')}`;
  return warn('broken-line', path, message);
}

function describeDamage(path: string, message: string): Finding {
  return { code: 'damaged-handover', level: 'damage', path, message, remedy: quarantineRemedy(path, message) };
}

function warn(code: string, path: string, message: string): Finding {
  return { code, level: 'warning', path, message, remedy: null };
}

export function quarantineRemedy(path: string, reason: string): Remedy {
  const apply = (store: Store): void => quarantineFile(store, path, { reason });
  return { description: 'move it to the quarantine', apply };
}
