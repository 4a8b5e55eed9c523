import * as v from 'valibot';
import type { Machine } from '../../platform/machine.ts';
import {
  type ConfigFile,
  parseSection,
  readProjectConfig,
  readUserConfig,
} from '../../platform/settings-file.ts';
import type { Startup } from './policy.ts';
import type { RelaySettings } from './settings.ts';

const RestoreSection = v.object({ startup: v.optional(v.picklist(['brief', 'hint', 'off'])) });
const HooksSection = v.object({ enabled: v.optional(v.boolean()) });
const RunSection = v.object({ pause_file: v.optional(v.string()) });

/** From the narrowest on. */
const WIDTHS: readonly Startup[] = ['off', 'hint', 'brief'];

/** Reads both files. What a project says can only take away from what the user allows. */
export function readSettings(root: string, machine: Machine, otherwise: RelaySettings): RelaySettings {
  const user = { ...otherwise, ...readOne(readUserConfig(machine)) };
  const project = { isEnabled: true, startup: user.startup, ...readOne(readProjectConfig(root)) };
  return {
    isEnabled: user.isEnabled && project.isEnabled,
    pauseFile: user.pauseFile,
    startup: WIDTHS[Math.min(WIDTHS.indexOf(user.startup), WIDTHS.indexOf(project.startup))] ?? 'off',
  };
}

function readOne(file: ConfigFile): Partial<RelaySettings> {
  const { startup } = parseSection(file, 'restore', RestoreSection);
  const { enabled } = parseSection(file, 'hooks', HooksSection);
  const { pause_file } = parseSection(file, 'handover', RunSection);
  return {
    ...(startup === undefined ? {} : { startup }),
    ...(enabled === undefined ? {} : { isEnabled: enabled }),
    ...(pause_file === undefined ? {} : { pauseFile: pause_file }),
  };
}
