import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { attempt, catchErrno, HandoverError, hasErrno } from '../errors.ts';
import { discardOnFailure, removeFile } from './durable-file.ts';
import { formatClaim, parseClaim, readClaimFile, SAFE_OPEN, UNFINISHED_MS } from './lock-claim.ts';
import { type Clock, readTimer, sleep } from './machine.ts';
import { describeSelf, formatIdentity, isAlive, type ProcessIdentity, parseIdentity } from './process-identity.ts';

/*
 * A lock made of plain files that dies with its holder.
 *
 * A claim is a file `<name>.<generation>` that says which process made it and whether it is held or released.
 *
 * Never two holders:
 *  1. A process enters only if it first finished its own claim, then listed the folder, found its claim to be the
 *     highest and no other one held by a live process, and last saw its own claim still standing.
 *  2. Nobody but its owner removes or changes a held claim of a live process: only the one process inside removes
 *     claims of others, and only those it judged to be released, dead or damaged while its own claim stood.
 *  Suppose two are inside. Both claims were there from the moment the later one was finished, and a listing returns
 *  every entry that is there throughout, so the owner of the later claim saw the other one: the lower claim withdraws
 *  and the higher one waits, so that one of the two did not enter. This needs neither an atomic listing nor numbers
 *  that only grow. It does need a folder in which all see a finished change at once, which a network file system
 *  with a cache of its own does not promise.
 *
 * The limits of "live": a process that cannot be seen from here counts as dead once its claim is `staleMs` old.
 */

export interface LockOptions {
  /** Used for locks only. Created for this user alone when it is missing. */
  folder: string;
  name: string;
  /** How long to wait for another holder, in real time. With 0 the lock is tried once. */
  waitMs: number;
  /** Dates the claims and judges their age. */
  clock: Clock;
  /** How long to believe in a holder on another machine or in another container. It must exceed any real hold. */
  staleMs?: number;
}

export interface Lock {
  /** Claims that could not be parsed. They have been removed. */
  readonly damaged: readonly string[];
  /** Does nothing when called again. */
  release(): void;
  /** The same, and leaves no file of the lock. */
  discard(): void;
}

interface Site extends Required<Omit<LockOptions, 'waitMs'>> {
  self: string;
}

/** A generation file as it is now. Only a held one keeps others out. */
interface Claim {
  file: string;
  status: 'held' | 'released' | 'dead' | 'damaged' | 'gone';
  holder: ProcessIdentity | null;
}

interface OwnClaim {
  generation: number;
  file: string;
  line: string;
}

const NAME = /^[a-z][a-z0-9-]{0,31}$/;
const GENERATION = /^[1-9]\d{0,14}$/;
const MAX_GENERATION = 999_999_999_999_999;
const DEFAULT_STALE_MS = 10 * 60 * 1000;
const NO_HARD_LINKS = ['EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EISDIR'];
const OPEN_ELSEWHERE = ['EPERM', 'EACCES', 'EBUSY'];

let tempCounter = 0;

/** Runs `work` while holding the lock. `work` must be synchronous: the lock is released when it returns. */
export function withLock<T>(options: LockOptions, work: () => T): T {
  const lock = acquireLock(options);
  try {
    return work();
  } finally {
    lock.release();
  }
}

/** Blocks this thread until the lock is held or `waitMs` have passed (HANDOVER_LOCKED). Not reentrant. */
export function acquireLock(options: LockOptions): Lock {
  const site = openSite(options);
  const pause = startPauses(options.waitMs);
  for (;;) {
    const top = listGenerations(site).at(-1) ?? 0;
    const claim = top === 0 ? null : judgeClaim(site, top);
    if (claim === null || (claim.status !== 'held' && claim.status !== 'gone')) {
      const own = raiseClaim(site, top + 1);
      const passed = own === null ? null : confirmClaim(site, own, pause);
      if (own !== null && passed !== null) return holdLock(site, own, passed);
    }
    if (!pause()) throw lockedError(site, claim?.status === 'held' ? claim : { file: claimPath(site, top + 1) });
  }
}

function openSite({ folder, name, clock, staleMs = DEFAULT_STALE_MS }: LockOptions): Site {
  if (!NAME.test(name)) throw new RangeError(`not a lock name: ${JSON.stringify(name)}`);
  if (mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined) chmodSync(folder, 0o700);
  return { folder, name, clock, staleMs, self: formatIdentity(describeSelf()) };
}

function listGenerations(site: Site): number[] {
  const prefix = `${site.name}.`;
  return readdirSync(site.folder)
    .filter((entry) => entry.startsWith(prefix) && GENERATION.test(entry.slice(prefix.length)))
    .map((entry) => Number(entry.slice(prefix.length)))
    .sort((a, b) => a - b);
}

/** Puts a finished claim of this process at `generation`; null when that generation is taken. */
function raiseClaim(site: Site, generation: number): OwnClaim | null {
  const file = claimPath(site, generation);
  if (generation > MAX_GENERATION)
    throw new HandoverError('HANDOVER_STORE_DAMAGED', `the lock "${site.name}" has run out of numbers`, {
      hint: `Remove ${claimPath(site, generation - 1)} while no handover command runs.`,
    });
  const line = describeOwn(site, 'held');
  const temp = writeTemp(site, line);
  try {
    linkSync(temp, file);
  } catch (error) {
    if (hasErrno(error, 'EEXIST')) return null;
    if (!hasErrno(error, ...NO_HARD_LINKS)) throw error;
    if (!createInPlace(file, line)) return null;
  } finally {
    removeFile(temp);
  }
  return { generation, file, line };
}

/** Without hard links a claim is empty for a moment; `judgeClaim` allows for that. */
function createInPlace(file: string, line: string): boolean {
  return attempt(() => writeNew(file, line), 'EEXIST');
}

/** The claims that the holder may now remove; null when this process has to try again. */
function confirmClaim(site: Site, own: OwnClaim, pause: () => boolean): Claim[] | null {
  try {
    for (;;) {
      const generations = listGenerations(site);
      if (generations.at(-1) !== own.generation) {
        if (isStillOwn(own)) retryWhileOpen(() => removeFile(own.file));
        return null;
      }
      const others = generations.slice(0, -1).map((generation) => judgeClaim(site, generation));
      const rival = others.find((claim) => claim.status === 'held');
      if (rival === undefined) return isStillOwn(own) ? others : null;
      if (!pause()) throw lockedError(site, rival);
    }
  } catch (error) {
    release(site, own);
    throw error;
  }
}

function holdLock(site: Site, own: OwnClaim, passed: readonly Claim[]): Lock {
  let held = true;
  const lock: Lock = {
    damaged: passed.filter((claim) => claim.status === 'damaged').map((claim) => claim.file),
    release() {
      if (!held) return;
      held = false;
      release(site, own);
    },
    discard() {
      if (held && isStillOwn(own)) retryWhileOpen(() => removeFile(own.file));
      held = false;
    },
  };
  try {
    for (const claim of passed) {
      // A generation that was gone may be a new claim by now, and that one belongs to its owner.
      if (claim.status !== 'gone') removeLeftover(claim.file);
    }
    removeDeadTemps(site);
  } catch (error) {
    lock.release();
    throw error;
  }
  return lock;
}

/** Leaves the generation file in place, so that the numbers go on from there. */
function release(site: Site, own: OwnClaim): void {
  try {
    if (!isStillOwn(own)) return;
    const temp = writeTemp(site, describeOwn(site, 'released'));
    discardOnFailure(temp, () => retryWhileOpen(() => renameSync(temp, own.file)));
  } catch (error) {
    // Removing needs neither disk space nor a descriptor.
    if (!hasErrno(error, 'ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE')) throw error;
    removeFile(own.file);
  }
}

/** Lost when judged stale from another machine, filled too slowly without hard links, or removed by hand. */
function isStillOwn(own: OwnClaim): boolean {
  return catchErrno(['ENOENT'], false, () => readClaimFile(own.file).text === own.line);
}

function judgeClaim(site: Site, generation: number): Claim {
  const file = claimPath(site, generation);
  try {
    return { file, ...judgeFile(site, file) };
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return { file, status: 'gone', holder: null };
    // Not ours to read: it may belong to a live process of another user, and is treated like one on another machine.
    if (hasErrno(error, ...OPEN_ELSEWHERE)) return { file, ...judgeUnreadable(site, file, 'dead') };
    if (hasErrno(error, 'ELOOP', 'EMLINK', 'EISDIR', 'ENXIO', 'EIO'))
      return { file, ...judgeUnreadable(site, file, 'damaged') };
    throw error;
  }
}

function judgeFile(site: Site, file: string): Omit<Claim, 'file'> {
  const { text, changedAt } = readClaimFile(file);
  const claim = parseClaim(text);
  if (claim === null) return { status: isUnfinished(site, changedAt) ? 'held' : 'damaged', holder: null };
  const { holder, state, at } = claim;
  if (state === 'released') return { status: 'released', holder };
  const liveness = isAlive(holder);
  const held = liveness === 'alive' || (liveness === 'unknown' && site.clock.now() - at <= site.staleMs);
  return { status: held ? 'held' : 'dead', holder };
}

function judgeUnreadable(site: Site, file: string, otherwise: 'dead' | 'damaged'): Omit<Claim, 'file'> {
  const changedAt = lstatSync(file, { throwIfNoEntry: false })?.mtimeMs;
  if (changedAt === undefined) return { status: 'gone', holder: null };
  const held = otherwise === 'dead' ? site.clock.now() - changedAt <= site.staleMs : isUnfinished(site, changedAt);
  return { status: held ? 'held' : otherwise, holder: null };
}

/** A time in the future counts as old: a wrong clock must not block for ever, and rule 1 does not rest on ages. */
function isUnfinished(site: Site, changedAt: number): boolean {
  return Math.abs(site.clock.now() - changedAt) <= UNFINISHED_MS;
}

function describeOwn(site: Site, state: 'held' | 'released'): string {
  return formatClaim({ holder: site.self, state, at: site.clock.now() });
}

function claimPath(site: Site, generation: number): string {
  return join(site.folder, `${site.name}.${generation}`);
}

function writeTemp(site: Site, line: string): string {
  for (;;) {
    tempCounter += 1;
    const temp = join(site.folder, `.${site.name}.${site.self}.${tempCounter}.tmp`);
    // Another thread of this process counts for itself and may have got to this name first.
    if (createInPlace(temp, line)) return temp;
  }
}

function writeNew(file: string, line: string): void {
  const flags = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | SAFE_OPEN;
  const fd = openSync(file, flags, 0o600);
  try {
    // Against a umask that takes the owner's own rights. File systems without modes refuse, which is harmless.
    attempt(() => fchmodSync(fd, 0o600), 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS');
    writeSync(fd, line);
  } catch (error) {
    removeFile(file);
    throw error;
  } finally {
    closeSync(fd);
  }
}

function removeDeadTemps(site: Site): void {
  const prefix = `.${site.name}.`;
  for (const entry of readdirSync(site.folder)) {
    if (!entry.startsWith(prefix) || !entry.endsWith('.tmp')) continue;
    const identity = parseIdentity(entry.slice(prefix.length).split('.', 1).join(''));
    if (identity === null) continue;
    const file = join(site.folder, entry);
    const liveness = isAlive(identity);
    const ageMs = site.clock.now() - (lstatSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Number.NaN);
    if (liveness === 'dead' || (liveness === 'unknown' && ageMs > site.staleMs)) removeLeftover(file);
  }
}

/** What cannot be removed now blocks nobody, and the next holder tries again. */
function removeLeftover(file: string): void {
  attempt(() => unlinkSync(file), 'ENOENT', ...OPEN_ELSEWHERE, 'EISDIR');
}

/** Windows refuses to replace or remove a file while another process has it open, as readers briefly do. */
function retryWhileOpen(act: () => void): void {
  const pause = startPauses(500);
  for (;;) {
    try {
      act();
      return;
    } catch (error) {
      if (!hasErrno(error, ...OPEN_ELSEWHERE) || !pause()) throw error;
    }
  }
}

/** Each call sleeps before the next try; false when the time, on the monotonic clock, is up. */
function startPauses(waitMs: number): () => boolean {
  const deadline = readTimer() + waitMs;
  let step = 5;
  return () => {
    const left = deadline - readTimer();
    if (left <= 0) return false;
    sleep(Math.min(step, left));
    step = Math.min(step * 1.5, 50);
    return true;
  };
}

function lockedError(site: Site, { file, holder = null }: Partial<Claim> & { file: string }): HandoverError {
  const who = holder === null ? 'another process' : `process ${holder.pid}`;
  const isElsewhere = holder !== null && holder.host !== describeSelf().host;
  const where = isElsewhere ? ' on another machine or in another container' : '';
  return new HandoverError('HANDOVER_LOCKED', `the lock "${site.name}" is held by ${who}${where}`, {
    hint: isElsewhere
      ? `Try again when ${who} is done. If it no longer runs, remove ${file}.`
      : `Try again when ${who} is done, or end it. It holds ${file}.`,
    data: { file, pid: holder?.pid ?? null, holder: holder === null ? null : formatIdentity(holder) },
  });
}
