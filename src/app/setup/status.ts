import type { HookedAgent } from '../../agents/hook-input.ts';
import { type HookFile, type HookHost, type HookLauncher, holdsHooks, holdsServer } from '../../agents/hook-setup.ts';
import { isFailure } from '../../errors.ts';
import { isFolder, pathExists } from '../../platform/folders.ts';
import type { Machine } from '../../platform/machine.ts';
import { findOnPath, readProgramVersion } from '../../platform/processes.ts';
import { readSharedFile } from '../../platform/shared-file.ts';
import type { Store } from '../../store/store.ts';
import { foreignServerError, inspectEntries, NO_SERVER, type ServerInspection } from './entries.ts';
import { isTrusted } from './hook-trust.ts';
import { decode } from './json-text.ts';
import { findReceipt } from './receipts.ts';
import { inspectTable } from './server-table.ts';
import { type HookSite, listHookFiles, listHosts } from './targets.ts';

/** Traces of an agent on this machine: the folder with its settings, its program in PATH. No program is started. */
function detectAgent(host: HookHost, machine: Machine) {
  const home = host.findHome(machine);
  const program = findOnPath(host.program, machine);
  return {
    folder: home !== null && isFolder(home) ? home : null,
    program,
    version: program === null ? null : readProgramVersion(program),
  };
}

/** `partly`: some events have no hook. `outdated`: a hook is not as it would be written today. */
type InstallState = 'installed' | 'outdated' | 'partly' | 'none' | 'unreadable';
type ServerState = 'installed' | 'outdated' | 'none';

interface HookFileStatus {
  path: string;
  /** Of the hooks; null for a file without hooks. */
  state: InstallState | null;
  /** Of our MCP server; null for a file without it. */
  server: ServerState | null;
  /** Why a file could not be read. */
  problem: string | null;
  /** Programs and scripts that our hooks or server start and that do not exist. */
  missing: string[];
  /** The user turned all hooks off in this file. */
  off: boolean;
  /** Null for an agent that does not ask for trust, and where there is nothing to trust. */
  trusted: boolean | null;
}

export type HookStatus = ReturnType<typeof readHookStatus>[number];

export function readHookStatus(store: Store, site: HookSite & { agents: readonly HookedAgent[] }) {
  return listHosts(site.agents).map((host) => {
    const detection = detectAgent(host, store.machine);
    const files = listHookFiles(host, store.machine, site).map((file) => describeFile(store, host, file));
    return {
      agent: host.agent,
      title: host.title,
      detected: detection.folder !== null || detection.program !== null,
      detection,
      state: combineStates(files.flatMap(({ state }) => state ?? [])),
      server: files.find(({ server }) => server !== null)?.server ?? 'none',
      files,
      /** What the user has to do for hooks that are not trusted. */
      trustStep: host.trust?.step ?? null,
    };
  });
}

function combineStates(states: readonly InstallState[]): InstallState {
  const distinct = new Set(states);
  const [only = 'none'] = distinct;
  if (distinct.size <= 1) return only;
  if (distinct.has('unreadable')) return 'unreadable';
  return distinct.has('none') || distinct.has('partly') ? 'partly' : 'outdated';
}

interface FileInspection {
  state: InstallState;
  server: ServerInspection;
  launchers: HookLauncher[];
  off: boolean;
  trusted: boolean | null;
}

const NOTHING: FileInspection = { state: 'none', server: NO_SERVER, launchers: [], off: false, trusted: null };

function describeFile(store: Store, host: HookHost, file: HookFile): HookFileStatus {
  const { path } = file;
  const only = (state: InstallState, server: ServerState): Pick<HookFileStatus, 'state' | 'server'> => ({
    state: holdsHooks(file) ? state : null,
    server: holdsServer(file) ? server : null,
  });
  try {
    const { state, server, launchers, off, trusted } = inspectFile(store, host, file);
    const started = server.launcher === null ? launchers : [...launchers, server.launcher];
    const problem = server.state === 'foreign' ? foreignServerError(path).message : null;
    const paths = new Set(started.flatMap(({ node, script }) => [node, script]));
    const missing = [...paths].filter((each) => !pathExists(each));
    return { path, ...only(state, SERVER_STATES[server.state]), problem, missing, off, trusted };
  } catch (error) {
    if (!isFailure(error)) throw error;
    return { path, ...only('unreadable', 'none'), problem: error.message, missing: [], off: false, trusted: null };
  }
}

const SERVER_STATES = { same: 'installed', differing: 'outdated', missing: 'none', foreign: 'none' } as const;

function inspectFile(store: Store, host: HookHost, file: HookFile): FileInspection {
  const bytes = readSharedFile(file.path)?.bytes ?? null;
  if (bytes === null) return NOTHING;
  const text = decode(bytes, file.path);
  if (file.kind === 'whole') {
    const launcher = file.parse(text);
    if (launcher === null) return NOTHING;
    return { ...NOTHING, state: text === file.content ? 'installed' : 'outdated', launchers: [launcher] };
  }
  if (file.kind === 'table') return { ...NOTHING, server: inspectTable(file, text) };
  const { same, differing, missing, launchers, off, server } = inspectEntries(file, text);
  if (same.length + differing.length === 0) return { ...NOTHING, server, off };
  const outdated = findReceipt(store, file.agent, file.path)?.outdatedTrust ?? [];
  const state = missing.length > 0 ? 'partly' : differing.length > 0 ? 'outdated' : 'installed';
  const trusted = isTrusted(host, { file, bytes, machine: store.machine }, outdated);
  return { state, server, launchers, off, trusted };
}
