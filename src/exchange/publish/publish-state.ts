import { join } from 'node:path';
import * as v from 'valibot';
import { canonicalize, compareCodeUnits, shortHash } from '../../model/hash.ts';
import { withAsyncLock } from '../../platform/async-lock.ts';
import { writeFileDurably } from '../../platform/durable-file.ts';
import { readHead } from '../../platform/external-file.ts';
import { ensurePrivateFolder } from '../../platform/folders.ts';
import type { Machine } from '../../platform/machine.ts';
import { findDataFolder } from '../../platform/paths.ts';
import { LOCKS, PUBLISH_STATES } from '../../store/store.ts';

/** What was last published of each file: its digest, and the destination's name for that version. */
export type PublishState = ReadonlyMap<string, { sha256: string; version: string }>;

export interface PublishRoute {
  machine: Machine;
  /** The project's folder. */
  root: string;
  destination: string;
}

const SCHEMA = 'published/1';
const MAX_BYTES = 64 * 1024 * 1024;

const PublishStateText = v.pipe(
  v.string(),
  v.parseJson(),
  v.strictObject({
    schema: v.literal(SCHEMA),
    destination: v.string(),
    files: v.array(v.tuple([v.string(), v.string(), v.string()])),
  }),
);

export function formatPublishState(destination: string, state: PublishState): string {
  const files = [...state]
    .sort(([a], [b]) => compareCodeUnits(a, b))
    .map(([path, { sha256, version }]) => [path, sha256, version]);
  return `${canonicalize({ schema: SCHEMA, destination, files })}\n`;
}

/** Null for any other text, and for the state of another destination. */
export function parsePublishState(text: string, destination: string): PublishState | null {
  const result = v.safeParse(PublishStateText, text);
  if (!result.success || result.output.destination !== destination) return null;
  return new Map(result.output.files.map(([path, sha256, version]) => [path, { sha256, version }]));
}

/** Empty when it is missing or unreadable: everything is compared with the destination then. */
export function readPublishState(route: PublishRoute): PublishState {
  const head = readHead(pathOfPublishState(route), MAX_BYTES);
  if (head === null || head.size > MAX_BYTES) return new Map();
  return parsePublishState(head.bytes.toString('utf8'), route.destination) ?? new Map();
}

export function writePublishState(route: PublishRoute, state: PublishState): void {
  ensurePrivateFolder(findDataFolder(route.machine), PUBLISH_STATES);
  writeFileDurably(pathOfPublishState(route), formatPublishState(route.destination, state));
}

function pathOfPublishState({ machine, root, destination }: PublishRoute): string {
  return join(findDataFolder(machine), PUBLISH_STATES, `${shortHash(`${root}\n${destination}`, 16)}.json`);
}

/** One publication at a time from this machine to a destination. */
export async function withDestinationLock<T>(route: PublishRoute, work: () => Promise<T>): Promise<T> {
  const { machine, destination } = route;
  const folder = ensurePrivateFolder(findDataFolder(machine), LOCKS);
  const name = `publish-${shortHash(destination, 16)}`;
  return await withAsyncLock({ folder, name, clock: machine.clock }, work);
}
