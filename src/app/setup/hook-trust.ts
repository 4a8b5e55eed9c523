import type { HookFile, HookHost } from '../../agents/hook-setup.ts';
import { resolveRealPath } from '../../platform/folders.ts';
import type { Machine } from '../../platform/machine.ts';
import { inspectEntries } from './entries.ts';
import { decode } from './json-text.ts';

type HookContent = { file: HookFile; bytes: Buffer; machine: Machine };

/** The hashes that an agent recorded when the user trusted our hooks. */
export function listTrustedHashes(host: HookHost, content: HookContent): string[] {
  return readTrustedHashes(host, content).filter((hash) => hash !== null);
}

/** Whether the user trusts all our hooks in a file as they are now. Null for an agent that does not ask for trust. */
export function isTrusted(host: HookHost, content: HookContent, outdated: readonly string[]): boolean | null {
  if (host.trust === undefined) return null;
  return readTrustedHashes(host, content).every((hash) => hash !== null && !outdated.includes(hash));
}

function readTrustedHashes(host: HookHost, { file, bytes, machine }: HookContent): (string | null)[] {
  const { trust } = host;
  const home = host.findHome(machine);
  if (trust === undefined || home === null || file.kind !== 'entries') return [];
  const noted = trust.readNoted(home);
  const paths = new Set([file.path, resolveRealPath(file.path) ?? file.path]);
  return inspectEntries(file, decode(bytes, file.path)).places.map((place) => {
    const keys = [...paths].map((path) => trust.nameKey(path, place));
    return keys.map((key) => noted.get(key)).find((hash) => hash !== undefined) ?? null;
  });
}
