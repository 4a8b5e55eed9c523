import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { catchErrno } from '../errors.ts';
import { isLexicallyInside } from './folders.ts';
import { describeSelf, type ProcessIdentity, readStart } from './process-identity.ts';

/* Running processes and the ports that they listen on, as /proc of Linux shows them. Other systems cannot be asked so cheaply. */

const HIDDEN = ['ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'ENOTDIR'];

/** Null where the system does not reveal it. */
export function isListening(port: number): boolean | null {
  const sockets = readSockets();
  return sockets === null ? null : sockets.some((socket) => socket.port === port);
}

/** The only port that a process, or one that it started, listens on, and which of them does; null for none or several. */
export function findPortOf(pid: number): { port: number; listener: ProcessIdentity | null } | null {
  const portOf = new Map((readSockets() ?? []).map(({ port, inode }) => [inode, port]));
  const held = listFamily(pid).flatMap((one) =>
    listSockets(one).flatMap((inode) => {
      const port = portOf.get(inode);
      return port === undefined ? [] : [{ pid: one, port }];
    }),
  );
  const [first] = held;
  if (first === undefined || held.some(({ port }) => port !== first.port)) return null;
  return { port: first.port, listener: identifyProcess(first.pid) };
}

/** A process and those that it and they started. */
function listFamily(pid: number): number[] {
  const family = [pid];
  for (const one of family) {
    const folder = `/proc/${one}/task`;
    for (const task of catchErrno(HIDDEN, [], () => readdirSync(folder))) {
      const children = catchErrno(HIDDEN, '', () => readFileSync(`${folder}/${task}/children`, 'latin1'));
      family.push(...children.split(' ').filter(Boolean).map(Number));
    }
  }
  return family;
}

/** The process that listens on a port; null where there is none, or it is somebody else's. */
export function findListener(port: number): ProcessIdentity | null {
  const inodes = listInodes(port);
  return inodes.size === 0 ? null : findProcess((pid) => holdsSocket(pid, inodes));
}

/** Who listens on a port: the process, another one, or one of somebody else; null where the system does not reveal it. */
export function findListenerOn(port: number, pid: number): 'it' | 'another' | 'hidden' | 'nobody' | null {
  if (isListening(port) === null) return null;
  const inodes = listInodes(port);
  if (inodes.size === 0) return 'nobody';
  if (holdsSocket(pid, inodes)) return 'it';
  return findProcess((other) => holdsSocket(other, inodes)) === null ? 'hidden' : 'another';
}

/** The sockets that listen on a port. */
function listInodes(port: number): ReadonlySet<string> {
  return new Set((readSockets() ?? []).flatMap((socket) => (socket.port === port ? [socket.inode] : [])));
}

function holdsSocket(pid: number, inodes: ReadonlySet<string>): boolean {
  return listSockets(pid).some((inode) => inodes.has(inode));
}

/**
 * The oldest process that was started with a command, as the words of a line to a shell or as its own arguments, in a folder
 * or below it, since a time: other projects have the same commands, and an agent may be started with the words of one.
 */
export function findRunning(
  command: string,
  { folder, sinceMs }: { folder: string; sinceMs: number },
): ProcessIdentity | null {
  const words = command.replace(/\s+/g, ' ').trim();
  if (words === '') return null;
  const { pid: own } = describeSelf();
  const isHere = (pid: number): boolean =>
    isLexicallyInside(
      catchErrno(HIDDEN, '/', () => readlinkSync(`/proc/${pid}/cwd`)),
      folder,
    );
  const isNew = (pid: number): boolean => (readStartMs(pid) ?? 0) >= sinceMs;
  return findProcess((pid) => pid !== own && readCommand(pid).includes(words) && isHere(pid) && isNew(pid));
}

/** The kernel counts in hundredths of a second to programs, whatever it uses itself. */
const TICK_MS = 10;

/** When a process started, by the wall clock. */
function readStartMs(pid: number): number | null {
  const start = readStart(pid);
  const boot = /^btime (\d+)$/m.exec(catchErrno(HIDDEN, '', () => readFileSync('/proc/stat', 'latin1')))?.[1];
  return start === null || boot === undefined ? null : Number(boot) * 1000 + Number(start) * TICK_MS;
}

/** The processes that were started with a variable of that value, or by one that was. */
export function listMarked(name: string, value: string): number[] {
  const entry = `${name}=${value}`;
  return listPids().filter((pid) =>
    catchErrno(HIDDEN, '', () => readFileSync(`/proc/${pid}/environ`, 'utf8'))
      .split('\0')
      .includes(entry),
  );
}

export function identifyProcess(pid: number): ProcessIdentity | null {
  const start = readStart(pid);
  return start === null ? null : { host: describeSelf().host, pid, start };
}

function findProcess(fits: (pid: number) => boolean): ProcessIdentity | null {
  const found = listPids().find(fits);
  return found === undefined ? null : identifyProcess(found);
}

function listPids(): number[] {
  if (process.platform !== 'linux') return [];
  const names = catchErrno(HIDDEN, [], () => readdirSync('/proc'));
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}

function readCommand(pid: number): string {
  const line = catchErrno(HIDDEN, '', () => readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
  return line.replace(/[\0\s]+/g, ' ');
}

/** The sockets that a process holds, by their inodes. */
function listSockets(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  const names = catchErrno(HIDDEN, [], () => readdirSync(folder));
  const links = names.map((name) => catchErrno(HIDDEN, '', () => readlinkSync(`${folder}/${name}`)));
  return links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []);
}

const LISTENING = '0A';

function readSockets(): { port: number; inode: string }[] | null {
  if (process.platform !== 'linux') return null;
  const tables = ['tcp', 'tcp6'].map((name) =>
    catchErrno(HIDDEN, '', () => readFileSync(`/proc/net/${name}`, 'latin1')),
  );
  if (tables.every((table) => table === '')) return null;
  return tables.flatMap((table) =>
    table.split('\n').flatMap((line) => {
      const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
      return state === LISTENING ? [{ port: Number.parseInt(local.slice(local.lastIndexOf(':') + 1), 16), inode }] : [];
    }),
  );
}
