import { resolve } from 'node:path';
import { buildCommand, type Command } from '@stricli/core';
import {
  isPublishingConfigured,
  type PublishReport,
  publishProject,
} from '../../../exchange/publish/publish-project.ts';
import { assertNotPaused } from '../../../memory/runs/brake.ts';
import { findMemoryDir } from '../../../memory/runs/run-config.ts';
import { takeSnapshot } from '../../../memory/take-snapshot.ts';
import { requireFolder } from '../../../platform/folders.ts';
import { acquireLock } from '../../../platform/lock.ts';
import type { Machine } from '../../../platform/machine.ts';
import { ensureLockFolder, ensureProjectFolder, PROJECT_SETTINGS } from '../../../platform/project-file.ts';
import { refuseKeyOnCommandLine } from '../api-key.ts';
import { type CliContext, findStore } from '../context.ts';
import { dim } from '../output.ts';
import { apiKeyFlag } from './push.ts';
import { folderPositional, modeFlag } from './snapshot.ts';

export interface AutoFlags {
  name?: string;
  mode: string;
  apiKey?: string;
  json: boolean;
}

export const auto: Command<CliContext> = buildCommand<AutoFlags, [string?], CliContext>({
  func: runAuto,
  parameters: {
    positional: folderPositional,
    flags: {
      name: {
        kind: 'parsed',
        parse: (input: string): string => input,
        optional: true,
        brief: 'The agent’s name, as it is to stand in the snapshot',
        placeholder: 'name',
      },
      mode: { ...modeFlag, default: 'auto' },
      apiKey: apiKeyFlag,
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Snapshot by itself, as from cron: silent when all is well, one at a time' },
});

/** Whoever starts it by a clock hears of it only when something is wrong. */
export async function runAuto(this: CliContext, flags: AutoFlags, folder = '.'): Promise<void> {
  const { machine } = this;
  refuseKeyOnCommandLine(flags.apiKey);
  const root = requireFolder(resolve(machine.cwd, folder));
  assertNotPaused(machine, root);
  const locks = ensureLockFolder(ensureProjectFolder(root, PROJECT_SETTINGS));
  const lock = acquireLock({ folder: locks, name: 'auto', waitMs: 0, clock: machine.clock });
  try {
    const { path, isNew, kept } = await takeSnapshot(findStore(this), root, {
      mode: flags.mode,
      ...(flags.name === undefined ? {} : { name: flags.name }),
    });
    const published = isPublishingConfigured(root, machine) ? await publish(root, flags, machine) : null;
    if (flags.json) this.out.json({ path, new: isNew, kept, published });
    else if (this.interactive) {
      this.err.line(dim(isNew ? `wrote ${path}` : 'nothing is new'));
      if (published !== null) this.err.line(dim(`${published.outcome}: ${published.destination}`));
    }
  } finally {
    lock.release();
  }
}

async function publish(root: string, { name }: AutoFlags, machine: Machine): Promise<Published> {
  assertNotPaused(machine, root);
  const named = name === undefined ? {} : { name };
  const { outcome, destination, commit } = await publishProject(
    { folder: root, memory: findMemoryDir(machine, root), ...named },
    machine,
  );
  return { outcome, destination, commit };
}

type Published = Pick<PublishReport, 'outcome' | 'destination' | 'commit'>;
