import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Handover } from '../../../src/model/handover.ts';
import { captureWork } from '../../support/captured-work.ts';
import { makeSandbox, makeTempFolder, runGit } from '../../support/cli.ts';

interface Answer {
  path: string;
  matched: string | null;
  earlier_names: string[];
  sessions: {
    handover: string;
    agent: string;
    touched: { path: string; change: string; edits: number }[];
    reasons: {
      kind: string;
      text: string;
      about: string;
      standing: string;
      because: string | null;
      open: string;
    }[];
  }[];
  has_more: boolean;
  commits: { subject: string }[];
}

const sandbox = makeSandbox();
const STREAM = 'We decided to let src/parser.ts read a stream.';
const ids: string[] = [];

async function ask(path: string, ...more: string[]): Promise<Answer> {
  const indexed = await sandbox.json<Answer>(['why', path, ...more]);
  const env = { HANDOVER_SQLITE: 'none' };
  expect(await sandbox.json<Answer>(['why', path, ...more], { env })).toEqual(indexed);
  return indexed;
}

beforeAll(async () => {
  const { project } = sandbox;
  mkdirSync(join(project, 'src'));
  runGit(project, 'init', '--quiet');
  writeFileSync(join(project, 'src/scanner.ts'), 'export function scan() {}\n'.repeat(9));
  runGit(project, 'add', '.');
  runGit(project, 'commit', '--quiet', '-m', 'Add the scanner');
  runGit(project, 'mv', 'src/scanner.ts', 'src/parser.ts');
  runGit(project, 'commit', '--quiet', '-m', 'Call it parser');
  const first = await captureWork(sandbox, {
    day: 1,
    steps: [
      { ask: 'Speed up the scanner for large files' },
      { say: 'We decided to cache tokens in src/scanner.ts for now.' },
      { edit: 'src/scanner.ts' },
    ],
  });
  const steps = [
    { ask: 'Make the parser work on large files' },
    { say: 'Options:\n1. a stream\n2. a buffer\n\nWhich one?' },
    { ask: '1' },
    { say: STREAM },
    { edit: 'src/parser.ts', text: 'export function parseChunk(): void {}' },
    { edit: 'src/parser.ts', text: 'export function parseChunk(): void {}' },
    { edit: 'src/lexer.ts' },
    { run: 'npm test', output: 'Tests: 3 passed' },
  ];
  const second = await captureWork(sandbox, { day: 2, steps });
  const grown = await captureWork(sandbox, {
    day: 2,
    steps: [...steps, { say: 'We decided to test it with a large file.' }],
  });
  const byHand = await sandbox.save(
    '--agent',
    'codex',
    '--title',
    'Review',
    '--constraint',
    'src/parser.ts stays free of I/O',
  );
  ids.push(first.id, second.id, grown.id, byHand);
});

describe('handover why', () => {
  it('lists what was settled and said about a file by every agent, newest first, once for each session', async () => {
    const { sessions, matched } = await ask('src/parser.ts');
    expect(matched).toBe('exact');
    expect(sessions.map(({ handover, agent }) => [handover, agent])).toEqual([
      [ids[3], 'codex'],
      [ids[2], 'claude-code'],
      [ids[0], 'claude-code'],
    ]);
    const [review, work] = sessions;
    expect(review?.reasons).toMatchObject([
      { kind: 'constraint', text: 'src/parser.ts stays free of I/O', about: 'file', standing: 'open' },
    ]);
    expect(work?.touched).toEqual([{ path: 'src/parser.ts', change: 'edited', edits: 2, reads: 0 }]);
    expect(work?.reasons).toMatchObject([
      { kind: 'note', said: true, text: STREAM, about: 'file' },
      { kind: 'decision', said: false, text: expect.stringContaining('1. a stream'), about: 'session' },
    ]);
  });

  it('takes earlier names of the file, and the commits, from git', async () => {
    const { earlier_names, commits, sessions } = await ask('src/parser.ts');
    expect(earlier_names).toEqual(['src/scanner.ts']);
    expect(commits.map(({ subject }) => subject)).toEqual(['Call it parser', 'Add the scanner']);
    expect(sessions.at(-1)?.reasons[0]?.text).toContain('cache tokens in src/scanner.ts');
  });

  it('names a command that shows the original words', async () => {
    const { sessions } = await ask('src/parser.ts');
    const open = sessions[1]?.reasons[0]?.open ?? '';
    expect(await sandbox.ok(open.split(' ').slice(1))).toContain(STREAM);
  });

  it('resolves paths from the current folder, and accepts folders, patterns and positions', async () => {
    const touched = async (path: string, cwd = sandbox.project): Promise<string[]> => {
      const { sessions } = await sandbox.json<Answer>(['why', path], { cwd });
      return [...new Set(sessions.flatMap((session) => session.touched.map((touch) => touch.path)))].sort();
    };
    const src = join(sandbox.project, 'src');
    expect(await touched('parser.ts', src)).toEqual(['src/parser.ts', 'src/scanner.ts']);
    expect(await touched(join(src, 'lexer.ts'), makeTempFolder())).toEqual([]);
    expect(await touched('.', src)).toEqual(['src/lexer.ts', 'src/parser.ts', 'src/scanner.ts']);
    expect(await touched('src/')).toEqual(['src/lexer.ts', 'src/parser.ts', 'src/scanner.ts']);
    expect(await touched('src/{lexer,scan*}.ts')).toEqual(['src/lexer.ts', 'src/scanner.ts']);
    expect(await touched('**/*.ts')).toEqual(['src/lexer.ts', 'src/parser.ts', 'src/scanner.ts']);
    expect(await touched('src/lexer.ts:12:3')).toEqual(['src/lexer.ts']);
  });

  it('can be limited to a name in the file', async () => {
    const { sessions } = await ask('src/parser.ts:parseChunk');
    expect(sessions.map(({ handover }) => handover)).toEqual([ids[2]]);
    const unknown = await sandbox.json<Answer>(['why', 'src/parser.ts:unknownName']);
    expect(unknown).toMatchObject({ symbol_found: false, sessions: (await ask('src/parser.ts')).sessions });
  });

  it('finds a file that moved by the end of its path, then by its name', async () => {
    expect(await ask('parser.ts')).toMatchObject({ matched: 'ending' });
    expect(await ask('packages/core/lexer.ts')).toMatchObject({ matched: 'name' });
    expect(await sandbox.ok(['why', 'packages/core/lexer.ts'])).toContain(
      'no handover mentions packages/core/lexer.ts itself; files with the same name:',
    );
  });

  it('shows the current state of each reason', async () => {
    const { facts } = await sandbox.json<Handover>(['show', ids[1] ?? '']);
    const stream = facts.find(({ text }) => text === STREAM)?.id ?? '';
    await sandbox.ok(['refute', stream, '--because', 'too slow']);
    const { sessions } = await ask('src/parser.ts');
    expect(sessions[1]?.reasons[0]).toMatchObject({ standing: 'refuted', because: 'too slow' });
    expect(await sandbox.ok(['why', 'src/parser.ts'])).toContain('refuted: too slow');
  });

  it('filters by --agent, --limit and --project, and widens with --all', async () => {
    expect((await ask('src/parser.ts', '--agent', 'codex')).sessions).toHaveLength(1);
    expect(await ask('src/parser.ts', '--limit', '1')).toMatchObject({ has_more: true });
    const cwd = makeTempFolder();
    expect(await sandbox.json(['why', 'src/parser.ts'], { cwd })).toMatchObject({ sessions: [] });
    expect((await sandbox.json<Answer>(['why', 'src/parser.ts', '--all'], { cwd })).sessions).toHaveLength(2);
    expect(
      (await sandbox.json<Answer>(['why', 'src/parser.ts', '--project', sandbox.project], { cwd })).sessions,
    ).toHaveLength(2);
    expect((await sandbox.run(['why', 'x', '--all', '--project', '.'])).status).toBe(64);
  });

  it('says what to type when nothing is known', async () => {
    const { stdout, stderr } = await sandbox.run(['why', 'src/nothing.ts']);
    expect(stdout).toBe('no handover mentions src/nothing.ts\n');
    expect(stderr).toContain('next: List handovers: handover list\n');
    expect((await sandbox.run(['why', ' '])).status).toBe(64);
  });
});
