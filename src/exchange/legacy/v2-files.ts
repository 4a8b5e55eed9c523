import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { HandoverError, isFailure, messageOf, rescue } from '../../errors.ts';
import type { HandoverDraft } from '../../model/handover.ts';
import { sha256Hex } from '../../model/hash.ts';
import { formatIdTime } from '../../model/id.ts';
import { RECORD_LIMITS } from '../../model/json.ts';
import { cleanLine } from '../../model/text.ts';
import { readRegularFile } from '../../platform/durable-file.ts';
import { listNames, readHead } from '../../platform/external-file.ts';
import { isFolder } from '../../platform/folders.ts';
import { openRedactor } from '../../redact/open-redactor.ts';
import type { Redactor } from '../../redact/redactor.ts';
import { quarantineCopy } from '../../store/copies.ts';
import { moveStatus, readStatus } from '../../store/status.ts';
import { listIds, monthOf, type Store } from '../../store/store.ts';
import * as records from './import-record.ts';
import { parseV2Record, type V2Record } from './v2-envelope.ts';
import { readV2Record } from './v2-import.ts';
import { deriveSnapshotId } from './v2-view.ts';

/** Relative to a project: where 0.3.x has one file per terminal. */
const PROJECT_PLACE = ['.claude', 'state', 'handoff'] as const;
/** Relative to a terminal's folder: where later versions have one file per capture. */
const TERMINAL_PLACE = 'snapshot';
const NAME_END = '_handoff.json';

/** `folder` is a project, a folder of envelopes, a terminal's folder, or the parent of such folders. */
export function findV2Files(folder: string): string[] {
  const terminals = listNames(folder).map((name) => join(folder, name, TERMINAL_PLACE));
  const places = [join(folder, ...PROJECT_PLACE), folder, join(folder, TERMINAL_PLACE), ...terminals];
  return places.flatMap((place) =>
    listNames(place)
      .filter((name) => name.endsWith(NAME_END))
      .sort()
      .map((name) => join(place, name)),
  );
}

export function isV2File(path: string): boolean {
  const head = readHead(path, 64 * 1024);
  if (head === null) return false;
  return path.endsWith(NAME_END) || /"resume_snapshot"\s*:/.test(head.bytes.toString('utf8'));
}

/** `project` is the project's folder, for envelopes that do not name it. */
type V2Options = { dryRun: boolean; project: string };

/** An invalid envelope is reported and copied to the quarantine. The files are only read; repeating changes nothing. */
export function migrateV2(store: Store, files: readonly string[], options: V2Options): records.MigratedRecord[] {
  const locate = records.cacheProjects(store.machine);
  return files.map((file, index) => {
    return { position: index + 1, ...migrateFile(store, file, { ...options, locate }), file };
  });
}

type FileMigration = V2Options & { locate(path: string): records.LocatedProject };

function migrateFile(store: Store, file: string, options: FileMigration): records.ImportResult {
  const bytes = rescue(isFailure, messageOf, () => readRegularFile(file, RECORD_LIMITS.maxBytes));
  if (typeof bytes === 'string') return records.refused(bytes);
  try {
    const record = parseV2Record(bytes.toString('utf8'));
    return findOriginal(store, record) ?? migrateRecord(store, record, file, options);
  } catch (error) {
    if (!(error instanceof HandoverError) || !REFUSALS.has(error.code)) throw error;
    const aside = options.dryRun ? '' : quarantineEnvelope(store, file, bytes, error.message);
    return records.refused(`${error.message}${aside}`);
  }
}

const REFUSALS: ReadonlySet<string> = new Set(['HANDOVER_INPUT_INVALID', 'HANDOVER_JSON_INVALID']);

function quarantineEnvelope(store: Store, file: string, bytes: Buffer, reason: string): string {
  // The store is to hold no secret; the file itself stays where it is.
  if (findRedactor(store).holdsSecret(bytes.toString('utf8'))) return '; a secret shows in it, so no copy was made';
  const name = `v2-${sha256Hex(bytes).slice(0, 16)}.json`;
  quarantineCopy(store, { name, bytes, from: basename(file), reason });
  return `; a copy is in the quarantine as ${name}`;
}

/** The handover of this store that the envelope is a view of. */
function findOriginal(store: Store, { resume_snapshot }: V2Record): records.ImportResult | null {
  const second = formatIdTime(Date.parse(resume_snapshot.created_at));
  const id = listIds(store, monthOf(second))
    .filter((known) => known.startsWith(second))
    .find((known) => deriveSnapshotId(known) === resume_snapshot.snapshot_id);
  return id === undefined ? null : { id, outcome: 'present', note: 'was printed from here' };
}

function migrateRecord(store: Store, record: V2Record, file: string, options: FileMigration): records.ImportResult {
  const { dryRun, project, locate } = options;
  const origin = { ...locate(findProjectFolder(record, file) ?? project), machine: store.machine };
  const draft = readV2Record(record, origin);
  const taken = records.importRecord(store, [draft], { dryRun, isSame: isSameSnapshot });
  if (taken.id !== null && !dryRun) keepStatus(store, taken.id, record);
  return taken;
}

/** An envelope never changes but in its status. */
function isSameSnapshot({ imported: a }: HandoverDraft, { imported: b }: HandoverDraft): boolean {
  return a !== undefined && a.format === b?.format && a.id === b.id;
}

/** From the path of the file, else from the files that it names. */
function findProjectFolder({ resume_snapshot, evidence_index }: V2Record, file: string): string | null {
  const folder = dirname(resolve(file));
  if (folder.endsWith(join(...PROJECT_PLACE))) return resolve(folder, ...PROJECT_PLACE.map(() => '..'));
  const files = [
    ...evidence_index.filter(({ type }) => type === 'file').map(({ path }) => path),
    ...resume_snapshot.active_files,
  ];
  const folders = files.filter((path) => isAbsolute(path)).map(dirname);
  return folders.find(isFolder) ?? null;
}

/** Written after the handover; if a run stops in between, the next one completes it. */
function keepStatus(store: Store, id: string, { resume_snapshot: snapshot }: V2Record): void {
  const { status: to, consumed_at, rejected_at } = snapshot;
  if (to === 'pending' || readStatus(store, id).status !== 'pending') return;
  const at = consumed_at ?? rejected_at ?? null;
  const session = snapshot.consumed_by_session_id ?? snapshot.rejected_by_session_id ?? null;
  const reason = snapshot.rejection_reason ?? null;
  moveStatus(store, id, {
    to,
    session: session === null ? undefined : cleanLine(session),
    reason: reason === null ? undefined : findRedactor(store).redactText(cleanLine(reason)),
    ...(at === null ? {} : { detail: { at: cleanLine(at) } }),
  });
}

function findRedactor({ machine }: Store): Redactor {
  return openRedactor(machine, { folder: null, makesKey: true });
}
