import { join } from 'node:path';
import * as v from 'valibot';
import { HandoverError, hasErrno } from '../../errors.ts';
import type { HandoverDraft } from '../../model/handover.ts';
import { canonicalize } from '../../model/hash.ts';
import { parseJson } from '../../model/json.ts';
import { readRegularFile } from '../../platform/durable-file.ts';
import type { Machine } from '../../platform/machine.ts';
import { findConfigHome } from '../../platform/paths.ts';
import { openRedactor } from '../../redact/open-redactor.ts';
import type { Store } from '../../store/store.ts';
import { cacheProjects, importRecord, type LocatedProject, type MigratedRecord, refused } from './import-record.ts';
import { deriveId, readSessionHandoffRecord, SessionHandoffRecord } from './session-handoff-record.ts';

const StoreFile = v.object({ version: v.optional(v.number(), 0), items: v.nullish(v.array(v.unknown())) });
const LIMITS = { maxBytes: 256 * 1024 * 1024, maxDepth: 64 };

export function findSessionHandoffStore(machine: Machine): string {
  return join(findConfigHome(machine), 'session-handoff', 'handoffs.json');
}

/** Imports the records of a session-handoff store. An invalid one is reported, the others are imported. The file is only read. */
export function migrateSessionHandoff(store: Store, file: string, { dryRun }: { dryRun: boolean }): MigratedRecord[] {
  const locate = cacheProjects(store.machine);
  return readItems(file).map((item, index) => {
    return { position: index + 1, ...migrateItem(store, item, dryRun, locate), file };
  });
}

function readItems(file: string): readonly unknown[] {
  const value = parseJson(readStoreFile(file), file, LIMITS);
  const result = v.safeParse(StoreFile, value);
  if (!result.success || Array.isArray(value))
    throw new HandoverError('HANDOVER_INPUT_INVALID', `${file} is not a store of session-handoff`, {
      hint: 'Name its handoffs.json: handover migrate --from FILE',
    });
  const { version, items } = result.output;
  if (items === undefined)
    throw new HandoverError('HANDOVER_INPUT_INVALID', `${file} has no "items", the list of its records`, {
      hint: 'Name the handoffs.json that session-handoff wrote: handover migrate --from FILE',
    });
  if (version !== 0 && version !== 1) {
    const message = `${file} has version ${version}; versions 0 and 1 can be read`;
    throw new HandoverError('HANDOVER_INPUT_INVALID', message, {
      hint: 'Install the newest agent-handover. The file was not changed.',
    });
  }
  return items ?? [];
}

function readStoreFile(file: string): string {
  try {
    return readRegularFile(file, LIMITS.maxBytes).toString('utf8');
  } catch (error) {
    if (!hasErrno(error, 'ENOENT', 'ENOTDIR')) throw error;
    throw new HandoverError('HANDOVER_NOT_FOUND', `there is no file ${file}`, {
      hint: 'Name the file that holds the records: handover migrate --from FILE',
      cause: error,
    });
  }
}

function migrateItem(store: Store, item: unknown, dryRun: boolean, locate: (path: string) => LocatedProject) {
  const parsed = v.safeParse(SessionHandoffRecord, item);
  if (!parsed.success) {
    const [issue] = parsed.issues;
    // The message quotes the value.
    const redactor = openRedactor(store.machine, { folder: null, makesKey: false });
    return refused(redactor.redactText(`${v.getDotPath(issue) ?? 'the record'}: ${issue.message}`));
  }
  const record = parsed.output;
  const { project, shownRoot } = locate(record.project);
  const draft = readSessionHandoffRecord(record, project, shownRoot);
  const drafts = [...new Set([draft.id, deriveId(record)])].map((id) => ({ ...draft, id }));
  const isSame = (a: HandoverDraft, b: HandoverDraft) => describeContent(a) === describeContent(b);
  const result = importRecord(store, drafts, { dryRun, isSame });
  const note = result.id === null || result.id === record.id ? result.note : `was ${record.id}`;
  return { ...result, note };
}

/** Without the project, which may have moved since the import. */
function describeContent({ imported, created_at, session, title, summary, facts }: HandoverDraft): string {
  const from = imported === undefined ? null : [imported.format, imported.id];
  return canonicalize([from, created_at, session.agent, title, summary, facts]);
}
