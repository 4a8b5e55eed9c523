import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runGit } from '../../src/platform/git.ts';
import { readGitFacts } from '../../src/platform/git-state.ts';
import { describeMachine } from '../../src/platform/machine.ts';
import { identifyProject } from '../../src/platform/project.ts';
import { attemptGit, commitAll, createSandbox, type Sandbox } from './repositories.ts';

let sandbox: Sandbox;
let markers: string;

beforeEach(() => {
  sandbox = createSandbox();
  markers = sandbox.createFolder('markers');
});

afterEach(() => {
  sandbox.remove();
});

/** A program that leaves a file when it runs, and then fails; a filter passes its input on. */
function createTrap(name: string): string {
  const end = name.includes('filter') ? 'exec cat' : 'exit 1';
  const path = sandbox.write(`traps/${name}`, `#!/bin/sh\n: > '${join(markers, name)}'\n${end}\n`);
  chmodSync(path, 0o755);
  return path;
}

function listFired(): string[] {
  return readdirSync(markers).sort();
}

/** Makes git read the files again: their times no longer show that they are unchanged. */
function touchAll(root: string): void {
  for (const name of readdirSync(root)) {
    if (name.endsWith('.txt')) utimesSync(join(root, name), 1_000_000_000, 1_000_000_000);
  }
}

function readAll(root: string): void {
  identifyProject(root, sandbox.machine);
  expect(readGitFacts(root, sandbox.machine)).not.toBeNull();
}

const FILTERED = ['clean', 'process', 'included', 'worktree', 'na.me"q', 'a=b', ''];

/** A repository as it can come in an archive, whose own configuration starts a program at every occasion. */
function createHostileRepository(): string {
  const root = sandbox.createRepository('hostile');
  for (const name of FILTERED) sandbox.write(`hostile/${name || 'empty'}.txt`, `${name}\n`);
  commitAll(sandbox, root, 'Files');
  signHead(root);
  const hooks = sandbox.createFolder('hooks');
  for (const folder of [hooks, join(root, '.git', 'hooks')]) {
    for (const hook of ['post-index-change', 'pre-commit', 'reference-transaction', 'fsmonitor-watchman']) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, hook), readFileSync(createTrap('hook')), { mode: 0o755 });
    }
  }
  const settings: [key: string, value: string][] = [
    ['core.fsmonitor', createTrap('fsmonitor')],
    ['core.hooksPath', hooks],
    ['core.pager', createTrap('pager')],
    ['pager.status', createTrap('pager-status')],
    ['pager.log', createTrap('pager-log')],
    ['pager.config', createTrap('pager-config')],
    ['core.editor', createTrap('editor')],
    ['core.sshCommand', createTrap('ssh')],
    ['core.askPass', createTrap('askpass')],
    ['core.gitProxy', createTrap('proxy')],
    ['core.alternateRefsCommand', createTrap('alternate-refs')],
    ['credential.helper', createTrap('credential')],
    ['diff.external', createTrap('diff-external')],
    ['diff.evil.textconv', createTrap('textconv')],
    ['diff.evil.command', createTrap('diff-command')],
    ['merge.evil.driver', createTrap('merge-driver')],
    ['gpg.program', createTrap('gpg')],
    ['log.showSignature', 'true'],
    ['log.diffMerges', 'on'],
    ['status.submoduleSummary', 'true'],
    ['alias.status', `!${createTrap('alias-status')}`],
    ['alias.log', `!${createTrap('alias-log')}`],
    ['alias.rev-parse', `!${createTrap('alias-rev-parse')}`],
    ['filter.clean.clean', createTrap('filter-clean')],
    ['filter.clean.required', 'true'],
    ['filter.process.process', createTrap('filter-process')],
    ['filter.na.me"q.clean', createTrap('filter-name')],
    ['extensions.worktreeConfig', 'true'],
    [
      'include.path',
      sandbox.write('included.config', `[filter "included"]\nclean = ${createTrap('filter-included')}\n`),
    ],
    ['remote.origin.url', `ext::${createTrap('ext')}`],
  ];
  for (const [key, value] of settings) sandbox.git(root, 'config', key, value);
  sandbox.git(root, 'config', '--worktree', 'filter.worktree.clean', createTrap('filter-worktree'));
  const sections = ['', 'a=b'].map(
    (name) => `[filter "${name}"]\nclean = ${createTrap(`filter-${name || 'empty'}`)}\n`,
  );
  appendFileSync(join(root, '.git', 'config'), sections.join(''));
  sandbox.write(
    'hostile/.git/info/attributes',
    [
      '* diff=evil merge=evil',
      ...FILTERED.map((name) => `/${name.replace('"', '?') || 'empty'}.txt filter=${name}`),
      '',
    ].join('\n'),
  );
  touchAll(root);
  return root;
}

/** Gives the last commit a signature, so that `log.showSignature` has something to check. */
function signHead(root: string): void {
  const body = sandbox.git(root, 'cat-file', 'commit', 'HEAD');
  const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----\n';
  const file = sandbox.write('signed', body.replace('\n\n', `\n${signature}\n`));
  sandbox.git(root, 'reset', '--quiet', sandbox.git(root, 'hash-object', '-t', 'commit', '-w', file).trim());
}

describe.skipIf(process.platform === 'win32')('a hostile repository', () => {
  it('has traps that fire for an unprotected git (checks the test itself)', () => {
    const root = createHostileRepository();
    attemptGit(sandbox, root, 'status');
    attemptGit(sandbox, root, 'log');
    expect(listFired()).toEqual(
      expect.arrayContaining([
        'filter-a=b',
        'filter-clean',
        'filter-empty',
        'filter-included',
        'filter-name',
        'filter-process',
        'filter-worktree',
        'fsmonitor',
        'gpg',
        'hook',
      ]),
    );
  });

  it('starts none of its programs when it is read', () => {
    const root = createHostileRepository();
    readAll(root);
    expect(listFired()).toEqual([]);
  });

  it('is still read correctly', () => {
    const root = createHostileRepository();
    sandbox.write('hostile/clean.txt', 'other\n');
    expect(readGitFacts(root, sandbox.machine)).toMatchObject({
      branch: 'main',
      unstaged: [{ path: 'clean.txt', change: 'modified' }],
      changed_total: 1,
      commits: [{ subject: 'Files' }, { subject: 'First' }],
    });
  });

  it('is not changed', () => {
    const root = createHostileRepository();
    const before = readFileSync(join(root, '.git', 'index'));
    readAll(root);
    expect(readFileSync(join(root, '.git', 'index'))).toEqual(before);
  });

  it('starts nothing from the configuration of a submodule', () => {
    const root = sandbox.createRepository('outer');
    sandbox.git(root, 'submodule', '--quiet', 'add', sandbox.createRepository('library'), 'sub');
    commitAll(sandbox, root, 'Submodule');
    const sub = join(root, 'sub');
    sandbox.git(sub, 'config', 'filter.evil.clean', createTrap('submodule-filter'));
    sandbox.write('outer/.git/modules/sub/info/attributes', '* filter=evil\n');
    touchAll(sub);
    readAll(root);
    expect(listFired()).toEqual([]);
    sandbox.git(root, 'status');
    expect(listFired()).toEqual(['submodule-filter']);
  });

  it('as a partial clone fetches no missing objects', () => {
    const root = sandbox.createRepository('partial');
    sandbox.write('partial/old.txt', 'the same line\n'.repeat(50));
    commitAll(sandbox, root, 'Old');
    const blob = sandbox.git(root, 'rev-parse', 'HEAD:old.txt').trim();
    sandbox.git(root, 'mv', 'old.txt', 'new.txt');
    sandbox.write('partial/new.txt', `${'the same line\n'.repeat(50)}and one more\n`);
    sandbox.git(root, 'add', '--all');
    sandbox.git(root, 'config', 'core.repositoryFormatVersion', '1');
    sandbox.git(root, 'config', 'extensions.partialClone', 'origin');
    sandbox.git(root, 'config', 'remote.origin.promisor', 'true');
    sandbox.git(root, 'config', 'remote.origin.url', sandbox.createRepository('source'));
    sandbox.git(root, 'config', 'remote.origin.uploadpack', createTrap('upload-pack'));
    rmSync(join(root, '.git', 'objects', blob.slice(0, 2), blob.slice(2)));
    readAll(root);
    expect(listFired()).toEqual([]);
    attemptGit(sandbox, root, 'status');
    expect(listFired()).toEqual(['upload-pack']);
  });

  it.each([
    ['that is empty', ''],
    ['with an equals sign', 'a=b'],
    ['that is not UTF-8', 'a\u00ff'],
    ['among a hundred others', 'f100'],
  ])('is read without its filter, whatever the name: one %s', (_case, name) => {
    const root = sandbox.createRepository('repo');
    const trap = createTrap('filter');
    const others = Array.from({ length: 100 }, (_, i) => `[filter "f${i}"]\nclean = cat\n`);
    const config = readFileSync(join(root, '.git', 'config'), 'utf8');
    const sections = `${config}${others.join('')}[filter "${name}"]\nclean = ${trap}\nrequired = true\n`;
    sandbox.write('repo/.git/config', Buffer.from(sections, 'latin1'));
    sandbox.write('repo/.git/info/attributes', Buffer.from(`* filter=${name}\n`, 'latin1'));
    touchAll(root);
    expect(readGitFacts(root, sandbox.machine)).toMatchObject({ branch: 'main', changed_total: 0 });
    sandbox.write('repo/tracked.txt', 'changed\n');
    expect(readGitFacts(root, sandbox.machine)).toMatchObject({ unstaged: [{ path: 'tracked.txt' }] });
    expect(listFired()).toEqual([]);
    sandbox.write('repo/tracked.txt', 'other\n');
    sandbox.git(root, 'status');
    expect(listFired()).toEqual(['filter']);
  });

  it('is not asked anything that could start a filter', () => {
    const root = sandbox.createRepository('repo');
    for (const command of ['status', 'diff', 'add', 'checkout', 'stash'])
      expect(() => runGit([command], { cwd: root, env: sandbox.env })).toThrow(TypeError);
  });
});

describe('a worktree whose files are stored in another form', () => {
  const read = (root: string) => readGitFacts(root, sandbox.machine);

  it.skipIf(process.platform === 'win32')('by a filter of the user is compared without it', () => {
    const root = sandbox.createRepository('repo');
    sandbox.git(root, 'config', '--global', 'filter.upper.clean', 'tr a-z A-Z');
    sandbox.git(root, 'config', '--global', 'filter.upper.required', 'true');
    sandbox.write('repo/.gitattributes', '*.big filter=upper\n');
    sandbox.write('repo/data.big', 'content\n');
    utimesSync(join(root, 'data.big'), 1_000_000_000, 1_000_000_000);
    commitAll(sandbox, root, 'Stored in capitals');
    expect(sandbox.git(root, 'show', 'HEAD:data.big')).toBe('CONTENT\n');
    expect(read(root)).toMatchObject({ changed_total: 0 });
    sandbox.write('repo/data.big', 'other content\n');
    expect(read(root)).toMatchObject({ unstaged: [{ path: 'data.big', change: 'modified' }] });
  });

  it('by line ends is compared with its line ends converted', () => {
    const root = sandbox.createRepository('repo');
    sandbox.git(root, 'config', 'core.autocrlf', 'true');
    sandbox.write('repo/lines.txt', 'one\r\ntwo\r\n');
    sandbox.write('repo/.gitattributes', '*.lf text eol=lf\n');
    commitAll(sandbox, root, 'Lines');
    touchAll(root);
    expect(read(root)).toMatchObject({ changed_total: 0 });
  });

  it('keeps what git is told to leave out', () => {
    const root = sandbox.createRepository('repo');
    sandbox.write('repo/.git/info/exclude', 'left-out\n');
    sandbox.write('repo/left-out');
    sandbox.write('repo/seen');
    expect(read(root)).toMatchObject({ untracked: ['seen'] });
  });

  it('under SHA-256, as a linked worktree and with a split index is read as any other', () => {
    const root = sandbox.createFolder('sha256');
    sandbox.git(root, 'init', '--quiet', '--initial-branch=main', '--object-format=sha256');
    sandbox.write('sha256/a.txt', 'a\n');
    commitAll(sandbox, root, 'A');
    sandbox.git(root, 'worktree', 'add', '--quiet', '-b', 'side/branch', join(sandbox.folder, 'linked'));
    sandbox.git(join(sandbox.folder, 'linked'), 'update-index', '--split-index');
    sandbox.write('linked/a.txt', 'other\n');
    expect(read(root)).toMatchObject({
      branch: 'main',
      head: expect.stringMatching(/^[0-9a-f]{64}$/),
      changed_total: 0,
    });
    expect(read(join(sandbox.folder, 'linked'))).toMatchObject({
      branch: 'side/branch',
      unstaged: [{ path: 'a.txt', change: 'modified' }],
      changed_total: 1,
    });
  });
});

describe.skipIf(process.platform === 'win32')("a pipe in the place of one of git's files", () => {
  const putPipe = (name: string): string => {
    const root = sandbox.createRepository('repo');
    const path = join(root, '.git', name);
    rmSync(path, { force: true });
    execFileSync('mkfifo', [path]);
    return root;
  };

  it.each(['HEAD', 'config', 'packed-refs', 'shallow', 'refs/heads/main'])('is not waited for: %s', (name) => {
    expect(identifyProject(putPipe(name), sandbox.machine).git).toBe('refused');
  });

  it.each(['index', '../.gitignore', '../.gitattributes'])('hides the changed files, and nothing else: %s', (name) => {
    expect(readGitFacts(putPipe(name), sandbox.machine)).toMatchObject({ branch: 'main', changed_total: null });
  });

  it.each(['info/exclude', 'info/attributes'])('that is not needed hides nothing: %s', (name) => {
    expect(readGitFacts(putPipe(name), sandbox.machine)).toMatchObject({ branch: 'main', changed_total: 0 });
  });

  it('that git finds by itself is waited for once', () => {
    const root = sandbox.createRepository('repo');
    execFileSync('mkfifo', [join(sandbox.folder, 'pipe')]);
    sandbox.git(root, 'config', 'include.path', join(sandbox.folder, 'pipe'));
    const ask = () => runGit(['rev-parse', 'HEAD'], { cwd: root, env: sandbox.env, timeoutMs: 200 });
    expect(ask).toThrow('did not finish');
    expect(ask).toThrow('does not answer');
    expect(
      runGit(['rev-parse', '--git-dir'], { cwd: sandbox.createRepository('other'), env: sandbox.env }).status,
    ).toBe(0);
  });
});

describe('environment variables for git', () => {
  it('that redirect git or make it run something are removed', () => {
    const root = sandbox.createRepository('repo');
    const other = sandbox.createRepository('other');
    sandbox.write('other/untracked');
    const trace = join(sandbox.folder, 'trace');
    const env = {
      ...sandbox.env,
      GIT_DIR: join(other, '.git'),
      GIT_WORK_TREE: other,
      GIT_INDEX_FILE: join(other, '.git', 'index'),
      GIT_OBJECT_DIRECTORY: join(other, '.git', 'objects'),
      GIT_EXTERNAL_DIFF: createTrap('diff'),
      GIT_PAGER: createTrap('pager'),
      GIT_SSH_COMMAND: createTrap('ssh'),
      GIT_ASKPASS: createTrap('askpass'),
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.fsmonitor',
      GIT_CONFIG_VALUE_0: createTrap('fsmonitor'),
      GIT_CONFIG_PARAMETERS: `'core.fsmonitor'='${createTrap('fsmonitor-2')}'`,
      GIT_TRACE: trace,
      GIT_TRACE2: trace,
      GIT_EXEC_PATH: join(sandbox.folder, 'traps'),
      git_trace: trace,
    };
    expect(readGitFacts(root, describeMachine(env, root))).toEqual(readGitFacts(root, sandbox.machine));
    expect(listFired()).toEqual([]);
    expect(existsSync(trace)).toBe(false);
  });

  it('for settings files and ceiling folders are passed on', () => {
    const root = sandbox.createRepository('repo');
    const deep = sandbox.createFolder('repo/sub');
    const config = sandbox.write('my-config', '[test]\nvalue = mine\n');
    const { stdout } = runGit(['config', 'test.value'], {
      cwd: root,
      env: { ...sandbox.env, GIT_CONFIG_GLOBAL: config },
    });
    expect(stdout.toString()).toBe('mine\n');
    const env = { ...sandbox.env, GIT_CEILING_DIRECTORIES: root };
    expect(runGit(['rev-parse', '--git-dir'], { cwd: deep, env }).status).toBe(128);
  });
});

describe('runGit', () => {
  it('returns the status of a git that fails, with its words in English', () => {
    const env = { ...sandbox.env, LANG: 'de_DE.UTF-8', LANGUAGE: 'de' };
    const result = runGit(['rev-parse', '--verify', 'nothing'], {
      cwd: sandbox.createRepository('repo'),
      env,
    });
    expect(result).toMatchObject({ status: 128, stderr: expect.stringContaining('fatal:') });
  });

  it('says that git is missing when it is not in PATH', () => {
    expect(() => runGit(['rev-parse'], { cwd: sandbox.folder, env: { PATH: markers } })).toThrow(
      expect.objectContaining({
        code: 'HANDOVER_PROGRAM_MISSING',
        exitStatus: 69,
        hint: expect.stringContaining('git'),
      }),
    );
  });

  it('never contacts a remote, so that it can never wait for a password', () => {
    const root = sandbox.createRepository('repo');
    for (const url of ['https://example.invalid/a/b', 'git@example.invalid:a/b', sandbox.createRepository('other')]) {
      const result = runGit(['fetch', url], { cwd: root, env: sandbox.env });
      expect(result).toMatchObject({ status: 128, stderr: expect.stringContaining('not allowed') });
    }
  });
});
