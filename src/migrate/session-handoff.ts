import { join } from 'node:path';
import * as v from 'valibot';
import { HandoverError, hasErrno } from '../errors.ts';
import { sealHandover } from '../handover/seal.ts';
import {
  deriveId,
  describeLostProject,
  readSessionHandoffRecord,
  SessionHandoffRecord,
} from '../handover/session-handoff-view.ts';
import { canonicalize } from '../model/canonical.ts';
import type { HandoverDraft } from '../model/handover.ts';
import { parseJson } from '../model/json.ts';
import type { Project } from '../model/workspace.ts';
import { readRegularFile } from '../platform/durable-file.ts';
import { isFolder } from '../platform/folders.ts';
import type { Machine } from '../platform/machine.ts';
import { findConfigHome } from '../platform/paths.ts';
import { keepExistingHandover, readHandover } from '../store/handovers.ts';
import type { Store } from '../store/store.ts';
import { abbreviateHome } from '../workspace/place.ts';
import { identifyProject } from '../workspace/project.ts';

export interface MigratedRecord {
  /** From 1, in the order of the file. */
  position: number;
  /** The id it has here; null when it was refused. */
  id: string | null;
  outcome: 'imported' | 'would import' | 'present' | 'refused';
  note: string | null;
}

const LIMITS = { maxBytes: 256 * 1024 * 1024, maxDepth: 64 };

export function findSessionHandoffStore(machine: Machine): string {
  return join(findConfigHome(machine), 'session-handoff', 'handoffs.json');
}

/** Takes over each record of a session-handoff store, by itself: a bad one is reported and stops no other. The file is only read. */
export function migrateSessionHandoff(
  store: Store,
  file: string,
  options: { dryRun: boolean },
): MigratedRecord[] {
  const projects = new Map<string, { project: Project; root: string }>();
  const locate = (path: string): { project: Project; root: string } => {
    const known = projects.get(path) ?? locateProject(path, store.machine);
    projects.set(path, known);
    return known;
  };
  return readItems(file).map((item, index) =>
    migrateItem(store, item, { position: index + 1, locate, ...options }),
  );
}

function readItems(file: string): readonly unknown[] {
  const value = parseJson(readStoreFile(file), file, LIMITS);
  const result = v.safeParse(
    v.object({ version: v.optional(v.number(), 0), items: v.nullish(v.array(v.unknown()), []) }),
    value,
  );
  if (!result.success || Array.isArray(value)) {
    throw new HandoverError('HANDOVER_INPUT_INVALID', `${file} is not a store of session-handoff`, {
      hint: 'Give its handoffs.json: handover migrate --from FILE',
    });
  }
  const { version, items } = result.output;
  if (version !== 0 && version !== 1) {
    throw new HandoverError(
      'HANDOVER_INPUT_INVALID',
      `${file} has version ${version}; versions 0 and 1 can be read`,
      {
        hint: 'Install the newest agent-handover. The file was not touched.',
      },
    );
  }
  return items ?? [];
}

function readStoreFile(file: string): string {
  try {
    return readRegularFile(file, LIMITS.maxBytes).toString('utf8');
  } catch (error) {
    if (!hasErrno(error, 'ENOENT', 'ENOTDIR')) throw error;
    throw new HandoverError('HANDOVER_NOT_FOUND', `there is no ${file}`, {
      hint: 'Give the file that holds the records: handover migrate --from FILE',
      cause: error,
    });
  }
}

interface MigrationOptions {
  position: number;
  dryRun: boolean;
  locate(path: string): { project: Project; root: string };
}

function migrateItem(store: Store, item: unknown, options: MigrationOptions): MigratedRecord {
  const { position } = options;
  const refuse = (note: string): MigratedRecord => ({ position, id: null, outcome: 'refused', note });
  const parsed = v.safeParse(SessionHandoffRecord, item);
  if (!parsed.success) {
    const [issue] = parsed.issues;
    return refuse(`${v.getDotPath(issue) ?? 'the record'}: ${issue.message}`);
  }
  const record = parsed.output;
  const { project, root } = options.locate(record.project);
  const draft = readSessionHandoffRecord(record, project, root);
  for (const id of new Set([draft.id, deriveId(record)])) {
    const note = id === record.id ? null : `was ${record.id}`;
    const standing = findStanding(store, { ...draft, id });
    if (standing === 'same') return { position, id, outcome: 'present', note };
    if (standing === 'other') continue;
    if (options.dryRun) return { position, id, outcome: 'would import', note };
    const failure = keep(store, { ...draft, id });
    return failure === null ? { position, id, outcome: 'imported', note } : refuse(failure);
  }
  return refuse('its id is taken by another handover');
}

/** Null when it was kept, else why not. */
function keep(store: Store, draft: HandoverDraft): string | null {
  try {
    return keepExistingHandover(store, sealHandover(draft)) === null
      ? 'its id was taken meanwhile; run it again'
      : null;
  } catch (error) {
    if (error instanceof v.ValiError) return error.message;
    if (error instanceof HandoverError && error.code === 'HANDOVER_TEXT_TOO_LARGE') return error.message;
    throw error;
  }
}

function findStanding(store: Store, draft: HandoverDraft): 'free' | 'same' | 'other' {
  try {
    const handover = readHandover(store, draft.id);
    if (handover === null) return 'free';
    return describeContent(handover) === describeContent(draft) ? 'same' : 'other';
  } catch (error) {
    if (error instanceof HandoverError) return 'other';
    throw error;
  }
}

/** What a record says, without its project: that may have been moved since it was taken over. */
function describeContent({ imported, created_at, session, title, summary, facts }: HandoverDraft): string {
  const from = imported === undefined ? null : [imported.format, imported.id];
  return canonicalize([from, created_at, session.agent, title, summary, facts]);
}

function locateProject(path: string, machine: Machine): { project: Project; root: string } {
  const shown = abbreviateHome(path.toWellFormed(), machine);
  if (!isFolder(path)) return { project: describeLostProject(path), root: shown };
  const { id, name, remote, root } = identifyProject(path, machine);
  const shownRemote = remote === null ? null : abbreviateHome(remote, machine);
  return { project: { id, name, remote: shownRemote }, root: abbreviateHome(root, machine) };
}
