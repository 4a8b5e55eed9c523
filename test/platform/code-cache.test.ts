import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CachedProgram, openCachedProgram } from '../../src/platform/code-cache.ts';
import { makeSandbox, makeTempFolder, type Sandbox } from '../support/cli.ts';
import { startAgent, writeSession } from '../support/hooks.ts';

const SOURCE = "(function (exports, require) { exports.count = (text) => require('./base.cjs').name(text).length; })";
const BESIDE = "(function (exports, require) { exports.name = (text) => require('node:path').basename(text); })";

interface Opening {
  folder: string;
  path: string;
  open(build?: string): CachedProgram;
}

function openProgram(): Opening {
  const folder = makeTempFolder();
  const path = join(folder, 'kept');
  writeFileSync(join(folder, 'program.cjs'), SOURCE);
  writeFileSync(join(folder, 'base.cjs'), BESIDE);
  return {
    folder,
    path,
    open: (build = 'one') => openCachedProgram(join(folder, 'program.cjs'), { path, build }),
  };
}

function keep(program: CachedProgram, worth: number): void {
  writeFileSync(program.path ?? '', Buffer.concat(program.pack(worth)), { mode: 0o600 });
}

function run({ exports }: CachedProgram): unknown {
  const { count } = exports;
  return typeof count === 'function' ? count('/some/where') : undefined;
}

describe('a program with a compile cache', () => {
  it('runs without the cache, and with it', () => {
    const { open } = openProgram();
    const first = open();
    expect([run(first), first.warmth, first.isIncomplete]).toEqual([5, -1, true]);
    keep(first, 2);
    const second = open();
    expect([run(second), second.warmth, second.isIncomplete]).toEqual([5, 2, false]);
  });

  it('writes no cache when disabled', () => {
    const { folder } = openProgram();
    const program = openCachedProgram(join(folder, 'program.cjs'), { path: null, build: 'one' });
    expect([run(program), program.warmth, program.path]).toEqual([5, -1, null]);
  });

  it('keeps cached parts that this run did not need, and reports a missing one', () => {
    const { open } = openProgram();
    keep(open(), 1);
    const more = open();
    expect([more.isIncomplete, run(more), more.isIncomplete]).toEqual([false, 5, true]);
    keep(more, 1);
    keep(open(), 1);
    const last = open();
    expect([run(last), last.isIncomplete]).toEqual([5, false]);
  });

  it('ignores a cache file that is damaged, cut, or of another build', () => {
    const { path, open } = openProgram();
    const program = open();
    run(program);
    keep(program, 1);
    const kept = readFileSync(path);
    for (let at = 0; at < kept.length; at += 37) {
      const damaged = Buffer.from(kept);
      damaged[at] = (damaged[at] ?? 0) ^ 0x10;
      writeFileSync(path, damaged);
      const again = open();
      expect([at, run(again), again.warmth]).toEqual([at, 5, -1]);
    }
    for (const length of [0, 10, 8192, 16_384, kept.length / 2, kept.length - 1]) {
      writeFileSync(path, kept.subarray(0, length));
      expect([length, open().warmth]).toEqual([length, -1]);
    }
    writeFileSync(path, kept);
    expect(open().warmth).toBe(1);
    expect(open('two').warmth).toBe(-1);
  });

  it('recompiles when the source changed', () => {
    const { folder, open } = openProgram();
    keep(open(), 1);
    writeFileSync(join(folder, 'program.cjs'), SOURCE.replace('.length', '.length + 1'));
    const changed = open();
    expect([run(changed), changed.warmth]).toEqual([6, -1]);
  });

  it.skipIf(process.platform === 'win32')('ignores a cache file that others may write', () => {
    const { path, open } = openProgram();
    keep(open(), 1);
    chmodSync(path, 0o620);
    expect(open().warmth).toBe(-1);
  });
});

const listKept = (sandbox: Sandbox): string[] => {
  const folder = join(sandbox.store, 'ready', 'code');
  return readdirSync(folder).map((name) => join(folder, name));
};

describe('a hook with a compile cache', () => {
  it('has a private cache for its event, and works without it when damaged', async () => {
    const sandbox = makeSandbox();
    const session = writeSession(sandbox);
    const agent = startAgent(sandbox);
    const prompt = (): Promise<string | null> => agent.receive('UserPromptSubmit', session.input({ prompt: 'go on' }));
    expect(await prompt()).toBeNull();
    const [kept = ''] = listKept(sandbox);
    const before = readFileSync(kept);
    expect([listKept(sandbox).length, statSync(kept).mode & 0o777]).toEqual([1, 0o600]);
    writeFileSync(kept, before.fill(0xff, 1000));
    expect(await prompt()).toBeNull();
    expect(readFileSync(kept).includes(before)).toBe(false);
    rmSync(join(sandbox.store, 'ready'), { recursive: true });
    expect(await prompt()).toBeNull();
    await agent.end();
  });
});

describe('a command with a compile cache', () => {
  const KEEPING = { env: { NODE_DISABLE_COMPILE_CACHE: undefined } };

  it('writes its cache into an existing store, and behaves the same with it', async () => {
    const sandbox = makeSandbox();
    const list = (): Promise<string> => sandbox.ok(['list', '--json'], KEEPING);
    await list();
    expect(existsSync(sandbox.store)).toBe(false);
    await sandbox.save('--title', 'Kept');
    const printed = await list();
    expect(listKept(sandbox).map((path) => basename(path))).toEqual([expect.stringMatching(/^list-v/)]);
    for (let time = 0; time < 3; time++) expect(await list()).toBe(printed);
    const [kept = ''] = listKept(sandbox);
    const before = statSync(kept);
    expect([before.mode & 0o777, before.size > 10_000]).toEqual([0o600, true]);
    expect(await list()).toBe(printed);
    expect(statSync(kept).ino).toBe(before.ino);
    writeFileSync(kept, Buffer.alloc(before.size, 7));
    expect(await list()).toBe(printed);
    expect(statSync(kept).size).toBeGreaterThan(10_000);
  });

  it('writes its cache as an MCP server, too, when its input ends', async () => {
    const sandbox = makeSandbox();
    await sandbox.save('--title', 'Kept');
    for (let time = 0; time < 2; time++) await sandbox.ok(['mcp'], KEEPING);
    expect(listKept(sandbox).map((path) => basename(path))).toEqual([expect.stringMatching(/^mcp-v/)]);
  });

  it('writes no cache for an unknown command, nor where Node’s compile cache is disabled', async () => {
    const sandbox = makeSandbox();
    await sandbox.save('--title', 'Kept');
    expect((await sandbox.run(['lisst'], KEEPING)).status).toBe(64);
    await sandbox.ok(['list']);
    expect(existsSync(join(sandbox.store, 'ready', 'code'))).toBe(false);
  });

  it.skipIf(process.getuid?.() === 0)('works in a read-only store', async () => {
    const sandbox = makeSandbox();
    await sandbox.save('--title', 'Kept');
    chmodSync(sandbox.store, 0o500);
    expect(await sandbox.ok(['list'], KEEPING)).toContain('Kept');
    chmodSync(sandbox.store, 0o700);
  });
});
