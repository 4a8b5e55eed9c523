import { join } from 'node:path';
import { catchIf, HandoverError, usageError } from '../../../errors.ts';
import { readHead } from '../../../platform/external-file.ts';
import type { Machine } from '../../../platform/machine.ts';
import { expandTilde } from '../../../platform/pause.ts';
import type { PostgresEndpoint, SslMode } from '../../../platform/postgres-socket.ts';
import { readSecretFile } from '../../../platform/secret-file.ts';

/** Where and as whom to log in, by the rules of libpq: the address first, then the service file, then the environment. */
export interface PostgresSettings extends PostgresEndpoint {
  database: string;
  user: string;
  team: string;
  /** A name that needs no escapes in SQL. */
  schema: string;
  /** For people. */
  address: string;
  /** Read when the server asks for it, and not kept. Null when there is none. */
  findPassword(): string | null;
}

/** As libpq calls them. */
const NAMES = [
  ...['host', 'port', 'dbname', 'user', 'service', 'passfile'],
  ...['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'connect_timeout'],
];

function nameVariable(name: string): string {
  return name === 'dbname' ? 'PGDATABASE' : `PG${name.toUpperCase()}`;
}

const OWN = ['team', 'schema'];

const USE_INSTEAD =
  'Put it into ~/.pgpass (mode 600) or the file that PGPASSFILE names, into a service file (PGSERVICE), or into PGPASSWORD.';

const SSL_MODES: readonly SslMode[] = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'];
const TEAM = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const SCHEMA = /^[a-z_][a-z0-9_]{0,47}$/;
const MAX_FILE_BYTES = 64 * 1024;
const CONNECT_SECONDS = 10;

export function readPostgresSettings(url: URL, machine: Machine): PostgresSettings {
  const given = readAddress(url);
  const service = readSection(given.get('service') ?? machine.env.PGSERVICE, machine);
  const find = (name: string): string | undefined =>
    given.get(name) || service.get(name) || machine.env[nameVariable(name)] || undefined;
  const user = find('user') ?? machine.env.USER ?? machine.env.USERNAME;
  if (user === undefined)
    throw usageError('the address names no user', 'Use postgres://USER@HOST/DATABASE, or PGUSER.');
  const host = find('host') ?? 'localhost';
  const port = readNumber('port', find('port') ?? '5432', 65_535);
  const database = find('dbname') ?? user;
  const { team, schema } = readPlace(given);
  const key = { host: host.startsWith('/') ? 'localhost' : host, port: String(port), database, user };
  return {
    ...{ host, port, database, user, team, schema },
    ...readTls(find, machine),
    timeoutMs: readNumber('connect_timeout', find('connect_timeout') ?? String(CONNECT_SECONDS), 600) * 1000,
    address: `postgres://${host.startsWith('/') ? encodeURIComponent(host) : host}:${port}/${encodeURIComponent(database)}?team=${team}`,
    findPassword: () => find('password') ?? searchPassFile(find('passfile'), key, machine),
  };
}

/** Refuses an address that cannot be used on any machine. */
export function assertPostgresAddress(url: URL): void {
  const given = readAddress(url);
  readPlace(given);
  readSslMode(given.get('sslmode'));
  readNumber('port', given.get('port') || '5432', 65_535);
  readNumber('connect_timeout', given.get('connect_timeout') || String(CONNECT_SECONDS), 600);
}

function readSslMode(asked: string | undefined): SslMode | null {
  const known = SSL_MODES.find((mode) => mode === asked) ?? null;
  if (asked !== undefined && known === null)
    throw usageError('sslmode is not one of PostgreSQL', `Use ${SSL_MODES.join(', ')}.`);
  return known;
}

function readPlace(given: ReadonlyMap<string, string>): { team: string; schema: string } {
  return {
    team: readName('team', given.get('team') ?? 'default', TEAM),
    schema: readName('schema', given.get('schema') ?? 'agent_handover', SCHEMA),
  };
}

function readAddress(url: URL): Map<string, string> {
  if (url.password !== '' || url.searchParams.has('password'))
    throw usageError('the address has a password, which would be kept in a file of ours', USE_INSTEAD);
  const decode = (text: string): string =>
    catchIf(
      (error) => error instanceof URIError,
      text,
      () => decodeURIComponent(text),
    );
  const given = new Map<string, string>();
  for (const [name, value] of url.searchParams) {
    if (!NAMES.includes(name) && !OWN.includes(name))
      throw usageError(
        `the address has a setting that is not known here: ${JSON.stringify(name.slice(0, 40))}`,
        `Known: ${[...OWN, ...NAMES].join(', ')}.`,
      );
    given.set(name, value);
  }
  const parts = {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port,
    user: url.username,
    dbname: url.pathname.slice(1),
  };
  for (const [name, value] of Object.entries(parts))
    if (value !== '' && !given.has(name)) given.set(name, decode(value));
  if (given.get('host')?.includes(','))
    throw usageError('the address names several hosts', 'Name one, or the pooler or proxy in front of them.');
  return given;
}

function readName(what: string, value: string, form: RegExp): string {
  if (form.test(value)) return value;
  throw usageError(
    `the address has no usable ${what}`,
    `Use ${what}=NAME, with a name like ${what === 'team' ? 'red-team.1' : 'agent_handover'}.`,
  );
}

function readNumber(what: string, text: string, most: number): number {
  const number = Number(text);
  if (/^\d{1,6}$/.test(text) && number >= 1 && number <= most) return number;
  throw usageError(
    `${what} is not a number from 1 to ${most}`,
    `Correct ${what} in the address, the service file or the environment.`,
  );
}

/** Files of `~/.postgresql` are used where they are, as libpq does. */
function readTls(find: (name: string) => string | undefined, machine: Machine) {
  const asked = readSslMode(find('sslmode'));
  const root = find('sslrootcert');
  const sslMode: SslMode | null = root === 'system' ? 'verify-full' : asked;
  const read = (name: string | undefined, usual: string): string | null => {
    const path = name ?? (machine.home === undefined ? '' : join(machine.home, '.postgresql', usual));
    const bytes = readHead(expandTilde(path, machine), MAX_FILE_BYTES * 16)?.bytes ?? null;
    if (bytes === null && name !== undefined)
      throw usageError(
        `${name} cannot be read`,
        'Correct sslrootcert, sslcert or sslkey in the address, the service file or the environment.',
      );
    return bytes?.toString('utf8') ?? null;
  };
  const rootCertificates = root === 'system' ? null : read(root, 'root.crt');
  if (rootCertificates === null && root !== 'system' && sslMode?.startsWith('verify') === true)
    throw usageError(
      `sslmode=${sslMode} needs the certificate of an authority`,
      'Put it into ~/.postgresql/root.crt, name a file with sslrootcert, or use sslrootcert=system.',
    );
  const cert = read(find('sslcert'), 'postgresql.crt');
  const key = read(find('sslkey'), 'postgresql.key');
  return { sslMode, rootCertificates, certificate: cert === null || key === null ? null : { cert, key } };
}

/** The settings of a service, from the user's file or the system's. */
function readSection(name: string | undefined, machine: Machine): Map<string, string> {
  if (name === undefined || name === '') return new Map();
  const { PGSERVICEFILE: own, PGSYSCONFDIR: system } = machine.env;
  const paths = [own ?? (machine.home === undefined ? '' : join(machine.home, '.pg_service.conf'))];
  if (system !== undefined) paths.push(join(system, 'pg_service.conf'));
  for (const path of paths) {
    const text = readHead(path, MAX_FILE_BYTES)?.bytes.toString('utf8');
    const found = text === undefined ? null : parseSection(text, name);
    if (found !== null) return found;
  }
  throw usageError(
    `there is no service ${JSON.stringify(name)} for PostgreSQL`,
    `Add [${name}] to ~/.pg_service.conf, or correct PGSERVICE.`,
  );
}

/** Null when there is no such section. */
export function parseSection(text: string, name: string): Map<string, string> | null {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const start = lines.indexOf(`[${name}]`);
  if (start === -1) return null;
  const found = new Map<string, string>();
  for (const line of lines.slice(start + 1)) {
    if (line.startsWith('[')) break;
    const at = line.indexOf('=');
    if (at > 0 && !line.startsWith('#')) found.set(line.slice(0, at).trim(), line.slice(at + 1).trim());
  }
  return found;
}

type PassKey = { host: string; port: string; database: string; user: string };

function searchPassFile(named: string | undefined, key: PassKey, machine: Machine): string | null {
  const { home, env, platform } = machine;
  const roaming = env.APPDATA === undefined ? undefined : join(env.APPDATA, 'postgresql', 'pgpass.conf');
  const path = named ?? (platform === 'win32' ? roaming : home === undefined ? undefined : join(home, '.pgpass'));
  if (path === undefined || readHead(expandTilde(path, machine), 0) === null) return null;
  return findPassLine(readSecretFile(expandTilde(path, machine)), key);
}

/** The password of the first line that fits; `*` fits anything, and a backslash takes the next character as it is. */
export function findPassLine(text: string, { host, port, database, user }: PassKey): string | null {
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('#')) continue;
    const fields = (line.match(/(?:^|:)(?:\\.|[^:\\])*/g) ?? []).map((field) => field.replace(/^:/, ''));
    const wanted = [host, port, database, user];
    const plain = fields.map((field) => field.replace(/\\(.)/g, '$1'));
    if (plain.length < 5 || !wanted.every((value, at) => fields[at] === '*' || plain[at] === value)) continue;
    return plain[4] ?? null;
  }
  return null;
}

export function noPasswordError(address: string): HandoverError {
  return new HandoverError('HANDOVER_REMOTE_REFUSED', `${address} asks for a password, and there is none`, {
    hint: USE_INSTEAD,
  });
}
