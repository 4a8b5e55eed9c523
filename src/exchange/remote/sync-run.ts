import type { Handover } from '../../model/handover.ts';
import { canonicalize, sha256Hex } from '../../model/hash.ts';
import type { JournalDraft, JournalEntry, JournalEvent } from '../../model/journal-entry.ts';
import type { Redactor } from '../../redact/redactor.ts';
import { identifyEntry, isFromElsewhere, type JournalPosition, readEntriesOf } from '../../store/journal.ts';
import { listDecidingMoves } from '../../store/status.ts';
import type { Store } from '../../store/store.ts';
import type { DecryptionKeys } from '../bundle/age.ts';
import type { OwnKeys } from '../bundle/own-keys.ts';
import { readTrustList, type TrustedKey } from '../bundle/trust-list.ts';
import { nameLog, nameWriter, type PageEntry, SYNCED_EVENTS } from './page.ts';
import type { LogName, Remote, Writer } from './remote.ts';
import { type Cursor, freshState, type RemoteState, readRemoteState, writeRemoteState } from './state.ts';

/** What may be sent. Null for everything. */
export interface SyncFilter {
  /** By their ids. */
  projects: readonly string[] | null;
  /** Projects whose own settings forbid it. */
  except: readonly string[];
  agents: readonly string[] | null;
}

export interface SyncOptions {
  store: Store;
  remote: Remote;
  /** The user's name for the remote. */
  name: string;
  keys: OwnKeys;
  /** The age keys that can read what is stored there; none to store it unencrypted. */
  recipients: readonly string[];
  filter: SyncFilter;
  /** The names of signers that are the same person. */
  self: readonly string[];
  /** A new one for each handover. */
  makeRedactor(): Redactor;
  /** Whether all that was sent is read again, and sent again where it is missing or damaged. */
  verifies?: boolean;
  /** Called before handovers are forgotten that others forgot. */
  beforeForget(ids: readonly string[]): void;
  onProgress?: ((done: number) => void) | undefined;
  /** Called when another sync of this store is waited for. */
  onWait?: (() => void) | undefined;
}

export interface SyncCounts {
  handovers: number;
  /** Marks and statuses. */
  marks: number;
  forgotten: number;
}

export interface SyncReport {
  sent: SyncCounts;
  received: SyncCounts;
  /** Whether the remote is behind what it had shown before. */
  isRewound: boolean;
  /** The projects that received marks or statuses. */
  projects: string[];
  /** What the user should know, a line each. */
  notes: string[];
}

/** The entries by which a handover is sent. */
export const SAVES: readonly JournalEvent[] = ['saved', 'migrated'];

const START = { number: 0, digest: '' };

/** The state of one sync. */
export class SyncRun {
  readonly options: SyncOptions;
  readonly writer: Writer;
  /** Writers that are the same person, this one among them. */
  readonly self: ReadonlySet<Writer>;
  readonly trusted: ReadonlyMap<Writer, TrustedKey>;
  readonly opener: DecryptionKeys;
  readonly report: SyncReport = { sent: noCounts(), received: noCounts(), isRewound: false, projects: [], notes: [] };
  /** Entries of this writer's own pages that the state did not know: they need not be sent again. */
  readonly published: Set<string> = new Set();
  readonly publishedBodies: Set<string> = new Set();
  /** Projects of which something was to be sent, and which the remote does not let this store write. */
  readonly refused: Set<string> = new Set();
  state: RemoteState;
  /** The cursors of this writer's logs that are saved: from there, `published` can be restored. */
  #safe: ReadonlyMap<string, Cursor>;
  #entries: Set<string> | null = null;
  #saves: Set<string> | null = null;
  #moves: ReadonlySet<string> | null = null;
  readonly #forgotten = new Map<string, Set<string>>();
  readonly #readForgotten: JournalPosition = new Map();

  /** `permitted`: the projects that the remote lets this store write, null for all; what it said last where it is not asked. */
  constructor(options: SyncOptions, permitted?: readonly string[] | null) {
    const { store, keys, remote, name, self } = options;
    this.options = options;
    this.writer = nameWriter(keys.secret);
    const list = readTrustList(store.machine);
    this.trusted = new Map(list.map((known) => [nameWriter(known.key), known]));
    const same = list.filter(({ state, name }) => state === 'trusted' && self.includes(name));
    this.self = new Set([this.writer, ...same.map(({ key }) => nameWriter(key))]);
    // Pages are never encrypted with a passphrase.
    this.opener = { identities: [keys.identity], askPassphrase: async () => Buffer.of() };
    const basis = sha256Hex(canonicalize([...this.self].sort())).slice(0, 16);
    const known = readRemoteState(store, name);
    const state = known?.address === remote.address ? known : null;
    const permits = permitted === undefined ? (state?.permitted ?? null) : permitted;
    const sends = [options.filter, [...options.recipients].sort(), ...(permits === null ? [] : [permits])];
    const filter = sha256Hex(canonicalize(sends)).slice(0, 16);
    this.state = state ?? freshState({ address: remote.address, basis, filter });
    if (this.state.basis !== basis) this.#dropCursors((cursor) => cursor.writer !== this.writer);
    if (this.state.filter !== filter) this.startOver();
    this.state = { ...this.state, basis, filter, permitted: permits === null ? null : [...permits] };
    this.#safe = this.#listOwn();
  }

  #listOwn(): ReadonlyMap<string, Cursor> {
    return new Map([...this.state.logs].filter(([, { writer }]) => writer === this.writer));
  }

  #dropCursors(isDropped: (cursor: Cursor) => boolean): void {
    for (const [name, cursor] of this.state.logs)
      if (isDropped(cursor)) {
        this.state.logs.delete(name);
        delete this.state.sealed[cursor.writer];
      }
  }

  /** Compares everything in this store with the remote again. */
  startOver(): void {
    this.state.journal = {};
    this.#dropCursors(({ writer }) => writer === this.writer);
    this.#safe = new Map();
  }

  findCursor(log: LogName): { number: number; digest: string } {
    return this.state.logs.get(nameLog(log)) ?? START;
  }

  moveCursor({ writer, project }: LogName, { number, digest }: { number: number; digest: string }): void {
    this.state.logs.set(nameLog({ writer, project }), { writer, project, number, digest });
  }

  /** Durable. The own cursors are saved only together with the position in the journal. */
  save({ isSent = false }: { isSent?: boolean } = {}): void {
    if (isSent) this.#safe = this.#listOwn();
    const others = [...this.state.logs].filter(([, { writer }]) => writer !== this.writer);
    const { store, name } = this.options;
    writeRemoteState(store, name, { ...this.state, logs: new Map([...others, ...this.#safe]) });
  }

  note(text: string): void {
    if (!this.report.notes.includes(text)) this.report.notes.push(text);
  }

  /** True the first time for an identity that the journal does not have. */
  isNewEntry(identity: string): boolean {
    this.#entries ??= new Set(readEntriesOf(this.options.store, SYNCED_EVENTS).map(identifyEntry));
    if (this.#entries.has(identity)) return false;
    this.#entries.add(identity);
    return true;
  }

  /** True the first time for a handover that the journal does not have as saved. */
  isNewSave(id: string): boolean {
    this.#saves ??= new Set(readEntriesOf(this.options.store, SAVES).map(({ subject }) => subject));
    if (this.#saves.has(id)) return false;
    this.#saves.add(id);
    return true;
  }

  /** Whether a handover of this writer was forgotten and must not come back. */
  isForgotten(id: string, writer: Writer): boolean {
    for (const entry of readEntriesOf(this.options.store, ['forgotten'], this.#readForgotten)) {
      const by = isFromElsewhere(entry) ? writerOf(entry.detail?.from) : HERE;
      this.#forgotten.set(entry.subject, new Set([...(this.#forgotten.get(entry.subject) ?? []), by]));
    }
    const by = this.#forgotten.get(id);
    return by !== undefined && [...by].some((one) => one === HERE || one === writer || this.self.has(one));
  }

  /** Whether handovers of this project and agent may be sent. */
  maySend(project: string, agent: string | null): boolean {
    const { agents } = this.options.filter;
    return (agents === null || (agent !== null && agents.includes(agent.toLowerCase()))) && this.isOfProjects(project);
  }

  /** Notes what would be sent, but the remote does not take. */
  isOfProjects(project: string): boolean {
    const { projects, except } = this.options.filter;
    if (except.includes(project) || (projects !== null && !projects.includes(project))) return false;
    const { permitted } = this.state;
    if (permitted === null || permitted.includes(project)) return true;
    this.refused.add(project);
    return false;
  }

  /** Whether this entry decided the status of its handover. Others are not sent. */
  isDeciding(identity: string): boolean {
    // The entry may be newer than the last reading.
    if (this.#moves?.has(identity) !== true) this.#moves = listDecidingMoves(this.options.store);
    return this.#moves.has(identity);
  }
}

/** Forgotten by the user of this store. */
const HERE = 'here';

function noCounts(): SyncCounts {
  return { handovers: 0, marks: 0, forgotten: 0 };
}

/** The log, page and index that a journal entry came from. */
export function describeOrigin({ writer, project }: LogName, number: number, index: number): string {
  return `${writer}/${project}/${number}/${index}`;
}

export function writerOf(from: unknown): Writer {
  return typeof from === 'string' ? (from.split('/')[0] ?? '') : '';
}

/** A journal entry for another store: with this reason, and of the details only those that identify it. */
export function copyEntry(
  { at, event, subject, fact, session, detail }: JournalEntry,
  project: string,
  reason: string,
): JournalDraft & { detail: Record<string, string> } {
  const { by, move } = detail ?? {};
  return {
    at,
    event,
    subject,
    ...(fact === undefined ? {} : { fact }),
    ...(session === undefined ? {} : { session }),
    ...(reason === '' ? {} : { reason }),
    detail: { project, ...(typeof by === 'string' ? { by } : {}), ...(typeof move === 'string' ? { move } : {}) },
  };
}

/** Identifies an entry, in whichever page it is. */
export function nameEntry(entry: PageEntry): string {
  if (entry.kind === 'journal') return `journal ${identifyEntry(entry.entry)}`;
  return `${entry.kind} ${entry.id}`;
}

export function agentOf(handover: Handover | null): string | null {
  return handover?.session.agent ?? null;
}
