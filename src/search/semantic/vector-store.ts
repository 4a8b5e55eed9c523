import { join } from 'node:path';
import { sha256Hex } from '../../model/hash.ts';
import { isCacheDamage, numberIn, textIn } from '../../platform/cache-database.ts';
import { moveFile } from '../../platform/cache-file.ts';
import {
  ensurePrivateFile,
  makeTempPath,
  measureRegularFile,
  removeFile,
} from '../../platform/durable-file.ts';
import { ensurePrivateFolder } from '../../platform/folders.ts';
import {
  loadSqlDriver,
  loadVectorExtension,
  type SqlDatabase,
  type SqlDriver,
} from '../../platform/sqlite.ts';
import type { Store } from '../../store/store.ts';

/** What a text is to be compared as: some models tell questions from what may answer them. */
export type Side = 'query' | 'text';

/** Turns texts into vectors that are near each other when the texts mean the same. */
export interface Embedder {
  /** Names the space of the vectors: those of another one tell nothing about these. */
  readonly space: string;
  /** At most so many texts at once. */
  readonly batch: number;
  /**
   * A vector of length 1 for each text, in their order, all with as many numbers. Whatever goes wrong, within bounded
   * time, is a `HandoverError`. Texts leave the machine here: they must be free of secrets.
   */
  embed(texts: readonly string[], side: Side): Promise<Float32Array[]>;
}

/** The vector as 32-bit numbers with the length 1; null when it has no direction, or is not made of numbers. */
export function normalizeVector(numbers: readonly number[]): Float32Array | null {
  const largest = numbers.reduce((most, number) => Math.max(most, Math.abs(number)), 0);
  if (!Number.isFinite(largest) || largest === 0) return null;
  const scaled = numbers.map((number) => number / largest);
  const length = Math.sqrt(scaled.reduce((sum, number) => sum + number * number, 0));
  return Float32Array.from(scaled, (number) => number / length);
}

/** How near two vectors of length 1 are, from -1 to 1. */
export function compareVectors(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}

/** By which a vector is kept: nothing of the text itself is. */
export function digestOf(text: string, side: Side): string {
  return sha256Hex(`${side}\n${text}`);
}

export const VECTORS = 'vectors.sqlite';

const VERSION = 1;
const CREATE_TABLES = `
  CREATE TABLE vectors (space TEXT NOT NULL, digest TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (space, digest));
  PRAGMA user_version = ${VERSION};
`;

/** A text that is like the one asked for. */
export interface Neighbour {
  digest: string;
  likeness: number;
}

export interface NeighbourQuery {
  vector: Float32Array;
  /** Only among these. */
  digests: readonly string[];
  limit: number;
}

/**
 * The vectors of one space, by the digest of the text that each stands for: nothing is embedded twice. A cache; where its
 * file is damaged, it begins anew.
 */
export interface VectorStore {
  /** The vectors of these texts as far as they are known and have as many numbers as asked for. */
  known(digests: readonly string[], numbers: number): Set<string>;
  get(digest: string): Float32Array | null;
  put(vectors: ReadonlyMap<string, Float32Array>): void;
  /** The most alike, best first. The same with and without sqlite-vec. */
  findNeighbours(query: NeighbourQuery): Neighbour[];
  /** Forgets the vectors of every space for these texts. */
  forget(digests: readonly string[]): void;
  /** Forgets the vectors of every space for texts that are not among these; returns how many. */
  keepOnly(digests: readonly string[]): number;
  close(): void;
}

export interface VectorStoreOptions {
  space: string;
  /** Whether sqlite-vec may be used where it is there. */
  allowExtension?: boolean;
}

/** For when a call has failed because of damage: what was known is embedded again. */
export function discardVectors(store: Store): void {
  for (const name of [VECTORS, `${VECTORS}-journal`]) removeFile(join(store.root, name));
}

/** Null where there is no SQLite. */
export function openVectorStore(
  store: Store,
  { space, allowExtension = true }: VectorStoreOptions,
): VectorStore | null {
  const driver = loadSqlDriver(store.machine.env.HANDOVER_SQLITE);
  if (driver === null) return null;
  const path = join(ensurePrivateFolder(store.root), VECTORS);
  const database = openOrCreate(driver, path);
  return new SqlVectorStore(database, space, allowExtension && loadVectorExtension(database));
}

function openOrCreate(driver: SqlDriver, path: string): SqlDatabase {
  if ((measureRegularFile(path) ?? 0) > 0) {
    const database = openWhole(driver, path);
    if (database !== null) return database;
  }
  const temp = makeTempPath(path);
  createFile(driver, temp);
  removeFile(`${path}-journal`);
  moveFile(temp, path);
  return driver.open(path, { allowExtension: true });
}

function openWhole(driver: SqlDriver, path: string): SqlDatabase | null {
  const database = driver.open(path, { allowExtension: true });
  try {
    if (numberIn(database.prepare('PRAGMA user_version').get(), 'user_version') === VERSION) return database;
  } catch (error) {
    database.close();
    if (!isCacheDamage(error)) throw error;
    return null;
  }
  database.close();
  return null;
}

function createFile(driver: SqlDriver, path: string): void {
  ensurePrivateFile(path);
  const database = driver.open(path);
  try {
    database.exec(CREATE_TABLES);
  } finally {
    database.close();
  }
}

/** More than asked for are looked at: where two are about as alike, the order must not depend on who computed it. */
const SPARE = 20;

class SqlVectorStore implements VectorStore {
  readonly #database: SqlDatabase;
  readonly #space: string;
  readonly #computes: boolean;

  constructor(database: SqlDatabase, space: string, computes: boolean) {
    this.#database = database;
    this.#space = space;
    this.#computes = computes;
    database.exec(
      'PRAGMA busy_timeout = 2000; PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY; CREATE TEMP TABLE wanted (digest TEXT PRIMARY KEY) WITHOUT ROWID',
    );
  }

  known(digests: readonly string[], numbers: number): Set<string> {
    this.#want(digests);
    const rows = this.#database
      .prepare(
        `SELECT digest FROM vectors JOIN wanted USING (digest)
         WHERE space = ? AND length(vector) = ?`,
      )
      .all(this.#space, numbers * Float32Array.BYTES_PER_ELEMENT);
    return new Set(rows.map((row) => textIn(row, 'digest')));
  }

  get(digest: string): Float32Array | null {
    const row = this.#database
      .prepare('SELECT vector FROM vectors WHERE space = ? AND digest = ?')
      .get(this.#space, digest);
    return vectorIn(row);
  }

  put(vectors: ReadonlyMap<string, Float32Array>): void {
    const add = this.#database.prepare(
      'INSERT OR REPLACE INTO vectors (space, digest, vector) VALUES (?, ?, ?)',
    );
    this.#inTransaction(() => {
      for (const [digest, vector] of vectors) add.run(this.#space, digest, toBytes(vector));
    });
  }

  findNeighbours({ vector, digests, limit }: NeighbourQuery): Neighbour[] {
    const found = this.#computes
      ? this.#compare(vector, digests, limit + SPARE)
      : inParts(digests).flatMap((part) => this.#compare(vector, part, null));
    return found.sort((a, b) => b.likeness - a.likeness || (a.digest < b.digest ? -1 : 1)).slice(0, limit);
  }

  forget(digests: readonly string[]): void {
    this.#want(digests);
    this.#inTransaction(() =>
      this.#database.prepare('DELETE FROM vectors WHERE digest IN (SELECT digest FROM wanted)').run(),
    );
  }

  keepOnly(digests: readonly string[]): number {
    this.#want(digests);
    const count = (): number =>
      numberIn(this.#database.prepare('SELECT count(*) AS count FROM vectors').get(), 'count');
    const before = count();
    this.#inTransaction(() =>
      this.#database.prepare('DELETE FROM vectors WHERE digest NOT IN (SELECT digest FROM wanted)').run(),
    );
    return before - count();
  }

  close(): void {
    this.#database.close();
  }

  /** With a limit, only the nearest, found by sqlite-vec. What rot has made longer or shorter is left out. */
  #compare(vector: Float32Array, digests: readonly string[], limit: number | null): Neighbour[] {
    this.#want(digests);
    const nearest = limit === null ? '' : 'ORDER BY vec_distance_cosine(vector, ?), digest LIMIT ?';
    const rows = this.#database
      .prepare(
        `SELECT digest, vector FROM vectors JOIN wanted USING (digest)
         WHERE space = ? AND length(vector) = ? ${nearest}`,
      )
      .all(this.#space, vector.byteLength, ...(limit === null ? [] : [toBytes(vector), limit]));
    return rows.flatMap((row) => {
      const other = vectorIn(row);
      if (other === null || !(Math.abs(compareVectors(other, other) - 1) < 0.01)) return [];
      return [{ digest: textIn(row, 'digest'), likeness: compareVectors(vector, other) }];
    });
  }

  #want(digests: readonly string[]): void {
    const add = this.#database.prepare('INSERT OR IGNORE INTO temp.wanted (digest) VALUES (?)');
    this.#database.prepare('DELETE FROM temp.wanted').run();
    this.#inTransaction(() => {
      for (const digest of digests) add.run(digest);
    });
  }

  #inTransaction(work: () => void): void {
    this.#database.exec('BEGIN');
    try {
      work();
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
    this.#database.exec('COMMIT');
  }
}

/** So many vectors are in memory at once. */
const PART = 1000;

function inParts(digests: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(digests.length / PART) }, (_, part) =>
    digests.slice(part * PART, (part + 1) * PART),
  );
}

function toBytes(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}

/** Copied: the bytes that a driver gives need not begin where a number may. */
function vectorIn(row: unknown): Float32Array | null {
  const bytes: unknown = typeof row === 'object' && row !== null ? Reflect.get(row, 'vector') : null;
  if (!(bytes instanceof Uint8Array) || bytes.length % Float32Array.BYTES_PER_ELEMENT !== 0) return null;
  return new Float32Array(bytes.slice().buffer);
}
