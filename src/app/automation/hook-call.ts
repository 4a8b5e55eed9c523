import { join } from 'node:path';
import type { HookKind } from '../../agents/hook-dialects.ts';
import type { HookInput } from '../../agents/hook-input.ts';
import { statFile } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';
import { findDataFolder, pathOfProjectConfig, pathOfUserConfig } from '../../platform/paths.ts';
import { findPause } from '../../platform/pause.ts';
import { listAncestors } from '../../platform/process-identity.ts';
import {
  findAgentProcess,
  identifyTerminal,
  isAgentProcess,
  isStartedByTimer,
  nameProcess,
} from '../../platform/terminal.ts';
import { findWorktreeRoot } from '../../platform/worktree.ts';
import type { AutomationSettings } from './policy.ts';
import { FOLDERS, is, keyOfSession, readRecord, writeRecord } from './records.ts';

/** One call of a hook: who calls, from where, and what is known so far. */
export interface HookCall {
  kind: HookKind;
  input: HookInput;
  machine: Machine;
  /** The store's folder. */
  store: string;
  root: string;
  key: string;
  terminal: string | null;
  /** The agent's process; null where the system does not reveal it. */
  process: string | null;
  /** Whether a timer or a build server started the session. Looks at all ancestor processes. */
  isScheduled(): boolean;
  /** The processes that the hook descends from, up to the first. Equally slow. */
  listAncestors(): string[];
  /** The words by which our command is started; null where they are not known. */
  program: readonly string[] | null;
  settings: AutomationSettings;
  nowMs: number;
}

/** Null when hooks are switched off or paused there, or the session is in no folder that can be reached. */
export async function openHookCall(
  kind: HookKind,
  input: HookInput,
  { machine, program }: { machine: Machine; program: readonly string[] | null },
): Promise<HookCall | null> {
  const root = findWorktreeRoot(input.cwd ?? machine.cwd);
  if (root === null || isPaused(root, machine)) return null;
  const store = findDataFolder(machine);
  const settings = await findSettings(store, root, machine);
  if (!settings.isEnabled || isPaused(root, machine, settings.pauseFile)) return null;
  const isBuildServer = ![undefined, '', 'false', '0'].includes(machine.env.CI);
  const ancestors = listAncestors(isAgentProcess);
  const agent = findAgentProcess(ancestors);
  return {
    kind,
    input,
    machine,
    store,
    root,
    key: keyOfSession({ agent: kind.agent, session: input.session }),
    terminal: identifyTerminal({ named: input.terminal, env: machine.env, ancestors }),
    process: agent === null ? null : nameProcess(agent),
    isScheduled: () => input.isScheduled || isBuildServer || isStartedByTimer(listAncestors()),
    listAncestors: () => listAncestors().map(nameProcess),
    program,
    settings,
    nowMs: machine.clock.now(),
  };
}

const DEFAULT_SETTINGS: AutomationSettings = { isEnabled: true, startup: 'hint', pauseFile: '' };

const CACHED_SETTINGS = {
  isEnabled: is.flag,
  startup: is.oneOf('brief', 'hint', 'off'),
  pauseFile: is.text,
  /** The state of the files that they were read from. */
  files: is.text,
};

/** The user's settings, narrowed by the project's. Cached: reading TOML takes as long as the rest of a hook. */
export async function findSettings(store: string, root: string, machine: Machine): Promise<AutomationSettings> {
  const paths = [pathOfUserConfig(machine), pathOfProjectConfig(root)];
  const stats = paths.map((path) => statFile(path));
  if (stats.every((stat) => stat === null)) return DEFAULT_SETTINGS;
  const files = JSON.stringify(stats.map((stat, index) => (stat === null ? null : [paths[index], stat])));
  const name = 'last.json';
  const cached = readRecord(join(store, ...FOLDERS.settings, name), CACHED_SETTINGS);
  if (cached?.files === files) return cached;
  const { readSettings } = await import('./read-settings.ts');
  const settings = readSettings(root, machine, DEFAULT_SETTINGS);
  writeRecord(store, [FOLDERS.settings, name], { ...settings, files });
  return settings;
}

/** Whether a PAUSE file stops all automation. */
export function isPaused(root: string, machine: Machine, pauseFile = ''): boolean {
  return findPause(machine, root, pauseFile === '' ? [] : [pauseFile]) !== null;
}
