import { join } from 'node:path';
import { statFile } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';
import { pathOfProjectConfig, pathOfUserConfig } from '../../platform/paths.ts';
import { findPause } from '../../platform/pause.ts';
import { READY } from '../../store/store.ts';
import type { Startup } from './policy.ts';
import { readRecord, writeRecord } from './small-records.ts';

/** What may happen by itself. */
export interface RelaySettings {
  /** Whether hooks do anything. */
  isEnabled: boolean;
  startup: Startup;
  /** A PAUSE file besides the usual ones; empty for none. */
  pauseFile: string;
}

const DEFAULT_SETTINGS: RelaySettings = { isEnabled: true, startup: 'hint', pauseFile: '' };

interface Remembered extends RelaySettings {
  /** The files that they were read from, as they were then. */
  files: string;
}

const EXAMPLE: Remembered = { ...DEFAULT_SETTINGS, files: '' };
const FOLDER = [READY, 'settings'];

/**
 * The settings of the user, narrowed by those of the project. Reading TOML takes as long as all else that a hook does, so
 * what was read is remembered as long as the files stay as they are.
 */
export async function findSettings(store: string, root: string, machine: Machine): Promise<RelaySettings> {
  const files = describeFiles(root, machine);
  if (files === null) return DEFAULT_SETTINGS;
  const name = 'last.json';
  const remembered = readRecord(join(store, ...FOLDER, name), EXAMPLE);
  if (remembered !== null && remembered.files === files) return remembered;
  const { readSettings } = await import('./read-settings.ts');
  const settings = readSettings(root, machine, DEFAULT_SETTINGS);
  writeRecord(store, [FOLDER, name], { ...settings, files } satisfies Remembered);
  return settings;
}

/** Null when there are none, which is the usual case. */
function describeFiles(root: string, machine: Machine): string | null {
  const paths = [pathOfUserConfig(machine), pathOfProjectConfig(root)];
  const sights = paths.map((path) => statFile(path));
  if (sights.every((sight) => sight === null)) return null;
  return JSON.stringify(sights.map((sight, index) => (sight === null ? null : [paths[index], sight])));
}

/** While a PAUSE file is there, nothing happens by itself. */
export function isPaused(root: string, machine: Machine, pauseFile = ''): boolean {
  return findPause(machine, root, pauseFile === '' ? [] : [pauseFile]) !== null;
}
