import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import {
  describeSelf,
  formatIdentity,
  isAlive,
  type ProcessIdentity,
  parseIdentity,
  parseStat,
} from '../../src/platform/process-identity.ts';

const onLinux = process.platform === 'linux';
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

function start(command: string, ...args: string[]): ChildProcess {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  return child;
}

function identify(pid: number): ProcessIdentity {
  const stat = onLinux ? parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1')) : null;
  return { host: describeSelf().host, pid, start: stat?.start ?? '0' };
}

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error('the process did not start');
  return child.pid;
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('the process has no output');
  for await (const chunk of child.stdout) return String(chunk).trim();
  throw new Error('the process said nothing');
}

describe('the identity of a process', () => {
  it('is the same each time and that of a live process', () => {
    expect(describeSelf()).toEqual(describeSelf());
    expect(describeSelf().pid).toBe(process.pid);
    expect(isAlive(describeSelf())).toBe('alive');
  });

  it('has the same host for another process of this machine', async () => {
    const child = start(process.execPath, '-e', 'setInterval(() => 0, 60000)');
    const identity = identify(pidOf(child));
    expect(isAlive(identity)).toBe('alive');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(isAlive(identity)).toBe('dead');
  });

  it.runIf(onLinux)('is dead when its pid now belongs to a process that started at another time', () => {
    const { host, pid, start: startedAt } = describeSelf();
    expect(isAlive({ host, pid, start: String(Number(startedAt) + 1) })).toBe('dead');
  });

  it.runIf(onLinux)('is dead when the process is a zombie', async () => {
    const parent = start('sh', '-c', 'sleep 0.2 & echo $!; exec sleep 60');
    const identity = identify(Number(await firstLine(parent)));
    const readState = () => parseStat(readFileSync(`/proc/${identity.pid}/stat`, 'latin1'))?.state;
    await expect.poll(readState).toBe('Z');
    expect(isAlive(identity)).toBe('dead');
  });

  it('is unknown on another host', () => {
    expect(isAlive({ ...describeSelf(), host: 'otherone' })).toBe('unknown');
  });

  it('is judged by the pid alone when the start is not known', async () => {
    const child = start(process.execPath, '-e', '0');
    const { host } = describeSelf();
    expect(isAlive({ host, pid: process.pid, start: '0' })).toBe('alive');
    await once(child, 'exit');
    expect(isAlive({ host, pid: pidOf(child), start: '0' })).toBe('dead');
  });
});

describe('the text of a process identity', () => {
  const identities = fc.record({
    host: fc.stringMatching(/^[0-9a-v]{8}$/),
    pid: fc.integer({ min: 1, max: 4_294_967_295 }),
    start: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
  });

  it('reads back as the identity', () => {
    expect(parseIdentity(formatIdentity(describeSelf()))).toEqual(describeSelf());
    fc.assert(
      fc.property(identities, (identity) => {
        expect(parseIdentity(formatIdentity(identity))).toEqual(identity);
      }),
    );
  });

  it('is safe in a file name', () => {
    expect(formatIdentity(describeSelf())).toMatch(/^[0-9a-z-]{12,48}$/);
  });

  it('is parsed strictly', () => {
    const text = formatIdentity(describeSelf());
    for (const other of ['', text.slice(1), `${text} `, `${text}\n`, `x${text}`, text.replaceAll('-', '.')]) {
      expect(parseIdentity(other)).toBeNull();
    }
    expect(parseIdentity('0123abcd-0-5')).toBeNull();
    expect(parseIdentity('0123abcd-007-5')).toBeNull();
    fc.assert(
      fc.property(fc.string(), (any) => {
        const parsed = parseIdentity(any);
        expect(parsed === null || formatIdentity(parsed) === any).toBe(true);
      }),
    );
  });
});

describe('a stat line of the kernel', () => {
  const rest = 'S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 123456 20 21';

  it('is parsed after the name, whatever the name', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 15 }), (name) => {
        expect(parseStat(`42 (${name}) ${rest}\n`)).toEqual({ state: 'S', start: '123456' });
      }),
    );
    expect(parseStat(`42 (a) Z 9 (b) ${rest}`)).toEqual({ state: 'S', start: '123456' });
  });

  it('is refused when it is cut short', () => {
    expect(parseStat('42 (a) S 1 2 3')).toBeNull();
    expect(parseStat('')).toBeNull();
  });
});
