import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasProgram, inPairs, makeSandbox, type Sandbox } from '../support/cli.ts';
import { snapshotTree } from '../support/tree.ts';

const onWindows = process.platform === 'win32';
const canMakeDevices = !onWindows && hasProgram('sh', '-c', 'd=$(mktemp -d) && mknod "$d/n" c 1 3');
const model = makeSandbox();
let id = '';
let other = '';

beforeAll(async () => {
  other = await model.save('--summary', 'the other one');
  id = await model.save('--summary', 'the one');
  const gone = await model.save('--summary', 'forgotten');
  await model.ok(['forget', gone]);
  mkdirSync(join(model.store, 'quarantine'), { mode: 0o700 });
});

const month = (): string => join('handovers', id.slice(0, 4), id.slice(4, 6));
const FOLDERS: Readonly<Record<string, () => string>> = {
  handovers: () => 'handovers',
  'the year': () => join('handovers', id.slice(0, 4)),
  'the month': month,
  journal: () => 'journal',
  locks: () => 'locks',
  leaving: () => 'leaving',
  quarantine: () => 'quarantine',
};
const FILES: Readonly<Record<string, () => string>> = {
  'a handover': () => join(month(), `${id}.json`),
  'the journal file': () => join('journal', `${id.slice(0, 4)}-${id.slice(4, 6)}.jsonl`),
  'index.sqlite': () => 'index.sqlite',
  'index.sqlite-journal': () => 'index.sqlite-journal',
  'index.sum': () => 'index.sum',
};

interface Layout {
  sandbox: Sandbox;
  /** A folder beside the store, to which nothing may be written. */
  outside: string;
  /** The place in the store. */
  path: string;
}

/** A copy of the store in which one file or folder was taken outside; something else can be put in its place. */
function makeLayout(name: string): Layout {
  const sandbox = makeSandbox();
  cpSync(model.store, sandbox.store, { recursive: true, preserveTimestamps: true });
  const outside = join(sandbox.folder, 'outside');
  mkdirSync(outside);
  const path = join(sandbox.store, (FOLDERS[name] ?? FILES[name])?.() ?? '');
  if (existsSync(path)) renameSync(path, join(outside, 'target'));
  else writeFileSync(join(outside, 'target'), 'canary');
  return { sandbox, outside, path };
}

async function expectUnharmed({ sandbox, outside, path }: Layout): Promise<void> {
  const before = snapshotTree(outside);
  const commands = [
    ['doctor', '--json'],
    ['list', '--json'],
    ['show', id],
    ['render', other],
    ['save', '--summary', 'a new one'],
    ['forget', id],
    ['doctor', '--fix'],
    ['list'],
  ];
  for (const args of commands) {
    const { status, stdout } = await sandbox.run(args);
    const name = `${args.join(' ')} with ${path}`;
    expect([0, 64, 65, 66, 74, 75, 77], name).toContain(status);
    expect(snapshotTree(outside), name).toEqual(before);
    if (args.join(' ') === 'doctor --json') {
      const { findings }: { findings: { path: string; message: string }[] } = JSON.parse(stdout);
      const named = findings.some((finding) => finding.path === path || finding.message.includes(path));
      expect(named, name).toBe(true);
    }
  }
}

const both = [...Object.keys(FOLDERS), ...Object.keys(FILES)];

describe.skipIf(onWindows)('something else in place of a file or folder of the store', () => {
  it.concurrent.each(both)('does no harm: a link out of the store instead of %s', async (name) => {
    const layout = makeLayout(name);
    symlinkSync(join(layout.outside, 'target'), layout.path);
    await expectUnharmed(layout);
  });

  it.concurrent.each(both)('does no harm: a dangling link instead of %s', async (name) => {
    const layout = makeLayout(name);
    symlinkSync(join(layout.outside, 'nothing'), layout.path);
    await expectUnharmed(layout);
    expect(existsSync(join(layout.outside, 'nothing'))).toBe(false);
  });

  it.concurrent.each(both)('does not hang: a pipe instead of %s', async (name) => {
    const layout = makeLayout(name);
    execFileSync('mkfifo', [layout.path]);
    await expectUnharmed(layout);
  });

  it.concurrent.each(Object.keys(FILES))('does not hang: a socket instead of %s', async (name) => {
    const layout = makeLayout(name);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(layout.path, resolve));
    await expectUnharmed(layout);
    server.close();
  });

  it.runIf(canMakeDevices).concurrent.each(Object.keys(FILES))(
    'does not hang: a device instead of %s',
    async (name) => {
      const layout = makeLayout(name);
      execFileSync('mknod', [layout.path, 'c', '1', '5']);
      await expectUnharmed(layout);
    },
  );

  it('does no harm: a link from one handover to another', async () => {
    const layout = makeLayout('a handover');
    symlinkSync(join(layout.sandbox.store, month(), `${other}.json`), layout.path);
    await expectUnharmed(layout);
    expect((await layout.sandbox.run(['show', other])).status).toBe(0);
  });
});

describe.skipIf(onWindows)('the root of the store', () => {
  it('may be a link to a folder, and is then that folder', async () => {
    const { sandbox } = makeLayout('quarantine');
    const link = join(sandbox.folder, 'link');
    symlinkSync(sandbox.store, link);
    const saved = await sandbox.json<{ path: string }>(['save', '--summary', 'x'], {
      env: { HANDOVER_HOME: link },
    });
    expect(saved.path.startsWith(sandbox.store)).toBe(true);
    expect(await sandbox.ok(['list'])).toContain(other);
  });

  it('is refused when it is a pipe, a file, a dangling link or a link to itself', async () => {
    const sandbox = makeSandbox();
    const target = join(sandbox.folder, 'target');
    const makers: (() => unknown)[] = [
      () => execFileSync('mkfifo', [sandbox.store]),
      () => symlinkSync(target, sandbox.store),
      () => writeFileSync(sandbox.store, 'canary'),
      () => symlinkSync(sandbox.store, sandbox.store),
    ];
    for (const make of makers) {
      rmSync(sandbox.store, { force: true });
      make();
      const before = snapshotTree(sandbox.folder);
      const commands = [['save', '--summary', 'x'], ['list'], ['show', id], ['render'], ['forget', id], ['doctor']];
      for (const { status } of await inPairs(commands, (args) => sandbox.run(args))) {
        expect([66, 74, 77]).toContain(status);
      }
      expect(snapshotTree(sandbox.folder)).toEqual(before);
      expect(existsSync(target)).toBe(false);
    }
  });
});
