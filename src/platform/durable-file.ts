import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { attempt, catchErrno, catchIf, HandoverError, hasErrno, isErrno } from '../errors.ts';
import { sleep } from './machine.ts';
import { describeSelf, formatIdentity, isAlive, parseIdentity } from './process-identity.ts';

const PRIVATE_FILE = 0o600;
const USUAL_FILE = 0o666;
/** Absent on Windows, where creating links needs a privilege. */
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const NO_BLOCK = constants.O_NONBLOCK ?? 0;

let tempCounter = 0;

/** Mode and owner of a new file; 'usual' leaves the mode to the umask. */
interface FileAccess {
  mode: number | 'usual';
  owner?: { uid: number; gid: number };
}
const PRIVATE: FileAccess = { mode: PRIVATE_FILE };

/**
 * Replaces a file: the path holds the old content or the new one at every instant, also after power loss, and the
 * new one once this returns. Costs two fsyncs; the file becomes a new inode, with mode 0600 by default.
 */
export function writeFileDurably(path: string, data: string | Uint8Array, access: FileAccess = PRIVATE): void {
  const temp = writeTemp(path, data, access);
  discardOnFailure(temp, () => renameWithRetry(temp, path));
  syncFolder(dirname(path));
}

/** Runs work while no other process runs work of the same kind. */
type TakeTurns = <T>(work: () => T) => T;

/**
 * Creates a file that must not exist: false when it does, and then nothing was changed. The name appears with the
 * whole content or not at all, and is durable once this returns true. Only a file system without hard links needs
 * `takeTurns`, as nothing else there keeps two creators of one name apart.
 */
export function createFileDurably(
  path: string,
  data: string | Uint8Array,
  { takeTurns = (work) => work(), mode = PRIVATE_FILE }: { takeTurns?: TakeTurns; mode?: FileAccess['mode'] } = {},
): boolean {
  const temp = writeTemp(path, data, { mode });
  const created = discardOnFailure(temp, () => linkExclusively(temp, path, takeTurns));
  discard(temp);
  if (created) discardOnFailure(path, () => syncFolder(dirname(path)));
  return created;
}

/** One write, so that lines of concurrent writers never mix. Closes a torn last line, which would swallow this one. */
export function appendLineDurably(path: string, line: string): void {
  const flags = constants.O_RDWR | constants.O_APPEND;
  const existing = catchErrno(['ENOENT'], null, () => openNoFollow(path, flags));
  useFile(existing ?? openNoFollow(path, flags | constants.O_CREAT), (fd) => {
    if (existing === null) fchmodSync(fd, PRIVATE_FILE);
    const size = regularSize(fd, path);
    const isClosed = size === 0 || readAt(fd, size - 1, 1)[0] === 0x0a;
    const bytes = Buffer.from(`${isClosed ? '' : '\n'}${line}\n`);
    const written = writeSync(fd, bytes);
    if (written !== bytes.length) throw shortWriteError(path, written, bytes.length);
    fsyncSync(fd);
  });
  if (existing === null) syncFolder(dirname(path));
}

/** Puts other bytes in the place of as many. What others append meanwhile stays. */
export function overwriteDurably(path: string, parts: Iterable<{ at: number; bytes: Uint8Array }>): void {
  withRegularFile(path, constants.O_RDWR, (fd) => {
    for (const { at, bytes } of parts) {
      const written = writeSync(fd, bytes, 0, bytes.length, at);
      if (written !== bytes.length) throw shortWriteError(path, written, bytes.length);
    }
    fsyncSync(fd);
  });
}

/** Reads a whole regular file: a link, a pipe or a device is refused, and never waited for. */
export function readRegularFile(path: string, maxBytes: number): Buffer {
  return withRegularFile(path, constants.O_RDONLY, (fd, size) => {
    if (size > maxBytes)
      throw new HandoverError('HANDOVER_TEXT_TOO_LARGE', `${path} is larger than ${maxBytes} bytes`, {
        hint: 'Move it away, or split it.',
      });
    return readAt(fd, 0, size);
  });
}

/** The content of a regular file from this byte on. */
export function readFileFrom(path: string, offset: number): Buffer {
  return withRegularFile(path, constants.O_RDONLY, (fd, size) => readAt(fd, offset, Math.max(0, size - offset)));
}

/** The last `maxBytes` of a regular file, or all of it. */
export function readFileTail(path: string, maxBytes: number): Buffer {
  return withRegularFile(path, constants.O_RDONLY, (fd, size) => {
    const length = Math.min(size, maxBytes);
    return readAt(fd, size - length, length);
  });
}

function withRegularFile<T>(path: string, flags: number, work: (fd: number, size: number) => T): T {
  const fd = openNoFollow(path, flags);
  return useFile(fd, () => work(fd, regularSize(fd, path)));
}

/** Closes an open file after the work. */
export function useFile<T>(fd: number, work: (fd: number) => T): T {
  try {
    return work(fd);
  } finally {
    closeSync(fd);
  }
}

/** False when there was no such file. */
export function removeFile(path: string): boolean {
  return attempt(() => unlinkSync(path), 'ENOENT');
}

/** Moves a file within one file system and makes both folders durable. The rename is the commit point. */
export function moveFileDurably(from: string, to: string): void {
  renameWithRetry(from, to);
  syncFolder(dirname(to));
  syncFolder(dirname(from));
}

export function syncFile(path: string): void {
  withRegularFile(path, constants.O_RDWR, fsyncSync);
}

/** The size of a regular file, or null when there is none; anything else in its place is refused. */
export function measureRegularFile(path: string): number | null {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  if (!stat.isFile()) throw notRegularError(path);
  return stat.size;
}

/** Whether others may read or write a file. Windows has no such modes. */
export function isOpenToOthers(path: string): boolean {
  return process.platform !== 'win32' && (lstatSync(path).mode & 0o077) !== 0;
}

/** Differs when size or time of a file does; null when there is no regular file. */
export function describeFileState(path: string): string | null {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stat?.isFile() === true ? `${stat.size}:${stat.mtimeNs}` : null;
}

/** Differs when another file is put in its place; null when there is none. */
export function identifyFile(path: string): string | null {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.dev}:${stat.ino}:${stat.birthtimeNs}`;
}

export function syncFolder(path: string): void {
  // Windows has no way to flush a folder; its file systems journal names on their own.
  if (process.platform === 'win32') return;
  useFile(openSync(path, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0)), fsyncSync);
}

/** Creates an empty private file if there is none, whatever the umask. */
export function ensurePrivateFile(path: string): void {
  withRegularFile(path, constants.O_RDWR | constants.O_CREAT, (fd) => fchmodSync(fd, PRIVATE_FILE));
}

/** The last is what SQLite has beside a database. */
const TEMP_NAME = /^\..+\.([^.]+)\.\d+\.tmp(?:-(?:journal|wal|shm))?$/;

export function isTempName(name: string): boolean {
  return TEMP_NAME.test(name);
}

/** Whether the name contains the identity of a process, as only ours do. */
export function isOwnTempName(name: string): boolean {
  const [, identity] = TEMP_NAME.exec(name) ?? [];
  return identity !== undefined && parseIdentity(identity) !== null;
}

const FORGOTTEN_AFTER_MS = 60 * 60 * 1000;

/** Whether a temp file's writer is gone. One that cannot be seen from here is given an hour. */
export function isAbandonedTemp(path: string): boolean {
  const identity = parseIdentity(TEMP_NAME.exec(basename(path))?.[1] ?? '');
  const liveness = identity === null ? 'unknown' : isAlive(identity);
  if (liveness !== 'unknown') return liveness === 'dead';
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat !== undefined && Date.now() - stat.mtimeMs > FORGOTTEN_AFTER_MS;
}

/** A name beside `path` that no other process uses and that contains this one's identity, for `isAbandonedTemp`. */
export function makeTempPath(path: string): string {
  return join(dirname(path), `.${basename(path)}.${formatIdentity(describeSelf())}.${tempCounter++}.tmp`);
}

/** As `makeTempPath`, without the identity, which takes time to find out. */
export function makeQuickTempPath(path: string): string {
  return join(dirname(path), `.${basename(path)}.${process.pid}-${process.hrtime.bigint()}.0.tmp`);
}

function writeTemp(path: string, data: string | Uint8Array, { mode, owner }: FileAccess): string {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  const temp = makeTempPath(path);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW;
  const fd = openSync(temp, flags, mode === 'usual' ? USUAL_FILE : PRIVATE_FILE);
  const fill = (): void => {
    const { uid, gid } = fstatSync(fd);
    // Changing the owner can take bits off the mode, so the mode comes last.
    if (owner !== undefined && (uid !== owner.uid || gid !== owner.gid)) fchownSync(fd, owner.uid, owner.gid);
    if (mode !== 'usual') fchmodSync(fd, mode);
    writeAll(fd, bytes);
    const { size } = fstatSync(fd);
    if (size !== bytes.length) throw shortWriteError(path, size, bytes.length);
    fsyncSync(fd);
  };
  discardOnFailure(temp, () => useFile(fd, fill));
  return temp;
}

/** `writeSync` may stop short without an error, as on a disk that fills up; the next call then says why. */
function writeAll(fd: number, bytes: Uint8Array): void {
  let offset = 0;
  while (offset < bytes.length) {
    const written = writeSync(fd, bytes, offset);
    if (written === 0) throw new HandoverError('HANDOVER_IO', 'a write to the disk wrote nothing');
    offset += written;
  }
}

/** Fewer bytes than `length` only if the file ends before. */
function readAt(fd: number, offset: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  let done = 0;
  while (done < length) {
    const read = readSync(fd, buffer, done, length - done, offset + done);
    if (read === 0) break;
    done += read;
  }
  return buffer.subarray(0, done);
}

/** Removes a file that was just written where the work that it was for fails. */
export function discardOnFailure<T>(temp: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    discard(temp);
    throw error;
  }
}

/** A failure to clean up must not hide its cause: a temp file that stays is removed later as abandoned. */
function discard(temp: string): void {
  catchIf(isErrno, undefined, () => removeFile(temp));
}

const NO_HARD_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

/** Whether files can be created exclusively in a folder, whoever creates them on which machine. */
export function hasHardLinks(folder: string): boolean {
  const temp = writeTemp(join(folder, 'link'), '', PRIVATE);
  const other = makeTempPath(join(folder, 'link'));
  try {
    return attempt(() => linkSync(temp, other), ...NO_HARD_LINKS);
  } finally {
    discard(temp);
    discard(other);
  }
}

function linkExclusively(temp: string, path: string, takeTurns: TakeTurns): boolean {
  try {
    linkSync(temp, path);
    return true;
  } catch (error) {
    if (hasErrno(error, 'EEXIST')) return false;
    if (!hasErrno(error, ...NO_HARD_LINKS)) throw error;
  }
  // Reserving the name with an empty file would show readers a damaged one, and leave it to them after a crash.
  return takeTurns(() => {
    const isFree = lstatSync(path, { throwIfNoEntry: false }) === undefined;
    if (isFree) renameWithRetry(temp, path);
    return isFree;
  });
}

/** On Windows a rename fails while a scanner or indexer briefly holds the file open. */
function renameWithRetry(from: string, to: string): void {
  for (let attempt = 1; ; attempt++) {
    try {
      renameSync(from, to);
      return;
    } catch (error) {
      const passing = process.platform === 'win32' && hasErrno(error, 'EPERM', 'EBUSY', 'EACCES');
      if (!passing || attempt === 10) throw error;
      sleep(attempt * 10);
    }
  }
}

function openNoFollow(path: string, flags: number): number {
  try {
    return openSync(path, flags | NO_FOLLOW | NO_BLOCK, PRIVATE_FILE);
  } catch (error) {
    if (hasErrno(error, 'ELOOP', 'EMLINK', 'ENXIO')) throw notRegularError(path, error);
    throw error;
  }
}

function regularSize(fd: number, path: string): number {
  const stat = fstatSync(fd);
  if (!stat.isFile()) throw notRegularError(path);
  return stat.size;
}

function notRegularError(path: string, cause?: unknown): HandoverError {
  return new HandoverError('HANDOVER_PATH_UNSAFE', `${path} is not a regular file`, {
    hint: 'A link, pipe or device is in the place of a file. Name another, or move it away; in the store, run then: handover doctor',
    cause,
  });
}

function shortWriteError(path: string, written: number, wanted: number): HandoverError {
  return new HandoverError('HANDOVER_DISK_FULL', `only ${written} of ${wanted} bytes of ${path} were written`, {
    hint: 'Free some space on that disk and try again; what was there before is unchanged.',
  });
}
