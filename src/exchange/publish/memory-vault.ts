import { sha256Hex } from '../../model/hash.ts';
import { parseSafeUrl, sendRequest } from '../../platform/http.ts';
import type { Machine } from '../../platform/machine.ts';
import { expandHome } from '../../platform/paths.ts';
import type { MemoryVaultSettings } from '../../platform/publish-settings.ts';
import { readSecretFile } from '../../platform/secret-file.ts';
import { notConfiguredError, responseError, urlError } from '../errors.ts';
import { type PublishRoute, readPublishState, withDestinationLock, writePublishState } from './publish-state.ts';
import type { Change, OutgoingFile, ProjectFiles, Publisher } from './publisher.ts';

/** The only file that is sent. */
export const VAULT_FILE = 'HANDOFF.md';
export const API_KEY_VARIABLE = 'MEMORYVAULT_API_KEY';
const URL_VARIABLE = 'MEMORYVAULT_URL';
const STRANGE_KEY = 'the key for the MemoryVault has characters that are not allowed in a key';

export function keyOf(name: string): string {
  return `handoff/${name}/latest`;
}

/** Stores HANDOFF.md privately in a MemoryVault under one key: the last writer wins. */
export function openMemoryVault(
  settings: MemoryVaultSettings,
  name: string,
  place: Pick<PublishRoute, 'machine' | 'root'>,
): Publisher {
  const base = settings.url ?? place.machine.env[URL_VARIABLE];
  if (base === undefined || base === '')
    throw notConfiguredError('the address of the MemoryVault is not known', {
      hint: `Set url below [publish.memoryvault] in your config.toml, or ${URL_VARIABLE}. agent-handoff sent to https://memoryvault.link`,
    });
  const safe = parseSafeUrl(base);
  if (safe === null) throw urlError('publish.memoryvault.url');
  const url = new URL(`${safe.href.replace(/\/+$/, '')}/store`);
  const destination = `${url.href} as ${keyOf(name)}`;
  const route: PublishRoute = { ...place, destination };
  return {
    backend: 'memoryvault',
    destination,
    plan: async (content) => ({ changes: listChanges(findFile(content), route), waiting: [], notes: [] }),
    publish: async (content) =>
      await withDestinationLock(route, async () => {
        const file = findFile(content);
        const changes = listChanges(file, route);
        const notes = file === undefined ? [`there is no ${VAULT_FILE} to send`] : [];
        if (file === undefined || changes.length === 0) return { outcome: 'nothing new', changes, commit: null, notes };
        const token = findToken(settings, place.machine);
        const value = Buffer.from(file.bytes).toString('utf8');
        const { status } = await sendRequest(url, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ key: keyOf(name), value, tags: ['handoff', 'session', name], public: false }),
          timeoutMs: settings.timeout * 1000,
        });
        if (status < 200 || status > 299) throw responseError(url.href, status);
        writePublishState(route, new Map([[VAULT_FILE, { sha256: sha256Hex(file.bytes), version: keyOf(name) }]]));
        return { outcome: 'published', changes, commit: null, notes };
      }),
  };
}

function findFile({ files }: ProjectFiles): OutgoingFile | undefined {
  return files.find(({ path }) => path === VAULT_FILE);
}

function listChanges(file: OutgoingFile | undefined, route: PublishRoute): Change[] {
  const known = readPublishState(route).get(VAULT_FILE);
  if (file === undefined || known?.sha256 === sha256Hex(file.bytes)) return [];
  return [{ path: VAULT_FILE, change: known === undefined ? 'new' : 'changed', bytes: file.bytes.length }];
}

/** Never from the command line, where other users could see it. */
function findToken({ token_file }: MemoryVaultSettings, machine: Machine): string {
  const stored = token_file === undefined ? undefined : readSecretFile(expandHome(token_file, machine));
  const token = (stored ?? machine.env[API_KEY_VARIABLE])?.trim() ?? '';
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  const what = token === '' ? 'there is no key for the MemoryVault' : STRANGE_KEY;
  const hint = `Set ${API_KEY_VARIABLE}, or name a file as publish.memoryvault.token_file in your config.toml.`;
  throw notConfiguredError(what, { hint });
}
