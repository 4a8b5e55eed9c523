import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { catchError } from '../errors.ts';
import { readHead } from './external-file.ts';
import { pathExists, resolveRealPath } from './folders.ts';

/** SQLite as far as an index needs it: the part of the `node:sqlite` interface that both drivers share. */
export interface SqlDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqlStatement;
  close(): void;
  /** Not in every version of every driver. */
  enableLoadExtension?(allow: boolean): void;
  loadExtension?(path: string): void;
}

export interface SqlStatement {
  run(...values: readonly SqlValue[]): unknown;
  get(...values: readonly SqlValue[]): unknown;
  all(...values: readonly SqlValue[]): unknown[];
}

export type SqlValue = string | number | null | Uint8Array;

export interface OpenOptions {
  /** Whether extensions may be loaded into it. */
  allowExtension?: boolean;
}

export interface SqlDriver {
  name: 'node' | 'photostructure';
  open(path: string, options?: OpenOptions): SqlDatabase;
  /** A database that must exist, to be read only. Takes a `file:` URI as well, where the driver knows them. */
  openReadOnly(path: string): SqlDatabase;
}

/** The first that this Node can load, or null: no index then. `HANDOVER_SQLITE` (`wanted`) names one, or `none`. */
export function loadSqlDriver(wanted: string | undefined): SqlDriver | null {
  if (wanted === 'none') return null;
  if (wanted !== 'photostructure') {
    const module = withoutExperimentalWarning(() => process.getBuiltinModule?.('node:sqlite'));
    const builtin = toDriver('node', module);
    if (builtin !== null || wanted === 'node') return builtin;
  }
  return loadPhotostructure();
}

type DatabaseConstructor = new (path: string, options?: OpenOptions & { readOnly?: boolean }) => SqlDatabase;

const PACKAGE = '@photostructure/sqlite';
const BINARY = `prebuilds/${process.platform}-${process.arch}/@photostructure+sqlite.glibc.node`;

/**
 * Required rather than imported: the loader of ES modules alone would cost more than opening the database. The package
 * takes 4 ms to find its binary: it is looked for where it usually is, unless another was built or is for another libc.
 */
function loadPhotostructure(): SqlDriver | null {
  const requireAny = createRequire(import.meta.url);
  const found = requireAny.resolve.paths(PACKAGE)?.find((folder) => pathExists(join(folder, PACKAGE)));
  const folder = join(found ?? '', PACKAGE);
  const isOther = found === undefined || [join(folder, 'build'), '/etc/alpine-release'].some(pathExists);
  // Left out of the install, or without a binary for this platform: each loader says so in its own way.
  const load = (path: string): SqlDriver | null =>
    toDriver(
      'photostructure',
      catchError(Error, null, (): unknown => requireAny(path)),
    );
  return (isOther ? null : load(join(folder, BINARY))) ?? load(PACKAGE);
}

function toDriver(name: SqlDriver['name'], module: unknown): SqlDriver | null {
  if (!isModule<{ DatabaseSync: DatabaseConstructor }>(module, 'DatabaseSync')) return null;
  const { DatabaseSync } = module;
  return {
    name,
    open: (path, options) => new DatabaseSync(path, options ?? {}),
    openReadOnly: (path) => new DatabaseSync(path, { readOnly: true }),
  };
}

/** Whether what was loaded has a function of this name; how that is called, the caller knows. */
function isModule<T extends object>(module: unknown, name: keyof T): module is T {
  return typeof module === 'object' && module !== null && typeof Reflect.get(module, name) === 'function';
}

/** Node 22 warns that its SQLite is experimental. That one warning is kept from the user; all others pass. */
function withoutExperimentalWarning<T>(load: () => T): T {
  const emitWarning = process.emitWarning;
  process.emitWarning = (warning: string | Error, ...rest: never[]): void => {
    const text = typeof warning === 'string' ? warning : warning.message;
    if (!text.startsWith('SQLite is an experimental feature')) Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}

const UNSPECIFIC_ERROR = 1;

/** SQLite's primary result code, the generic one where the driver reports none; null for any other error. */
export function readSqlErrorCode(error: unknown): number | null {
  if (!(error instanceof Error)) return null;
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode & 0xff;
  return 'code' in error && error.code === 'ERR_SQLITE_ERROR' ? UNSPECIFIC_ERROR : null;
}

const MAGIC = Buffer.from('SQLite format 3\0');
const HEADER_BYTES = 100;
const WRITE_VERSION_AT = 18;
const WAL = 2;

export function isDatabaseHead(bytes: Buffer): boolean {
  return bytes.subarray(0, MAGIC.length).equals(MAGIC);
}

/**
 * Opens a database that another program owns and may be writing at this moment: nothing in it is changed, and no file
 * appears beside it if that can be avoided. Null when there is no database at the path, or none that can be opened.
 */
export function openForeignDatabase(driver: SqlDriver, place: string): SqlDatabase | null {
  const path = resolveRealPath(place);
  if (path === null) return null;
  const head = readHead(path, HEADER_BYTES);
  if (head === null || !isDatabaseHead(head.bytes)) return null;
  const uri = `${pathToFileURL(path).href}?mode=ro`;
  // Reading in WAL mode creates -wal and -shm. While they are missing, the one file has all and is taken as it is.
  const isWhole = head.bytes[WRITE_VERSION_AT] === WAL && (readHead(`${path}-wal`, 1)?.size ?? 0) === 0;
  const candidates = isWhole ? [`${uri}&immutable=1`, uri, path] : [uri, path];
  for (const candidate of candidates) {
    const database = openOrNull(driver, candidate);
    if (database !== null) return database;
  }
  return null;
}

function openOrNull(driver: SqlDriver, place: string): SqlDatabase | null {
  let database: SqlDatabase | undefined;
  try {
    database = driver.openReadOnly(place);
    database.exec('PRAGMA busy_timeout = 2000');
    database.prepare('SELECT count(*) AS tables FROM sqlite_master').get();
    return database;
  } catch (error) {
    database?.close();
    if (readSqlErrorCode(error) === null) throw error;
    return null;
  }
}

/** False where sqlite-vec is not installed, has no binary for this platform, or the driver loads no extensions. */
export function loadVectorExtension(database: SqlDatabase): boolean {
  if (database.loadExtension === undefined) return false;
  // The resolver, the package, the driver and the system's loader each say it in their own way.
  return catchError(Error, false, () => {
    const module: unknown = createRequire(import.meta.url)('sqlite-vec');
    if (!isModule<{ getLoadablePath(): string }>(module, 'getLoadablePath')) return false;
    database.enableLoadExtension?.(true);
    database.loadExtension?.(module.getLoadablePath());
    database.enableLoadExtension?.(false);
    database.prepare('SELECT vec_version() AS version').get();
    return true;
  });
}
