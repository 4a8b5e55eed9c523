import { pathToFileURL } from 'node:url';
import { resolveRealPath } from './folders.ts';
import { readHead } from './foreign-file.ts';
import { readSqlErrorCode, type SqlDatabase, type SqlDriver } from './sql.ts';

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
  const candidates = hasPendingWrites(path, head.bytes) ? [uri, path] : [`${uri}&immutable=1`, uri, path];
  for (const candidate of candidates) {
    const database = openOrNull(driver, candidate);
    if (database !== null) return database;
  }
  return null;
}

/**
 * Reading a database in WAL mode creates its -wal and -shm files when they are not there. While they are not, all of it
 * is in the one file, which SQLite is then told to take as it is.
 */
function hasPendingWrites(path: string, header: Buffer): boolean {
  if (header[WRITE_VERSION_AT] !== WAL) return true;
  return (readHead(`${path}-wal`, 1)?.size ?? 0) > 0;
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
