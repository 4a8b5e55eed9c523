import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { catchIf, hasCode } from '../../src/errors.ts';
import { generateAgeKey } from '../../src/exchange/bundle/age.ts';
import { makeSecretKey } from '../../src/exchange/bundle/minisign.ts';
import type { OwnKeys } from '../../src/exchange/bundle/own-keys.ts';
import { trustKey } from '../../src/exchange/bundle/trust-list.ts';
import { openObjectRemote } from '../../src/exchange/remote/object-remote.ts';
import type { Remote } from '../../src/exchange/remote/remote.ts';
import { syncStore } from '../../src/exchange/remote/sync.ts';
import { findWriter, type Handover } from '../../src/model/handover.ts';
import { listFolder } from '../../src/platform/folders.ts';
import { forgetHandover, hasHandover, readHandover } from '../../src/store/handovers.ts';
import { identifyEntry, readEntriesOf } from '../../src/store/journal.ts';
import { markFact, readMarks } from '../../src/store/marks.ts';
import { moveStatus, readStatuses } from '../../src/store/status.ts';
import { listIds, listMonths, openStore, type Store } from '../../src/store/store.ts';
import { cutBlobs, makeMemoryBlobs } from './memory-blobs.ts';
import { makeRedactor } from './redactor.ts';
import { makeMachine, NOON, saveOne } from './temp-store.ts';

const PROJECTS = ['p-0123456789abcdef', 'p-fedcba9876543210'].map((id) => ({ id, name: id.slice(2, 6), remote: null }));
const MARKED = ['pinned', 'unpinned', 'resolved', 'refuted'] as const;
const COUNT = 8;

/** A cut network or a killed process: whatever was going on is not finished. */
class Cut extends Error {}

/** What is known of something that a store did: whether every store must have it at the end. */
interface Deed {
  by: number;
  /** Whether a whole sync of that store came after it. */
  isSent: boolean;
}

/** Where the stores meet. Every call goes by `tick`, which throws where the network is cut. */
export interface SharedPlace {
  open(tick: (moment: 'before' | 'after') => void): Remote | Promise<Remote>;
  /** A backup, and putting back the last one. */
  copy(): void | Promise<void>;
  restore(): void | Promise<void>;
}

function makeMemoryPlace(): SharedPlace {
  const memory = makeMemoryBlobs();
  let backup = new Map<string, Buffer>();
  return {
    open: (tick) => openObjectRemote(cutBlobs(memory, tick), () => ({ why: 'not here' })),
    copy: () => {
      backup = new Map(memory.blobs);
    },
    restore: () => {
      memory.blobs.clear();
      for (const [path, bytes] of backup) memory.blobs.set(path, bytes);
    },
  };
}

interface Member {
  at: number;
  folder: string;
  store: Store;
  keys: OwnKeys;
  self: string[];
  /** Whether the remote was restored since the last whole sync: what it lost is in this store alone. */
  isOwed: boolean;
  /** Whether it was put back to an old copy since the last whole sync: what it lost is in the remote alone. */
  isBehind: boolean;
  hasBackup: boolean;
}

export interface Outcome {
  differences: string[];
  lost: string[];
  resurrected: string[];
  counts: Record<string, number>;
}

/** mulberry32: the same numbers for the same seed. */
function makeNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Eight stores save, mark, restore, forget and sync at random, over a network that is cut and in processes that are killed;
 * remote and stores are put back to old copies. A model knows what must be everywhere at the end, and what nowhere.
 */
export class Convergence {
  readonly #random: () => number;
  readonly #root: string;
  readonly #place: SharedPlace;
  readonly #members: Member[] = [];
  #now = NOON;
  #hasCopy = false;
  /** Calls until the next cut; none while it is infinite. */
  #fuse = Number.POSITIVE_INFINITY;
  readonly #saved = new Map<string, Deed & { text: string }>();
  readonly #forgotten = new Map<string, Deed>();
  readonly #marks = new Map<string, Deed>();
  readonly #counts: Record<string, number> = {};

  constructor(seed: number, place: SharedPlace = makeMemoryPlace()) {
    this.#place = place;
    this.#random = makeNumbers(seed);
    const fast = '/dev/shm';
    this.#root = mkdtempSync(join(existsSync(fast) ? fast : tmpdir(), 'handover-converge-'));
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  #pick<T>(list: readonly T[]): T | undefined {
    return list[this.#below(list.length)];
  }

  #count(what: string): void {
    this.#counts[what] = (this.#counts[what] ?? 0) + 1;
  }

  #tick(moment: 'before' | 'after' | 'local'): void {
    this.#fuse--;
    if (this.#fuse > 0) return;
    this.#fuse = Number.POSITIVE_INFINITY;
    this.#count(`cut ${moment}`);
    throw new Cut(moment);
  }

  async run(rounds: number): Promise<Outcome> {
    try {
      await this.#begin();
      for (let round = 0; round < rounds; round++) await this.#act();
      this.#fuse = Number.POSITIVE_INFINITY;
      for (let round = 0; round < 5; round++) for (const member of this.#members) await this.#sync(member);
      return this.#judge();
    } finally {
      rmSync(this.#root, { recursive: true, force: true });
    }
  }

  /** Two stores are of one person, two have the same key, and the others are strangers who trust each other. */
  async #begin(): Promise<void> {
    for (let at = 0; at < COUNT; at++) {
      const folder = join(this.#root, `m${at}`);
      mkdirSync(join(folder, 'home'), { recursive: true });
      const skewMs = (this.#below(7) - 3) * 60_000;
      const clock = {
        now: (): number => {
          this.#tick('local');
          this.#now += 1 + this.#below(3);
          return this.#now + skewMs;
        },
      };
      const random = { bytes: (count: number) => Uint8Array.from({ length: count }, () => this.#below(256)) };
      const store = openStore(makeMachine(folder, { clock, random }));
      const twin = at === 3 ? this.#members[2] : undefined;
      const keys = twin?.keys ?? (await this.#makeKeys(`m${at}`));
      const self = at === 0 ? ['m1'] : at === 1 ? ['m0'] : [];
      this.#members.push({ at, folder, store, keys, self, isOwed: false, isBehind: false, hasBackup: false });
    }
    for (const one of this.#members)
      for (const other of this.#members)
        if (one.keys !== other.keys) trustKey(one.store.machine, other.keys.secret, other.keys.name);
  }

  /** From the seed, so that a failure can be repeated. */
  async #makeKeys(name: string): Promise<OwnKeys> {
    const bytes = (count: number): Buffer => Buffer.from(Array.from({ length: count }, () => this.#below(256)));
    const { identity } = await generateAgeKey();
    return { name, secret: makeSecretKey(bytes(32), bytes(8)), identity };
  }

  async #act(): Promise<void> {
    const member = this.#pick(this.#members);
    if (member === undefined) return;
    const dice = this.#random();
    if (dice < 0.22) this.#save(member);
    else if (dice < 0.32) this.#mark(member);
    else if (dice < 0.38) this.#restoreHandover(member);
    else if (dice < 0.46) this.#forget(member);
    else if (dice < 0.72) await this.#cutSync(member);
    else if (dice < 0.9) await this.#sync(member);
    else if (dice < 0.92) await this.#copyRemote();
    else if (dice < 0.93) await this.#restoreRemote();
    else if (dice < 0.97) this.#copyStore(member);
    else this.#restoreStore(member);
  }

  #list({ store }: Member): string[] {
    return listMonths(store).flatMap((month) => listIds(store, month));
  }

  #save(member: Member): void {
    const text = `work ${this.#below(1_000_000)}`;
    const project = this.#pick(PROJECTS);
    if (project === undefined) return;
    const { id } = saveOne(member.store, text, { project });
    this.#saved.set(id, { by: member.at, isSent: false, text });
    this.#count('saved');
  }

  #open(member: Member): Handover | null {
    const id = this.#pick(this.#list(member));
    return id === undefined ? null : readHandover(member.store, id);
  }

  #mark(member: Member): void {
    const handover = this.#open(member);
    const fact = handover === null ? undefined : this.#pick(handover.facts);
    const mark = this.#pick(MARKED);
    if (handover === null || fact === undefined || mark === undefined) return;
    const because = mark === 'refuted' ? `no ${this.#below(100)}` : null;
    // A pin of what is resolved is refused.
    const isMarked = catchIf(
      (error) => hasCode(error, 'HANDOVER_USAGE'),
      false,
      () => markFact(member.store, { handover, fact }, { mark, because, by: 'human' }),
    );
    if (!isMarked) return;
    this.#noteMark(member, [mark]);
  }

  #restoreHandover(member: Member): void {
    const handover = this.#open(member);
    if (handover === null || readStatuses(member.store).has(handover.id)) return;
    moveStatus(member.store, handover.id, { to: this.#random() < 0.7 ? 'consumed' : 'rejected_stale' });
    this.#count('moved');
  }

  #noteMark(member: Member, events: readonly (typeof MARKED)[number][]): void {
    const last = readEntriesOf(member.store, events).filter(({ detail }) => detail?.from === undefined);
    for (const entry of last) {
      const identity = identifyEntry(entry);
      if (!this.#marks.has(identity)) this.#marks.set(identity, { by: member.at, isSent: false });
    }
    this.#count('marked');
  }

  /** Only what is this person's own: of others only the own copy would go. */
  #forget(member: Member): void {
    const handover = this.#open(member);
    if (handover === null) return;
    const writer = findWriter(handover);
    const isOwn = writer === null || handover.imported?.signer === undefined;
    if (!isOwn || !forgetHandover(member.store, handover.id)) return;
    this.#forgotten.set(handover.id, { by: member.at, isSent: false });
    this.#count('forgotten');
  }

  async #cutSync(member: Member): Promise<void> {
    this.#fuse = 1 + this.#below(this.#random() < 0.5 ? 60 : 600);
    try {
      await this.#sync(member);
    } catch (error) {
      if (!(error instanceof Cut)) throw error;
      // A killed process holds no lock; this one lives on.
      rmSync(join(member.store.root, 'locks'), { recursive: true, force: true });
    } finally {
      this.#fuse = Number.POSITIVE_INFINITY;
    }
  }

  async #sync(member: Member): Promise<void> {
    const { store, keys, self, at } = member;
    const remote = await this.#place.open((moment) => this.#tick(moment));
    try {
      await syncStore({
        ...{ store, remote, name: 'team', keys, self, recipients: [] },
        filter: { projects: null, except: [], agents: null },
        makeRedactor: () => makeRedactor(),
        beforeForget: () => undefined,
      });
    } finally {
      await remote.close();
    }
    member.isOwed = false;
    member.isBehind = false;
    for (const deeds of [this.#saved, this.#forgotten, this.#marks])
      for (const deed of deeds.values()) if (deed.by === at) deed.isSent = true;
    this.#count('synced');
  }

  async #copyRemote(): Promise<void> {
    await this.#place.copy();
    this.#hasCopy = true;
  }

  /** Not while it alone has what a store lost. */
  async #restoreRemote(): Promise<void> {
    if (!this.#hasCopy || this.#members.some(({ isBehind }) => isBehind)) return;
    await this.#place.restore();
    for (const member of this.#members) member.isOwed = true;
    this.#count('remote restored');
  }

  #copyStore(member: Member): void {
    const copy = `${member.store.root}.copy`;
    rmSync(copy, { recursive: true, force: true });
    if (listFolder(member.store.root).length === 0) return;
    cpSync(member.store.root, copy, { recursive: true });
    member.hasBackup = true;
  }

  /** Not while the remote lacks what only this store has: what is gone from both is gone. What never left is lost with it. */
  #restoreStore(member: Member): void {
    if (!member.hasBackup || member.isOwed) return;
    rmSync(member.store.root, { recursive: true });
    cpSync(`${member.store.root}.copy`, member.store.root, { recursive: true });
    const isLost = ({ by, isSent }: Deed): boolean => by === member.at && !isSent;
    for (const [id, deed] of this.#saved) if (isLost(deed) && !hasHandover(member.store, id)) this.#saved.delete(id);
    for (const [id, deed] of this.#forgotten) if (isLost(deed)) this.#forgotten.delete(id);
    const kept = new Set(readEntriesOf(member.store, MARKED).map(identifyEntry));
    for (const [identity, deed] of this.#marks) if (isLost(deed) && !kept.has(identity)) this.#marks.delete(identity);
    member.isBehind = true;
    this.#count('store restored');
  }

  #judge(): Outcome {
    const states = this.#members.map((member) => this.#describe(member));
    const [first] = states;
    const differences = states.flatMap((state, at) =>
      state === first ? [] : [`m${at}: ${findDifference(first ?? '', state)}`],
    );
    const lost: string[] = [];
    const resurrected: string[] = [];
    for (const member of this.#members) {
      const entries = new Set(readEntriesOf(member.store, MARKED).map(identifyEntry));
      for (const [id, { text }] of this.#saved) {
        const handover = readHandover(member.store, id);
        if (this.#forgotten.has(id)) continue;
        if (handover?.title !== text && !this.#isMaybeForgotten(id)) lost.push(`m${member.at} ${id}`);
      }
      for (const id of this.#forgotten.keys())
        if (hasHandover(member.store, id)) resurrected.push(`m${member.at} ${id}`);
      for (const identity of this.#marks.keys())
        if (!entries.has(identity)) lost.push(`m${member.at} mark ${identity}`);
    }
    return { differences, lost, resurrected, counts: this.#counts };
  }

  /** Forgotten by a store that was put back, after a sync that was cut: others may have heard of it. */
  #isMaybeForgotten(id: string): boolean {
    return (
      this.#members.every(({ store }) => !hasHandover(store, id)) &&
      this.#members.some(({ store }) => readEntriesOf(store, ['forgotten']).some(({ subject }) => subject === id))
    );
  }

  #describe(member: Member): string {
    const { store } = member;
    const ids = this.#list(member).sort();
    const statuses = readStatuses(store);
    const lines = ids.map(
      (id) => `${id} ${readHandover(store, id)?.title} ${JSON.stringify(statuses.get(id) ?? null)}`,
    );
    for (const { id } of PROJECTS)
      for (const [fact, { mark, at, because }] of [...readMarks(store, id)].sort(([a], [b]) => (a < b ? -1 : 1)))
        lines.push(`${id} ${fact} ${mark} ${at} ${because}`);
    return lines.join('\n');
  }
}

function findDifference(a: string, b: string): string {
  const [left, right] = [new Set(a.split('\n')), new Set(b.split('\n'))];
  const missing = [...left].filter((line) => !right.has(line));
  const extra = [...right].filter((line) => !left.has(line));
  return `lacks ${missing.slice(0, 3).join(' | ')}; has besides ${extra.slice(0, 3).join(' | ')}`;
}

/** Printed, so that what happened can be repeated. */
export function chooseSeed(): number {
  const seed = Number(process.env.CONVERGENCE_SEED ?? Math.floor(Math.random() * 2 ** 31));
  process.stdout.write(`CONVERGENCE_SEED=${seed}\n`);
  return seed;
}
