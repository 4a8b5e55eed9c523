import { basename, join } from 'node:path';
import { HandoverError } from '../../errors.ts';
import { MARKS } from '../../handover/marks.ts';
import { findWriter, type Handover, isForeign } from '../../model/handover.ts';
import { canonicalize, computeChecksum, sha256Hex } from '../../model/hash.ts';
import type { JournalEntry, JournalEvent } from '../../model/journal-entry.ts';
import { formatTimestamp } from '../../model/time.ts';
import { measureRegularFile } from '../../platform/durable-file.ts';
import { readIntact } from '../../store/handovers.ts';
import {
  identifyEntry,
  isFromElsewhere,
  type JournalPosition,
  readEntriesOf,
  readSomeEntries,
} from '../../store/journal.ts';
import { FINAL_STATUSES } from '../../store/status.ts';
import { JOURNAL, listJournalFiles, type Store } from '../../store/store.ts';
import { encryptWithAge } from '../bundle/age.ts';
import { formatContent } from '../bundle/content.ts';
import { makePathHider, prepareExport } from '../bundle/prepare-export.ts';
import { formatPage, nameBody, openEntries, PAGE_LIMITS, type PageEntry, parsePage } from './page.ts';
import { pullPages } from './pull.ts';
import type { LogName, OutgoingBody } from './remote.ts';
import { agentOf, copyEntry, nameEntry, SAVES, type SyncRun, writerOf } from './sync-run.ts';

const LEAVING: readonly JournalEvent[] = [...SAVES, ...MARKS, 'superseded', 'late', ...FINAL_STATUSES, 'forgotten'];

/** Something that this store sends. `handover` and `body` only for a handover. */
export interface Outgoing {
  project: string;
  entry: PageEntry;
  handover: Handover | null;
  body: Buffer | null;
}

/**
 * Journal entries that are handled between two saves of the state. After a kill, the next sync starts at the last save,
 * reads its own pages that it did not know, and skips what they contain.
 */
const CHUNK = 200;

/** Sends what happened in this store since the last sync. The own logs must have been read to their end. */
export async function push(run: SyncRun): Promise<void> {
  await cleanUp(run);
  const sender = new Sender(run);
  for (;;) {
    const position = readPosition(run);
    const entries = readSomeEntries(run.options.store, LEAVING, { position, most: CHUNK });
    for await (const item of prepare(run, entries)) await sender.add(item);
    await sender.flush();
    run.state.journal = Object.fromEntries([...position].map(([path, at]) => [basename(path), at]));
    run.state.sending = [];
    run.state.removing = [];
    // While `published` has entries that the journal has not reached yet, a killed sync must read those pages again.
    const isLast = entries.length < CHUNK;
    run.save({ isSent: isLast || run.published.size === 0 });
    if (isLast) return;
  }
}

/** What would be sent, as far as this machine knows. Changes nothing and contacts nobody. */
export async function* listOutgoing(run: SyncRun): AsyncIterable<Outgoing> {
  const position = readPosition(run);
  for (let entries: JournalEntry[] = []; ; ) {
    entries = readSomeEntries(run.options.store, LEAVING, { position, most: CHUNK });
    yield* prepare(run, entries);
    if (entries.length < CHUNK) return;
  }
}

/** How far the journal was sent. Starts over where the journal is shorter than that: it was restored from a backup. */
function readPosition(run: SyncRun): JournalPosition {
  const { store } = run.options;
  if (isRestored(store, run.state.journal)) {
    run.note('this store is older than what it had sent (a backup?): everything is compared');
    run.startOver();
  }
  return new Map(Object.entries(run.state.journal).map(([file, at]) => [join(store.root, JOURNAL, file), at]));
}

/** Whether the journal is shorter than it was. */
export function isRestored(store: Store, journal: Readonly<Record<string, number>>): boolean {
  const paths = new Set(listJournalFiles(store));
  return Object.entries(journal).some(([file, at]) => {
    const path = join(store.root, JOURNAL, file);
    return at > 0 && (!paths.has(path) || (measureRegularFile(path) ?? 0) < at);
  });
}

/** How many entries were not sent yet, including those that the filter keeps back. */
export function countUnsent(store: Store, journal: Readonly<Record<string, number>>): number {
  const position = new Map(Object.entries(journal).map(([file, at]) => [join(store.root, JOURNAL, file), at]));
  return readEntriesOf(store, LEAVING, position).filter((entry) => !isFromElsewhere(entry)).length;
}

/** Deletes what a killed sync left: bodies that no page names, and bodies of forgotten handovers. */
async function cleanUp(run: SyncRun): Promise<void> {
  const { remote } = run.options;
  for (const { project, names } of run.state.sending) {
    const orphans = names.filter((name) => !run.publishedBodies.has(name));
    if (orphans.length > 0) await remote.deleteBodies(project, orphans);
  }
  for (const { project, names } of run.state.removing) await remote.deleteBodies(project, names);
}

async function* prepare(run: SyncRun, entries: readonly JournalEntry[]): AsyncIterable<Outgoing> {
  for (const entry of entries) {
    const cameBack = isFromElsewhere(entry);
    if (cameBack && !isToPassOn(run, entry)) continue;
    const isMove = FINAL_STATUSES.some((status) => status === entry.event);
    if (isMove && !cameBack && !run.isDeciding(identifyEntry(entry))) continue;
    const item = SAVES.includes(entry.event)
      ? await prepareHandover(run, entry.subject)
      : entry.event === 'forgotten'
        ? prepareTombstone(run, entry)
        : prepareEntry(run, entry);
    if (item !== null && !run.published.delete(nameEntry(item.entry))) yield item;
  }
}

/** Own entries that came back; and what the same person forgot elsewhere, as others follow only the handover's own writer. */
function isToPassOn(run: SyncRun, { event, detail }: JournalEntry): boolean {
  const from = writerOf(detail?.from);
  return from === run.writer || (event === 'forgotten' && run.self.has(from));
}

export function isOwnOf(run: SyncRun, handover: Handover): boolean {
  return !isForeign(handover) && (findWriter(handover) ?? run.writer) === run.writer;
}

/** Null for a handover that is not ours, is gone, or must not be sent. */
async function prepareHandover(run: SyncRun, id: string): Promise<Outgoing | null> {
  const { store, recipients, makeRedactor } = run.options;
  if (run.published.has(`handover ${id}`)) {
    run.published.delete(`handover ${id}`);
    return null;
  }
  const own = readIntact(store, id);
  if (own === null || !isOwnOf(run, own) || !run.maySend(own.project.id, agentOf(own))) return null;
  const handover = prepareExport(own, { machine: store.machine, only: null, redactor: makeRedactor() });
  const line = formatContent([handover]);
  const bytes = recipients.length === 0 ? line : await encryptWithAge(line, { recipients });
  const body = nameBody(id, bytes);
  const entry = { kind: 'handover', id, body, bytes: bytes.length, at: handover.created_at } as const;
  return { project: own.project.id, entry, handover, body: bytes };
}

/** Only for handovers of this writer or of the same person; null for others. */
function prepareTombstone(run: SyncRun, { subject: id, at, detail }: JournalEntry): Outgoing | null {
  const { project, writer, expired } = detail ?? {};
  const isOurs = writer === undefined || run.self.has(String(writer));
  if (typeof project !== 'string' || expired === true || !isOurs || !run.isOfProjects(project)) return null;
  return { project, entry: { kind: 'forgotten', id, at }, handover: null, body: null };
}

/** Without secrets and paths of this machine, and without a reason where the handover is gone; of the details only those that identify the entry. */
function prepareEntry(run: SyncRun, entry: JournalEntry): Outgoing | null {
  const { store, makeRedactor } = run.options;
  const { schema, subject, reason, detail } = entry;
  const handover = readIntact(store, subject);
  const project = typeof detail?.project === 'string' ? detail.project : handover?.project.id;
  if (project === undefined || !run.maySend(project, agentOf(handover))) return null;
  const why =
    reason === undefined || handover === null
      ? ''
      : makeRedactor().redactText(makePathHider(handover, store.machine)(reason));
  const draft = { schema, ...copyEntry(entry, project, why) };
  const sealed = { ...draft, checksum: computeChecksum(draft) };
  return { project, entry: { kind: 'journal', entry: sealed }, handover: null, body: null };
}

/** Reads the bodies that this writer's pages name, and sends those again that are missing or damaged, and are still here. */
export async function sendAgain(run: SyncRun): Promise<number> {
  const { remote } = run.options;
  const sender = new Sender(run);
  let sent = 0;
  for (const { writer, project } of [...run.state.logs.values()]) {
    if (writer !== run.writer) continue;
    const lost = await listOwnBodies(run, project);
    for await (const { name, bytes } of remote.readBodies(project, [...lost.keys()]))
      if (nameBody(lost.get(name) ?? '', bytes) === name) lost.delete(name);
    for (const [name, id] of lost) {
      run.published.delete(`handover ${id}`);
      const item = await prepareHandover(run, id);
      if (item === null) continue;
      await remote.deleteBodies(project, [name]);
      await sender.add(item);
      sent++;
    }
  }
  await sender.flush();
  run.state.sending = [];
  return sent;
}

/** The newest body of each handover that was not forgotten, with its id. */
async function listOwnBodies(run: SyncRun, project: string): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  for await (const entry of readEntries(run, { writer: run.writer, project }))
    if (entry.kind === 'handover') names.set(entry.id, entry.body);
    else if (entry.kind === 'forgotten') names.delete(entry.id);
  return new Map([...names].map(([id, body]) => [body, id]));
}

interface Draft {
  items: Outgoing[];
  size: number;
}

/** The most JSON in a page: encrypted and in base64 it still fits. */
const MAX_ENTRY_BYTES = 512 * 1024;
const MAX_HELD_BYTES = 2 * PAGE_LIMITS.bodies;

/** Collects one page for each project, and appends those that are full. */
class Sender {
  readonly #run: SyncRun;
  readonly #drafts = new Map<string, Draft>();
  #held = 0;

  constructor(run: SyncRun) {
    this.#run = run;
  }

  async add(item: Outgoing): Promise<void> {
    const draft = this.#drafts.get(item.project) ?? { items: [], size: 0 };
    this.#drafts.set(item.project, draft);
    draft.items.push(item);
    draft.size += canonicalize(item.entry).length;
    this.#held += item.body?.length ?? 0;
    const bodies = draft.items.reduce((sum, { body }) => sum + (body?.length ?? 0), 0);
    const isFull = draft.items.length === PAGE_LIMITS.entries || draft.size > MAX_ENTRY_BYTES;
    if (isFull || bodies > PAGE_LIMITS.bodies) await this.#send(item.project);
    if (this.#held > MAX_HELD_BYTES) await this.flush();
  }

  async flush(): Promise<void> {
    for (const project of [...this.#drafts.keys()]) await this.#send(project);
  }

  async #send(project: string): Promise<void> {
    const { items = [] } = this.#drafts.get(project) ?? {};
    this.#drafts.delete(project);
    this.#held -= items.reduce((sum, { body }) => sum + (body?.length ?? 0), 0);
    if (items.length > 0) await sendItems(this.#run, project, items);
  }
}

/** Writes the bodies, then the page that names them, then deletes the bodies of forgotten handovers. */
async function sendItems(run: SyncRun, project: string, items: readonly Outgoing[]): Promise<void> {
  const { remote, recipients } = run.options;
  const bodies = items.flatMap(({ entry, body, handover }): OutgoingBody[] => {
    if (entry.kind !== 'handover' || body === null) return [];
    return [{ name: entry.body, project, bytes: body, handover: recipients.length === 0 ? handover : null }];
  });
  const gone = items.flatMap(({ entry }) => (entry.kind === 'forgotten' ? [entry.id] : []));
  const names = gone.length === 0 ? [] : await findBodies(run, project, new Set(gone));
  if (bodies.length > 0) run.state.sending.push({ project, names: bodies.map(({ name }) => name) });
  if (names.length > 0) run.state.removing.push({ project, names });
  if (bodies.length > 0 || names.length > 0) run.save();
  if (bodies.length > 0) await remote.writeBodies(bodies);
  await append(run, project, items);
  if (names.length > 0) await remote.deleteBodies(project, names);
  run.options.onProgress?.(run.report.sent.handovers);
}

const PAGES_READ = 16;

/** The names of these handovers' bodies, from all pages of this person's writers. Slow, but forgetting is rare. */
async function findBodies(run: SyncRun, project: string, ids: ReadonlySet<string>): Promise<string[]> {
  const names = new Set<string>();
  for (const writer of run.self)
    for await (const entry of readEntries(run, { writer, project }))
      if (entry.kind === 'handover' && ids.has(entry.id)) names.add(entry.body);
  return [...names];
}

async function* readEntries(run: SyncRun, log: LogName): AsyncIterable<PageEntry> {
  for (let after = 0, isOver = false; !isOver; ) {
    const pages = await run.options.remote.readPages(log, { after, limit: PAGES_READ });
    for (const { number, bytes } of pages) {
      const page = parsePage(bytes, { ...log, number });
      const entries = 'wrong' in page ? null : await openEntries(page, run.opener);
      if (Array.isArray(entries)) yield* entries;
    }
    const last = pages.at(-1)?.number ?? after;
    isOver = last <= after;
    after = last;
  }
}

/** The page is the commit point. Where another store with the same key was faster, its page is taken first. */
async function append(run: SyncRun, project: string, items: readonly Outgoing[]): Promise<void> {
  const { remote, keys, recipients, store } = run.options;
  const log = { writer: run.writer, project };
  for (let left = items; left.length > 0; ) {
    const { number: last, digest } = run.findCursor(log);
    const number = last + 1;
    const at = formatTimestamp(store.machine.clock.now());
    const entries = left.map(({ entry }) => entry);
    const draft = { project, number, previous: last === 0 ? null : digest, at, entries };
    const bytes = await formatPage(draft, keys, recipients);
    if (await remote.appendPage(log, { number, bytes })) {
      run.moveCursor(log, { number, digest: sha256Hex(bytes) });
      count(run, left);
      return;
    }
    await pullPages(run, log, { canRestart: false });
    if (run.findCursor(log).number === last)
      throw new HandoverError('HANDOVER_REMOTE_BUSY', `${remote.address} has page ${number}, and does not show it`, {
        hint: 'Try again: handover sync. Nothing is lost.',
      });
    left = left.filter(({ entry }) => !run.published.delete(nameEntry(entry)));
  }
}

function count({ report: { sent } }: SyncRun, items: readonly Outgoing[]): void {
  for (const { entry } of items) {
    if (entry.kind === 'handover') sent.handovers++;
    else if (entry.kind === 'journal') sent.marks++;
    else sent.forgotten++;
  }
}
