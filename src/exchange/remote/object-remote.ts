import { catchAsync, hasCode } from '../../errors.ts';
import { sha256Hex } from '../../model/hash.ts';
import type { BlobStore } from './blobs.ts';
import { isLogName, MAX_BODY_BYTES, nameLog, PAGE_LIMITS } from './page.ts';
import type { Register } from './register.ts';
import type { LogHead, LogName, Remote, StoredPage } from './remote.ts';

/*
 * heads/<writer>/<project>/<number>-<digest>   which page is the newest, so that nobody has to list the pages
 * pages/<writer>/<project>/<number>
 * bodies/<project>/<name>
 *
 * A page's head is created before the page, and the previous head is removed afterwards. So a single head is right; where there
 * are several, the reader looks at the pages themselves and removes the outdated heads.
 */

const HEADS = 'heads/';
const HEAD = /^heads\/([0-9a-f]{32})\/(p-[0-9a-z]{16})\/([1-9]\d{0,14})-([0-9a-f]{64})$/;
const MAX_LOGS = 1_000_000;
/** How many heads of one log are looked at, against somebody who makes us read for ever. */
const HEADS_READ = 8;
/** How many missing pages are skipped. */
const GAP = 100;
const AT_ONCE = 8;

interface Head {
  number: number;
  digest: string;
}

/** A remote made of blobs that are created once. `openRegister` needs a place where of many creators exactly one wins. */
export function openObjectRemote(blobs: BlobStore, openRegister: () => Register | { why: string }): Remote {
  const known = new Map<string, Head>();

  const findNewest = async (log: LogName, heads: readonly Head[]): Promise<Head | null> => {
    const [first, ...others] = heads;
    if (first !== undefined && others.length === 0) return first;
    for (const number of new Set(heads.slice(0, HEADS_READ).map((head) => head.number))) {
      const bytes = await readLimited(blobs, pathOfPage(log, number), PAGE_LIMITS.bytes);
      if (bytes === null) continue;
      const newest = { number, digest: sha256Hex(bytes) };
      const behind = heads.filter((head) => head.number < number || (head.number === number && !isSame(head, newest)));
      await blobs.remove(behind.map((head) => pathOfHead(log, head)));
      return newest;
    }
    return null;
  };

  const listLogs = async (): Promise<LogHead[]> => {
    const logs = new Map<string, LogName & { heads: Head[] }>();
    for (const path of await blobs.list(HEADS, MAX_LOGS)) {
      const [, writer = '', project = '', number = '', digest = ''] = HEAD.exec(path) ?? [];
      if (!isLogName({ writer, project })) continue;
      const name = nameLog({ writer, project });
      const log = logs.get(name) ?? { writer, project, heads: [] };
      log.heads.push({ number: Number(number), digest });
      logs.set(name, log);
    }
    const found: LogHead[] = [];
    known.clear();
    for (const [name, { heads, ...log }] of logs) {
      heads.sort((a, b) => b.number - a.number);
      const newest = await findNewest(log, heads);
      if (newest === null) continue;
      known.set(name, newest);
      found.push({ ...log, newest: newest.number, digest: newest.digest });
    }
    return found;
  };

  const readPages: Remote['readPages'] = async (log, { after, limit }) => {
    const pages: StoredPage[] = [];
    const newest = known.get(nameLog(log))?.number ?? 0;
    let missing = 0;
    for (let number = after + 1; pages.length < limit && missing <= GAP; number++) {
      const bytes = await readLimited(blobs, pathOfPage(log, number), PAGE_LIMITS.bytes);
      if (bytes !== null) pages.push({ number, bytes });
      else if (number >= newest) break;
      else missing++;
    }
    return pages;
  };

  return {
    address: blobs.address,
    listLogs,
    readPages,
    appendPage: async (log, { number, bytes }) => {
      const name = nameLog(log);
      const head = { number, digest: sha256Hex(bytes) };
      const before = known.get(name);
      await blobs.create(pathOfHead(log, head), Buffer.from('\n'));
      if (!(await blobs.create(pathOfPage(log, number), bytes))) return false;
      if (before !== undefined && before.number < number) await blobs.remove([pathOfHead(log, before)]);
      known.set(name, head);
      return true;
    },
    writeBodies: async (bodies) =>
      await blobs.createAll(bodies.map(({ project, name, bytes }) => ({ path: pathOfBody(project, name), bytes }))),
    async *readBodies(project, names) {
      for (let from = 0; from < names.length; from += AT_ONCE) {
        const some = names.slice(from, from + AT_ONCE);
        const read = some.map(async (name) => await readLimited(blobs, pathOfBody(project, name), MAX_BODY_BYTES));
        for (const [at, bytes] of (await Promise.all(read)).entries())
          if (bytes !== null) yield { name: some[at] ?? '', bytes };
      }
    },
    deleteBodies: async (project, names) => await blobs.remove(names.map((name) => pathOfBody(project, name))),
    openRegister,
    check: async () => await blobs.check(),
    close: async () => await blobs.close(),
  };
}

/** Empty for what is too large, or no file: it counts as damaged, and must not block the others. */
async function readLimited(blobs: BlobStore, path: string, maxBytes: number): Promise<Buffer | null> {
  const isUnusable = (error: unknown): boolean =>
    hasCode(error, 'HANDOVER_TEXT_TOO_LARGE') || hasCode(error, 'HANDOVER_PATH_UNSAFE');
  return await catchAsync(isUnusable, Buffer.of(), () => blobs.read(path, maxBytes));
}

function isSame(a: Head, b: Head): boolean {
  return a.number === b.number && a.digest === b.digest;
}

function pathOfHead(log: LogName, { number, digest }: Head): string {
  return `${HEADS}${nameLog(log)}/${number}-${digest}`;
}

function pathOfPage(log: LogName, number: number): string {
  return `pages/${nameLog(log)}/${number}`;
}

function pathOfBody(project: string, name: string): string {
  return `bodies/${project}/${name}`;
}
