import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateKeys, type OwnKeys } from '../../src/exchange/bundle/own-keys.ts';
import { trustKey } from '../../src/exchange/bundle/trust-list.ts';
import { openFolderBlobs } from '../../src/exchange/remote/folder-blobs.ts';
import { openObjectRemote } from '../../src/exchange/remote/object-remote.ts';
import type { Remote } from '../../src/exchange/remote/remote.ts';
import { type SyncResult, syncStore } from '../../src/exchange/remote/sync.ts';
import type { SyncOptions } from '../../src/exchange/remote/sync-run.ts';
import type { Handover } from '../../src/model/handover.ts';
import type { Machine } from '../../src/platform/machine.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { makeRedactor } from './redactor.ts';
import { makeFolder, makeMachine, makeRandom, saveOne } from './temp-store.ts';

/** A store of somebody with keys, in a folder with all that belongs to it. */
export interface Member {
  name: string;
  folder: string;
  store: Store;
  keys: OwnKeys;
  self: string[];
}

export async function makeMember(name: string, seed: number, changes: Partial<Machine> = {}): Promise<Member> {
  const folder = makeFolder();
  mkdirSync(join(folder, 'home'));
  const store = openStore(makeMachine(folder, { random: makeRandom(seed), ...changes }));
  return { name, folder, store, keys: await generateKeys(store.machine, name), self: [] };
}

/** Everybody trusts everybody. */
export async function makeTeam(...names: readonly string[]): Promise<Member[]> {
  const members: Member[] = [];
  for (const [at, name] of names.entries()) members.push(await makeMember(name, at + 1));
  for (const one of members)
    for (const other of members) if (one !== other) trustKey(one.store.machine, other.keys.secret, other.name);
  return members;
}

export function openSharedFolder(folder: string, machine: Machine): Remote {
  mkdirSync(folder, { recursive: true });
  return openObjectRemote(openFolderBlobs(folder, machine), () => ({ why: 'not here' }));
}

export function optionsOf(
  { store, keys, self }: Member,
  remote: Remote,
  changes: Partial<SyncOptions> = {},
): SyncOptions {
  return {
    store,
    remote,
    name: 'team',
    keys,
    recipients: [],
    filter: { projects: null, except: [], agents: null },
    self,
    makeRedactor: () => makeRedactor(),
    beforeForget: () => undefined,
    ...changes,
  };
}

export async function sync(member: Member, remote: Remote, changes: Partial<SyncOptions> = {}): Promise<SyncResult> {
  return await syncStore(optionsOf(member, remote, changes));
}

/** What `save` saves in. */
export const PROJECT = { id: 'p-0123456789abcdef', name: 'app', remote: 'example.com/team/app' };

export function save({ store }: Member, title: string): Handover {
  return saveOne(store, title, { project: PROJECT });
}

/** Every file below, with its name. */
export function readAll(folder: string): string {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return names.map(({ parentPath, name }) => `${name}\n${readFileSync(join(parentPath, name), 'latin1')}`).join('\n');
}

/** Two who trust each other, and an empty folder to meet in. */
export async function makePair(): Promise<{ ada: Member; ben: Member; folder: string; remote: Remote }> {
  const [ada, ben] = await makeTeam('ada', 'ben');
  if (ada === undefined || ben === undefined) throw new Error('a team of two');
  const folder = join(makeFolder(), 'shared');
  return { ada, ben, folder, remote: openSharedFolder(folder, ada.store.machine) };
}
