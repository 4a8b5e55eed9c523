import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { Sandbox } from './cli.ts';
import { drawScreen } from './screen.ts';
import { type Keys, runInTerminal, type TerminalOptions } from './terminal.ts';

/** One thing that a person does in a terminal. */
export interface Stop extends Pick<TerminalOptions, 'env' | 'program'> {
  /** Of the file with the kept screens, in test/surfaces/terminal/screens. */
  name: string;
  args: readonly string[];
  columns: number;
  rows?: number;
  keys?: readonly Keys[];
  /** What is shown as typed, where that is not `handover` and its arguments. */
  typed?: string;
}

const SCREENS = fileURLToPath(new URL('../surfaces/terminal/screens', import.meta.url));
/** A screen to which nothing was added for so long is drawn. */
const QUIET_MS = 600;

/**
 * Runs it, and compares the screens with the kept ones: as they were before each of the keys, and at the end. Returns all
 * that was written. To keep what is shown now: npx vitest run --project slow test/surfaces/terminal --update
 */
export async function walk(
  sandbox: Sandbox,
  { name, args, columns, rows = 30, typed, ...stop }: Stop,
): Promise<string> {
  const size = { rows, columns };
  const { keys = [] } = stop;
  const { status, shown, terminal } = await runInTerminal(sandbox, args, { ...stop, size, quietMs: QUIET_MS });
  if (shown.length < keys.length)
    throw new Error(`${name}: waited in vain for ${keys[shown.length]?.after}\n${terminal}`);
  const screens = [...shown, terminal].map((written) => normalise(drawScreen(written, size), sandbox));
  const steps = screens.map((screen, index) => {
    const key = keys[index];
    return `${screen}\n${key === undefined ? `[status ${status}]` : `[typed ${JSON.stringify(key.type)}]`}\n`;
  });
  const called = `[${columns} columns] ${typed ?? ['handover', ...args].join(' ')}\n`;
  await expect([called, ...steps].join('\n')).toMatchFileSnapshot(join(SCREENS, `${name}.txt`));
  return terminal;
}

/** What differs from run to run becomes something of the same length, except for the folder. */
function normalise(screen: string, { folder }: Sandbox): string {
  return screen
    .replaceAll(folder, 'FOLDER')
    .replace(/\b20\d{6}-\d{6}-[0-9a-z]{4}\b/g, 'YYYYMMDD-HHMMSS-xxxx')
    .replace(/\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'YYYY-MM-DDTHH:MM:SS.mmmZ')
    .replace(/\b20\d\d-\d\d-\d\d\b/g, 'YYYY-MM-DD')
    .replace(/\b\d\d:\d\d\b/g, 'HH:MM')
    .replace(/ in \d+m?s$/gm, ' in Ns')
    .replace(/SQLite \(\w+\)/g, 'SQLite (DRIVER)')
    .replace(/\bp-[0-9a-hjkmnp-tv-z]{16}\b/g, 'p-xxxxxxxxxxxxxxxx');
}
