import { dirname } from 'node:path';
import { HandoverError } from '../../errors.ts';
import { MAX_BUNDLE_BYTES } from '../../exchange/bundle/archive.ts';
import { requireSigner } from '../../exchange/bundle/own-keys.ts';
import { packBundle } from '../../exchange/bundle/pack.ts';
import { prepareExport } from '../../exchange/bundle/prepare-export.ts';
import { writeView } from '../../exchange/bundle/write-view.ts';
import { digest, readSyncState, type SyncRoute, writeSyncState } from '../../exchange/publish/sync-state.ts';
import { findReader, READER_NAMES, type Reader } from '../../handover/brief/reader.ts';
import type { StepContext } from '../../memory/runs/engine.ts';
import type { StepDeclaration } from '../../memory/runs/run-config.ts';
import { type Handover, isForeign } from '../../model/handover.ts';
import { formatTimestamp } from '../../model/time.ts';
import { createFileDurably, writeFileDurably } from '../../platform/durable-file.ts';
import { requireFolder } from '../../platform/folders.ts';
import { readProjectFile, sweepAbandoned } from '../../platform/project-file.ts';
import { openRedactor } from '../../redact/open-redactor.ts';
import { withCatalogOpener } from '../../store/catalog-opener.ts';
import { readIntact } from '../../store/handovers.ts';
import type { Store } from '../../store/store.ts';

export type ExportDeclaration = Extract<StepDeclaration, { kind: 'export' }>;

export interface ExportPlace {
  store: Store;
  /** The project's folder, and its id. */
  root: string;
  project: string;
  /** The file to write. */
  path: string;
}

/**
 * Writes the newest handover of a project, as others may see it, to the declared file. What an earlier export left there is
 * replaced; anything else is left alone, and refused. Under one effect it is written once.
 */
export async function exportNewest(
  place: ExportPlace,
  declared: ExportDeclaration,
  { at, effect }: StepContext,
): Promise<void> {
  const { store, root, project, path } = place;
  sweepAbandoned(requireFolder(dirname(path)));
  const route: SyncRoute = { machine: store.machine, root, destination: path };
  const known = readSyncState(route);
  const standing = readStanding(path);
  const written = known.get(WRITTEN);
  if (written !== undefined && written.version === effect && written.sha256 === standing) return;
  const isOurs = [...known.values()].some(({ sha256 }) => sha256 === standing);
  if (standing !== null && !isOurs) throw notOurFileError(path);
  const bytes = await pack(store, await requireNewest(store, project), { declared, root, at });
  // First what will stand there: killed before it does, the next attempt knows both.
  const arrivals = [[WRITTEN, { sha256: digest(bytes), version: effect }] as const];
  writeSyncState(
    route,
    new Map(standing === null ? arrivals : [...arrivals, [REPLACED, { sha256: standing, version: '' }]]),
  );
  if (standing !== null) writeFileDurably(path, bytes);
  else if (!createFileDurably(path, bytes)) throw notOurFileError(path);
}

const WRITTEN = 'written';
const REPLACED = 'replaced';

/** The digest of what stands there; null for nothing. */
function readStanding(path: string): string | null {
  const bytes = readProjectFile(path, MAX_BUNDLE_BYTES);
  return bytes === null ? null : digest(bytes);
}

/** What others sent is not sent on by itself. */
async function requireNewest(store: Store, project: string): Promise<Handover> {
  const newest = await withCatalogOpener(store, async (open) => {
    for await (const { id } of (await open()).rows({ project: { id: project } })) {
      const handover = readIntact(store, id);
      if (handover !== null && !isForeign(handover)) return handover;
    }
    return null;
  });
  if (newest !== null) return newest;
  throw new HandoverError('HANDOVER_NOT_FOUND', 'there is no handover of this project to export', {
    hint: 'Make one: handover save --summary "where things stand", or a step of kind "collect" before this one',
  });
}

interface Packing {
  declared: ExportDeclaration;
  root: string;
  at: number;
}

async function pack(store: Store, kept: Handover, { declared, root, at }: Packing): Promise<Uint8Array> {
  const { machine } = store;
  const redactor = openRedactor(machine, { folder: root, makesKey: true });
  const handovers = [prepareExport(kept, { machine, only: null, redactor })];
  const signer = 'sign' in declared && declared.sign ? requireSigner(machine) : null;
  if (declared.format === 'bundle') {
    const { recipients } = declared;
    const lock = recipients === undefined ? null : { recipients };
    return await packBundle(store, handovers, {
      createdAt: formatTimestamp(at),
      expiresAt: null,
      signer,
      lock,
    });
  }
  const reader = requireReader(declared.format === 'markdown' ? declared.target : undefined);
  const text = writeView(handovers, { format: declared.format, reader }, { machine, signer, lock: null });
  return Buffer.from(text);
}

function requireReader(words = 'generic'): Reader {
  const reader = findReader(words);
  if (reader !== null) return reader;
  throw new HandoverError('HANDOVER_CONFIG_INVALID', `there is no agent "${words}" to export for`, {
    hint: `The agents are: ${READER_NAMES.join(', ')}`,
  });
}

function notOurFileError(path: string): HandoverError {
  return new HandoverError('HANDOVER_PUBLISH_CONFLICT', `${path} is not what an export left there`, {
    hint: 'It was left as it is. Move it away, or name another output',
  });
}
