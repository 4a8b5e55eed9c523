import { dirname } from 'node:path';
import { AGENT_NAMES, type AgentName } from '../../agents/agent.ts';
import { findSessions, listByLastEvent } from '../../agents/find-session.ts';
import { loadAgent } from '../../agents/table.ts';
import { HandoverError, notFoundError } from '../../errors.ts';
import { MAX_BUNDLE_BYTES } from '../../exchange/bundle/archive.ts';
import { requireSigner } from '../../exchange/bundle/own-keys.ts';
import { packBundle } from '../../exchange/bundle/pack.ts';
import { prepareExport } from '../../exchange/bundle/prepare-export.ts';
import { writeView } from '../../exchange/bundle/write-view.ts';
import { type PublishRoute, readPublishState, writePublishState } from '../../exchange/publish/publish-state.ts';
import { findReader, nameAgent, READER_NAMES, type Reader } from '../../handover/brief/reader.ts';
import type { StepContext } from '../../memory/runs/engine.ts';
import type { StepDeclaration } from '../../memory/runs/run-config.ts';
import { type Handover, isForeign } from '../../model/handover.ts';
import { sha256Hex } from '../../model/hash.ts';
import { formatTimestamp } from '../../model/time.ts';
import { createFileDurably, writeFileDurably } from '../../platform/durable-file.ts';
import { requireFolder } from '../../platform/folders.ts';
import { readProjectFile, sweepAbandoned } from '../../platform/project-file.ts';
import { openRedactor } from '../../redact/open-redactor.ts';
import { listByWork } from '../../store/catalog.ts';
import { readIntact } from '../../store/handovers.ts';
import { withCatalogOpener } from '../../store/open-catalog.ts';
import type { Store } from '../../store/store.ts';
import { saveSession } from '../capture/save-session.ts';

/** Captures the project's newest session. Returns the id of its handover, even if nothing is new; null without a session. */
export async function collectSession(store: Store, project: string, agentName?: string): Promise<string | null> {
  const agent = agentName === undefined ? undefined : requireAgentName(agentName);
  const [newest] = listByLastEvent(await findSessions(store.machine, { agent, project }));
  if (newest === undefined) return null;
  const { session } = newest;
  const result = await saveSession(store, { agent: await loadAgent(session.agent), session });
  if (result.outcome !== 'refused') return result.handover.id;
  const hint = 'See what is wrong with it: handover capture';
  throw new HandoverError('HANDOVER_TRANSCRIPT_DRIFTED', `nothing in ${session.path} was understood`, { hint });
}

function requireAgentName(text: string): AgentName {
  const name = AGENT_NAMES.find((each) => each === nameAgent(text));
  if (name !== undefined) return name;
  const hint = `The agents are: ${AGENT_NAMES.join(', ')}`;
  throw new HandoverError('HANDOVER_CONFIG_INVALID', `there is no agent "${text}"`, { hint });
}

type ExportDeclaration = Extract<StepDeclaration, { kind: 'export' }>;

/** Writes the newest handover, for others, once for each effect. Replaces only what an earlier export wrote there. */
export async function exportNewest(
  { store, root, project, path }: { store: Store; root: string; project: string; path: string },
  declared: ExportDeclaration,
  { at, effect }: StepContext,
): Promise<void> {
  sweepAbandoned(requireFolder(dirname(path)));
  const route: PublishRoute = { machine: store.machine, root, destination: path };
  const known = readPublishState(route);
  const present = readProjectFile(path, MAX_BUNDLE_BYTES);
  const sha256 = present === null ? null : sha256Hex(present);
  const written = known.get(WRITTEN);
  if (written !== undefined && written.version === effect && written.sha256 === sha256) return;
  if (sha256 !== null && ![...known.values()].some((entry) => entry.sha256 === sha256)) throw notOurFileError(path);
  const bytes = await pack(store, await requireNewest(store, project), { declared, root, at });
  // Before the file: if the process is killed in between, the next attempt recognises either version.
  const state = new Map([[WRITTEN, { sha256: sha256Hex(bytes), version: effect }]]);
  if (sha256 !== null) state.set(REPLACED, { sha256, version: '' });
  writePublishState(route, state);
  if (sha256 !== null) writeFileDurably(path, bytes);
  else if (!createFileDurably(path, bytes)) throw notOurFileError(path);
}

const WRITTEN = 'written';
const REPLACED = 'replaced';

function notOurFileError(path: string): HandoverError {
  const hint = 'It was left as it is. Move it away, or name another output';
  return new HandoverError('HANDOVER_PUBLISH_CONFLICT', `${path} was not written by an earlier export`, { hint });
}

/** Imported handovers are not passed on. */
async function requireNewest(store: Store, project: string): Promise<Handover> {
  const newest = await withCatalogOpener(store, async (open) => {
    for await (const { id } of listByWork(await open(), { project: { id: project } })) {
      const handover = readIntact(store, id);
      if (handover !== null && !isForeign(handover)) return handover;
    }
    return null;
  });
  if (newest !== null) return newest;
  const hint = 'Make one: handover save --summary "where things stand", or a step of kind "collect" before this one';
  throw notFoundError('there is no handover of this project to export', hint);
}

async function pack(
  store: Store,
  newest: Handover,
  { declared, root, at }: { declared: ExportDeclaration; root: string; at: number },
): Promise<Uint8Array> {
  const { machine } = store;
  const redactor = openRedactor(machine, { folder: root, makesKey: true });
  const handovers = [prepareExport(newest, { machine, only: null, redactor })];
  const signer = 'sign' in declared && declared.sign ? requireSigner(machine) : null;
  if (declared.format === 'bundle') {
    const { recipients } = declared;
    const encryption = recipients === undefined ? null : { recipients };
    return await packBundle(store, handovers, { createdAt: formatTimestamp(at), expiresAt: null, signer, encryption });
  }
  const reader = requireReader(declared.format === 'markdown' ? declared.target : undefined);
  return Buffer.from(writeView(handovers, { format: declared.format, reader }, { machine, signer, encryption: null }));
}

function requireReader(name = 'generic'): Reader {
  const reader = findReader(name);
  if (reader !== null) return reader;
  const hint = `The agents are: ${READER_NAMES.join(', ')}`;
  throw new HandoverError('HANDOVER_CONFIG_INVALID', `there is no agent "${name}" to export for`, { hint });
}
