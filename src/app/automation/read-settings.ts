import * as v from 'valibot';
import type { Machine } from '../../platform/machine.ts';
import { type ConfigFile, parseSection, readProjectConfig, readUserConfig } from '../../platform/settings-file.ts';
import type { AutomationSettings, Startup } from './policy.ts';

const RestoreSection = v.object({ startup: v.optional(v.picklist(['brief', 'hint', 'off'])) });
const HooksSection = v.object({ enabled: v.optional(v.boolean()) });
const RunSection = v.object({ pause_file: v.optional(v.string()) });

/** The narrowest first. */
const WIDTHS: readonly Startup[] = ['off', 'hint', 'brief'];

/** A project can only narrow what the user allows. In its own file: hooks load valibot only when settings changed. */
export function readSettings(root: string, machine: Machine, defaults: AutomationSettings): AutomationSettings {
  const user = { ...defaults, ...readSections(readUserConfig(machine)) };
  const project = { isEnabled: true, startup: user.startup, ...readSections(readProjectConfig(root)) };
  return {
    isEnabled: user.isEnabled && project.isEnabled,
    pauseFile: user.pauseFile,
    startup: WIDTHS[Math.min(WIDTHS.indexOf(user.startup), WIDTHS.indexOf(project.startup))] ?? 'off',
  };
}

function readSections(file: ConfigFile): Partial<AutomationSettings> {
  const { startup } = parseSection(file, 'restore', RestoreSection);
  const { enabled } = parseSection(file, 'hooks', HooksSection);
  const { pause_file } = parseSection(file, 'handover', RunSection);
  return {
    ...(startup === undefined ? {} : { startup }),
    ...(enabled === undefined ? {} : { isEnabled: enabled }),
    ...(pause_file === undefined ? {} : { pauseFile: pause_file }),
  };
}
