import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HANDOVER, inPairs, makeSandbox, runGit, runProcess } from '../support/cli.ts';
import { HOOK } from '../support/hooks.ts';

/** Everything in a project that a command or a hook reads, or that git reads for it. */
const PATHS = [
  ...['.agent-handover', '.agent-handover/PAUSE', '.agent-handover/config.toml', '.agent-handover/checkpoint.json'],
  ...['HANDOFF.md', 'SOUL.md', 'MEMORY.md', 'CLAUDE.md', 'AGENTS.md', '.claude/settings.json', '.mcp.json'],
  ...[
    'memory',
    'memory/layer1/2026-01/x-2026-01-05.md',
    'memory/layer2/current-state.md',
    'memory/layer3/2026-01-x-archive.md',
  ],
  ...['handover.toml', '.agent-handover/handover.toml', '.handover'],
  ...['.aider.chat.history.md', 'package.json', 'tracked.txt', 'new.txt', 'folder/.gitignore', 'folder/.gitattributes'],
  ...[
    '.gitignore',
    '.gitattributes',
    '.gitmodules',
    '.git',
    '.git/HEAD',
    '.git/config',
    '.git/index',
    '.git/packed-refs',
  ],
  ...['.git/commondir', '.git/shallow', '.git/refs/heads/main', '.git/info/exclude', '.git/info/attributes'],
  ...['.git/objects/info/alternates', '.git/MERGE_HEAD', '.git/config.worktree', '.git/logs/HEAD'],
];

const servers: Server[] = [];
const HUGE = 6 * 1024 ** 3;

const KINDS: Record<string, (path: string) => void | Promise<void>> = {
  'a pipe': (path) => void execFileSync('mkfifo', [path]),
  'an endless device': (path) => symlinkSync('/dev/zero', path),
  'a socket': (path) => new Promise((resolve) => void servers.push(createServer().listen(path, resolve))),
  'six gigabytes of nothing': (path) => {
    writeFileSync(path, '');
    truncateSync(path, HUGE);
  },
  'two hundred megabytes of text': (path) => writeFileSync(path, Buffer.alloc(200 * 1024 ** 2, 'text ')),
  'a folder': (path) => void mkdirSync(path),
  'a link to itself': (path) => symlinkSync(path, path),
  'no text at all': (path) => writeFileSync(path, Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28, 0x1b, 0x5b, 0x00])),
};

const COMMANDS = [
  ['save', '--summary', 'x', '--file', 'new.txt', '--file', 'tracked.txt'],
  ['resume'],
  ['snapshot'],
  ['search', 'work'],
  ['search', '--sessions', 'work'],
  ['init', '--yes', '--blocks', '--files'],
  ['status'],
  ['check'],
  ['why', 'tracked.txt'],
  ['compact'],
];
const EVENTS = ['SessionStart', 'UserPromptSubmit', 'Stop'];
const LIMIT_MS = 5000;
/** The system ends a hook that takes more than a second of processor time. */
const LIMITED = ['sh', '-c', 'ulimit -t 1; exec "$0" "$@"'];

/** Some of a list, others for every kind and path: together they are all of it, at a third of the time. */
function pick<T>(list: readonly T[], count: number, turn: number): T[] {
  return Array.from({ length: count }, (_, at) => list[(turn + at) % list.length]).filter((item) => item !== undefined);
}

afterAll(() => {
  for (const server of servers) server.close();
});

describe.skipIf(process.platform === 'win32')('in the place of a file of a project', () => {
  const sandbox = makeSandbox();
  const { project } = sandbox;
  const template = join(sandbox.folder, 'template');

  beforeAll(async () => {
    runGit(project, 'init', '--quiet');
    writeFileSync(join(project, 'tracked.txt'), 'first\n');
    runGit(project, 'add', '--all');
    runGit(project, 'commit', '--quiet', '-m', 'First');
    await sandbox.ok(['save', '--summary', 'the work', '--file', 'tracked.txt']);
    cpSync(project, template, { recursive: true });
  });

  describe.each(Object.entries(KINDS))('%s', (kind, put) => {
    // Git has limits of its own for text, and files of that size take time to write.
    const paths = PATHS.filter((path) => kind !== 'two hundred megabytes of text' || !path.includes('.git'));
    it.each(paths)('is refused or passed over by commands and hooks, in time and in words: %s', async (path) => {
      const turn = 3 * Object.keys(KINDS).indexOf(kind) + PATHS.indexOf(path);
      rmSync(project, { recursive: true, force: true });
      cpSync(template, project, { recursive: true });
      const place = join(project, path);
      rmSync(place, { recursive: true, force: true });
      mkdirSync(dirname(place), { recursive: true });
      await put(place);
      const failures: string[] = [];
      await inPairs(pick(COMMANDS, 3, turn), async (args) => {
        const result = await sandbox.run(args, { timeoutMs: LIMIT_MS });
        const isCheck = args[0] === 'check' && [1, 2].includes(result.status ?? -1);
        const isTold = result.status === 0 || isCheck || /^error: \S+ .*\w/m.test(result.stderr);
        if (!isTold) failures.push(`${args.join(' ')}: ${result.status} ${result.stderr}`);
      });
      await inPairs(pick(EVENTS, 1, turn), async (event) => {
        const input = { session_id: 's', cwd: project, hook_event_name: event, source: 'startup', prompt: 'Go on' };
        const { status, stderr } = await runProcess([process.execPath, HOOK, 'claude-code', event], {
          cwd: project,
          env: sandbox.env,
          input: JSON.stringify(input),
          through: LIMITED,
          timeoutMs: LIMIT_MS,
        });
        if (status !== 0 || stderr !== '') failures.push(`hook ${event}: ${status} ${stderr}`);
      });
      expect(failures).toEqual([]);
    });
  });
});

describe.skipIf(process.platform === 'win32')('a file named on a command line', () => {
  const sandbox = makeSandbox();
  const { project } = sandbox;
  /** Longer than a command may take, so that one that waits for ever is seen to be ended. */
  const timeoutMs = 20_000;
  const shell = (script: string) =>
    runProcess(['bash', '-c', script, 'bash', process.execPath, HANDOVER], { ...sandbox, cwd: project, timeoutMs });
  const takers = [
    ['redact', 'odd'],
    ['import', '--input', 'odd'],
    ['import', '--input', 'a.bundle', '--identity', 'odd'],
    ['import', '--input', 'a.bundle', '--allow-unsigned', '--passphrase-file', 'odd'],
    ['export', '--output', 'b.bundle', '--passphrase-file', 'odd'],
    ['export', '--output', 'odd'],
    ['migrate', '--from', 'odd'],
    ['capture', '--transcript', 'odd'],
    ['run', '--checkpoint', 'odd'],
    ['keys', 'trust', 'odd'],
  ];

  beforeAll(async () => {
    await sandbox.ok(['save', '--summary', 'the work']);
    writeFileSync(join(project, 'passphrase'), 'a few random words\n');
    await sandbox.ok(['export', '--output', 'a.bundle', '--passphrase-file', 'passphrase']);
  });

  const odd = ['a pipe', 'an endless device', 'a socket', 'a folder', 'a link to itself'];
  it.each(odd)('is refused in words where it is %s, and not waited for', async (kind) => {
    const place = join(project, 'odd');
    rmSync(place, { recursive: true, force: true });
    await KINDS[kind]?.(place);
    const results = await inPairs(takers, (args) => sandbox.run(args, { timeoutMs }));
    const waited = results.filter(({ status }) => status === null || status === 0 || status === 70);
    expect(waited.map(({ stderr }, at) => [takers[at]?.join(' '), stderr])).toEqual([]);
    for (const { stderr } of results) expect(stderr).toMatch(/^error: \S+ .*\n {2}next: \S/m);
  });

  it('can be the output of a command, standard input, or a pipe that is written to later', async () => {
    const phrase = '--passphrase-file <(echo a few random words)';
    const lines = {
      '"$1" "$2" redact <(echo from a command)': 'from a command\n',
      '"$1" "$2" redact <(true)': '',
      'echo from before | "$1" "$2" redact /dev/stdin': 'from before\n',
      'rm -rf odd; mkfifo odd; (sleep 0.5; echo late; sleep 0.5; echo later) > odd & "$1" "$2" redact odd':
        'late\nlater\n',
      [`"$1" "$2" import --input <(cat a.bundle) --allow-unsigned --dry-run --on-conflict skip ${phrase} | grep -c skipped`]:
        '1\n',
    };
    for (const [line, printed] of Object.entries(lines))
      expect(await shell(line), line).toMatchObject({ stdout: printed, stderr: expect.not.stringContaining('error:') });
  });
});
