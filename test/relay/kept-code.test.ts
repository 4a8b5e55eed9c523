import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openKeptProgram } from '../../src/platform/kept-code.ts';
import { type Desk, makeDesk, makeTempFolder } from '../support/cli.ts';
import { startAgent, writeSession } from '../support/hooks.ts';

const SOURCE = 'exports.count = (text) => require("node:path").basename(text).length;';

function openProgram(): { file: string; path: string; open(): ReturnType<typeof openKeptProgram> } {
  const folder = makeTempFolder();
  const file = join(folder, 'program.cjs');
  const path = join(folder, 'kept');
  writeFileSync(file, SOURCE);
  return { file, path, open: () => openKeptProgram(file, path) };
}

function keep(program: ReturnType<typeof openKeptProgram>, worth: number): void {
  writeFileSync(program.path, Buffer.concat(program.pack(worth)), { mode: 0o600 });
}

function run({ exports }: ReturnType<typeof openKeptProgram>): unknown {
  const { count } = exports;
  return typeof count === 'function' ? count('/some/where') : undefined;
}

describe('a program that is kept as it was compiled', () => {
  it('runs with nothing kept, and with what was kept', () => {
    const { open } = openProgram();
    const first = open();
    expect([run(first), first.worth]).toEqual([5, -1]);
    keep(first, 2);
    const second = open();
    expect([run(second), second.worth]).toEqual([5, 2]);
  });

  it('is not taken from a file that is damaged anywhere, cut, or made for another source', () => {
    const { file, path, open } = openProgram();
    keep(open(), 1);
    const kept = readFileSync(path);
    for (let at = 0; at < kept.length; at += 7) {
      // The worth says only when to keep it anew.
      if (at >= 4 && at < 8) continue;
      const damaged = Buffer.from(kept);
      damaged[at] = (damaged[at] ?? 0) ^ 0x10;
      writeFileSync(path, damaged);
      const program = open();
      expect([at, run(program), program.worth]).toEqual([at, 5, -1]);
    }
    for (const length of [0, 10, 16, kept.length - 1]) {
      writeFileSync(path, kept.subarray(0, length));
      expect(open().worth).toBe(-1);
    }
    writeFileSync(path, kept);
    writeFileSync(file, SOURCE.replace('text', 'name'));
    expect(open().worth).toBe(-1);
  });

  it.skipIf(process.platform === 'win32')('is not taken from a file that others may write', () => {
    const { path, open } = openProgram();
    keep(open(), 1);
    chmodSync(path, 0o620);
    expect(open().worth).toBe(-1);
  });
});

const listKept = (desk: Desk): string[] => {
  const folder = join(desk.store, 'ready', 'code');
  return readdirSync(folder).map((name) => join(folder, name));
};

describe('a hook', () => {
  it('keeps itself for its event, privately, and does without where that is damaged', async () => {
    const desk = makeDesk();
    const session = writeSession(desk);
    const agent = startAgent(desk);
    const prompt = (): Promise<string | null> =>
      agent.given('UserPromptSubmit', session.input({ prompt: 'go on' }));
    expect(await prompt()).toBeNull();
    const [kept = ''] = listKept(desk);
    const before = readFileSync(kept);
    expect([listKept(desk).length, statSync(kept).mode & 0o777]).toEqual([1, 0o600]);
    writeFileSync(kept, before.fill(0xff, 1000));
    expect(await prompt()).toBeNull();
    expect(readFileSync(kept).includes(before)).toBe(false);
    rmSync(join(desk.store, 'ready'), { recursive: true });
    expect(await prompt()).toBeNull();
    await agent.end();
  });
});
