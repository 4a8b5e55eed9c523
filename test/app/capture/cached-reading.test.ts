import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { claudeCodeAgent } from '../../../src/agents/claude-code/transcript.ts';

import { readSession } from '../../../src/app/capture/capture.ts';
import type { Machine } from '../../../src/platform/machine.ts';
import { SESSION_ID, Transcript } from '../../fixtures/agents/claude-code.ts';
import { makeSandbox } from '../../support/cli.ts';
import { readAnew, readKept } from '../../support/growing.ts';
import { makeRedactor } from '../../support/redactor.ts';
import { makeFolder, makeMachine } from '../../support/temp-store.ts';

/** A transcript of a few hundred kilobytes: larger than what is hashed of it. */
function makeLong(turns = 60): Transcript {
  const t = new Transcript();
  for (let turn = 0; turn < turns; turn++) {
    t.human(`Please fix part ${turn} of the upload in src/part${turn}.ts`);
    t.call(`r${turn}`, 'Bash', { command: `npm test part${turn}` });
    t.result(`r${turn}`, `${'passed '.repeat(600)}${turn}`, { data: { stdout: 'x', stderr: '' } });
    t.say(`Part ${turn} is fixed with retryPart${turn}(), which waits for the server.`);
  }
  return t;
}

interface Sandbox {
  machine: Machine;
  path: string;
  readings: string;
  /** Reads on, expects what a whole reading gives, and says where it began. */
  readOn(): number[];
}

function layOut(text: string): Sandbox {
  const machine = makeMachine(makeFolder());
  const path = join(machine.home ?? '', '.claude', 'projects', 'p', `${SESSION_ID}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  const readOn = (): number[] => {
    const beginnings: number[] = [];
    expect(readKept({ agent: claudeCodeAgent, path, machine }, beginnings)).toEqual(readAnew(claudeCodeAgent, path));
    return beginnings;
  };
  return { machine, path, readings: join(machine.env.HANDOVER_HOME ?? '', 'readings'), readOn };
}

/** More of the same transcript. */
function addTurn(path: string): void {
  const t = makeLong(60);
  const before = t.text.length;
  t.human('And now the documents of retryAll()');
  appendFileSync(path, t.text.slice(before));
}

describe('a transcript checkpoint', () => {
  it('saves reading the same rows again', () => {
    const t = makeLong();
    const { path, machine, readOn } = layOut(t.text);
    expect(readOn()).toEqual([0]);
    const told = readAnew(claudeCodeAgent, path);
    // The middle is not compared, so this change goes unnoticed.
    const bytes = readFileSync(path);
    bytes.fill('z', 100_000, 150_000);
    writeFileSync(path, bytes);
    expect(readKept({ agent: claudeCodeAgent, path, machine }, [])).toEqual(told);
  });

  it('is readable for this user alone', () => {
    const { readings, readOn } = layOut(makeLong(2).text);
    readOn();
    const [name = ''] = readdirSync(readings);
    expect(statSync(join(readings, name)).mode & 0o777).toBe(0o600);
    expect(statSync(readings).mode & 0o777).toBe(0o700);
  });

  it('is used whether or not rows were added', () => {
    const t = makeLong();
    const size = Buffer.byteLength(t.text);
    const { path, readOn } = layOut(t.text);
    expect([readOn(), readOn()]).toEqual([[0], [size]]);
    addTurn(path);
    expect(readOn()).toEqual([size]);
  });

  const CHANGES: [string, (path: string) => void][] = [
    ['in its first bytes', (path) => overwrite(path, 200)],
    ['in its last bytes', (path) => overwrite(path, statSync(path).size - 200)],
    ['by being cut', (path) => truncateSync(path, statSync(path).size - 5000)],
    [
      'by being emptied and written again',
      (path) => writeFileSync(path, makeLong(61).text.replaceAll('part 3', 'part 4')),
    ],
    [
      'by another file in its place',
      (path) => {
        writeFileSync(`${path}.new`, readFileSync(path));
        renameSync(`${path}.new`, path);
      },
    ],
  ];

  it.each(CHANGES)('is not used for a transcript that was changed %s', (_, change) => {
    const { path, readOn } = layOut(makeLong().text);
    readOn();
    change(path);
    expect(readOn()).toEqual([0]);
    addTurn(path);
    readOn();
  });

  it('is not used once any of its bytes changed', () => {
    const t = makeLong(3);
    const { readings, readOn } = layOut(t.text);
    readOn();
    const file = join(readings, readdirSync(readings)[0] ?? '');
    const whole = readFileSync(file);
    fc.assert(
      fc.property(fc.nat({ max: whole.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const bytes = Buffer.from(whole);
        bytes[at] = (bytes[at] ?? 0) ^ change;
        writeFileSync(file, bytes);
        expect(readOn()).toEqual([0]);
      }),
      { numRuns: 60 },
    );
    for (const length of [0, 31, 32, 40, whole.length - 1]) {
      writeFileSync(file, whole.subarray(0, length));
      expect(readOn()).toEqual([0]);
    }
    writeFileSync(file, whole);
    expect(readOn()).toEqual([Buffer.byteLength(t.text)]);
  });

  it('is not used for another session in the same file', () => {
    const { path, machine, readOn } = layOut(makeLong(3).text);
    readOn();
    const session = claudeCodeAgent.inspectFile(path);
    if (session === null) throw new Error('no session');
    const beginnings: number[] = [];
    const elsewhere = { ...claudeCodeAgent, inspectFile: () => ({ ...session, cwd: '/elsewhere' }) };
    readKept({ agent: elsewhere, path, machine }, beginnings);
    expect(beginnings).toEqual([0]);
  });

  it('is optional: reading works without a folder for it', () => {
    const { path, machine, readings, readOn } = layOut(makeLong(3).text);
    const root = dirname(readings);
    mkdirSync(root, { recursive: true });
    writeFileSync(readings, 'in the way');
    expect([readOn(), readOn()]).toEqual([[0], [0]]);
    rmSync(readings);
    symlinkSync(makeFolder(), readings);
    expect([readOn(), readOn()]).toEqual([[0], [0]]);
    rmSync(readings);
    const nowhere = { ...machine, env: {}, home: undefined };
    expect(readKept({ agent: claudeCodeAgent, path, machine: nowhere }, [])).toEqual(readAnew(claudeCodeAgent, path));
  });

  it.skipIf(process.getuid?.() === 0)('is optional: reading works with a read-only store', () => {
    const { readings, readOn } = layOut(makeLong(3).text);
    mkdirSync(dirname(readings), { recursive: true });
    chmodSync(dirname(readings), 0o500);
    expect([readOn(), readOn()]).toEqual([[0], [0]]);
    chmodSync(dirname(readings), 0o700);
  });

  it('is stored for the newest transcripts only', () => {
    const { machine, path, readings, readOn } = layOut(makeLong(1).text);
    readOn();
    const [first = ''] = readdirSync(readings);
    utimesSync(join(readings, first), 1, 1);
    for (let i = 0; i < 64; i++) {
      const other = `${path}-${i}.jsonl`;
      writeFileSync(other, makeLong(1).text);
      readKept({ agent: claudeCodeAgent, path: other, machine }, []);
    }
    expect(readdirSync(readings)).toHaveLength(64);
    expect(readdirSync(readings)).not.toContain(first);
  });
});

function overwrite(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes.write('~', at);
  writeFileSync(path, bytes);
}

describe('handover capture', () => {
  function capture(sandbox: { home: string }): { path: string; args: string[] } {
    const path = join(sandbox.home, '.claude', 'projects', 'p', `${SESSION_ID}.jsonl`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, makeLong(3).text);
    return { path, args: ['capture', '--transcript', path] };
  }

  it('stores a transcript checkpoint, unless it is a dry run, which may use one', async () => {
    const sandbox = makeSandbox();
    const { path, args } = capture(sandbox);
    await sandbox.ok([...args, '--dry-run']);
    expect(existsSync(join(sandbox.store, 'readings'))).toBe(false);
    await sandbox.ok(args);
    const [reading = ''] = readdirSync(join(sandbox.store, 'readings'));
    const kept = readFileSync(join(sandbox.store, 'readings', reading));
    addTurn(path);
    expect(await sandbox.ok([...args, '--dry-run'])).toContain('And now the documents of retryAll()');
    expect(readFileSync(join(sandbox.store, 'readings', reading)).equals(kept)).toBe(true);
    await sandbox.ok(args);
    expect(readFileSync(join(sandbox.store, 'readings', reading)).equals(kept)).toBe(false);
  });

  it('leaves a store without findings of doctor', async () => {
    const sandbox = makeSandbox();
    await sandbox.ok(capture(sandbox).args);
    expect(await sandbox.ok(['doctor'])).toContain('all is well');
  });
});

describe('reading a session', () => {
  it('uses no transcript checkpoint where none is asked for', () => {
    const { path, machine, readings } = layOut(makeLong(1).text);
    const session = claudeCodeAgent.inspectFile(path);
    if (session === null) throw new Error('no session');
    expect(
      readSession(claudeCodeAgent, session, { machine, savesCheckpoint: false, redactor: makeRedactor() }),
    ).toEqual(readAnew(claudeCodeAgent, path));
    expect(() => statSync(readings)).toThrow('ENOENT');
  });
});
