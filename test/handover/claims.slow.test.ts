import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findChangesHere } from '../../src/app/resume.ts';
import { isChanged } from '../../src/handover/claims.ts';
import type { Handover } from '../../src/model/handover.ts';
import { describePlace } from '../../src/platform/project.ts';
import { Transcript } from '../fixtures/agents/claude-code.ts';
import { makeSandbox, runGit, type Sandbox } from '../support/cli.ts';
import { writeText } from '../support/transcripts.ts';

const NAMES = [
  'a.ts',
  'src/b.ts',
  'src/deep er/c.ts',
  'ä/中.md',
  'lib/"d".py',
  'e',
  `ghp_${randomBytes(18).toString('hex')}.ts`,
];

type State = 'committed' | 'staged' | 'unstaged' | 'untracked' | 'both' | 'renamed' | 'ignored';

interface Repository {
  files: { name: string; state: State; content: string }[];
  touched: string[];
  branch: string | null;
  upstream: 'none' | 'ahead' | 'behind' | 'gone';
  /** What is done afterwards, and leaves everything as it was. */
  neutral: (keyof typeof NEUTRAL)[];
}

const files = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom(...NAMES),
    state: fc.constantFrom<State>('committed', 'staged', 'unstaged', 'untracked', 'both', 'renamed', 'ignored'),
    content: fc.constantFrom('', 'export function handleUpload() {}\n// TODO: later\n', 'x\r\n', '\0\u0001', 'no end'),
  }),
  { minLength: 1, maxLength: 6, selector: ({ name }) => name },
);

const touchAll: (project: string, names: string[]) => void = (project, names) => {
  for (const name of names) utimesSync(join(project, name), new Date(), new Date(Date.now() + 60_000));
};

const NEUTRAL = {
  touch: touchAll,
  'git gc': (project: string) => runGit(project, 'gc', '-q'),
  'git pack-refs': (project: string) => runGit(project, 'pack-refs', '--all'),
  'git add': (project: string) => runGit(project, 'add', '-A'),
  'git reset': (project: string) => runGit(project, 'reset', '-q'),
  'git status': (project: string) => runGit(project, 'status'),
  'a tag': (project: string) => runGit(project, 'tag', '-f', 'v1'),
  'another branch that is not checked out': (project: string) => runGit(project, 'branch', '-f', 'aside'),
  'another commit and back': (project: string) => {
    const head = runGit(project, 'rev-parse', 'HEAD').trim();
    runGit(project, 'commit', '-q', '--allow-empty', '-m', 'Aside');
    runGit(project, 'rebase', '-q', '--autostash', '--onto', head, 'HEAD~1');
    runGit(project, 'reset', '-q', '--soft', head);
  },
  'a linked worktree': (project: string) => {
    const path = join(project, '..', 'linked');
    runGit(project, 'worktree', 'add', '-q', '--detach', path);
    write(path, 'a.ts', 'of the other worktree');
  },
  'a clone in an ignored folder': (project: string) => {
    write(project, '.git/info/exclude', '/aside/\n');
    runGit(project, 'clone', '-q', '.', 'aside');
  },
  'other line ends': (project: string, names: readonly string[]) => {
    for (const name of names) {
      const text = readFileSync(join(project, name), 'latin1');
      // Of a file without changes git would say that it has some.
      const isListed = runGit(project, 'status', '--porcelain', '--', name) !== '';
      if (isListed && !text.includes('\0') && !text.includes('\r'))
        writeFileSync(join(project, name), text.replaceAll('\n', '\r\n'), 'latin1');
    }
  },
  'the stash': (project: string) => {
    runGit(project, 'stash', '-q', '-u');
    if (runGit(project, 'stash', 'list') !== '') runGit(project, 'stash', 'pop', '-q', '--index');
  },
};

const repository: fc.Arbitrary<Repository> = fc.record({
  files,
  touched: fc.subarray(NAMES),
  branch: fc.constantFrom('main', 'feat/ünï', null),
  upstream: fc.constantFrom('none', 'ahead', 'behind', 'gone'),
  neutral: fc.subarray([
    ...(['other line ends', 'another commit and back', 'a linked worktree'] as const),
    'a clone in an ignored folder',
    ...(['the stash', 'touch', 'git gc', 'git pack-refs', 'git add', 'git reset', 'git status', 'a tag'] as const),
    'another branch that is not checked out',
  ]),
});

function write(project: string, name: string, content: string): void {
  mkdirSync(dirname(join(project, name)), { recursive: true });
  writeFileSync(join(project, name), content);
}

/** A repository with an upstream and files in every state that git knows. */
function makeRepository({ project, folder }: Sandbox, { files: all, branch, upstream }: Repository): void {
  const isTracked = (state: State): boolean => ['committed', 'unstaged', 'renamed'].includes(state);
  runGit(project, 'init', '-q');
  write(project, '.gitignore', all.flatMap(({ name, state }) => (state === 'ignored' ? [`/${name}\n`] : [])).join(''));
  for (const { name, state } of all.filter((file) => isTracked(file.state)))
    write(project, state === 'renamed' ? `${name}.old` : name, 'as it was, before it was changed at all\n');
  runGit(project, 'add', '-A');
  runGit(project, 'commit', '-qm', 'Begin');
  if (branch !== 'main') runGit(project, 'checkout', '-q', ...(branch === null ? ['--detach'] : ['-b', branch]));
  if (upstream !== 'none' && branch !== null) {
    runGit(project, 'clone', '-q', '--bare', '.', join(folder, 'up.git'));
    runGit(project, 'remote', 'add', 'origin', join(folder, 'up.git'));
    runGit(project, 'push', '-qu', 'origin', branch);
    runGit(project, 'commit', '-q', '--allow-empty', '-m', 'More');
    if (upstream === 'behind') runGit(project, 'push', '-q');
    if (upstream === 'behind') runGit(project, 'reset', '-q', '--hard', 'HEAD~1');
    if (upstream === 'gone') runGit(project, 'update-ref', '-d', `refs/remotes/origin/${branch}`);
  }
  for (const { name, state, content } of all) {
    if (state === 'renamed') runGit(project, 'mv', `${name}.old`, name);
    else if (state !== 'committed') write(project, name, content);
    if (state === 'staged' || state === 'both') runGit(project, 'add', '--', name);
    if (state === 'both') write(project, name, `${content}more\n`);
  }
}

/** A session that touched some of the files, committed and ran the tests. */
function writeSession({ project, home }: Sandbox, { files: all, touched }: Repository): string {
  const hash = runGit(project, 'rev-parse', '--short=7', 'HEAD').trim();
  const timestamp = new Date(Date.now() + 1000).toISOString();
  const t = new Transcript({ cwd: project, timestamp });
  const call = (tool: string, input: Record<string, unknown>, output: string): void => {
    t.call(`toolu_${t.rows.length}`, tool, input);
    t.result(`toolu_${t.rows.length - 1}`, output);
  };
  t.human('Let handleUpload be tried again.');
  for (const { name, content } of all.filter(({ name: own }) => touched.includes(own)))
    call('Write', { file_path: join(project, name), content }, 'File created successfully.');
  call('Bash', { command: 'git commit -m More' }, `[main ${hash}] More\n 1 file changed`);
  call('Bash', { command: 'npm test' }, 'Tests: 3 passed, 3 total');
  t.say('handleUpload is tried again.');
  return writeText(join(home, '.claude/projects/-p', `${String(t.common.sessionId)}.jsonl`), t.text);
}

describe('what a handover states of a repository', () => {
  it('is never said to have changed while nothing has, in 200 of them; and one more file is found', async () => {
    let looked = 0;
    await fc.assert(
      fc.asyncProperty(repository, async (plan) => {
        const sandbox = makeSandbox();
        const { project } = sandbox;
        makeRepository(sandbox, plan);
        const handover = await sandbox.json<Handover>(['capture', '--transcript', writeSession(sandbox, plan)]);
        const { machine } = sandbox;
        const find = (): string[] => {
          const { claims } = findChangesHere(handover, describePlace(project, machine), machine);
          looked += claims.length;
          return claims.flatMap(({ about, state }) => (isChanged(state) ? [about] : []));
        };
        expect(find()).toEqual([]);
        const names = plan.files.map(({ name }) => name);
        for (const name of plan.neutral) NEUTRAL[name](project, names);
        expect(find()).toEqual([]);
        write(project, 'one-more.ts', '');
        expect(find()).toEqual(['uncommitted']);
        rmSync(sandbox.folder, { recursive: true, force: true });
      }),
      { numRuns: 200, endOnFailure: true },
    );
    process.stdout.write(`200 repositories, ${looked} claims looked at\n`);
  }, 900_000);
});
