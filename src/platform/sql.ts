import { createRequire } from 'node:module';

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

export const SQL_DRIVERS = ['node', 'photostructure', 'none'] as const;
export type SqlDriverName = (typeof SQL_DRIVERS)[number];

export interface OpenOptions {
  /** Whether extensions may be loaded into it. */
  allowExtension?: boolean;
}

export interface SqlDriver {
  name: SqlDriverName;
  open(path: string, options?: OpenOptions): SqlDatabase;
  /** A database that must exist, to be read only. Takes a `file:` URI as well, where the driver knows them. */
  openReadOnly(path: string): SqlDatabase;
}

/**
 * The first driver this Node can load, or null: then the store works without an index.
 * `HANDOVER_SQLITE` names one of `SQL_DRIVERS` to use only that.
 */
export function loadSqlDriver(wanted: string | undefined): SqlDriver | null {
  if (wanted === 'none') return null;
  if (wanted !== 'photostructure') {
    const builtin = loadBuiltin();
    if (builtin !== null || wanted === 'node') return builtin;
  }
  return loadPhotostructure();
}

type DatabaseConstructor = new (path: string, options?: OpenOptions & { readOnly?: boolean }) => SqlDatabase;

function loadBuiltin(): SqlDriver | null {
  const module: unknown = withoutExperimentalWarning(() => process.getBuiltinModule?.('node:sqlite'));
  return toDriver('node', module);
}

/** Required rather than imported: the loader of ES modules alone would cost more than opening the database. */
function loadPhotostructure(): SqlDriver | null {
  try {
    return toDriver('photostructure', createRequire(import.meta.url)('@photostructure/sqlite'));
  } catch (error) {
    // Left out of the install, or without a binary for this platform: each loader says so in its own way.
    if (error instanceof Error) return null;
    throw error;
  }
}

function toDriver(name: SqlDriverName, module: unknown): SqlDriver | null {
  if (!hasDatabase(module)) return null;
  const { DatabaseSync } = module;
  return {
    name,
    open: (path, options) => new DatabaseSync(path, options ?? {}),
    openReadOnly: (path) => new DatabaseSync(path, { readOnly: true }),
  };
}

function hasDatabase(module: unknown): module is { DatabaseSync: DatabaseConstructor } {
  return (
    typeof module === 'object' &&
    module !== null &&
    'DatabaseSync' in module &&
    typeof module.DatabaseSync === 'function'
  );
}

/** Node 22 warns that its SQLite is experimental. That one warning is kept from the user; all others pass. */
function withoutExperimentalWarning<T>(load: () => T): T {
  const emitWarning = process.emitWarning;
  process.emitWarning = (warning: string | Error, ...rest: never[]): void => {
    const text = typeof warning === 'string' ? warning : warning.message;
    if (!text.startsWith('SQLite is an experimental feature'))
      Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}

const UNSPECIFIC_ERROR = 1;

/**
 * SQLite's primary result code of a failed call, or null when the error is not SQLite's. Not every call of every driver
 * tells the code; such a failure counts as SQLite's unspecific one.
 */
export function readSqlErrorCode(error: unknown): number | null {
  if (!(error instanceof Error)) return null;
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode & 0xff;
  return 'code' in error && error.code === 'ERR_SQLITE_ERROR' ? UNSPECIFIC_ERROR : null;
}
