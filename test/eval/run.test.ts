import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { runEvaluation, type Surroundings } from '../../eval/run.ts';
import { createOutput } from '../../src/surfaces/cli/output.ts';
import { Transcript } from '../fixtures/agents/claude-code.ts';
import { legacyStory } from '../fixtures/agents/codex.ts';
import { makeSandbox, runProcess } from '../support/cli.ts';
import { makeFolder, makeMachine } from '../support/temp-store.ts';
import { addSummary, cutAt, makeCompactedStory } from './compacted-story.ts';

interface Ran {
  status: number;
  stdout: string;
  stderr: string;
}

/** Runs an evaluation in this process, in one thread. */
async function evaluate(folder: string, ...args: readonly string[]): Promise<Ran> {
  const written = { stdout: '', stderr: '' };
  const open = (name: keyof typeof written): Surroundings['out'] =>
    createOutput(
      {
        isTerminal: false,
        size: () => null,
        writeBytes: () => true,
        write: (text) => {
          written[name] += text;
          return true;
        },
      },
      false,
    );
  const status = await runEvaluation(['--jobs', '1', ...args], {
    machine: makeMachine(folder),
    processors: 1,
    out: open('stdout'),
    err: open('stderr'),
  });
  return { status, ...written };
}

function put(folder: string, name: string, content: string | Uint8Array): void {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** A corpus of the story with an index, and a session that nothing happened in. */
function makeCorpus(): string {
  const folder = makeFolder();
  put(folder, 'told/story.jsonl', makeCompactedStory().text);
  put(folder, 'index.json', JSON.stringify({ sessions: [{ file: 'told/story.jsonl', repo: 'ann/shop' }] }));
  return folder;
}

function busySession(): string {
  const t = new Transcript();
  t.human('Look at early.ts');
  for (let n = 0; n < 20; n++) t.call(`a${n}`, 'Read', { file_path: '/x/early.ts' });
  addSummary(t);
  for (let n = 0; n < 10; n++) t.call(`b${n}`, 'Read', { file_path: '/x/early.ts' });
  return t.text;
}

describe('npm run eval', () => {
  it('prints a table with an arm a column and a metric a row', async () => {
    const { status, stdout, stderr } = await evaluate('.', '--corpus', makeCorpus());
    expect(status).toBe(0);
    const [title, head, ...rows] = stdout.trimEnd().split('\n');
    expect(title).toBe('2000 tokens, 1 cut of 1 repository');
    expect(head?.trim().split(/\s+/)).toEqual(['handover', 'sections', 'dialogue', 'tail', 'native']);
    expect(rows.map((row) => row.split(' ')[0])).toEqual([
      'tokens',
      'names',
      'nextEdit',
      'nextRead',
      'nextCmd',
      'useful',
      '',
      'told,',
    ]);
    expect(rows.find((row) => row.startsWith('nextCmd'))).toMatch(/^nextCmd {18}( +\d\.\d{3}){5}$/);
    expect(rows.at(-1)).toContain('--labels FILE');
    expect(stderr).toMatch(/^5 briefs from 1 session in [\d.]+ s\n$/);
  });

  it('prints a table for each budget', async () => {
    const args = ['--corpus', makeCorpus(), '--budget', '512', '--budget', '1000', '--arm', 'sections'];
    const { stdout } = await evaluate('.', ...args);
    expect(stdout.match(/^\d+ tokens, .*$/gm)).toEqual([
      '512 tokens, 1 cut of 1 repository',
      '1000 tokens, 1 cut of 1 repository',
    ]);
  });

  it('gives the same figures every time', async () => {
    const corpus = makeCorpus();
    const [one, two] = [await evaluate('.', '--corpus', corpus), await evaluate('.', '--corpus', corpus)];
    expect(one?.stdout).toBe(two?.stdout);
  });

  it('gives the figures as JSON, and what was missed with the cut that it comes from', async () => {
    const args = ['--corpus', makeCorpus(), '--arm', 'dialogue', '--budget', '256', '--json', '--misses'];
    const { stdout } = await evaluate('.', ...args);
    const document: unknown = JSON.parse(stdout);
    expect(document).toMatchObject({
      standings: [
        {
          arm: 'dialogue',
          budget: 256,
          cuts: 1,
          repositories: 1,
          figures: { tokens: { value: expect.any(Number), of: 1 }, told: null },
        },
      ],
      misses: expect.arrayContaining([
        {
          arm: 'dialogue',
          budget: 256,
          metric: 'nextEdit',
          missed: [{ item: 'retry.ts', cuts: [expect.stringMatching(/^story:\d+$/)] }],
        },
      ]),
    });
  });

  it('prints what was missed by metric, the most frequent first', async () => {
    const { stdout } = await evaluate('.', '--corpus', makeCorpus(), '--arm', 'dialogue', '--misses', '--top', '1');
    expect(stdout).toMatch(/\nwhat dialogue at 2000 tokens missed\n/);
    expect(stdout).toMatch(/\nnextEdit: 1 missed, in 1 cut\n {4}1 retry\.ts {2}\(story:\d+\)\n/);
  });

  it('writes what was measured at each cut, and the briefs', async () => {
    const corpus = makeCorpus();
    const folder = makeFolder();
    const args = ['--corpus', corpus, '--rows', 'rows.json', '--briefs', 'briefs', '--arm', 'handover'];
    expect((await evaluate(folder, ...args)).status).toBe(0);
    const rows: unknown = JSON.parse(readFileSync(join(folder, 'rows.json'), 'utf8'));
    expect(rows).toEqual([
      expect.objectContaining({
        file: 'told/story.jsonl',
        repository: 'ann/shop',
        arm: 'handover',
        budget: 2000,
        failure: null,
        figures: expect.objectContaining({ useful: { value: expect.any(Number), of: 1 }, stale: null }),
      }),
    ]);
    const [name = '', ...others] = readdirSync(join(folder, 'briefs'));
    expect([name, others]).toEqual([expect.stringMatching(/^story-\d+\.handover\.2000\.md$/), []]);
    expect(readFileSync(join(folder, 'briefs', name), 'utf8')).toContain('Never retry on 404');
  });

  it('prints its help', async () => {
    const { status, stdout } = await evaluate('.', '--help');
    expect([status, stdout]).toEqual([0, expect.stringContaining('--corpus DIR')]);
  });

  it('runs as a command, on several threads, with the same figures as in one', async () => {
    const folder = makeFolder();
    put(folder, 'a/one.jsonl', busySession());
    put(folder, 'b/two.jsonl.gz', gzipSync(busySession()));
    put(folder, 'b/not-compacted.jsonl', new Transcript().text);
    const script = ['run', '--silent', 'eval', '--', '--corpus', folder, '--jobs', '3'];
    const ran = await runProcess(['npm', ...script], { cwd: resolve('.'), timeoutMs: 100_000 });
    expect(ran.stdout).toBe((await evaluate('.', '--corpus', folder)).stdout);
    expect(ran.stdout).toContain('2 cuts of 2 repositories');
    expect(ran.status).toBe(0);
  });

  it('reports a failure in a thread like any other', async () => {
    const folder = makeFolder();
    put(folder, 'index.json', '{"sessions":[{"file":"gone.jsonl"}]}');
    const script = ['run', '--silent', 'eval', '--', '--corpus', folder, '--jobs', '2'];
    const ran = await runProcess(['npm', ...script], { cwd: resolve('.'), timeoutMs: 100_000 });
    expect(ran.stderr).toContain('gone.jsonl, which is listed');
    expect(ran.status).toBe(66);
  });
});

describe('the corpus of an evaluation', () => {
  it('without an index is every transcript with enough work around a compaction', async () => {
    const folder = makeFolder();
    put(folder, 'shop/busy.jsonl', busySession());
    put(folder, 'top.jsonl.gz', gzipSync(busySession()));
    put(folder, 'shop/calm.jsonl', makeCompactedStory().text);
    const { stdout } = await evaluate(folder, '--corpus', '.', '--rows', 'rows.json', '--arm', 'native', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ standings: [{ cuts: 2, repositories: 2 }] });
    const rows: { repository: string }[] = JSON.parse(readFileSync(join(folder, 'rows.json'), 'utf8'));
    expect(rows.map(({ repository }) => repository)).toEqual(['shop', 'unnamed']);
  });

  it('may list single cuts', async () => {
    const folder = makeFolder();
    const t = makeCompactedStory();
    addSummary(t);
    t.say('More.');
    put(folder, 'x.jsonl', t.text);
    const { index: cut } = cutAt(t, 1);
    put(folder, 'index.json', JSON.stringify({ claude_code: [{ file: 'x.jsonl', cut }] }));
    const { stdout } = await evaluate('.', '--corpus', folder, '--arm', 'tail', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ standings: [{ cuts: 1, figures: { useful: { of: 1 } } }] });
  });

  it('may be evaluated in part', async () => {
    const folder = makeFolder();
    put(folder, 'one.jsonl', busySession());
    put(folder, 'two.jsonl', busySession());
    const { stdout } = await evaluate('.', '--corpus', folder, '--arm', 'tail', '--only', 'two');
    expect(stdout).toContain('1 cut of 1 repository');
  });
});

describe('labels', () => {
  /** The story with labels at its compaction. */
  function makeLabelledCorpus(changes: object = {}): string {
    const corpus = makeCorpus();
    put(corpus, 'told/other.jsonl', busySession());
    const labels = {
      file: 'told/story.jsonl',
      cut: cutAt(makeCompactedStory()).index,
      goal: 'the `upload` is to `retry`',
      openTasks: ['`test` the `retry`', '`paint` the `shed`'],
      stale: ['`retry is not a function`', '`never` on `404`'],
      ...changes,
    };
    put(corpus, 'labels.json', JSON.stringify([labels]));
    return corpus;
  }

  it('are what the briefs of their cuts, and only of these, are measured by', async () => {
    const args = ['--corpus', '.', '--labels', 'labels.json', '--arm', 'dialogue', '--arm', 'native'];
    const { status, stdout } = await evaluate(makeLabelledCorpus(), ...args);
    expect(status).toBe(0);
    expect(stdout.split('\n').filter((line) => /^(?:2000|told|stale)/.test(line))).toEqual([
      '2000 tokens, 1 cut of 1 repository',
      'told (3)                   0.333     0.667',
      'told.goal (1)              1.000     1.000',
      'told.openTasks (2)         0.000     0.500',
      'stale                     1 of 2    1 of 2',
    ]);
    expect(stdout).not.toContain('--labels FILE');
  });

  it('are named where they are missed', async () => {
    const args = ['--corpus', '.', '--labels', 'labels.json', '--arm', 'handover', '--misses'];
    const { stdout } = await evaluate(makeLabelledCorpus({ openTasks: ['`paint` the `shed`'] }), ...args);
    expect(stdout).toMatch(/\ntold\.openTasks: 1 not told, in 1 cut\n {4}1 `paint` the `shed` {2}\(story:\d+\)\n/);
    expect(stdout).toMatch(
      /\nclaims\.openTasks: 1 claimed and not labelled, in 1 cut\n {4}1 > \[\w+\] Test the retry /,
    );
    expect(stdout).toMatch(/\nstale: \d told and no longer true, in 1 cut\n {4}1 `never` on `404` /);
  });

  it('may be of any record of a transcript of another agent', async () => {
    const folder = makeFolder();
    const rows = legacyStory();
    put(folder, 'codex/rollout.jsonl', rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const labels = { file: 'codex/rollout.jsonl', cut: rows.length, goal: 'the `upload` is to `retry`' };
    put(folder, 'labels.json', JSON.stringify([labels]));
    const args = ['--corpus', '.', '--labels', 'labels.json', '--briefs', 'briefs', '--json'];
    const { status, stdout } = await evaluate(folder, ...args);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      standings: [{ arm: 'handover', cuts: 1, failures: [], figures: { told: { value: 1, of: 1 }, useful: null } }],
    });
    const brief = readFileSync(join(folder, 'briefs', `rollout-${rows.length}.handover.2000.md`), 'utf8');
    expect(brief).toContain('from codex');
  });
});

describe('bad input', () => {
  it.each([
    ['no corpus', [], 64, 'npm run eval -- --corpus DIR'],
    ['no such folder', ['--corpus', 'nowhere'], 66, '--corpus DIR'],
    ['an empty folder', ['--corpus', 'empty'], 66, '*.jsonl'],
    ['sessions without a cut', ['--corpus', 'calm'], 66, 'index.json'],
    ['an index of something else', ['--corpus', 'odd'], 65, '{"sessions":'],
    ['an index that is not JSON', ['--corpus', 'broken'], 65, 'index.json'],
    ['a cut that is no compaction', ['--corpus', 'wrong'], 65, 'Correct the cut'],
    ['a name that no session has', ['--corpus', 'calm', '--only', 'zzz'], 66, '--only'],
    ['a budget that is no number', ['--corpus', 'calm', '--budget', 'many'], 64, 'Use a number'],
    ['a budget that is too small', ['--corpus', 'calm', '--budget', '10'], 64, 'Use a number'],
    ['an arm that is not there', ['--corpus', 'calm', '--arm', 'oracle'], 64, 'handover, sections'],
    ['no such file of labels', ['--corpus', 'calm', '--labels', 'none.json'], 66, '--labels FILE'],
    ['labels of something else', ['--corpus', 'calm', '--labels', 'odd.json'], 65, 'entry 1, field goals'],
    ['a label beyond the end', ['--corpus', 'calm', '--labels', 'late.json'], 65, 'Correct the cut in the labels'],
    ['a label of no session', ['--corpus', 'calm', '--labels', 'gone.json'], 66, 'gone.jsonl, which is listed'],
    ['a flag that is not there', ['--corpus', 'calm', '--fast'], 64, 'npm run eval -- --help'],
  ])('such as %s is reported with what to do next', async (_, args, status, hint) => {
    const folder = makeFolder();
    mkdirSync(join(folder, 'empty'));
    put(folder, 'calm/a.jsonl', new Transcript().text);
    put(folder, 'odd/index.json', '{"sessions":[{"name":"a"}]}');
    put(folder, 'broken/index.json', '{');
    put(folder, 'wrong/a.jsonl', makeCompactedStory().text);
    put(folder, 'wrong/index.json', '{"claude_code":[{"file":"a.jsonl","cut":0}]}');
    put(folder, 'odd.json', '[{"file":"a.jsonl","cut":1,"goals":"`x`"}]');
    put(folder, 'late.json', '[{"file":"a.jsonl","cut":900}]');
    put(folder, 'gone.json', '[{"file":"gone.jsonl","cut":1}]');
    const ran = await evaluate(folder, ...args);
    expect(ran.status).toBe(status);
    expect(ran.stderr).toContain(hint);
    expect(ran.stdout).toBe('');
  });
});

describe('the product in an evaluation', () => {
  it('writes the same brief as the command', async () => {
    const story = makeCompactedStory();
    const corpus = makeCorpus();
    const folder = makeFolder();
    await evaluate(folder, '--corpus', corpus, '--arm', 'handover', '--budget', '600', '--briefs', '.');
    const [name = ''] = readdirSync(folder);
    const sandbox = makeSandbox();
    put(sandbox.project, 'at-cut.jsonl', cutAt(story).bytes);
    const flags = ['--agent', 'claude-code', '--budget', '600', '--print', 'brief', '--dry-run'];
    const printed = await sandbox.ok(['capture', '--transcript', 'at-cut.jsonl', ...flags]);
    expect(withoutStamp(readFileSync(join(folder, name), 'utf8'))).toBe(withoutStamp(printed));
    expect(printed).toContain('retry.ts (new; 1 edit');
  });
});

/** Without what is different each time: id, time and the name of the folder. What is not saved has no id. */
function withoutStamp(brief: string): string {
  const named = brief.replace(/\d{8}-\d{6}-\w{4}/g, 'ID').replace(/^(> from [\w-]+,) .*$/m, '$1');
  return named.replace(/^# Handover \(not saved\)/, '# Handover ID').replace(/: handover show ID$/m, '');
}
