import { readdirSync, readFileSync } from 'node:fs';

/** Ends what still runs with a home in or below a folder that only a test uses. Only Linux can tell which. */
export function killProcessesBelow(folder) {
  if (process.platform !== 'linux') return;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    if (readHome(pid).startsWith(folder)) kill(Number(pid));
  }
}

function readHome(pid) {
  return attempt(() => readFileSync(`/proc/${pid}/environ`, 'utf8').match(/(?:^|\0)HOME=([^\0]*)/)?.[1]) ?? '';
}

/** @param {number} pid A negative one stands for a group. */
export function kill(pid) {
  attempt(() => process.kill(pid, 'SIGKILL'));
}

/** A process may end at any moment, and others are none of our business. */
function attempt(action) {
  try {
    return action();
  } catch (error) {
    if (!['ENOENT', 'EACCES', 'EPERM', 'ESRCH'].includes(error.code)) throw error;
    return undefined;
  }
}
