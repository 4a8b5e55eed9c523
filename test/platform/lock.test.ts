import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { HandoverError } from '../../src/errors.ts';
import { acquireLock, type LockOptions, withLock } from '../../src/platform/lock.ts';
import { formatClaim, inspectClaims } from '../../src/platform/lock-claim.ts';
import { type Clock, systemClock } from '../../src/platform/machine.ts';
import { describeSelf, formatIdentity } from '../../src/platform/process-identity.ts';
import { prepareLockWorkers, waitForEnd } from './lock-workers.ts';
import { explore } from './workers/lock-model.ts';

const onLinux = process.platform === 'linux';
const onWindows = process.platform === 'win32';
const workers = prepareLockWorkers();
let place = '';
let folder = '';

beforeEach(() => {
  place = mkdtempSync(join(workers.root, 'case-'));
  folder = join(place, 'locks');
});

async function startHolder(name: string): Promise<ChildProcess> {
  const child = workers.start('hold.mjs', { args: [folder, name] });
  if (child.stdout === null) throw new Error('the worker has no output');
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    expect(String(chunk)).toBe('held\n');
    return child;
  }
  throw new Error('the worker did not get the lock');
}

function options(overrides: Partial<LockOptions> = {}): LockOptions {
  return { folder, name: 'test', waitMs: 0, clock: systemClock, ...overrides };
}

function entries(): string[] {
  return readdirSync(folder).sort();
}

function forge(generation: number, text: string, ageMs = 0): void {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `test.${generation}`);
  writeFileSync(file, text);
  const at = (Date.now() - ageMs) / 1000;
  utimesSync(file, at, at);
}

function claimLine(holder: string, state: 'held' | 'released' = 'held', at = Date.now()): string {
  return formatClaim({ holder, state, at });
}

function refusal(act: () => unknown): HandoverError {
  try {
    act();
  } catch (error) {
    if (error instanceof HandoverError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

const myself = formatIdentity(describeSelf());
const otherHost = formatIdentity({ ...describeSelf(), host: 'otherone' });

describe('a process that takes a lock', () => {
  it('returns the result of the work, and can take the lock again at once', () => {
    expect(withLock(options(), () => 7)).toBe(7);
    expect(withLock(options(), () => 8)).toBe(8);
  });

  it('releases the lock when the work fails', () => {
    const failure = new Error('the work failed');
    expect(() =>
      withLock(options(), () => {
        throw failure;
      }),
    ).toThrow(failure);
    expect(withLock(options(), () => 'in')).toBe('in');
  });

  it('cannot take a lock that it already holds', () => {
    const lock = acquireLock(options());
    expect(refusal(() => acquireLock(options({ waitMs: 30 }))).code).toBe('HANDOVER_LOCKED');
    lock.release();
    acquireLock(options()).release();
  });

  it('may release twice without releasing the next holder', () => {
    const first = acquireLock(options());
    first.release();
    const second = acquireLock(options());
    first.release();
    expect(refusal(() => acquireLock(options())).code).toBe('HANDOVER_LOCKED');
    second.release();
  });

  it('holds locks of different names side by side', () => {
    const one = acquireLock(options({ name: 'a' }));
    const two = acquireLock(options({ name: 'a-b' }));
    one.release();
    two.release();
    expect(entries()).toEqual(['a-b.1', 'a.1']);
  });

  it('has one file per lock, with a growing number', () => {
    for (let round = 0; round < 12; round += 1) withLock(options(), () => undefined);
    expect(entries()).toEqual(['test.12']);
  });

  it('may find its lock folder removed when it releases', () => {
    withLock(options(), () => rmSync(folder, { recursive: true }));
    expect(existsSync(folder)).toBe(false);
  });

  it.each(['', 'A', '1a', 'a.b', 'a/b', '../a', 'a'.repeat(33)])('refuses the lock name %j', (name) => {
    expect(() => acquireLock(options({ name }))).toThrow(RangeError);
    expect(existsSync(folder)).toBe(false);
  });

  it.skipIf(onWindows)('makes folder and file private, whatever the umask', async () => {
    const child = workers.startAfter('umask 0377', 'hold.mjs', folder, 'test');
    if (child.stdout === null) throw new Error('the worker has no output');
    await once(child.stdout, 'data');
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'test.1')).mode & 0o777).toBe(0o600);
  });
});

describe('a lock held by another process', () => {
  it('is refused after the wait, with the process and the file in the hint', async () => {
    const holder = await startHolder('test');
    const error = refusal(() => acquireLock(options({ waitMs: 60 })));
    expect(error.code).toBe('HANDOVER_LOCKED');
    expect(error.hint).toContain(String(holder.pid));
    expect(error.hint).toContain(join(folder, 'test.1'));
    expect(error.data).toMatchObject({ pid: holder.pid, file: join(folder, 'test.1') });
    expect(entries()).toEqual(['test.1']);
  });

  it('SH-7: a lock left by a crash does not block the next writer', async () => {
    const holder = await startHolder('test');
    holder.kill('SIGKILL');
    await waitForEnd(holder);
    expect(withLock(options({ waitMs: 0 }), () => 'in')).toBe('in');
  });

  it('is taken by a waiting process as soon as the holder is killed', async () => {
    const holder = await startHolder('test');
    const next = startHolder('test');
    holder.kill('SIGKILL');
    await next;
    expect(entries()).toEqual(['test.2']);
  });

  it('is taken at once when it was released by a process that still runs', () => {
    forge(3, claimLine(myself, 'released'));
    expect(withLock(options(), entries)).toEqual(['test.4']);
  });

  it.runIf(onLinux)('is dead when the pid of its holder belongs to a process that started later', () => {
    const reused = { ...describeSelf(), start: String(Number(describeSelf().start) - 1) };
    forge(1, claimLine(formatIdentity(reused)));
    expect(withLock(options(), entries)).toEqual(['test.2']);
  });

  it('is respected for a while when its holder is on another host', () => {
    const at = 1_000_000;
    const clockAt = (now: number): Clock => ({ now: () => now });
    forge(1, claimLine(otherHost, 'held', at));
    const error = refusal(() => acquireLock(options({ clock: clockAt(at + 5000), staleMs: 5000 })));
    expect(error.code).toBe('HANDOVER_LOCKED');
    expect(error.hint).toContain('no longer runs');
    expect(withLock(options({ clock: clockAt(at + 5001), staleMs: 5000 }), entries)).toEqual(['test.2']);
  });

  it('blocks a newer number as long as a live process holds a lower one', () => {
    forge(1, claimLine(myself));
    forge(2, claimLine(myself, 'released'));
    const error = refusal(() => acquireLock(options({ waitMs: 20 })));
    expect(error.code).toBe('HANDOVER_LOCKED');
    expect(error.data).toMatchObject({ file: join(folder, 'test.1') });
    forge(1, claimLine(myself, 'released'));
    expect(withLock(options(), entries)).toHaveLength(1);
  });
});

describe('a damaged lock folder', () => {
  it.each(['', 'not json', '{}', '[]', '{"holder":"x","state":"held","at":1}', 'null\n'])(
    'passes over a file with the content %j once it is too old to be half written, and says so',
    (text) => {
      forge(1, text);
      expect(refusal(() => acquireLock(options({ waitMs: 20 }))).code).toBe('HANDOVER_LOCKED');
      forge(1, text, 3000);
      const lock = acquireLock(options());
      expect(lock.damaged).toEqual([join(folder, 'test.1')]);
      expect(entries()).toEqual(['test.2']);
      lock.release();
    },
  );

  it('reports a claim with any changed byte as damaged', () => {
    for (const state of ['held', 'released'] as const) {
      const line = Buffer.from(claimLine(myself, state));
      for (let at = 0; at < line.length; at += 1) {
        const flipped = Buffer.from(line);
        flipped.writeUInt8(flipped.readUInt8(at) ^ 1, at);
        forge(1, flipped.toString('latin1'), 3000);
        expect(inspectClaims(folder)).toEqual([{ path: join(folder, 'test.1'), problem: expect.any(String) }]);
      }
      forge(1, line.toString('latin1'));
      expect(inspectClaims(folder)).toEqual([]);
    }
  });

  it('passes over a file whose time lies far in the future', () => {
    forge(1, '', -3_600_000);
    expect(withLock(options(), entries)).toEqual(['test.2']);
  });

  it.skipIf(onWindows)('does not follow a link in place of a lock file', () => {
    mkdirSync(folder);
    const target = join(place, 'target');
    const line = claimLine(myself);
    writeFileSync(target, line);
    symlinkSync(target, join(folder, 'test.1'));
    const later: Clock = { now: () => Date.now() + 3000 };
    expect(withLock(options({ clock: later }), entries)).toEqual(['test.2']);
    expect(readFileSync(target, 'utf8')).toBe(line);
  });

  it('passes over a folder in place of a lock file', () => {
    mkdirSync(join(folder, 'test.1'), { recursive: true });
    const later: Clock = { now: () => Date.now() + 3000 };
    expect(withLock(options({ clock: later }), entries)).toEqual(['test.1', 'test.2']);
  });

  it('does not take other files for its own', () => {
    forge(1, claimLine(myself, 'released'));
    const others = ['other.9', 'test', 'test.01', 'test.1e3', 'test.2.tmp', 'test.-1', 'test.9999999999999999'];
    for (const name of others) writeFileSync(join(folder, name), 'x');
    expect(withLock(options(), entries)).toEqual([...others, 'test.2'].sort());
  });

  it('says what to remove when the numbers have run out', () => {
    forge(999_999_999_999_999, claimLine(myself, 'released'));
    const error = refusal(() => acquireLock(options()));
    expect(error.code).toBe('HANDOVER_STORE_DAMAGED');
    expect(error.hint).toContain('test.999999999999999');
  });

  it('is cleaned of unfinished files of dead processes, not of live ones', async () => {
    const holder = await startHolder('other');
    holder.kill('SIGKILL');
    await waitForEnd(holder);
    const [, dead = ''] = /"holder":"([^"]+)"/.exec(readFileSync(join(folder, 'other.1'), 'utf8')) ?? [];
    const kept = [`.test.${myself}.900.tmp`, `.test.${otherHost}.1.tmp`, '.test.nobody.1.tmp', `.other.${dead}.1.tmp`];
    for (const name of [...kept, `.test.${dead}.1.tmp`]) writeFileSync(join(folder, name), '');
    expect(withLock(options(), entries)).toEqual([...kept, 'other.1', 'test.1'].sort());
    const later: Clock = { now: () => Date.now() + 3_600_000 };
    expect(withLock(options({ clock: later }), entries)).not.toContain(`.test.${otherHost}.1.tmp`);
  });
});

describe('a process without free descriptors', () => {
  it.skipIf(onWindows)('still releases what it holds', async () => {
    const child = workers.startAfter('ulimit -n 64', 'release-without-descriptors.mjs', folder);
    expect(await waitForEnd(child)).toBe(0);
  });
});

describe('a model of the lock, in every order of its steps', () => {
  it.each([
    { rounds: [2, 2], crashes: 1 },
    { rounds: [1, 1, 1], crashes: 1 },
    { rounds: [1, 1, 2], crashes: 0 },
  ])('never lets two inside: $rounds rounds, $crashes crash', { timeout: 120_000 }, ({ rounds, crashes }) => {
    const { violations, ends } = explore({ rounds, crashes, rule: 'meet no live claim' });
    expect(violations).toBe(0);
    expect(ends).toBeGreaterThan(0);
  });

  it('would let two inside if the highest number in a listing were enough', () => {
    expect(explore({ rounds: [1, 3], crashes: 0, rule: 'be the highest' }).violations).toBeGreaterThan(0);
  });
});
