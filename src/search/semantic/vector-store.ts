import { join } from 'node:path';
import { catchIf } from '../../errors.ts';
import { sha256Hex } from '../../model/hash.ts';
import { type CacheDatabase, isCacheDamage, numberIn, openCacheFile, textIn } from '../../platform/cache-database.ts';
import { moveFile } from '../../platform/cache-file.ts';
import { inTransaction } from '../../platform/cache-writer.ts';
import { ensurePrivateFile, makeTempPath, removeFile } from '../../platform/durable-file.ts';
import { ensurePrivateFolder } from '../../platform/folders.ts';
import { loadSqlDriver, loadVectorExtension, type SqlDatabase, type SqlDriver } from '../../platform/sqlite.ts';
import type { Store } from '../../store/store.ts';

/** What a text is embedded as: some models treat questions and what may answer them differently. */
export type Side = 'query' | 'text';

/** As 32-bit numbers with the length 1; null when there is no direction or not all are finite numbers. */
export function normalizeVector(numbers: readonly number[]): Float32Array | null {
  const largest = numbers.reduce((most, number) => Math.max(most, Math.abs(number)), 0);
  if (!Number.isFinite(largest) || largest === 0) return null;
  const scaled = numbers.map((number) => number / largest);
  const length = Math.sqrt(scaled.reduce((sum, number) => sum + number * number, 0));
  return Float32Array.from(scaled, (number) => number / length);
}

/** The cosine of two vectors of length 1. */
export function compareVectors(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}

/** The key of a vector: nothing of the text itself is stored. */
export function digestOf(text: string, side: Side): string {
  return sha256Hex(`${side}\n${text}`);
}

const CACHE: CacheDatabase = { name: 'vectors', version: 1 };
export const VECTORS = 'vectors.sqlite';
const CREATE_TABLES = `
  CREATE TABLE vectors (space TEXT NOT NULL, digest TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (space, digest));
  PRAGMA user_version = ${CACHE.version};
`;

/** To be called when damage shows: everything is embedded again. */
export function discardVectors(store: Store): void {
  for (const name of [VECTORS, `${VECTORS}-journal`]) removeFile(join(store.root, name));
}

/** Null where there is no SQLite. Uses sqlite-vec where it is installed, if allowed. */
export function openVectorStore(
  store: Store,
  { space, allowExtension = true }: { space: string; allowExtension?: boolean },
): VectorStore | null {
  const driver = loadSqlDriver(store.machine.env.HANDOVER_SQLITE);
  if (driver === null) return null;
  const open = (path: string): SqlDatabase => driver.open(path, { allowExtension: true });
  const intact = catchIf(isCacheDamage, null, () => openCacheFile(store, { ...driver, open }, CACHE));
  const database = intact ?? open(createFile(driver, ensurePrivateFolder(store.root)));
  return new VectorStore(database, space, allowExtension && loadVectorExtension(database));
}

function createFile(driver: SqlDriver, folder: string): string {
  const path = join(folder, VECTORS);
  const temp = makeTempPath(path);
  ensurePrivateFile(temp);
  const database = driver.open(temp);
  try {
    database.exec(CREATE_TABLES);
  } finally {
    database.close();
  }
  removeFile(`${path}-journal`);
  moveFile(temp, path);
  return path;
}

/** More neighbours than asked for are compared: near ties must not be ordered by who computed the distance. */
const SPARE = 20;
const PART = 1000;

export type Neighbour = { digest: string; likeness: number };

/** A cache of the vectors of one space (a model and its prefixes) by the digest of their text. */
export class VectorStore {
  readonly #database: SqlDatabase;
  readonly #space: string;
  readonly #hasExtension: boolean;

  constructor(database: SqlDatabase, space: string, hasExtension: boolean) {
    this.#database = database;
    this.#space = space;
    this.#hasExtension = hasExtension;
    database.exec(
      'PRAGMA busy_timeout = 2000; PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY; CREATE TEMP TABLE wanted (digest TEXT PRIMARY KEY) WITHOUT ROWID',
    );
  }

  /** Which of these texts have a vector of so many numbers. */
  known(digests: readonly string[], numbers: number): Set<string> {
    this.#want(digests);
    const rows = this.#database
      .prepare('SELECT digest FROM vectors JOIN wanted USING (digest) WHERE space = ? AND length(vector) = ?')
      .all(this.#space, numbers * Float32Array.BYTES_PER_ELEMENT);
    return new Set(rows.map((row) => textIn(row, 'digest')));
  }

  get(digest: string): Float32Array | null {
    const find = this.#database.prepare('SELECT vector FROM vectors WHERE space = ? AND digest = ?');
    return vectorIn(find.get(this.#space, digest));
  }

  put(vectors: Iterable<readonly [digest: string, vector: Float32Array]>): void {
    const add = this.#database.prepare('INSERT OR REPLACE INTO vectors (space, digest, vector) VALUES (?, ?, ?)');
    this.#inTransaction(() => {
      for (const [digest, vector] of vectors) add.run(this.#space, digest, toBytes(vector));
    });
  }

  /** The nearest of these texts, best first. The same with and without sqlite-vec. */
  findNeighbours(query: { vector: Float32Array; digests: readonly string[]; limit: number }): Neighbour[] {
    const { vector, digests, limit } = query;
    const found: Neighbour[] = [];
    if (this.#hasExtension) found.push(...this.#compare(vector, digests, limit + SPARE));
    else
      for (let at = 0; at < digests.length; at += PART)
        found.push(...this.#compare(vector, digests.slice(at, at + PART), null));
    return found.sort((a, b) => b.likeness - a.likeness || (a.digest < b.digest ? -1 : 1)).slice(0, limit);
  }

  forget(digests: readonly string[]): void {
    this.#want(digests);
    const remove = this.#database.prepare('DELETE FROM vectors WHERE digest IN (SELECT digest FROM wanted)');
    this.#inTransaction(() => remove.run());
  }

  /** Deletes the vectors of all other texts, in every space, and returns how many. */
  keepOnly(digests: readonly string[]): number {
    this.#want(digests);
    const count = (): number =>
      numberIn(this.#database.prepare('SELECT count(*) AS count FROM vectors').get(), 'count');
    const before = count();
    const remove = this.#database.prepare('DELETE FROM vectors WHERE digest NOT IN (SELECT digest FROM wanted)');
    this.#inTransaction(() => remove.run());
    return before - count();
  }

  close(): void {
    this.#database.close();
  }

  /** With a limit only the nearest, by sqlite-vec. Vectors that are damaged are left out. */
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
    inTransaction(this.#database, work, 'BEGIN');
  }
}

function toBytes(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}

/** Copied, because the bytes that a driver returns may not be aligned. */
function vectorIn(row: unknown): Float32Array | null {
  const bytes: unknown = Reflect.get(Object(row), 'vector');
  if (!(bytes instanceof Uint8Array) || bytes.length % Float32Array.BYTES_PER_ELEMENT !== 0) return null;
  return new Float32Array(bytes.slice().buffer);
}
