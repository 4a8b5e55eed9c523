/**
 * A call as a disk sees it. Calls that failed are left out.
 * @typedef {(
 *   | { op: 'open', path: string, fd: number, create: boolean, truncate: boolean, append: boolean }
 *   | { op: 'write', fd: number, data: Buffer }
 *   | { op: 'sync', fd: number }
 *   | { op: 'close', fd: number }
 *   | { op: 'link', from: string, path: string }
 *   | { op: 'rename', from: string, path: string }
 *   | { op: 'unlink', path: string }
 *   | { op: 'mkdir', path: string }
 *   | { op: 'answer' }
 * )} Call
 */

/** Calls that change neither names nor data. */
const OF_NO_MATTER = new Set(['chmod', 'fchmod']);

/** Indexes, prepared briefs, jobs and locks may be left in any state: a save promises the handover and its journal entry. */
const CACHE = /index\.(?:sqlite|sum)|\/(?:locks|ready|readings|spool|log)(?:\/|$)/;

/**
 * Reads what `strace -xx -y` wrote of one thread. A call that would change a disk in a way that is not known here is
 * refused, so that no state is left out in silence.
 * @param {readonly string[]} lines
 * @returns {Call[]}
 */
export function readCalls(lines) {
  return lines.flatMap((line) => {
    const match = /^(\w+)\((.*)\)\s+= (\d+)/s.exec(line);
    if (match === null) return [];
    const [, name = '', args = '', result = ''] = match;
    const call = readCall(name, args, Number(result));
    return call === null ? [] : [call];
  });
}

/**
 * @param {string} name
 * @param {string} args
 * @param {number} result
 * @returns {Call | null}
 */
function readCall(name, args, result) {
  const fd = Number(/^\d+/.exec(args)?.[0]);
  const [first = '', second = ''] = readStrings(args);
  const paths = name.includes('write') ? [readFilePath(args)] : [readFilePath(args), `${first}`, `${second}`];
  if (paths.some((path) => CACHE.test(path))) return null;
  switch (name) {
    case 'openat': {
      const has = (/** @type {string} */ flag) => args.includes(flag);
      const path = first.toString();
      return {
        op: 'open',
        path,
        fd: result,
        create: has('O_CREAT'),
        truncate: has('O_TRUNC'),
        append: has('O_APPEND'),
      };
    }
    case 'write':
      return fd === 1 ? { op: 'answer' } : { op: 'write', fd, data: Buffer.from(first).subarray(0, result) };
    case 'fsync':
    case 'fdatasync':
      return { op: 'sync', fd };
    case 'close':
      return { op: 'close', fd };
    case 'link':
    case 'linkat':
      return { op: 'link', from: first.toString(), path: second.toString() };
    case 'rename':
    case 'renameat':
    case 'renameat2':
      return { op: 'rename', from: first.toString(), path: second.toString() };
    case 'unlink':
    case 'unlinkat':
      return { op: 'unlink', path: first.toString() };
    case 'mkdir':
    case 'mkdirat':
      return { op: 'mkdir', path: first.toString() };
    default:
      if (OF_NO_MATTER.has(name)) return null;
      throw new Error(`the disk model does not know ${name} of ${readFilePath(args)}`);
  }
}

/**
 * The path of the file that a call is given, which `-y` puts behind its descriptor.
 * @param {string} args
 */
function readFilePath(args) {
  const path = /^\d+<([^>]*)>/.exec(args)?.[1] ?? '';
  return path.replace(/\\x([0-9a-f]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** @param {string} args */
function readStrings(args) {
  return [...args.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, hex = '']) =>
    Buffer.from(hex.replaceAll('\\x', ''), 'hex'),
  );
}
