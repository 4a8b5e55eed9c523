import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Handover } from '../../../src/model/handover.ts';
import type { Claim } from '../../../src/model/workspace.ts';
import { Transcript } from '../../fixtures/agents/claude-code.ts';
import { captureWork } from '../../support/captured-work.ts';
import { commitAt, makeSandbox, runGit } from '../../support/cli.ts';
import { writeText } from '../../support/transcripts.ts';

const sandbox = makeSandbox();
const { project } = sandbox;
const RETRY = 'export function retryUpload(tries: number) {\n  return tries;\n}\n// TODO: back off between two tries\n';
const CONFIG = 'upload:\n  retries: 3\n  pause: 200\n';
const LOCK = (version: string): string =>
  JSON.stringify({ packages: { '': {}, 'node_modules/zod': { version } } }, null, 2);
const pathOf = (name: string): string => join(project, name);

let server: ChildProcess;
let handover: Handover;

/** What Claude Code would have written of a session that edits, commits, tests, installs and starts a server. */
function writeSession(port: number, hash: string): string {
  const timestamp = new Date(Date.now() + 1000).toISOString();
  const t = new Transcript({ cwd: project, sessionId: '5b0c7f0e-4b5e-4f0a-9d57-000000000001', timestamp });
  const call = (tool: string, input: Record<string, unknown>, output: string): void => {
    const id = `toolu_${t.rows.length}`;
    t.call(id, tool, input);
    t.result(id, output);
  };
  t.human('Let retryUpload back off between two tries, and keep the upload small.');
  call('Edit', { file_path: pathOf('docs/notes.md'), old_string: '', new_string: '# Notes\n' }, 'Updated.');
  call('Edit', { file_path: pathOf('config.yml'), old_string: '', new_string: CONFIG }, 'Updated.');
  call('Edit', { file_path: pathOf('src/old.ts'), old_string: 'a', new_string: 'b' }, 'Updated.');
  call('Edit', { file_path: pathOf('src/retry.ts'), old_string: '', new_string: RETRY }, 'The file has been updated.');
  call('Bash', { command: `rm ${pathOf('src/old.ts')}` }, '');
  call('Bash', { command: 'git commit -am "Retry uploads"' }, `[main ${hash}] Retry uploads\n 1 file changed`);
  call('Edit', { file_path: pathOf('src/wait.ts'), old_string: 'a', new_string: 'const wait = 1;\n' }, 'Updated.');
  call('Bash', { command: 'npm install zod@4' }, 'added 1 package');
  call('Bash', { command: 'node check.js' }, 'ok');
  call('Bash', { command: 'npm test' }, 'Tests: 3 passed, 3 total');
  const id = `toolu_${t.rows.length}`;
  t.call(id, 'Bash', { command: `node server.js --port ${port}`, run_in_background: true });
  t.result(id, 'Command running in background with ID: b1');
  t.say('The upload is tried again; retryUpload is in src/retry.ts. The server runs.');
  return writeText(join(sandbox.home, '.claude/projects/-p/5b0c7f0e-4b5e-4f0a-9d57-000000000001.jsonl'), t.text);
}

async function startServer(): Promise<number> {
  server = spawn(
    process.execPath,
    ['-e', "require('net').createServer().listen(0, '127.0.0.1', function () { console.log(this.address().port) })"],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  return await new Promise((resolve) => server.stdout?.once('data', (data) => resolve(Number(String(data)))));
}

beforeAll(async () => {
  mkdirSync(pathOf('src'));
  mkdirSync(pathOf('docs'));
  writeFileSync(pathOf('docs/notes.md'), '# Notes\n');
  writeFileSync(pathOf('config.yml'), CONFIG);
  writeFileSync(
    pathOf('package.json'),
    '{"scripts":{"test":"node -e \\"console.log(\'Tests: 3 passed, 3 total\')\\""}}',
  );
  writeFileSync(pathOf('package-lock.json'), LOCK('4.0.1'));
  writeFileSync(pathOf('src/wait.ts'), 'const wait = 0;\n');
  runGit(project, 'init', '-q');
  runGit(project, 'add', '-A');
  runGit(project, 'commit', '-qm', 'Begin');
  writeFileSync(pathOf('src/retry.ts'), RETRY);
  runGit(project, 'add', '-A');
  runGit(project, 'commit', '-qm', 'Retry uploads');
  writeFileSync(pathOf('src/wait.ts'), 'const wait = 1;\n');
  const hash = runGit(project, 'rev-parse', '--short=7', 'HEAD').trim();
  const path = writeSession(await startServer(), hash);
  handover = await sandbox.json<Handover>(['capture', '--transcript', path]);
});

afterAll(() => server.kill());

interface Verified {
  id: string;
  changed: number;
  claims: Claim[];
  run?: { saved: string | null; checks: { command: string; outcome: string }[] };
}

async function verify(...args: string[]): Promise<Verified & { status: number }> {
  const { status, stdout } = await sandbox.run(['verify', '--json', ...args]);
  return { ...JSON.parse(stdout), status };
}

const nameClaims = (claims: readonly Claim[]): string[] =>
  claims.map(({ about, what, state, now }) => `${state} ${about} ${what}: ${now}`);

interface Told {
  told: string[];
  status: number;
  /** Whether the brief says that nothing changed. */
  isSame: boolean;
  /** The lines with marks, of a brief that is the same at any time. */
  marked: string;
}

/** Makes a change to a copy of the project, which is then put back. */
async function verifyAfter(change: () => void): Promise<Told> {
  const backup = join(sandbox.folder, 'backup');
  cpSync(project, backup, { recursive: true });
  try {
    change();
    const { claims, status } = await verify();
    const told = nameClaims(claims.filter(({ state, about }) => state !== 'holds' && about !== 'check'));
    const isSame = (await sandbox.ok(['resume'])).includes('nothing in it has changed since');
    const lines = (await sandbox.ok(['render', handover.id])).split('\n');
    return { told, status, isSame, marked: lines.filter((line) => line.endsWith(']')).join('\n') };
  } finally {
    rmSync(project, { recursive: true });
    cpSync(backup, project, { recursive: true });
    rmSync(backup, { recursive: true });
  }
}

describe('verify', () => {
  it('finds that everything holds as long as nothing is changed, at whatever times the files are touched', async () => {
    const { id, status, claims } = await verify();
    expect([id, status]).toEqual([handover.id, 0]);
    expect(nameClaims(claims.filter(({ state }) => state !== 'holds'))).toEqual([]);
    expect([...new Set(claims.map(({ about }) => about))].sort()).toEqual(
      ['branch', 'check', 'commit', 'file', 'head', 'name', 'process', 'todo', 'uncommitted', 'version'].sort(),
    );
    const touched = await verifyAfter(() => {
      for (const name of ['src/retry.ts', 'docs/notes.md']) writeFileSync(pathOf(name), readFileSync(pathOf(name)));
    });
    expect(touched).toEqual({ told: [], status: 0, isSame: true, marked: '' });
  });

  it.each<[what: string, change: () => void, told: (string | RegExp)[]]>([
    [
      'a line that was added to a file',
      () => appendFileSync(pathOf('docs/notes.md'), 'More.\n'),
      [/^changed uncommitted /, 'changed file docs/notes.md: changed since'],
    ],
    [
      'a name that is no longer declared',
      () => writeFileSync(pathOf('src/retry.ts'), RETRY.replace('retryUpload', 'sendAgain')),
      [
        /^changed uncommitted /,
        'changed file src/retry.ts: changed since',
        'gone name src/retry.ts: retryUpload: no longer has retryUpload',
      ],
    ],
    [
      'a name that is only a part of another one now',
      () => writeFileSync(pathOf('src/retry.ts'), RETRY.replace('retryUpload', 'retryUploads')),
      [
        /^changed uncommitted /,
        'changed file src/retry.ts: changed since',
        'gone name src/retry.ts: retryUpload: no longer has retryUpload',
      ],
    ],
    [
      'a heading that is another one',
      () => writeFileSync(pathOf('docs/notes.md'), '# About\n\nSee the Notes.\n'),
      [
        /^changed uncommitted /,
        'changed file docs/notes.md: changed since',
        'gone name docs/notes.md: Notes: no longer has the heading "Notes"',
      ],
    ],
    [
      'a key that was renamed',
      () => writeFileSync(pathOf('config.yml'), CONFIG.replace('retries', 'max-retries')),
      [
        /^changed uncommitted /,
        'changed file config.yml: changed since',
        'gone name config.yml: retries: no longer has the key retries',
      ],
    ],
    [
      'a TODO that was done',
      () => writeFileSync(pathOf('src/retry.ts'), RETRY.replace(/\/\/ TODO.*/, '')),
      [
        /^changed uncommitted /,
        'changed file src/retry.ts: changed since',
        /^gone todo src\/retry.ts: TODO: back off .*: no longer has its TODO$/,
      ],
    ],
    [
      'a TODO that says more now',
      () => writeFileSync(pathOf('src/retry.ts'), RETRY.replace('two tries', 'two tries, or three')),
      [
        /^changed uncommitted /,
        'changed file src/retry.ts: changed since',
        /^gone todo src\/retry.ts: TODO: back off .*: no longer has its TODO$/,
      ],
    ],
    [
      'a file that was moved',
      () => runGit(project, 'mv', 'src/retry.ts', 'src/again.ts'),
      [/^changed uncommitted /, 'gone file src/retry.ts: moved to src/again.ts'],
    ],
    [
      'a file that was moved and committed',
      () => {
        runGit(project, 'mv', 'src/retry.ts', 'src/again.ts');
        runGit(project, 'commit', '-qm', 'Move it');
      },
      [/^changed head /, 'gone file src/retry.ts: moved to src/again.ts'],
    ],
    ['a file that was deleted', () => rmSync(pathOf('src/wait.ts')), ['gone file src/wait.ts: gone']],
    [
      'a deleted file that is there again',
      () => writeFileSync(pathOf('src/old.ts'), ''),
      [/^changed uncommitted /, 'changed file src/old.ts: is there again'],
    ],
    ['another branch', () => runGit(project, 'checkout', '-qb', 'other'), ['changed branch main: other']],
    [
      'a new commit',
      () => runGit(project, 'commit', '-qam', 'Wait'),
      [/^changed head /, 'changed uncommitted 1 uncommitted file: src/wait.ts: 0 uncommitted files'],
    ],
    [
      'a commit that was rewritten',
      () => runGit(project, 'commit', '-q', '--amend', '-m', 'Another subject'),
      [/^changed head /, /^gone commit \w{7}: Retry uploads: not in the history of main$/],
    ],
    [
      'another version of a dependency',
      () => writeFileSync(pathOf('package-lock.json'), LOCK('4.1.0')),
      [/^changed uncommitted /, 'changed version npm install zod@4: zod 4.0.1 is 4.1.0 now'],
    ],
  ])('marks exactly %s', async (_, change, told) => {
    const { told: found, status, isSame, marked } = await verifyAfter(change);
    expect(found).toEqual(told.map((line) => (typeof line === 'string' ? line : expect.stringMatching(line))));
    expect([status, isSame]).toEqual([1, false]);
    expect(marked).not.toBe('');
  });

  it('finds that everything holds where git has written other line ends', async () => {
    const { told } = await verifyAfter(() => {
      runGit(project, 'config', 'core.autocrlf', 'true');
      rmSync(pathOf('src/retry.ts'));
      runGit(project, 'checkout', '-q', '--', 'src/retry.ts');
      expect(readFileSync(pathOf('src/retry.ts'), 'utf8')).toBe(RETRY.replaceAll('\n', '\r\n'));
    });
    expect(told).toEqual([]);
  });

  it('names the commit that is gone where a line of the brief tells of several', async () => {
    const own = makeSandbox();
    runGit(own.project, 'init', '-q');
    const commit = (subject: string): string => {
      runGit(own.project, 'commit', '-q', '--allow-empty', '-m', subject);
      return runGit(own.project, 'rev-parse', '--short=7', 'HEAD').trim();
    };
    const made = ['One', 'Two'].map((subject) => [subject, commit(subject)]);
    const runs = made.map(([subject, hash]) => ({
      run: `git commit -m ${subject}`,
      output: `[main ${hash}] ${subject}\n 1 file changed`,
    }));
    await captureWork(own, { day: 3, steps: [{ ask: 'Commit it twice' }, ...runs] });
    const readLine = async (): Promise<string> => /^> Commits of .*$/m.exec(await own.ok(['resume']))?.[0] ?? '';
    expect(await readLine()).not.toMatch(/\]$/);
    runGit(own.project, 'commit', '-q', '--amend', '--allow-empty', '-m', 'Three');
    expect(await readLine()).toMatch(new RegExp(`\\[${made[1]?.[1]}: not in the history of main\\]$`));
    runGit(own.project, 'commit', '-q', '--allow-empty', '-m', 'Four');
    runGit(own.project, 'checkout', '-q', '--orphan', 'other');
    runGit(own.project, 'commit', '-q', '--allow-empty', '-m', 'Five');
    expect(await readLine()).toMatch(/ \[not in the history of other\]$/);
  });

  it('looks for a commit that git did not report by its subject and time', async () => {
    const own = makeSandbox();
    runGit(own.project, 'init', '-q');
    const hash = commitAt(own.project, 'Quietly', '2026-02-03T09:00:00Z').slice(0, 10);
    const run = 'git commit -q --allow-empty -m "Quietly"';
    await captureWork(own, { day: 3, steps: [{ ask: 'Commit it' }, { run, output: '' }] });
    const { claims }: Verified = JSON.parse((await own.run(['verify', '--json'])).stdout);
    expect(nameClaims(claims.filter(({ about }) => about === 'commit'))).toEqual([
      `holds commit ${hash}: Quietly: null`,
    ]);
  });

  it('cannot tell whether a commit is in the history where a clone has only the end of it', async () => {
    const { told } = await verifyAfter(() => {
      runGit(project, 'commit', '-q', '--allow-empty', '-m', 'More');
      const clone = join(sandbox.folder, 'clone');
      runGit(sandbox.folder, 'clone', '-q', '--depth', '1', `file://${project}`, clone);
      for (const name of ['shallow', 'objects']) {
        rmSync(join(project, '.git', name), { recursive: true, force: true });
        cpSync(join(clone, '.git', name), join(project, '.git', name), { recursive: true });
      }
      rmSync(clone, { recursive: true });
    });
    expect(told.filter((line) => line.includes(' commit '))).toEqual([expect.stringMatching(/^unknown commit \w{7}:/)]);
  });

  it('marks in the brief what git says otherwise now, also of one file in many and of the upstream', async () => {
    const own = makeSandbox();
    const pathIn = (name: string): string => join(own.project, name);
    const names = Array.from({ length: 9 }, (_, at) => `part-${at}.ts`);
    for (const name of names) writeFileSync(pathIn(name), '');
    runGit(own.project, 'init', '-q');
    runGit(own.project, 'add', '-A');
    runGit(own.project, 'commit', '-qm', 'Begin');
    runGit(own.project, 'clone', '-q', '--bare', '.', join(own.folder, 'up.git'));
    runGit(own.project, 'remote', 'add', 'origin', join(own.folder, 'up.git'));
    runGit(own.project, 'fetch', '-q');
    runGit(own.project, 'branch', '-q', '-u', 'origin/main');
    runGit(own.project, 'commit', '-q', '--allow-empty', '-m', 'More');
    for (const name of names.slice(0, 8)) writeFileSync(pathIn(name), 'changed');
    await captureWork(own, { day: 3, steps: [{ ask: 'Change the parts' }, { say: 'Done.' }] });
    const findMark = async (): Promise<string | undefined> =>
      /git when captured: .*? \[(.*)\]/.exec(await own.ok(['resume']))?.[1];
    expect(await findMark()).toBeUndefined();
    writeFileSync(pathIn('part-7.ts'), '');
    writeFileSync(pathIn('part-8.ts'), 'changed');
    expect(await findMark()).toBe('now 8 uncommitted files: part-8.ts, part-0.ts, part-1.ts, part-2.ts, part-3.ts, …');
    writeFileSync(pathIn('part-7.ts'), 'changed');
    writeFileSync(pathIn('part-8.ts'), '');
    runGit(own.project, 'push', '-q');
    expect(await findMark()).toBe('now 0 ahead of origin/main, 0 behind');
  });

  it('says what it cannot tell: a check, once code that it ran on has changed', async () => {
    const before = (await verify()).claims.filter(({ about }) => about === 'check');
    expect(before).not.toEqual([]);
    writeFileSync(pathOf('src/wait.ts'), 'const wait = 2;\n');
    const { claims } = await verify();
    const after = claims.filter(({ about }) => about === 'check');
    expect(after).toEqual(before.map((claim) => ({ ...claim, state: 'unknown', now: 'files changed since' })));
    const brief = await sandbox.ok(['resume']);
    expect(brief).toContain('wait.ts (1 edit) [changed since]');
    expect(brief).toMatch(/^> Checks: .* \[files changed since\]$/m);
    expect(brief).not.toMatch(/retry\.ts[^\n,]*\[/);
    writeFileSync(pathOf('src/wait.ts'), 'const wait = 1;\n');
    expect(await sandbox.ok(['resume'])).not.toContain('[changed since]');
  });

  it('shows what changed, and all of it when asked', async () => {
    const short = await sandbox.ok(['verify']);
    expect(short).toMatch(/\d+ hold, 0 changed, 0 gone\n/);
    expect(short).not.toContain('src/retry.ts');
    expect(await sandbox.ok(['verify', '--all'])).toMatch(/^holds +file +src\/retry\.ts$/m);
  });

  it('runs nothing without a person, unless the own settings allow it; a project cannot', async () => {
    const refused = await sandbox.run(['verify', '--run']);
    expect([refused.status, refused.stderr]).toEqual([64, expect.stringContaining('npm test')]);
    const allow = '[verify]\nrun = ["npm test", "node check.js"]\n';
    writeText(join(project, '.agent-handover/config.toml'), allow);
    expect((await sandbox.run(['verify', '--run'])).status).toBe(64);
    rmSync(join(project, '.agent-handover'), { recursive: true });
  });

  it('runs the checks again where they are allowed, and saves what came out', async () => {
    writeText(join(sandbox.home, '.config/agent-handover/config.toml'), '[verify]\nrun = ["npm test"]\n');
    const { status, run } = await verify('--run');
    expect([status, run?.checks.map(({ command, outcome }) => [command, outcome])]).toEqual([
      0,
      [['npm test', 'passed']],
    ]);
    writeFileSync(
      pathOf('package.json'),
      '{"scripts":{"test":"node -e \\"console.log(\'1 failed\'); process.exit(1)\\""}}',
    );
    const again = await verify('--run');
    expect([again.status, again.run?.checks.map(({ outcome }) => outcome)]).toEqual([1, ['failed']]);
    const brief = await sandbox.ok(['resume']);
    expect(brief).toMatch(/^> Checks, run again by hand \S+: `npm test` FAILED/m);
    expect(brief).not.toMatch(/`npm test` passed/);
    const { facts } = await sandbox.json<Handover>(['show', again.run?.saved ?? '']);
    expect(
      facts.filter(({ kind }) => kind === 'check').map(({ text, status: now, trust }) => [text, now, trust]),
    ).toEqual([['npm test', 'failed', 'observed']]);
  });

  it('says of a file that was written before the capture, but after the session, only that it was written', async () => {
    const own = makeSandbox();
    const path = writeText(join(own.project, 'own.ts'), 'const x = 1;\n');
    await captureWork(own, { day: 3, steps: [{ ask: 'Look at it' }, { edit: 'own.ts' }] });
    writeFileSync(path, readFileSync(path));
    const { status, stdout } = await own.run(['verify']);
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^unknown +file +own\.ts -> written since$/m)]);
    expect(await own.ok(['resume'])).toMatch(/^> written since: own\.ts$/m);
  });

  it('cannot tell of a file elsewhere that was not there at the capture, as of one of another machine', async () => {
    const own = makeSandbox();
    await captureWork(own, {
      day: 3,
      steps: [{ ask: 'Look at it' }, { edit: '../elsewhere/own.ts' }, { edit: 'here.ts' }],
    });
    const { claims }: Verified = JSON.parse((await own.run(['verify', '--json'])).stdout);
    const states = claims.filter(({ about }) => about === 'file').map(({ state }) => state);
    expect(states.sort()).toEqual(['gone', 'unknown']);
  });

  it('reads nothing outside of the worktree, wherever a link in it leads', async () => {
    const own = makeSandbox();
    const outside = writeText(join(own.folder, 'outside/secret.ts'), 'const x = 1;\n');
    mkdirSync(join(own.project, 'src'));
    symlinkSync(join(own.folder, 'outside'), join(own.project, 'src/linked'));
    writeFileSync(join(own.project, 'src/own.ts'), 'const x = 1;\n');
    symlinkSync('own.ts', join(own.project, 'src/alias.ts'));
    const steps = ['src/linked/secret.ts', 'src/own.ts', 'src/alias.ts'].map((edit) => ({ edit }));
    await captureWork(own, { day: 3, steps: [{ ask: 'Look at it' }, ...steps] });
    appendFileSync(outside, 'more\n');
    const { stdout } = await own.run(['verify', '--json']);
    const { claims }: Verified = JSON.parse(stdout);
    const found = new Map(claims.map(({ what, now }) => [what, now]));
    expect(found.get('src/linked/secret.ts')).toBeNull();
    for (const inside of ['src/own.ts', 'src/alias.ts']) expect(found.get(inside)).toBe('written since');
  });

  it('finds that a process has ended, and only that; also where another one listens on its port', async () => {
    const findOthers = async (): Promise<string[]> =>
      nameClaims((await verify()).claims.filter(({ state }) => state !== 'holds'));
    const before = await findOthers();
    const port = Number(/--port (\d+)/.exec(JSON.stringify(handover.facts))?.[1]);
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill();
    await ended;
    const [gone] = (await findOthers()).filter((line) => !before.includes(line));
    expect(gone).toMatch(/^gone process node server\.js --port \d+: has ended$/);
    for (const words of [['resume'], ['render', 'latest']])
      expect(await sandbox.ok(words)).toMatch(/node server\.js.*\[has ended\]$/m);
    const other = createServer().listen(port, '127.0.0.1');
    await once(other, 'listening');
    const now = `has ended, but another process listens on port ${port} now`;
    expect((await findOthers()).filter((line) => !before.includes(line))).toEqual([
      `gone process node server.js --port ${port}: ${now}`,
    ]);
    other.close();
  });

  it('names what to do where the folder is not on this machine, or there is nothing', async () => {
    expect((await makeSandbox().run(['verify'])).status).toBe(66);
    const moved = await sandbox.run(['verify', '20990101-000000-zzzz']);
    expect([moved.status, moved.stderr]).toEqual([66, expect.stringContaining('no handover has the id')]);
  });
});
