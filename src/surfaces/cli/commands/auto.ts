import { resolve } from 'node:path';
import { findStore } from '../../../app/context.ts';
import { dim } from '../../../app/describe/styled-text.ts';
import { isPublishingConfigured, publishProject } from '../../../exchange/publish/publish-project.ts';
import { writeHandoffFile } from '../../../memory/handoff-file.ts';
import { assertNotPaused, findMemoryDir } from '../../../memory/runs/run-config.ts';
import { requireFolder } from '../../../platform/folders.ts';
import { acquireLock } from '../../../platform/lock.ts';
import type { Machine } from '../../../platform/machine.ts';
import { ensureLockFolder, ensureProjectFolder } from '../../../platform/project-file.ts';
import { PROJECT_SETTINGS } from '../../../platform/project-folder.ts';
import type { CliContext } from '../context.ts';
import { apiKeyFlag, command, type FlagValues, folderPositional, json, modeFlag, text } from '../flags.ts';
import { assertNoApiKey } from './push.ts';

const flags = {
  name: text('The agent’s name in the snapshot', 'name'),
  mode: modeFlag('auto'),
  apiKey: apiKeyFlag,
  json,
};

export const auto = command('auto', runAuto, { positional: folderPositional, flags });

/** Silent unless something is wrong, since it is started by a clock. */
async function runAuto(this: CliContext, values: FlagValues<typeof flags>, folder = '.'): Promise<void> {
  const { machine } = this;
  const { name, mode, apiKey } = values;
  assertNoApiKey(apiKey);
  const root = requireFolder(resolve(machine.cwd, folder));
  assertNotPaused(machine, root);
  const locks = ensureLockFolder(ensureProjectFolder(root, PROJECT_SETTINGS));
  const lock = acquireLock({ folder: locks, name: 'auto', waitMs: 0, clock: machine.clock });
  try {
    const { path, isNew, backup } = await writeHandoffFile(findStore(this), root, { mode, name });
    const published = isPublishingConfigured(root, machine) ? await publish(root, name, machine) : null;
    if (values.json) this.out.json({ path, new: isNew, kept: backup, published });
    else if (this.interactive) {
      this.err.line(dim(isNew ? `wrote ${path}` : 'nothing new'));
      if (published !== null) this.err.line(dim(`${published.outcome}: ${published.destination}`));
    }
  } finally {
    lock.release();
  }
}

async function publish(root: string, name: string | undefined, machine: Machine) {
  assertNotPaused(machine, root);
  const request = { folder: root, memory: findMemoryDir(machine, root), name };
  const { outcome, destination, commit } = await publishProject(request, machine);
  return { outcome, destination, commit };
}
