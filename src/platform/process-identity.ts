import { closeSync, openSync, readFileSync, readlinkSync, readSync } from 'node:fs';
import { hostname } from 'node:os';
import { catchErrno, hasErrno } from '../errors.ts';

/** One run of one process: unlike a pid alone, it is not shared with a later process that got the same pid. */
export interface ProcessIdentity {
  /** Stands for the set of processes that can see each other's pids: one boot and one pid namespace. */
  host: string;
  pid: number;
  /** The kernel's start time of the process, or '0' where the system does not reveal it. */
  start: string;
}

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

/** 'unknown' when this process cannot see that one: another machine, boot or container, or a hidden pid. */
export function isAlive(identity: ProcessIdentity): 'alive' | 'dead' | 'unknown' {
  if (identity.host !== describeSelf().host) return 'unknown';
  if (identity.start === UNKNOWN_START) return probePid(identity.pid);
  try {
    const stat = parseStat(readStat(identity.pid));
    return stat?.start === identity.start && !isEnded(stat.state) ? 'alive' : 'dead';
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ESRCH')) return 'dead';
    if (hasErrno(error, 'EACCES', 'EPERM')) return 'unknown';
    throw error;
  }
}

function probePid(pid: number): 'alive' | 'dead' {
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
  return readUnlessHidden(() => parseStat(readStat('self'))?.start) ?? UNKNOWN_START;
}

function describeHost(): string {
  const readBoot = (): string =>
    `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1')}${readlinkSync('/proc/self/ns/pid')}`;
  const boot = process.platform === 'linux' ? readUnlessHidden(readBoot) : undefined;
  return shortTag(boot ?? hostname());
}

/** Undefined for a process that ended, and where a sandbox leaves out or closes parts of /proc. */
function readUnlessHidden<T>(read: () => T): T | undefined {
  return catchErrno(['ENOENT', 'ENOTDIR', 'ESRCH', 'EACCES', 'EPERM', 'EINVAL', 'ENOSYS'], undefined, read);
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

/** A process that this one descends from. */
export interface Ancestor {
  pid: number;
  /** As the kernel knows it, at most 15 characters. */
  name: string;
  /** The kernel's start time. */
  start: string;
  /** The session leader, usually the shell of a terminal. */
  leader: number;
  /** The number of its terminal; 0 for none. */
  tty: number;
}

const MAX_ANCESTORS = 16;

/** From the parent upwards to the first that `isLast` accepts. Empty on systems other than Linux. */
export function listAncestors(isLast: (ancestor: Ancestor) => boolean = () => false): Ancestor[] {
  if (process.platform !== 'linux') return [];
  const ancestors: Ancestor[] = [];
  for (let pid = process.ppid; pid > 1 && ancestors.length < MAX_ANCESTORS; ) {
    const entry = readProcess(pid);
    if (entry === null) break;
    ancestors.push(entry.ancestor);
    if (isLast(entry.ancestor)) break;
    pid = entry.parent;
  }
  return ancestors;
}

/** When a process started; null when it has ended or cannot be seen. */
export function readStart(pid: number): string | null {
  return readProcess(pid)?.ancestor.start ?? null;
}

function readProcess(pid: number): { ancestor: Ancestor; parent: number } | null {
  const line = readUnlessHidden(() => readStat(pid));
  if (line === undefined) return null;
  const fields = splitStat(line);
  const [parent, leader, tty] = [fields[1], fields[3], fields[4]].map(Number);
  const [state = 'X', start] = [fields[0], fields[19]];
  if (isEnded(state) || parent === undefined || leader === undefined) return null;
  if (tty === undefined || start === undefined) return null;
  const name = line.slice(line.indexOf('(') + 1, line.lastIndexOf(')'));
  return { ancestor: { pid, name, start, leader, tty }, parent };
}

const STAT_BUFFER = Buffer.alloc(1024);

/** The line in /proc/<pid>/stat, by a single read: the kernel returns it whole. */
function readStat(pid: number | 'self'): string {
  const fd = openSync(`/proc/${pid}/stat`, 'r');
  try {
    return STAT_BUFFER.toString('latin1', 0, readSync(fd, STAT_BUFFER));
  } finally {
    closeSync(fd);
  }
}

/** The fields that tell one run from another; null when the line is malformed. */
export function parseStat(line: string): { state: string; start: string } | null {
  const fields = splitStat(line);
  const [state, start] = [fields[0], fields[19]];
  return state === undefined || start === undefined || !/^\d+$/.test(start) ? null : { state, start };
}

/** The fields after the second one, a name that may itself hold spaces and parentheses: the last ')' ends it. */
function splitStat(line: string): string[] {
  return line
    .slice(line.lastIndexOf(')') + 1)
    .trim()
    .split(/\s+/);
}

/** A zombie, or a process just being removed. */
function isEnded(state: string): boolean {
  return state === 'Z' || state === 'X';
}
