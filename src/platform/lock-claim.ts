import { constants, fstatSync, lstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { catchError, hasErrno } from '../errors.ts';
import { useFile } from './durable-file.ts';
import { type ProcessIdentity, parseIdentity } from './process-identity.ts';

/** What a claim says: whose it is, whether it is held, and since when. */
interface Claim<Holder> {
  holder: Holder;
  state: 'held' | 'released';
  at: number;
}

/** A claim that makes no sense is given this long, for its writer may be between creating and filling it. */
export const UNFINISHED_MS = 2000;
const MAX_CLAIM_BYTES = 512;
const CLAIM_NAME = /^[a-z][a-z0-9-]{0,31}\.[1-9]\d{0,14}$/;
/** No link is followed and no pipe waited for. Both are absent on Windows. */
export const SAFE_OPEN: number = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** One line, closed by a sum over the rest of it, so that a changed byte never passes for another holder or state. */
export function formatClaim({ holder, state, at }: Claim<string>): string {
  const content = { holder, state, at };
  return `${JSON.stringify({ ...content, sum: computeSum(JSON.stringify(content)) })}\n`;
}

/** Null for every text that `formatClaim` does not give. */
export function parseClaim(text: string): Claim<ProcessIdentity> | null {
  const value = catchError(SyntaxError, undefined, (): unknown => JSON.parse(text));
  if (typeof value !== 'object' || value === null) return null;
  if (!('holder' in value) || !('state' in value) || !('at' in value)) return null;
  const { holder, state, at } = value;
  const identity = typeof holder === 'string' ? parseIdentity(holder) : null;
  if (typeof holder !== 'string' || identity === null) return null;
  if ((state !== 'held' && state !== 'released') || typeof at !== 'number') return null;
  return formatClaim({ holder, state, at }) === text ? { holder: identity, state, at } : null;
}

export function readClaimFile(file: string): { text: string; changedAt: number } {
  return useFile(openSync(file, constants.O_RDONLY | SAFE_OPEN), (fd) => {
    const stats = fstatSync(fd);
    const bytes = Buffer.alloc(MAX_CLAIM_BYTES);
    const length = stats.isFile() ? readSync(fd, bytes, 0, MAX_CLAIM_BYTES, 0) : 0;
    return { text: bytes.toString('utf8', 0, length), changedAt: stats.mtimeMs };
  });
}

/** The claims in a folder of locks that are not what was written. Nothing is changed, and no lock is taken. */
export function inspectClaims(folder: string): { path: string; problem: string }[] {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  const names = readdirSync(folder).filter((name) => CLAIM_NAME.test(name));
  return names.sort().flatMap((name) => {
    const path = join(folder, name);
    const problem = findProblem(path);
    return problem === null ? [] : [{ path, problem }];
  });
}

function findProblem(path: string): string | null {
  try {
    const { text, changedAt } = readClaimFile(path);
    if (parseClaim(text) !== null) return null;
    const unfinished = text === '' && Math.abs(Date.now() - changedAt) <= UNFINISHED_MS;
    return unfinished ? null : 'it is not what its holder wrote';
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return null;
    if (hasErrno(error, 'ELOOP', 'EMLINK', 'EISDIR', 'ENXIO')) return 'it is not a file';
    if (hasErrno(error, 'EACCES', 'EPERM', 'EBUSY', 'EIO')) return 'it cannot be read';
    throw error;
  }
}

/** FNV-1a: a change of one byte always changes it, and it needs no library. */
function computeSum(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
