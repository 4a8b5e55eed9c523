import { closeSync, openSync, readFileSync, readlinkSync, readSync } from 'node:fs';
import { hostname } from 'node:os';
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
  const line = readStatLine(pid);
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

const STAT_BUFFER = Buffer.alloc(1024);

/** One read: the kernel hands the line out whole. */
function readStatLine(pid: number): string | null {
  try {
    const fd = openSync(`/proc/${pid}/stat`, 'r');
    try {
      return STAT_BUFFER.toString('latin1', 0, readSync(fd, STAT_BUFFER));
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'ENOTDIR')) return null;
    throw error;
  }
}

/** One run of one process: unlike a pid alone, it is not shared with a later process that got the same pid. */
export interface ProcessIdentity {
  /** Stands for the set of processes that can see each other's pids: one boot and one pid namespace. */
  host: string;
  pid: number;
  /** When the process started, in the unit of the kernel, or '0' where the system does not tell. */
  start: string;
}

export type Liveness = 'alive' | 'dead' | 'unknown';

const IDENTITY = /^([0-9a-v]{8})-([1-9]\d{0,9})-(0|[1-9]\d{0,19})$/;
const UNKNOWN_START = '0';

let self: ProcessIdentity | undefined;

export function describeSelf(): ProcessIdentity {
  self ??= { host: describeHost(), pid: process.pid, start: readOwnStart() };
  return self;
}

/** Safe in a file name on every system: only digits, lower case letters and hyphens. */
export function formatIdentity(identity: ProcessIdentity): string {
  return `${identity.host}-${identity.pid}-${identity.start}`;
}

export function parseIdentity(text: string): ProcessIdentity | null {
  const [, host, pid, start] = IDENTITY.exec(text) ?? [];
  if (host === undefined || pid === undefined || start === undefined) return null;
  return { host, pid: Number(pid), start };
}

/** 'unknown' means that this process cannot see that one: another machine, boot or container, or a hidden pid. */
export function isAlive(identity: ProcessIdentity): Liveness {
  if (identity.host !== describeSelf().host) return 'unknown';
  if (identity.start === UNKNOWN_START) return probePid(identity.pid);
  try {
    const stat = readStat(String(identity.pid));
    const running =
      stat !== null && stat.start === identity.start && stat.state !== 'Z' && stat.state !== 'X';
    return running ? 'alive' : 'dead';
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ESRCH')) return 'dead';
    if (hasErrno(error, 'EACCES', 'EPERM')) return 'unknown';
    throw error;
  }
}

/** The fields of /proc/<pid>/stat that tell one run from another; null when the line is not of that form. */
export function parseStat(line: string): { state: string; start: string } | null {
  // The second field is the program's own choice of name and may hold spaces and parentheses: the last ')' ends it.
  const fields = line
    .slice(line.lastIndexOf(')') + 1)
    .trim()
    .split(/\s+/);
  const state = fields[0];
  const start = fields[19];
  if (state === undefined || start === undefined || !/^\d+$/.test(start)) return null;
  return { state, start };
}

function readStat(pid: string): { state: string; start: string } | null {
  return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
}

function probePid(pid: number): Liveness {
  try {
    process.kill(pid, 0);
    return 'alive';
  } catch (error) {
    if (hasErrno(error, 'ESRCH')) return 'dead';
    if (hasErrno(error, 'EPERM', 'EACCES')) return 'alive';
    throw error;
  }
}

function readOwnStart(): string {
  if (process.platform !== 'linux') return UNKNOWN_START;
  return readUnlessHidden(() => readStat('self')?.start) ?? UNKNOWN_START;
}

function describeHost(): string {
  const boot =
    process.platform === 'linux'
      ? readUnlessHidden(
          () =>
            `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1')}${readlinkSync('/proc/self/ns/pid')}`,
        )
      : undefined;
  return shortTag(boot ?? hostname());
}

/** Sandboxes may leave out or close parts of /proc. */
function readUnlessHidden<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EINVAL', 'ENOSYS')) return undefined;
    throw error;
  }
}

/** FNV-1a folded to 40 bits. It only has to tell hosts apart, and node:crypto is slow to load. */
function shortTag(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return BigInt.asUintN(40, hash ^ (hash >> 40n))
    .toString(32)
    .padStart(8, '0');
}
