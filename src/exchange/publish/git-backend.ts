import { basename, resolve } from 'node:path';
import { requireFolder } from '../../platform/folders.ts';
import { describeMachine, type Machine } from '../../platform/machine.ts';
import { openRedactor } from '../../redact/open-redactor.ts';
import { openGitPublisher } from './git/publisher.ts';
import { collectOutgoing } from './outgoing.ts';
import type { Publication } from './publisher.ts';
import { acceptPaths, DEFAULT_PATHS, type GitSettings, parseGitSettings } from './settings.ts';

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
    const publisher = openGitPublisher({ machine, root, paths, settings });
    const redactor = openRedactor(machine, { folder: root, makesKey: true });
    return await publisher.publish({ name: basename(root), ...collectOutgoing(root, paths, redactor) });
  }
}
