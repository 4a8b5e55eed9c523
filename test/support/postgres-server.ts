import { execFile, execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describeMachine, type Machine } from '../../src/platform/machine.ts';
import { afterEachFile } from './after-each-file.ts';
import { asOrdinaryUser, giveAway } from './another-user.ts';
import { findFreePorts } from './free-ports.ts';
import { removeFolder } from './remove-folder.ts';

const ROOT = '/usr/lib/postgresql';
const POOLER = '/usr/sbin/pgbouncer';
export const ADMIN = 'admin';
const PASSWORD = 'a password: with \\ and colons';

const run = promisify(execFile);

const endings = new Set<() => Promise<void>>();

afterEachFile(async () => {
  for (const end of endings) await end();
  endings.clear();
});

/** Where initdb and pg_ctl are: the newest that Debian's packages installed. */
function findPrograms(): string | null {
  const versions = existsSync(ROOT) ? readdirSync(ROOT).sort((a, b) => Number(b) - Number(a)) : [];
  const bin = versions.map((version) => join(ROOT, version, 'bin')).find((each) => existsSync(join(each, 'initdb')));
  return bin ?? null;
}

/** Why there can be no server here; null when there can. */
export function findPostgresTrouble(): string | null {
  if (process.platform !== 'linux') return 'the tests start the PostgreSQL of Debian';
  return findPrograms() === null ? 'PostgreSQL is missing: apt-get install postgresql' : null;
}

export function findPoolerTrouble(): string | null {
  return existsSync(POOLER) ? null : 'PgBouncer is missing: apt-get install pgbouncer';
}

export interface PostgresServer {
  port: number;
  folder: string;
  /** Its own, in a file; empty where it does not encrypt. */
  certificate: string;
  /** Runs SQL with psql, as the administrator or another. What it prints, one row a line. */
  sql(statements: string, options?: { database?: string; as?: string }): Promise<string>;
  /** A database of its own, owned by `owner`, with roles that can log in. */
  createDatabase(name: string, owner: string, members?: readonly string[]): Promise<void>;
  url(database: string, options?: { as?: string; query?: string; port?: number }): URL;
  /** A machine whose ~/.pgpass has the password of every role. */
  machine: Machine;
  stop(mode?: 'fast' | 'immediate'): Promise<void>;
  start(): Promise<void>;
}

/** Starts a server on a free port of loopback, as another user than root. It is ended and removed when the test file is done. */
export async function openPostgresServer({ encrypts = false } = {}): Promise<PostgresServer> {
  const bin = findPrograms() ?? '';
  const folder = mkdtempSync(join(tmpdir(), 'handover-pg-'));
  const data = join(folder, 'data');
  const [port = 0] = await findFreePorts(1);
  const asUser = async (program: string, ...args: string[]): Promise<void> => {
    const [first = '', ...rest] = [...asOrdinaryUser, join(bin, program), ...args];
    await run(first, rest, { env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' }, cwd: folder });
  };
  writeFileSync(join(folder, 'password'), PASSWORD);
  const tls = encrypts ? makeCertificate(folder) : null;
  giveAway(folder);
  await asUser(
    'initdb',
    '-D',
    data,
    '-U',
    ADMIN,
    '-A',
    'scram-sha-256',
    '--pwfile',
    join(folder, 'password'),
    '-E',
    'UTF8',
    '--locale=C.UTF-8',
    '--no-sync',
  );
  const options = [
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder}`,
    `port=${port}`,
    'max_connections=200',
    'fsync=off',
    ...(tls === null ? [] : ['ssl=on', `ssl_key_file=${tls.key}`, `ssl_cert_file=${tls.cert}`]),
  ];
  const start = async (): Promise<void> =>
    await asUser(
      'pg_ctl',
      '-D',
      data,
      '-w',
      '-s',
      '-l',
      join(folder, 'log'),
      '-o',
      options.map((each) => `-c '${each}'`).join(' '),
      'start',
    );
  const stop = async (mode: 'fast' | 'immediate' = 'fast'): Promise<void> => {
    await asUser('pg_ctl', '-D', data, '-w', '-s', '-m', mode, 'stop').catch(() => undefined);
  };
  endings.add(async () => {
    await stop('immediate');
    await removeFolder(folder);
  });
  await start();
  const home = join(folder, 'home');
  mkdirSync(home);
  writeFileSync(join(home, '.pgpass'), `# all of them\n*:*:*:*:${PASSWORD.replaceAll(/[\\:]/g, '\\$&')}\n`);
  chmodSync(join(home, '.pgpass'), 0o600);
  const server: PostgresServer = {
    port,
    folder,
    certificate: tls?.cert ?? '',
    machine: describeMachine({ HOME: home, PATH: process.env.PATH, USER: ADMIN }, folder),
    sql: async (statements, { database = 'postgres', as = ADMIN } = {}) => {
      const args = [
        '-X',
        '-A',
        '-t',
        '-q',
        '-v',
        'ON_ERROR_STOP=1',
        '-h',
        '127.0.0.1',
        '-p',
        String(port),
        '-U',
        as,
        '-d',
        database,
      ];
      const child = run('psql', [...args, '-f', '-'], {
        env: { PATH: process.env.PATH, PGPASSWORD: PASSWORD },
        maxBuffer: 64 * 1024 * 1024,
      });
      child.child.stdin?.end(statements);
      return (await child).stdout.trim();
    },
    createDatabase: async (name, owner, members = []) => {
      const known = await server.sql('SELECT rolname FROM pg_roles');
      const missing = [owner, ...members].filter((role) => !known.split('\n').includes(role));
      for (const role of missing) await server.sql(`CREATE ROLE "${role}" LOGIN PASSWORD '${PASSWORD}'`);
      await server.sql(`CREATE DATABASE "${name}" OWNER "${owner}"`);
    },
    url: (database, { as = ADMIN, query = '', port: other = port } = {}) =>
      new URL(`postgres://${encodeURIComponent(as)}@127.0.0.1:${other}/${database}?${query}`),
    stop,
    start,
  };
  return server;
}

/** A pooler in front of a server that gives every transaction another of a few connections. Its port. */
export async function openPooler(server: PostgresServer, roles: readonly string[]): Promise<number> {
  const [port = 0] = await findFreePorts(1);
  const folder = mkdtempSync(join(tmpdir(), 'handover-pooler-'));
  const users = join(folder, 'users');
  writeFileSync(users, roles.map((role) => `"${role}" "${PASSWORD}"\n`).join(''));
  const settings = [
    '[databases]',
    `* = host=127.0.0.1 port=${server.port}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = scram-sha-256',
    `auth_file = ${users}`,
    'pool_mode = transaction',
    'default_pool_size = 3',
    'max_client_conn = 300',
    'server_reset_query = DISCARD ALL',
    'server_round_robin = 1',
  ];
  writeFileSync(join(folder, 'pgbouncer.ini'), `${settings.join('\n')}\n`);
  giveAway(folder);
  const [first = '', ...rest] = [...asOrdinaryUser, POOLER, '-q', join(folder, 'pgbouncer.ini')];
  const child = spawn(first, rest, { stdio: 'ignore' });
  endings.add(async () => {
    if (child.exitCode === null) {
      const ended = new Promise((done) => child.once('exit', done));
      child.kill('SIGKILL');
      await ended;
    }
    await removeFolder(folder);
  });
  for (const until = Date.now() + 20_000; !(await isListening(port)); ) {
    if (child.exitCode !== null || Date.now() > until) throw new Error('the pooler does not come up');
    await new Promise((done) => setTimeout(done, 50));
  }
  return port;
}

async function isListening(port: number): Promise<boolean> {
  const { connect } = await import('node:net');
  return await new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      done(true);
    });
    socket.once('error', () => done(false));
  });
}

/** A key and a certificate for 127.0.0.1, signed by itself. */
function makeCertificate(folder: string): { key: string; cert: string } {
  const [key, cert] = [join(folder, 'server.key'), join(folder, 'server.crt')];
  const made = ['req', '-x509', '-nodes', '-days', '2', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync('openssl', [...made, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
  chmodSync(key, 0o600);
  return { key, cert };
}
