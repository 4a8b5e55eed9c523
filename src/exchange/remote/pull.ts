import { HandoverError } from '../../errors.ts';
import { compareCodeUnits } from '../../model/hash.ts';
import { countNouns } from '../../model/text.ts';
import { formatTimestamp } from '../../model/time.ts';
import { hasHandover } from '../../store/handovers.ts';
import { fingerprint, formatPublicKey } from '../bundle/minisign.ts';
import { findTrusted } from '../bundle/trust-list.ts';
import { nameLog, parsePage } from './page.ts';
import type { LogHead, LogName, Remote } from './remote.ts';
import type { Missing, Waiting } from './state.ts';
import { nameSigner, storeBodies, storePage } from './store-page.ts';
import type { SyncRun } from './sync-run.ts';

/** How many pages are read at once; each has at most a mebibyte. */
const PAGES_READ = 16;
const MAX_HOLES = 1000;
/** What the next page continues where none before it can be read. */
const NO_PAGE = '0'.repeat(64);

/** Reads this writer's own logs: what is there need not be sent, and what is missing here comes back. Does not save the state. */
export async function pullOwn(run: SyncRun, heads: readonly LogHead[]): Promise<void> {
  const own = heads.filter(({ writer }) => writer === run.writer);
  const known = [...run.state.logs.values()].filter(({ writer }) => writer === run.writer);
  const isThere = (log: LogName): boolean => own.some(({ project }) => project === log.project);
  const isBehind = known.some((cursor) => !isThere(cursor)) || own.some((head) => isRewound(run, head));
  if (isBehind) {
    noteRewound(run, 'what this store wrote there is compared, and what is missing is written again');
    run.startOver();
  }
  for (const head of own) await pullLog(run, head);
}

/** Reads the logs of all other writers whose keys are trusted. */
export async function pullOthers(run: SyncRun, heads: readonly LogHead[]): Promise<void> {
  const strangers = new Map<string, LogHead[]>();
  const sorted = [...heads].sort((a, b) => compareCodeUnits(nameLog(a), nameLog(b)));
  for (const head of sorted.filter(({ writer }) => writer !== run.writer)) {
    const { writer } = head;
    if (run.trusted.get(writer)?.state === 'trusted') await pullLog(run, head);
    else strangers.set(writer, [...(strangers.get(writer) ?? []), head]);
  }
  await noteStrangers(run, strangers);
  await lookAgain(run);
}

function isRewound(run: SyncRun, head: LogHead): boolean {
  const { number, digest } = run.findCursor(head);
  if (head.newest !== number) return head.newest < number;
  // The digest of the cursor is that of the last page that could be read.
  return (head.digest ?? digest) !== digest && !isHole(run, head, number);
}

function noteRewound(run: SyncRun, what: string): void {
  run.report.isRewound = true;
  run.state.rewound = formatTimestamp(run.options.store.machine.clock.now());
  run.note(`the remote is behind what it had shown before (an old backup?): ${what}`);
}

async function pullLog(run: SyncRun, head: LogHead): Promise<void> {
  const isOwn = head.writer === run.writer;
  if (!isOwn && isRewound(run, head)) {
    noteRewound(run, 'what others wrote is read again');
    run.moveCursor(head, { number: 0, digest: '' });
  }
  if (run.findCursor(head).number === head.newest) return;
  // A log that was rewritten is read from its beginning, once.
  if (!(await pullPages(run, head, { canRestart: true }))) {
    if (isOwn) run.startOver();
    run.moveCursor(head, { number: 0, digest: '' });
    await pullPages(run, head, { canRestart: false });
  }
  const { number } = run.findCursor(head);
  const last = Math.min(head.newest, number + MAX_HOLES);
  for (let missing = number + 1; missing <= last; missing++)
    noteHole(run, head, missing, `page ${missing} of ${nameOf(run, head)} is not there`);
}

/** False when the pages after the cursor do not continue it. */
export async function pullPages(run: SyncRun, log: LogName, { canRestart }: { canRestart: boolean }): Promise<boolean> {
  const { remote, onProgress } = run.options;
  for (;;) {
    const after = run.findCursor(log);
    const pages = await remote.readPages(log, { after: after.number, limit: PAGES_READ });
    for (const { number, bytes } of pages) {
      const cursor = run.findCursor(log);
      if (number <= cursor.number) continue;
      const page = parsePage(bytes, { ...log, number });
      if ('wrong' in page) {
        noteHole(run, log, number, `page ${number} of ${nameOf(run, log)} is damaged or forged: ${page.wrong}`);
        run.moveCursor(log, { number, digest: cursor.digest || NO_PAGE });
        continue;
      }
      if (page.previous !== (cursor.number === 0 ? null : cursor.digest)) {
        if (canRestart && cursor.number > 0) return false;
        const gap = `pages of ${nameSigner(run, page)} are missing before page ${number}`;
        run.note(gap);
        const first = Math.max(cursor.number + 1, number - MAX_HOLES);
        for (let missing = first; missing < number; missing++) noteHole(run, log, missing, gap);
      }
      await storePage(run, page);
      run.moveCursor(log, page);
      if (log.writer !== run.writer) run.save();
      onProgress?.(number);
    }
    if (pages.length === 0) return true;
    if (run.findCursor(log).number === after.number) throw stuckError(remote.address);
  }
}

/** The signer of a log whose page cannot be read; by the start of the fingerprint if the trust list has no name. */
function nameOf(run: SyncRun, { writer }: LogName): string {
  return nameSigner(run, { writer, signer: writer.slice(0, 8) });
}

function stuckError(address: string): HandoverError {
  const hint = 'Nothing is lost. Ask whoever runs it: handover remote test';
  return new HandoverError('HANDOVER_REMOTE_REFUSED', `${address} answers with pages that were not asked for`, {
    hint,
  });
}

function noteHole(run: SyncRun, { writer, project }: LogName, number: number, why: string): void {
  run.note(why);
  const { holes } = run.state;
  const isKnown = isHole(run, { writer, project }, number);
  if (!isKnown && holes.length < MAX_HOLES) holes.push({ writer, project, number });
}

function isHole({ state }: SyncRun, log: LogName, number: number): boolean {
  return state.holes.some((hole) => hole.number === number && nameLog(hole) === nameLog(log));
}

/** Asks again for pages and bodies that were missing or damaged. */
async function lookAgain(run: SyncRun): Promise<void> {
  const { remote } = run.options;
  const { holes, missing } = run.state;
  for (const hole of holes) {
    const [stored] = await remote.readPages(hole, { after: hole.number - 1, limit: 1 });
    const page = stored?.number === hole.number ? parsePage(stored.bytes, hole) : null;
    const isTrusted = run.self.has(hole.writer) || run.trusted.get(hole.writer)?.state === 'trusted';
    if (page === null || 'wrong' in page || !isTrusted) continue;
    await storePage(run, page);
    run.state.holes = run.state.holes.filter((one) => one !== hole);
    run.save();
  }
  const left = run.state.holes.length;
  const lost = `${countNouns(left, 'page')} that others wrote ${left === 1 ? 'is' : 'are'} missing or damaged there`;
  if (left > 0) run.note(`${lost}; looked for again by every sync`);
  const groups = new Map<string, typeof missing>();
  const isOpen = ({ id, writer }: Missing): boolean =>
    !run.isForgotten(id, writer) && !hasHandover(run.options.store, id);
  const open = missing.filter(isOpen);
  for (const one of open) groups.set(nameLog(one), [...(groups.get(nameLog(one)) ?? []), one]);
  run.state.missing = [];
  for (const [name, of] of groups) {
    const [first] = of;
    if (first === undefined) continue;
    const wanted = of.map(({ id, name: body }) => ({ id, body }));
    await storeBodies(run, { writer: first.writer, project: first.project, signer: '', digest: name }, wanted);
  }
  if (run.state.missing.length > 0) run.note(describeMissing(run));
}

const MOST_NAMED = 5;

function describeMissing(run: SyncRun): string {
  const { missing } = run.state;
  const named = missing.slice(0, MOST_NAMED).map((one) => `${one.id} of ${nameOf(run, one)}`);
  const which = `${named.join(', ')}${missing.length > MOST_NAMED ? ' …' : ''}`;
  const what = `the content of ${countNouns(missing.length, 'handover')} is not there, or damaged: ${which}`;
  return `${what}; it is looked for again by every sync, and its writer sends it again with: handover sync --verify`;
}

/** Of how many strangers one sync reads pages, and of how many logs of each: anybody who writes there can make up any number. */
const MOST_STRANGERS = 100;
const LOGS_READ = 3;

/** Who they are is known from the sync before, or from one of their pages. */
async function noteStrangers(run: SyncRun, strangers: ReadonlyMap<string, readonly LogHead[]>): Promise<void> {
  const before = new Map(run.state.waiting.map((known) => [known.writer, known]));
  const trusted = [...run.trusted.values()];
  run.state.waiting = [];
  let [read, unknown] = [0, 0];
  for (const [writer, logs] of strangers) {
    const who = before.get(writer) ?? (read++ < MOST_STRANGERS ? await findSigner(run.options.remote, logs) : null);
    if (who === null) {
      unknown++;
      continue;
    }
    const isRevoked = run.trusted.get(writer)?.state === 'revoked';
    const why = isRevoked ? 'revoked' : findTrusted(trusted, who.name) === undefined ? 'unknown' : 'look-alike';
    const pages = logs.reduce((sum, log) => sum + log.newest - run.findCursor(log).number, 0);
    run.state.waiting.push({ ...who, why, pages });
  }
  if (unknown > 0)
    run.note(`nothing was taken of ${countNouns(unknown, 'more writer')} whose pages say nothing that can be read`);
}

/** Who a writer says to be, in the first page of one of these logs. */
export async function findSigner(
  remote: Remote,
  logs: readonly LogName[],
): Promise<Omit<Waiting, 'why' | 'pages'> | null> {
  for (const log of logs.slice(0, LOGS_READ))
    for (const { number, bytes } of await remote.readPages(log, { after: 0, limit: 1 })) {
      const page = parsePage(bytes, { writer: log.writer, project: log.project, number });
      if ('wrong' in page) continue;
      const { writer, key, signer: name } = page;
      return { writer, name, key: formatPublicKey(key), fingerprint: fingerprint(key) };
    }
  return null;
}
