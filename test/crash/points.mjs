import { join } from 'node:path';
import { configOf } from './sandbox.mjs';

/** @typedef {import('./sandbox.mjs').Box} Box */

/**
 * A moment of a command at which a fault can be put: the `nth` call of `syscall` in the main thread.
 * @typedef {object} Point
 * @property {string} syscall
 * @property {number} nth
 * @property {string} line As strace printed it.
 * @property {string} likeness The same in every run of the command: what is done to which file.
 * @property {number} round Counts the calls of one likeness, from 1.
 * @property {'store' | 'answer'} target A file of the store, or the answer on standard output.
 */

const CALL = /^(\w+)\((.*)/s;

/**
 * The calls that touch the store, or that answer. What is opened only to be read counts too: a command may be killed
 * there as well.
 * @param {readonly string[]} lines
 * @param {Box} box
 * @returns {Point[]}
 */
export function findPoints(lines, box) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  const count = (/** @type {string} */ key) => {
    const next = (counts.get(key) ?? 0) + 1;
    counts.set(key, next);
    return next;
  };
  /** @type {Point[]} */
  const points = [];
  for (const line of lines) {
    const syscall = CALL.exec(line)?.[1];
    if (syscall === undefined) continue;
    const nth = count(syscall);
    const target = findTarget(line, box);
    if (target === null) continue;
    const likeness = describeLikeness(line, box);
    points.push({ syscall, nth, line, likeness, round: count(likeness), target });
  }
  return points;
}

/**
 * @param {string} line
 * @param {Box} box
 * @returns {Point['target'] | null}
 */
function findTarget(line, box) {
  if (line.startsWith('write(1<')) return 'answer';
  return findPaths(line).some((path) => isOfStore(path, box)) ? 'store' : null;
}

/**
 * The folder that holds the store counts too, as the store's own name is kept there, and so do files of the project, the
 * settings of an agent, keys and the trust list.
 * @param {string} path
 * @param {Box} box
 */
function isOfStore(path, box) {
  const tops = [box.store, join(box.folder, 'project'), join(box.folder, '.claude'), configOf(box)];
  return (
    path === box.folder ||
    tops.slice(0, 2).includes(path) ||
    tops.some((folder) => path.startsWith(`${folder}/`) && !path.endsWith('/config.toml'))
  );
}

/**
 * Paths that a call names: quoted ones, and those that strace shows for descriptors. Written data is left out.
 * @param {string} line
 */
function findPaths(line) {
  const call = line.replace(/AT_FDCWD<[^>]*>/g, '');
  const descriptor = /^(?:p?write(?:64|v)?)\(\d+<([^>]*)>/.exec(call);
  if (descriptor !== null) return [descriptor[1] ?? ''];
  return [...call.matchAll(/"([^"]*)"|\d+<([^>]*)>/g)].map(([, quoted, open]) => quoted ?? open ?? '');
}

/**
 * @param {string} line
 * @param {Box} box
 */
function describeLikeness(line, box) {
  const syscall = CALL.exec(line)?.[1] ?? '';
  const paths = findPaths(line.replace(/\)\s+= .*$/s, ''));
  return `${syscall} ${paths.map((path) => generalize(path, box)).join(' ')}`;
}

/** @param {string} path @param {Box} box */
function generalize(path, box) {
  if (/^(?:pipe|socket):/.test(path)) return 'pipe';
  return path
    .replace(box.folder, '')
    .replace(/\.(?:[0-9a-v]{8}-)?\d+-\d+\.\d+\.tmp/g, '.TEMP')
    .replace(/[0-9a-f]{64}/g, 'DIGEST')
    .replace(/\d{8}-\d{6}-[0-9a-z]+(?:-[0-9a-f]{32})?/g, 'ID')
    .replace(/\/\.locks\/([a-z]+)\.\d+/g, '/.locks/$1.N')
    .replace(/\/p-[0-9a-z]{16}/g, '/PROJECT')
    .replace(/\d{8}-\d{6}-[0-9a-f]{12}\.md/g, 'DOCUMENT')
    .replace(/(\/ready\/[a-z]+\/\.?)[0-9a-f]{16}/g, '$1KEY')
    .replace(/(\/readings\/\.?)[0-9a-z]{32}/g, '$1NAME')
    .replace(/(\/published\/\.?)[0-9a-z]{16}/g, '$1NAME')
    .replace(/(\/installs\/\.?[a-z-]+-)[0-9a-z]{16}/g, '$1NAME')
    .replace(/\d{4}-\d\d-\d\dT\d+Z/g, 'TIME');
}

const FAILABLE = new Set([
  'write',
  'pwrite64',
  'writev',
  'fsync',
  'fdatasync',
  'rename',
  'renameat',
  'renameat2',
  'link',
  'linkat',
  'unlink',
  'unlinkat',
  'mkdir',
  'mkdirat',
]);

/**
 * Whether an error is to be tried here: at calls that change the store, not at those that only read it.
 * @param {Point} point
 */
export function canFail({ syscall, line, target }) {
  if (target !== 'store') return false;
  return FAILABLE.has(syscall) || (syscall === 'openat' && line.includes('O_CREAT'));
}
