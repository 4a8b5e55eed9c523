import * as v from 'valibot';
import { catchIf, hasCode, isHandoverError, messageOf, rescue } from '../../errors.ts';
import { sealHandover } from '../../handover/seal.ts';
import type { HandoverDraft } from '../../model/handover.ts';
import type { Project } from '../../model/workspace.ts';
import { isFolder } from '../../platform/folders.ts';
import type { Machine } from '../../platform/machine.ts';
import { abbreviateHome } from '../../platform/paths.ts';
import { identifyProject } from '../../platform/project.ts';
import { openRedactor } from '../../redact/open-redactor.ts';
import { redactDraft } from '../../redact/redact-draft.ts';
import { readHandover, saveMigratedHandover } from '../../store/handovers.ts';
import type { Store } from '../../store/store.ts';
import { nameRecordedProject } from './session-handoff-record.ts';

export interface LocatedProject {
  project: Project;
  /** The real path of its folder; null when it is not on this machine. */
  root: string | null;
  /** The path as it is stored. */
  shownRoot: string;
}

/** With a cache: many records share a few projects. */
export function cacheProjects(machine: Machine): (path: string) => LocatedProject {
  const known = new Map<string, LocatedProject>();
  return (path) => {
    const located = known.get(path) ?? locateProject(path, machine);
    known.set(path, located);
    return located;
  };
}

function locateProject(path: string, machine: Machine): LocatedProject {
  if (!isFolder(path)) {
    const shownRoot = abbreviateHome(path.toWellFormed(), machine);
    return { project: nameRecordedProject(path), root: null, shownRoot };
  }
  const { id, name, remote, root } = identifyProject(path, machine);
  const shownRemote = remote === null ? null : abbreviateHome(remote, machine);
  return { project: { id, name, remote: shownRemote }, root, shownRoot: abbreviateHome(root, machine) };
}

export interface MigratedRecord extends ImportResult {
  /** From 1, in reading order. */
  position: number;
  file: string;
}

export interface ImportResult {
  /** Its id here; null when it was refused. */
  id: string | null;
  outcome: 'imported' | 'would import' | 'present' | 'refused';
  note: string | null;
}

/** Whether the stored handover with the same id was made from this record. */
type IsSame = (known: HandoverDraft, draft: HandoverDraft) => boolean;

/** Stores a redacted record under the first free id of `drafts`, unless it is here already. */
export function importRecord(
  store: Store,
  drafts: readonly HandoverDraft[],
  { dryRun, isSame }: { dryRun: boolean; isSame: IsSame },
): ImportResult {
  const redactor = openRedactor(store.machine, { folder: null, makesKey: !dryRun });
  for (const found of drafts) {
    const draft = redactDraft(found, redactor);
    const { id } = draft;
    const occupant = findOccupant(store, draft, isSame);
    if (occupant === 'same') return { id, outcome: 'present', note: null };
    if (occupant === 'other') continue;
    if (dryRun) return { id, outcome: 'would import', note: null };
    const failure = storeDraft(store, draft);
    return failure === null ? { id, outcome: 'imported', note: null } : refused(failure);
  }
  return refused('its id is taken by another handover');
}

export function refused(note: string): ImportResult {
  return { id: null, outcome: 'refused', note };
}

/** Null when it was stored, else the reason why not. */
function storeDraft(store: Store, draft: HandoverDraft): string | null {
  const isRefusal = (error: unknown): error is Error =>
    error instanceof v.ValiError || hasCode(error, 'HANDOVER_TEXT_TOO_LARGE');
  const sealAndSave = () => saveMigratedHandover(store, sealHandover(draft));
  const saved = rescue(isRefusal, messageOf, sealAndSave);
  if (typeof saved === 'string') return saved;
  return saved === null ? 'another process took its id; run it again' : null;
}

function findOccupant(store: Store, draft: HandoverDraft, isSame: IsSame): 'free' | 'same' | 'other' {
  return catchIf(isHandoverError, 'other', () => {
    const handover = readHandover(store, draft.id);
    if (handover === null) return 'free';
    return isSame(handover, draft) ? 'same' : 'other';
  });
}
