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

/** Starts SeaweedFS on loopback, in a folder of its own. It is ended when the test file is done. */
export async function openRealS3(program: string): Promise<RealS3> {
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
      ...parts.flatMap((part, at) => [`-${part}.port=${ports[at * 2]}`, `-${part}.port.grpc=${ports[at * 2 + 1]}`]),
    ],
    { cwd: folder, stdio: 'ignore' },
  );
  afterAll(async () => {
    await end(server);
    rmSync(folder, { recursive: true, force: true });
  });
  const endpoint = `http://127.0.0.1:${ports[6]}`;
  await awaitAnswer(endpoint, server);
  return { endpoint, ...keys };
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null) return;
  const ended = new Promise((done) => server.once('exit', done));
  server.kill('SIGKILL');
  await ended;
}

async function awaitAnswer(url: string, server: ChildProcess): Promise<void> {
  for (const until = Date.now() + READY_MS; ; ) {
    const answer = await fetch(url).catch(() => null);
    if (answer !== null) return;
    if (server.exitCode !== null || Date.now() > until) throw new Error('the S3 server does not come up');
    await new Promise((done) => setTimeout(done, 100));
  }
}
