import { basename, resolve } from 'node:path';
import { HandoverError } from '../../errors.ts';
import type { HandoverDraft } from '../../model/handover.ts';
import { requireFolder, resolveRealPath } from '../../platform/folders.ts';
import { describeMachine, type Machine } from '../../platform/machine.ts';
import { expandHome, toRelativePath } from '../../platform/place.ts';
import { identifyProject } from '../../platform/project.ts';
import {
  acceptPaths,
  type Backend,
  DEFAULT_PATHS,
  type GitSettings,
  isProjectPath,
  type PublishSettings,
  parseGitSettings,
  readPublishSettings,
} from '../../platform/publish-settings.ts';
import { openRedactor } from '../../redact/open-redactor.ts';
import { notConfiguredError } from '../errors.ts';
import { openFolderStore } from './folder-store.ts';
import { API_KEY_VARIABLE, openMemoryVault, VAULT_FILE } from './memory-vault.ts';
import { publishObjects } from './objects.ts';
import { type Change, collectOutgoing, type Publication, type Publisher } from './publisher.ts';

/** Keeps everything at home. */
export const nowhere: Publisher = {
  backend: 'none',
  destination: 'nowhere',
  plan: async () => ({ changes: [], waiting: [], notes: [] }),
  publish: async () => ({ outcome: 'nothing new', changes: [], commit: null, notes: [] }),
};

export interface GitBackendOptions extends Partial<GitSettings> {
  /** Below the repository; the layers of memory and the three files if left out. */
  paths?: readonly string[];
}

/** Publishes memory by git, as the original's backend did, and says done only when it is. */
export class GitBackend {
  readonly #folder: string;
  readonly #paths: readonly string[];
  readonly #settings: GitSettings;
  readonly #machine: Machine;

  constructor(
    folder: string,
    { paths = DEFAULT_PATHS, ...settings }: GitBackendOptions = {},
    machine: Machine = describeMachine(),
  ) {
    this.#folder = folder;
    this.#paths = acceptPaths(paths);
    this.#settings = parseGitSettings(settings);
    this.#machine = machine;
  }

  /** The message is that of the commit. Returns when all of it has arrived; whatever is in its way is thrown. */
  async publish(message?: string): Promise<Publication> {
    const [paths, machine] = [this.#paths, this.#machine];
    const root = requireFolder(resolve(machine.cwd, this.#folder));
    const settings = parseGitSettings({ ...this.#settings, ...(message === undefined ? {} : { message }) });
    const { openGitPublisher } = await import('./git/publisher.ts');
    const publisher = openGitPublisher({ machine, root, paths, settings });
    const redactor = openRedactor(machine, { folder: root, makesKey: true });
    return await publisher.publish({ name: basename(root), ...collectOutgoing(root, paths, redactor) });
  }
}

export interface PublishRequest {
  /** The folder with memory in it; without it, the project that is worked in. */
  folder?: string;
  /** What the project is called where it is published; without it, as it is called here. */
  name?: string;
  /** Where memory is in the project, if not where the settings say. */
  paths?: readonly string[];
  /** The folder of memory; refused when it is not the usual one and the settings do not name it. */
  memory?: string;
  /** Only say what would leave. */
  dryRun?: boolean;
  /** False keeps everything on this machine: git commits, and the other backends do nothing. */
  push?: boolean;
}

/** What was published, or would be. */
export interface PublishReport {
  backend: Backend;
  destination: string;
  outcome: 'published' | 'nothing new' | 'would publish' | 'off';
  changes: readonly Change[];
  /** Commits that have not left yet; only of a dry run. */
  waiting: readonly string[];
  commit: string | null;
  /** How many secrets were taken out of what leaves, by kind. */
  redactions: HandoverDraft['redactions'];
  /** Paths that stand where memory is and do not leave. */
  leftOut: readonly string[];
  notes: readonly string[];
}

/**
 * Publishes a project's memory as the user's settings say. Everything that leaves has gone through redaction. Safe to
 * repeat after any failure; every failure is coded.
 */
export async function publishProject(request: PublishRequest, machine: Machine): Promise<PublishReport> {
  const place = findProject(request, machine);
  const configured = readPublishSettings(place.root, machine);
  const settings = { ...configured, paths: acceptPaths(request.paths ?? configured.paths) };
  if (request.memory !== undefined) assertMemoryLeaves(request.memory, settings, place);
  const publisher = await openPublisher(settings, { ...place, push: request.push ?? true }, machine);
  const redactor = openRedactor(machine, { folder: place.root, makesKey: !request.dryRun });
  const paths = listPaths(publisher, settings);
  const { redactions, ...outgoing } = collectOutgoing(place.root, paths, redactor);
  const parcel = { ...outgoing, name: place.name };
  const { backend, destination } = publisher;
  const common = { backend, destination, redactions, leftOut: outgoing.leftOut };
  if (publisher === nowhere)
    return { ...common, outcome: 'off', changes: [], waiting: [], commit: null, notes: [] };
  if (!request.dryRun) return { ...common, waiting: [], ...(await publisher.publish(parcel)) };
  const plan = await publisher.plan(parcel);
  const isNew = plan.changes.length > 0 || plan.waiting.length > 0;
  return { ...common, outcome: isNew ? 'would publish' : 'nothing new', commit: null, ...plan };
}

function listPaths({ backend }: Publisher, { paths }: PublishSettings): readonly string[] {
  if (backend === 'none') return [];
  return backend === 'memoryvault' ? [VAULT_FILE] : paths;
}

/** Where the settings name no paths, memory that is elsewhere would stay behind without a word. */
function assertMemoryLeaves(
  memory: string,
  { backend, paths }: PublishSettings,
  { root }: ProjectPlace,
): void {
  const real = resolveRealPath(memory);
  const path = toRelativePath(root, real ?? root);
  const isUsual = DEFAULT_PATHS.some((each) => path === each || path.startsWith(`${each}/`));
  const isChosen = paths.join() !== DEFAULT_PATHS.join();
  const sendsFiles = backend !== undefined && backend !== 'none' && backend !== 'memoryvault';
  if (!isProjectPath(path) || isUsual || isChosen || !sendsFiles) return;
  throw notConfiguredError(
    `memory is in ${path}, which is not published`,
    `Name it below [publish] in your config.toml: paths = ${JSON.stringify([path, ...DEFAULT_PATHS])}`,
  );
}

interface ProjectPlace {
  root: string;
  name: string;
}

const NAME = /^[\p{L}\p{N}][\p{L}\p{N}\p{M}._-]{0,99}$/u;

function findProject({ folder, name }: PublishRequest, machine: Machine): ProjectPlace {
  const project = identifyProject(folder ?? machine.cwd, machine);
  const root = folder === undefined ? project.root : requireFolder(resolve(machine.cwd, folder));
  if (name === undefined)
    return {
      root,
      name: project.name.replace(/[^\p{L}\p{N}\p{M}._-]+/gu, '-').replace(/^[._-]+/, '') || 'project',
    };
  if (NAME.test(name)) return { root, name };
  throw new HandoverError('HANDOVER_USAGE', `"${name}" is not a name to publish under`, {
    hint: 'A name begins with a letter or a digit, goes on with those and with . _ -, and has at most 100 characters.',
  });
}

/** Whether `publishProject` would do anything: `auto` asks this first, as having nothing to publish to is no failure there. */
export function isPublishingConfigured(folder: string, machine: Machine): boolean {
  return chooseUserBackend(readPublishSettings(folder, machine), machine) !== null;
}

/** As the older tool did: a key in the environment is enough to send HANDOFF.md. */
function chooseUserBackend({ backend, enabled }: PublishSettings, { env }: Machine): Backend | null {
  if (!enabled) return 'none';
  return backend ?? (env[API_KEY_VARIABLE] ? 'memoryvault' : null);
}

async function openPublisher(
  settings: PublishSettings,
  { root, name, push }: ProjectPlace & { push: boolean },
  machine: Machine,
): Promise<Publisher> {
  const backend = chooseUserBackend(settings, machine);
  if (backend === null) {
    throw notConfiguredError(
      'nothing says where to publish to',
      `Set backend below [publish] in your config.toml (git, s3, memoryvault or folder), or ${API_KEY_VARIABLE}. See docs/publishing.md`,
    );
  }
  if (backend === 'git') {
    const { openGitPublisher } = await import('./git/publisher.ts');
    const { git, paths } = settings;
    return openGitPublisher({ machine, root, paths, settings: { ...git, push: git.push && push } });
  }
  if (backend === 'none' || !push) return nowhere;
  if (backend === 'memoryvault') return openMemoryVault(settings.memoryvault, name, { machine, root });
  if (backend === 'folder') {
    const { path } = requireSection(settings.folder, 'folder', 'path');
    const store = openFolderStore(resolve(machine.cwd, expandHome(path, machine)), name);
    return publishObjects(store, { machine, root, destination: store.destination });
  }
  const { openS3Store } = await import('./s3-store.ts');
  const store = openS3Store(requireSection(settings.s3, 's3', 'endpoint and bucket'), name, machine);
  return publishObjects(store, { machine, root, destination: store.destination });
}

function requireSection<T>(section: T | undefined, name: string, what: string): T {
  if (section !== undefined) return section;
  throw notConfiguredError(
    `the backend ${name} lacks its settings`,
    `Set ${what} below [publish.${name}] in your config.toml.`,
  );
}
