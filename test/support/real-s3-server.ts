import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll } from 'vitest';
import { findFreePorts } from './free-ports.ts';

export interface RealS3 {
  endpoint: string;
  accessKeyId: string;
  secretAccessKey: string;
}

const CACHE = resolve('.cache', 's3');
const READY_MS = 60_000;

/** Where `fetch-s3-server.py` put the program; null when it did not run here. */
export function findRealS3(): string | null {
  if (!existsSync(CACHE)) return null;
  const name = readdirSync(CACHE).find((each) => /^weed-[\d.]+\d$/.test(each));
  return name === undefined ? null : join(CACHE, name);
}

const ATTEMPTS = 3;

/** Starts SeaweedFS on loopback, in a folder of its own. It is ended when the test file is done. */
export async function openRealS3(program: string): Promise<RealS3> {
  for (let attempt = 1; ; attempt++) {
    const opened = await tryToOpen(program);
    if (opened !== null) return opened;
    // Somebody else may have taken a port in between.
    if (attempt === ATTEMPTS) throw new Error('the S3 server does not come up');
  }
}

async function tryToOpen(program: string): Promise<RealS3 | null> {
  const folder = mkdtempSync(join(tmpdir(), 'handover-s3-'));
  const keys = { accessKeyId: 'testkey', secretAccessKey: 'testsecret' };
  const config = join(folder, 's3.json');
  const credentials = [{ accessKey: keys.accessKeyId, secretKey: keys.secretAccessKey }];
  writeFileSync(config, JSON.stringify({ identities: [{ name: 'test', credentials, actions: ['Admin'] }] }));
  mkdirSync(join(folder, 'data'));
  const parts = ['master', 'volume', 'filer', 's3'];
  const ports = await findFreePorts(parts.length * 2);
  const server = spawn(
    program,
    [
      'server',
      `-dir=${join(folder, 'data')}`,
      '-ip=127.0.0.1',
      '-ip.bind=127.0.0.1',
      '-master.volumeSizeLimitMB=32',
      '-volume.max=500',
      '-filer',
      '-s3',
      `-s3.config=${config}`,
      // Else they have ports of their own, which only one server on a machine can have.
      '-s3.port.iceberg=0',
      '-s3.port.lance=0',
      ...parts.flatMap((part, at) => [`-${part}.port=${ports[at * 2]}`, `-${part}.port.grpc=${ports[at * 2 + 1]}`]),
    ],
    { cwd: folder, stdio: 'ignore' },
  );
  const close = async (): Promise<void> => {
    await end(server);
    rmSync(folder, { recursive: true, force: true });
  };
  const endpoint = `http://127.0.0.1:${ports[6]}`;
  if (await awaitAnswer(endpoint, server)) {
    afterAll(close);
    return { endpoint, ...keys };
  }
  await close();
  return null;
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null) return;
  const ended = new Promise((done) => server.once('exit', done));
  server.kill('SIGKILL');
  await ended;
}

async function awaitAnswer(url: string, server: ChildProcess): Promise<boolean> {
  for (const until = Date.now() + READY_MS; ; ) {
    const answer = await fetch(url).catch(() => null);
    if (answer !== null) return true;
    if (server.exitCode !== null || Date.now() > until) return false;
    await new Promise((done) => setTimeout(done, 100));
  }
}
