import { execFileSync } from 'node:child_process';
import { hasProgram } from './cli.ts';

/** The user that owns nothing. */
export const NOBODY = 65534;

const isRoot = process.getuid?.() === 0;
const canDrop = isRoot && hasProgram('setpriv', `--reuid=${NOBODY}`, '--clear-groups', process.execPath, '--version');

/** Modes do not bind root: as root, commands are run as somebody else. */
export const isBoundByModes: boolean = process.platform !== 'win32' && (!isRoot || canDrop);

/** To start a command by, so that modes bind it. */
export const asOrdinaryUser: readonly string[] = isRoot
  ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
  : [];

/** Gives all below a folder to the user whom commands are run as. */
export function giveAway(folder: string): void {
  if (isRoot) execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, folder]);
}
