import { parseSafeUrl, sendRequest } from '../../platform/http.ts';
import type { Machine } from '../../platform/machine.ts';
import { expandHome } from '../../platform/place.ts';
import type { MemoryVaultSettings } from '../../platform/publish-settings.ts';
import { readSecretFile } from '../../platform/secret-file.ts';
import { notConfiguredError, responseError, urlError } from '../errors.ts';
import type { Change, OutgoingFile, ProjectFiles, Publication, Publisher } from './publisher.ts';
import {
  digest,
  readSyncState,
  type SyncRoute,
  type SyncState,
  withDestinationLock,
  writeSyncState,
} from './sync-state.ts';

/** The one file that goes there. */
export const VAULT_FILE = 'HANDOFF.md';
export const API_KEY_VARIABLE = 'MEMORYVAULT_API_KEY';
export const URL_VARIABLE = 'MEMORYVAULT_URL';

export function keyOf(name: string): string {
  return `handoff/${name}/latest`;
}

interface Vault {
  url: URL;
  name: string;
  settings: MemoryVaultSettings;
}

/** Keeps HANDOFF.md in a MemoryVault, privately, under one key: the last writer has the word. */
export function openMemoryVault(
  settings: MemoryVaultSettings,
  name: string,
  place: Pick<SyncRoute, 'machine' | 'root'>,
): Publisher {
  const { machine } = place;
  const base = settings.url ?? machine.env[URL_VARIABLE];
  if (base === undefined || base === '') {
    throw notConfiguredError(
      'the address of the MemoryVault is not known',
      `Set url below [publish.memoryvault] in your config.toml, or ${URL_VARIABLE}. agent-handoff sent to https://memoryvault.link`,
    );
  }
  const safe = parseSafeUrl(base);
  if (safe === null) throw urlError('publish.memoryvault.url');
  const vault: Vault = { url: new URL(`${safe.href.replace(/\/+$/, '')}/store`), name, settings };
  const destination = `${vault.url.href} as ${keyOf(name)}`;
  const route: SyncRoute = { ...place, destination };
  return {
    backend: 'memoryvault',
    destination,
    plan: async (parcel) => ({ changes: listChanges(parcel, readSyncState(route)), waiting: [], notes: [] }),
    publish: async (parcel) => await withDestinationLock(route, () => send(vault, parcel, route)),
  };
}

async function send(vault: Vault, parcel: ProjectFiles, route: SyncRoute): Promise<Publication> {
  const file = findFile(parcel);
  const changes = listChanges(parcel, readSyncState(route));
  if (file === undefined || changes.length === 0)
    return { outcome: 'nothing new', changes: [], commit: null, notes: noteMissing(file) };
  await storeFile(vault, file, route.machine);
  writeSyncState(route, new Map([[VAULT_FILE, { sha256: digest(file.bytes), version: keyOf(vault.name) }]]));
  return { outcome: 'published', changes, commit: null, notes: [] };
}

function noteMissing(file: OutgoingFile | undefined): string[] {
  return file === undefined ? [`there is no ${VAULT_FILE} to send`] : [];
}

function findFile({ files }: ProjectFiles): OutgoingFile | undefined {
  return files.find(({ path }) => path === VAULT_FILE);
}

function listChanges(parcel: ProjectFiles, arrivals: SyncState): Change[] {
  const file = findFile(parcel);
  const arrival = arrivals.get(VAULT_FILE);
  if (file === undefined || arrival?.sha256 === digest(file.bytes)) return [];
  return [{ path: VAULT_FILE, change: arrival === undefined ? 'new' : 'changed', bytes: file.bytes.length }];
}

async function storeFile(
  { url, name, settings }: Vault,
  file: OutgoingFile,
  machine: Machine,
): Promise<void> {
  const { status } = await sendRequest(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${findToken(settings, machine)}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      key: keyOf(name),
      value: Buffer.from(file.bytes).toString('utf8'),
      tags: ['handoff', 'session', name],
      public: false,
    }),
    timeoutMs: settings.timeout * 1000,
  });
  if (status < 200 || status > 299) throw responseError(url.href, status);
}

/** Never from the command line, where other users could see it. */
function findToken({ token_file }: MemoryVaultSettings, machine: Machine): string {
  const text =
    token_file === undefined
      ? machine.env[API_KEY_VARIABLE]
      : readSecretFile(expandHome(token_file, machine));
  const token = text?.trim() ?? '';
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw notConfiguredError(
    token === ''
      ? 'there is no key for the MemoryVault'
      : 'the key for the MemoryVault has characters that no key has',
    `Set ${API_KEY_VARIABLE}, or name a file as publish.memoryvault.token_file in your config.toml.`,
  );
}
