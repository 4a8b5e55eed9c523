import type { EntriesFile, HookFile, HookHost } from '../../agents/hook-setup.ts';
import { resolveRealPath } from '../../platform/folders.ts';
import type { Machine } from '../../platform/machine.ts';
import { inspectEntries } from './entries.ts';
import { decode } from './plan.ts';

export interface TrustQuestion {
  file: HookFile;
  /** What the file holds. */
  bytes: Buffer;
  machine: Machine;
}

/** What an agent has noted as the user's trust in our hooks, for those that it has noted any. */
export function findNotedTrust(host: HookHost, question: TrustQuestion): string[] {
  return askTrust(host, question).filter((hash) => hash !== null);
}

/** Whether the user has trusted all our hooks in a file, as they are now. Null for an agent that does not ask for it. */
export function isTrusted(
  host: HookHost,
  question: TrustQuestion,
  outdated: readonly string[],
): boolean | null {
  if (host.trust === undefined) return null;
  return askTrust(host, question).every((hash) => hash !== null && !outdated.includes(hash));
}

function askTrust(host: HookHost, { file, bytes, machine }: TrustQuestion): (string | null)[] {
  const { trust } = host;
  const home = host.findHome(machine);
  if (trust === undefined || home === null || file.kind !== 'entries') return [];
  const noted = trust.readNoted(home);
  const paths = new Set([file.path, resolveRealPath(file.path) ?? file.path]);
  return listPlaces(file, bytes).map((place) => {
    const keys = [...paths].map((path) => trust.nameKey(path, place));
    return keys.map((key) => noted.get(key)).find((hash) => hash !== undefined) ?? null;
  });
}

function listPlaces(file: EntriesFile, bytes: Buffer): ReturnType<typeof inspectEntries>['places'] {
  return inspectEntries(file, decode(bytes, file.path)).places;
}
