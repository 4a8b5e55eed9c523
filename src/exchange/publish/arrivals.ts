import { join } from 'node:path';
import * as v from 'valibot';
import { canonicalize, compareCodeUnits, sha256Hex, shortHash } from '../../model/hash.ts';
import { writeFileDurably } from '../../platform/durable-file.ts';
import { readHead } from '../../platform/external-file.ts';
import { ensurePrivateFolder } from '../../platform/folders.ts';
import type { Machine } from '../../platform/machine.ts';
import { findDataFolder } from '../../platform/paths.ts';
import { PUBLISHED } from '../../store/store.ts';

/** What a file was like when it last arrived: the digest of its bytes, and what the other side calls that version. */
export interface Arrival {
  sha256: string;
  version: string;
}

export type Arrivals = ReadonlyMap<string, Arrival>;

const SCHEMA = 'published/1';
const MAX_BYTES = 64 * 1024 * 1024;

const ArrivalFile = v.strictObject({
  schema: v.literal(SCHEMA),
  destination: v.string(),
  files: v.array(v.tuple([v.string(), v.string(), v.string()])),
});

/** Who publishes what to where: arrivals of one are of no use to another. */
export interface Route {
  machine: Machine;
  /** The project's folder. */
  root: string;
  destination: string;
}

export function digest(bytes: Uint8Array): string {
  return sha256Hex(bytes);
}

export function formatArrivals(destination: string, arrivals: Arrivals): string {
  const files = [...arrivals]
    .sort(([a], [b]) => compareCodeUnits(a, b))
    .map(([path, { sha256, version }]) => [path, sha256, version]);
  return `${canonicalize({ schema: SCHEMA, destination, files })}\n`;
}

/** Null for what is no such file, or one of another destination. */
export function parseArrivals(text: string, destination: string): Arrivals | null {
  const result = v.safeParse(ArrivalFile, parseOrNull(text));
  if (!result.success || result.output.destination !== destination) return null;
  return new Map(result.output.files.map(([path, sha256, version]) => [path, { sha256, version }]));
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Arrivals spare asking what has arrived. Without them everything is compared with what the other side has. */
export function readArrivals(route: Route): Arrivals {
  const head = readHead(pathOfArrivals(route), MAX_BYTES);
  if (head === null || head.size > MAX_BYTES) return new Map();
  return parseArrivals(head.bytes.toString('utf8'), route.destination) ?? new Map();
}

export function writeArrivals(route: Route, arrivals: Arrivals): void {
  ensurePrivateFolder(findDataFolder(route.machine), PUBLISHED);
  writeFileDurably(pathOfArrivals(route), formatArrivals(route.destination, arrivals));
}

function pathOfArrivals({ machine, root, destination }: Route): string {
  return join(findDataFolder(machine), PUBLISHED, `${shortHash(`${root}\n${destination}`, 16)}.json`);
}
