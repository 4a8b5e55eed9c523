import { basename, resolve } from 'node:path';
import { usageError } from '../../errors.ts';
import type { HandoverDraft } from '../../model/handover.ts';
import { requireFolder, resolveRealPath } from '../../platform/folders.ts';
import { describeMachine, type Machine } from '../../platform/machine.ts';
import { expandHome } from '../../platform/paths.ts';
import { identifyProject, toRelativePath } from '../../platform/project.ts';
import * as config from '../../platform/publish-settings.ts';
import { openRedactor } from '../../redact/open-redactor.ts';
import { notConfiguredError } from '../errors.ts';
import { openFolderStore } from './folder-store.ts';
import { API_KEY_VARIABLE, openMemoryVault, VAULT_FILE } from './memory-vault.ts';
import { publishObjects } from './objects.ts';
import { type Change, collectOutgoing, type Publication, type Publisher } from './publisher.ts';

const noPublisher: Publisher = {
  backend: 'none',
  destination: 'nowhere',
  plan: async () => ({ changes: [], waiting: [], notes: [] }),
  publish: async () => ({ outcome: 'nothing new', changes: [], commit: null, notes: [] }),
};

export interface GitBackendOptions extends Partial<config.GitSettings> {
  /** Relative to the repository; memory and the three documents if left out. */
  paths?: readonly string[];
}

/** Publishes memory by git, with the interface of the original tool. */
export class GitBackend {
  readonly #folder: string;
  readonly #options: { machine: Machine; paths: readonly string[]; settings: config.GitSettings };

  constructor(
    folder: string,
    { paths = config.DEFAULT_PATHS, ...settings }: GitBackendOptions = {},
    machine: Machine = describeMachine(),
  ) {
    this.#folder = folder;
    this.#options = { machine, paths: config.acceptPaths(paths), settings: config.parseGitSettings(settings) };
  }

  /** `message` is for the commit. Returns when everything is pushed; throws otherwise. */
  async publish(message?: string): Promise<Publication> {
    const { machine, paths, settings: usual } = this.#options;
    const root = requireFolder(resolve(machine.cwd, this.#folder));
    const settings = message === undefined ? usual : config.parseGitSettings({ ...usual, message });
    const { openGitPublisher } = await import('./git/publisher.ts');
    const publisher = openGitPublisher({ machine, root, paths, settings });
    const redactor = openRedactor(machine, { folder: root, makesKey: true });
    return await publisher.publish({ name: basename(root), ...collectOutgoing(root, paths, redactor) });
  }
}

export interface PublishRequest {
  /** The folder with memory in it; the current project if left out. */
  folder?: string | undefined;
  /** The project's name at the destination; its own name if left out. */
  name?: string | undefined;
  /** Overrides the paths of the settings. */
  paths?: readonly string[];
  /** The folder of memory; an error when neither the defaults nor the settings include it. */
  memory?: string;
  dryRun?: boolean;
  /** False keeps everything on this machine: git commits without pushing, other backends do nothing. */
  push?: boolean;
}

export interface PublishReport {
  backend: config.Backend;
  destination: string;
  outcome: 'published' | 'nothing new' | 'would publish' | 'off';
  changes: readonly Change[];
  /** Commits that have not been pushed; only in a dry run. */
  waiting: readonly string[];
  commit: string | null;
  /** How many secrets were removed, by kind. */
  redactions: HandoverDraft['redactions'];
  /** Paths that exist and are not published, such as links. */
  leftOut: readonly string[];
  notes: readonly string[];
}

/** Publishes a project's memory, redacted, as the user's settings say. Safe to repeat after any failure. */
export async function publishProject(request: PublishRequest, machine: Machine): Promise<PublishReport> {
  const place = findProject(request, machine);
  const configured = config.readPublishSettings(place.root, machine);
  const settings = { ...configured, paths: config.acceptPaths(request.paths ?? configured.paths) };
  if (request.memory !== undefined) assertMemoryIsPublished(request.memory, settings, place.root);
  const publisher = await openPublisher(settings, { ...place, push: request.push ?? true }, machine);
  const redactor = openRedactor(machine, { folder: place.root, makesKey: !request.dryRun });
  const { backend, destination } = publisher;
  const paths = backend === 'none' ? [] : backend === 'memoryvault' ? [VAULT_FILE] : settings.paths;
  const { redactions, ...outgoing } = collectOutgoing(place.root, paths, redactor);
  const content = { ...outgoing, name: place.name };
  const common = { backend, destination, redactions, leftOut: outgoing.leftOut };
  if (publisher === noPublisher)
    return { ...common, outcome: 'off', changes: [], waiting: [], commit: null, notes: [] };
  if (!request.dryRun) return { ...common, waiting: [], ...(await publisher.publish(content)) };
  const plan = await publisher.plan(content);
  const isNew = plan.changes.length > 0 || plan.waiting.length > 0;
  return { ...common, outcome: isNew ? 'would publish' : 'nothing new', commit: null, ...plan };
}

/** Without this, memory outside the default paths would silently not be published. */
function assertMemoryIsPublished(memory: string, { backend, paths }: config.PublishSettings, root: string): void {
  const path = toRelativePath(root, resolveRealPath(memory) ?? root);
  const isUsual = config.DEFAULT_PATHS.some((each) => path === each || path.startsWith(`${each}/`));
  const isChosen = paths.join() !== config.DEFAULT_PATHS.join();
  const sendsFiles = backend !== undefined && backend !== 'none' && backend !== 'memoryvault';
  if (!config.isProjectPath(path) || isUsual || isChosen || !sendsFiles) return;
  const hint = `Name it below [publish] in your config.toml: paths = ${JSON.stringify([path, ...config.DEFAULT_PATHS])}`;
  throw notConfiguredError(`memory is in ${path}, which is not published`, { hint });
}

const NAME = /^[\p{L}\p{N}][\p{L}\p{N}\p{M}._-]{0,99}$/u;

function findProject({ folder, name }: PublishRequest, machine: Machine) {
  const project = identifyProject(folder ?? machine.cwd, machine);
  const root = folder === undefined ? project.root : requireFolder(resolve(machine.cwd, folder));
  const usual = project.name.replace(/[^\p{L}\p{N}\p{M}._-]+/gu, '-').replace(/^[._-]+/, '') || 'project';
  if (name === undefined || NAME.test(name)) return { root, name: name ?? usual };
  const hint = 'A name starts with a letter or digit, has only those and . _ -, and at most 100 characters.';
  throw usageError(`"${name}" is not a name to publish under`, hint);
}

/** Whether `publishProject` would find a backend. */
export function isPublishingConfigured(folder: string, machine: Machine): boolean {
  return chooseUserBackend(config.readPublishSettings(folder, machine), machine) !== null;
}

/** As in the older tool, a key in the environment is enough to send HANDOFF.md. */
function chooseUserBackend({ backend, enabled }: config.PublishSettings, { env }: Machine): config.Backend | null {
  if (!enabled) return 'none';
  return backend ?? (env[API_KEY_VARIABLE] ? 'memoryvault' : null);
}

async function openPublisher(
  settings: config.PublishSettings,
  { root, name, push }: { root: string; name: string; push: boolean },
  machine: Machine,
): Promise<Publisher> {
  const backend = chooseUserBackend(settings, machine);
  if (backend === null)
    throw notConfiguredError('no destination is configured', {
      hint: `Set backend below [publish] in your config.toml (git, s3, memoryvault or folder), or ${API_KEY_VARIABLE}. See docs/publishing.md`,
    });
  if (backend === 'git') {
    const { openGitPublisher } = await import('./git/publisher.ts');
    const { git, paths } = settings;
    return openGitPublisher({ machine, root, paths, settings: { ...git, push: git.push && push } });
  }
  if (backend === 'none' || !push) return noPublisher;
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
  const hint = `Set ${what} below [publish.${name}] in your config.toml.`;
  throw notConfiguredError(`the backend ${name} has no settings`, { hint });
}
