import { closeSync, openSync, readSync } from 'node:fs';
import { hasErrno } from '../errors.ts';

/** A process that this one descends from. */
export interface Ancestor {
  pid: number;
  /** As the kernel knows it, at most 15 characters. */
  name: string;
  /** When it started, in the unit of the kernel. */
  start: string;
  /** The leader of its session, in the kernel's sense: mostly the shell of a terminal. */
  leader: number;
  /** The number of its terminal; 0 where it has none. */
  tty: number;
}

const MOST = 16;

/** From the parent upwards, as far as is wanted. Empty where the system does not tell. */
export function listAncestors(isLast: (ancestor: Ancestor) => boolean = () => false): Ancestor[] {
  if (process.platform !== 'linux') return [];
  const ancestors: Ancestor[] = [];
  for (let pid = process.ppid; pid > 1 && ancestors.length < MOST; ) {
    const entry = readProcess(pid);
    if (entry === null) break;
    ancestors.push(entry.ancestor);
    if (isLast(entry.ancestor)) break;
    pid = entry.parent;
  }
  return ancestors;
}

/** When a process started; null when it is over or cannot be seen. */
export function readStart(pid: number): string | null {
  return readProcess(pid)?.ancestor.start ?? null;
}

function readProcess(pid: number): { ancestor: Ancestor; parent: number } | null {
  const line = readStat(pid);
  if (line === null) return null;
  const open = line.indexOf('(');
  const close = line.lastIndexOf(')');
  const fields = line.slice(close + 2).split(' ');
  const [parent, leader, tty] = [fields[1], fields[3], fields[4]].map(Number);
  const start = fields[19];
  if (fields[0] === 'Z' || fields[0] === 'X') return null;
  if (parent === undefined || leader === undefined || tty === undefined || start === undefined) return null;
  return { ancestor: { pid, name: line.slice(open + 1, close), start, leader, tty }, parent };
}

const STAT = Buffer.alloc(1024);

/** One read: the kernel hands the line out whole. */
function readStat(pid: number): string | null {
  try {
    const fd = openSync(`/proc/${pid}/stat`, 'r');
    try {
      return STAT.toString('latin1', 0, readSync(fd, STAT));
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'ENOTDIR')) return null;
    throw error;
  }
}
