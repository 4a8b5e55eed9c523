import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { generateKeys, type OwnKeys } from '../../src/exchange/bundle/own-keys.ts';
import { trustKey } from '../../src/exchange/bundle/trust-list.ts';
import { openFolderBlobs } from '../../src/exchange/remote/folder-blobs.ts';
import { openObjectRemote } from '../../src/exchange/remote/object-remote.ts';
import type { Remote } from '../../src/exchange/remote/remote.ts';
import { type SyncResult, syncStore } from '../../src/exchange/remote/sync.ts';
import type { SyncOptions } from '../../src/exchange/remote/sync-run.ts';
import type { Machine } from '../../src/platform/machine.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { makeRedactor } from './redactor.ts';
import { makeFolder, makeMachine, makeRandom } from './temp-store.ts';

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
