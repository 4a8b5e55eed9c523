import { resolve } from 'node:path';
import { describeMachine, type Machine } from '../platform/machine.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import { openGitPublisher } from './git/publisher.ts';
import { collectOutgoing } from './outgoing.ts';
import type { Publication } from './publisher.ts';
import { DEFAULT_PATHS, type GitSettings, parseGitSettings } from './settings.ts';

export interface GitBackendOptions extends Partial<Pick<GitSettings, 'ref' | 'remote' | 'push' | 'message'>> {
  /** Below the repository; the layers of memory and the three files if left out. */
  paths?: readonly string[];
}

/** Publishes memory by git, as the original's backend did, and says done only when it is. */
export class GitBackend {
  readonly #root: string;
  readonly #paths: readonly string[];
  readonly #settings: GitSettings;
  readonly #machine: Machine;

  constructor(
    folder: string,
    { paths = DEFAULT_PATHS, ...settings }: GitBackendOptions = {},
    machine: Machine = describeMachine(),
  ) {
    this.#root = resolve(machine.cwd, folder);
    this.#paths = paths;
    this.#settings = parseGitSettings(settings);
    this.#machine = machine;
  }

  async publish(): Promise<Publication> {
    const [root, paths, machine] = [this.#root, this.#paths, this.#machine];
    const publisher = openGitPublisher({ machine, root, paths, settings: this.#settings });
    const redactor = openRedactor(machine, { folder: root, makesKey: true });
    return await publisher.publish({ name: '', ...collectOutgoing(root, paths, redactor) });
  }
}
