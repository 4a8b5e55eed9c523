import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Report } from '../../../src/app/ask/report.ts';
import { captureWork } from '../../support/captured-work.ts';
import { errorCode, makeSandbox } from '../../support/cli.ts';
import { DECLARED, HUMAN, makeFact, OBSERVED } from '../../support/facts.ts';
import { joinWork, PROJECT, saveWork } from '../../support/report.ts';

const sandbox = makeSandbox();
const ALL = ['report', '--all-projects'];
const OTHER = { id: 'p-1111111111111111', name: 'billing', remote: null };

function readData(page: string): Report {
  const [, json = ''] = /<script type="application\/json" id="data">([^<]*)<\/script>/.exec(page) ?? [];
  return JSON.parse(json);
}

async function makeReport(...args: string[]): Promise<Report> {
  return readData(await sandbox.ok(['report', '--output', '-', ...args]));
}

beforeAll(async () => {
  const answer = { ...HUMAN, detail: { role: 'answer' } };
  const first = saveWork(sandbox, {
    session: 's-1',
    at: '2026-02-01T10:00:00.000Z',
    facts: [
      makeFact('goal', 'Keep amounts in cents', { ...HUMAN, detail: { role: 'current', message: 1 } }),
      makeFact('decision', 'Use integers', { ...answer, sources: [{ line: 12 }] }),
      makeFact('rejected', 'Decimals', answer),
      makeFact('decision', 'The agent thinks that floats are fine'),
      makeFact('file', 'src/cart.ts', { ...OBSERVED, status: 'edited' }),
      makeFact('file', 'README.md', { ...OBSERVED, status: 'read' }),
      makeFact('check', 'npm test', { ...OBSERVED, status: 'failed' }),
      makeFact('next', 'Of an older session', DECLARED),
    ],
  });
  const grown = saveWork(sandbox, {
    session: 's-1',
    at: '2026-02-01T11:00:00.000Z',
    facts: [
      makeFact('goal', 'Keep amounts in cents', { ...HUMAN, detail: { role: 'current', message: 1 } }),
      makeFact('check', 'npm test', { ...OBSERVED, status: 'ok' }),
    ],
    more: { previous: first.id },
  });
  const note = saveWork(sandbox, {
    agent: 'manual',
    at: '2026-02-02T09:00:00.000Z',
    facts: [makeFact('goal', 'A note', DECLARED)],
  });
  saveWork(sandbox, {
    agent: 'codex',
    session: 's-2',
    at: '2026-02-03T09:00:00.000Z',
    facts: [
      makeFact('goal', 'Round at the end', HUMAN),
      makeFact('task', 'Write the test', { ...OBSERVED, status: 'pending' }),
      makeFact('task', 'Read the code', { ...OBSERVED, status: 'completed' }),
      makeFact('error', 'AssertionError: 3', { ...OBSERVED, status: 'open' }),
      makeFact('error', 'Perhaps gone', { ...OBSERVED, status: 'unknown' }),
      makeFact('next', 'Measure it', DECLARED),
    ],
    more: { previous: grown.id, ...joinWork(note.id) },
  });
  saveWork(sandbox, {
    session: 's-3',
    at: '2026-02-04T09:00:00.000Z',
    facts: [makeFact('goal', 'Send reminders', HUMAN)],
    more: { project: OTHER, workspace: { root: '/billing', folder: '', worktree: null, git: null } },
  });
});

describe('the data of a report', () => {
  it('has each session once, the newest first, with what it continues and takes in', async () => {
    const { sessions, handovers, projects } = await makeReport('--all-projects');
    expect(handovers).toBe(5);
    expect(projects).toEqual(['billing', 'shop']);
    expect(sessions.map(({ goal, agent, follows, joins }) => ({ goal, agent, follows, joins }))).toEqual([
      { goal: 'Send reminders', agent: 'claude-code', follows: [], joins: [] },
      { goal: 'Round at the end', agent: 'codex', follows: [3], joins: [2] },
      { goal: 'A note', agent: 'manual', follows: [], joins: [] },
      { goal: 'Keep amounts in cents', agent: 'claude-code', follows: [], joins: [] },
    ]);
  });

  it('tells what became of a session as its newest handover does, and what was settled in any of them', async () => {
    const { sessions, files } = await makeReport('--project', 'shop');
    const work = sessions.find(({ goal }) => goal === 'Keep amounts in cents');
    expect(work).toMatchObject({ handovers: 2, passed: ['npm test'], failed: [] });
    expect(work?.decisions.map(({ kind, text, line }) => [kind, text, line])).toEqual([
      ['decision', 'Use integers', 12],
      ['rejected', 'Decimals', 1],
    ]);
    expect(work?.changed.map((at) => files[at]?.path)).toEqual(['src/cart.ts']);
    expect(work?.read.map((at) => files[at]?.path)).toEqual(['README.md']);
  });

  it('has what the newest handover of the folder has left, and nothing that is done', async () => {
    const { open } = await makeReport('--project', 'shop');
    expect(open.map(({ kind, text }) => [kind, text])).toEqual([
      ['task', 'Write the test'],
      ['error', 'AssertionError: 3'],
      ['next', 'Measure it'],
    ]);
  });

  it('shows two lines of work that were merged as work of its own, which continues one and takes in the other', async () => {
    const other = makeSandbox();
    const save = (session: string, at: string, root: string) =>
      saveWork(other, {
        ...{
          session,
          at,
          facts: [makeFact('goal', `Work of ${session}`, HUMAN), makeFact('next', 'Ship it', DECLARED)],
        },
        more: { workspace: { root, folder: '', worktree: null, git: null } },
      });
    const [ours, theirs] = [
      save('ours', '2026-02-03T09:00:00.000Z', '/a'),
      save('theirs', '2026-02-04T09:00:00.000Z', '/b'),
    ];
    expect(await other.json(['merge', ours.id, theirs.id])).toMatchObject({ outcome: 'merged' });
    const { sessions, open } = readData(await other.ok([...ALL, '--output', '-']));
    expect(sessions.map(({ goal, follows, joins }) => [goal, follows, joins])).toEqual([
      ['Took in: Work of ours', [1], [2]],
      ['Work of theirs', [], []],
      ['Work of ours', [], []],
    ]);
    expect(open.map(({ text }) => text)).toEqual(['Ship it']);
  });

  it('has what a later session carried over from one whose handover was forgotten', async () => {
    const other = makeSandbox();
    const settled = makeFact('decision', 'Retry on 500', { ...HUMAN, detail: { role: 'answer' } });
    const goal = (text: string) => makeFact('goal', text, HUMAN);
    const first = saveWork(other, { session: 's-1', at: '2026-02-01T10:00:00.000Z', facts: [goal('Retry'), settled] });
    const carried = { ...settled, sources: [{ session: 's-1', line: 12 }] };
    const more = { previous: first.id };
    saveWork(other, { session: 's-2', at: '2026-02-02T10:00:00.000Z', facts: [goal('Wait'), carried], more });
    const decisions = async () =>
      readData(await other.ok([...ALL, '--output', '-'])).sessions.map((session) =>
        session.decisions.map(({ text, line }) => [text, line]),
      );
    expect(await decisions()).toEqual([[], [['Retry on 500', 1]]]);
    await other.ok(['forget', first.id, '--yes']);
    expect(await decisions()).toEqual([[['Retry on 500', 0]]]);
  });

  it('leaves out what was resolved since, and says what was refuted and why', async () => {
    const other = makeSandbox();
    const facts = [
      makeFact('goal', 'Retry', HUMAN),
      makeFact('next', 'Write the test', DECLARED),
      makeFact('decision', 'Retry on 500', { ...HUMAN, detail: { role: 'answer' } }),
    ];
    const { id } = saveWork(other, { session: 's-1', at: '2026-02-01T10:00:00.000Z', facts });
    await other.ok(['resolve', facts[1]?.id ?? '', '--in', id]);
    await other.ok(['refute', facts[2]?.id ?? '', '--because', 'charged twice', '--in', id]);
    const { open, sessions } = readData(await other.ok([...ALL, '--output', '-']));
    expect(open).toEqual([]);
    expect(sessions[0]?.decisions).toMatchObject([{ mark: 'refuted', because: 'charged twice' }]);
  });

  it('is about the project and the time that the flags name', async () => {
    expect((await makeReport('--all-projects', '--since', '2026-02-03')).sessions).toHaveLength(2);
    expect((await makeReport('--project', OTHER.name)).sessions).toHaveLength(1);
    expect((await makeReport()).sessions).toEqual([]);
  });
});

describe('the file of a report', () => {
  const usual = join(sandbox.home, 'handover-report.html');

  it('is in the home folder, for nobody else to read, and replaced by the next one', async () => {
    expect(await sandbox.ok(ALL)).toContain(`wrote ${usual}`);
    expect(statSync(usual).mode & 0o777).toBe(0o600);
    expect(await sandbox.json(ALL)).toMatchObject({ output: usual, sessions: 4, handovers: 5, opened: false });
    expect(readData(readFileSync(usual, 'utf8')).sessions).toHaveLength(4);
    expect(await sandbox.ok(ALL)).toContain(`replaced ${usual}`);
  });

  it('comes with the command that writes the same and shows it', async () => {
    const typed = [...ALL, '--output', 'this month.html'];
    const { stderr } = await sandbox.run(typed);
    expect(stderr).toBe("read it in the browser: handover report --output 'this month.html' --open --all-projects\n");
  });

  it('says what to type where there is no session to show', async () => {
    const { stderr } = await sandbox.run(['report', '--since', '2026-02-03']);
    expect(stderr).toContain('Ask about all projects: handover report --all-projects --since 2026-02-03\n');
  });

  it('never takes the place of another file, unless --force is given', async () => {
    const file = join(sandbox.project, 'index.html');
    writeFileSync(file, '<!doctype html>\n<html lang="en"><p>mine</p>');
    const refused = await sandbox.run([...ALL, '--output', 'index.html', '--json']);
    expect([refused.status, errorCode(refused)]).toEqual([77, 'HANDOVER_PATH_UNSAFE']);
    expect(readFileSync(file, 'utf8')).toContain('mine');
    await sandbox.ok([...ALL, '--output', 'index.html', '--force']);
    expect(readData(readFileSync(file, 'utf8')).sessions).toHaveLength(4);
  });

  it('never takes the place of a report that somebody changed, unless --force is given', async () => {
    const file = join(sandbox.project, 'edited.html');
    const write = [...ALL, '--output', 'edited.html'];
    await sandbox.ok(write);
    await sandbox.ok(write);
    const page = readFileSync(file, 'utf8').replace('</body>', '<p>my notes</p></body>');
    expect(page).toContain('my notes');
    writeFileSync(file, page);
    const refused = await sandbox.run(write);
    expect([refused.status, refused.stderr]).toEqual([
      77,
      expect.stringContaining('edited.html is a report that was changed since it was written'),
    ]);
    expect(readFileSync(file, 'utf8')).toBe(page);
    expect(await sandbox.ok([...write, '--force'])).toContain('replaced ');
    expect(readFileSync(file, 'utf8')).not.toContain('my notes');
  });

  it('is not written through a link', async () => {
    const target = join(sandbox.project, 'target.html');
    symlinkSync(target, join(sandbox.project, 'link.html'));
    expect((await sandbox.run([...ALL, '--output', 'link.html', '--force'])).status).toBe(77);
    expect(() => statSync(target)).toThrow('ENOENT');
  });

  it('is opened by the program of the system, with its path as the only argument', async () => {
    const bin = join(sandbox.folder, 'bin');
    const [opener, record] = [join(bin, 'xdg-open'), join(sandbox.folder, 'opened')];
    mkdirSync(bin);
    writeFileSync(opener, `#!/bin/sh\nprintf '%s\\n' "$#" "$1" > "${record}"\n`);
    chmodSync(opener, 0o755);
    const options = { env: { PATH: `${bin}:${process.env.PATH}` } };
    expect(await sandbox.json([...ALL, '--open'], options)).toMatchObject({ opened: true });
    expect(readFileSync(record, 'utf8')).toBe(`1\n${usual}\n`);
    expect((await sandbox.run([...ALL, '--open'], options)).stderr).toBe('asked xdg-open to show it\n');
    writeFileSync(opener, '#!/bin/sh\nexit 3\n');
    const failed = await sandbox.run([...ALL, '--open'], { env: { PATH: `${bin}:${process.execPath}/..` } });
    expect(failed.stderr).toContain(`open it in a browser: ${usual}`);
  });

  it('is not what two flags that contradict each other ask for', async () => {
    for (const flags of [
      ['--open', '--output', '-'],
      ['--json', '--output', '-'],
      ['--project', PROJECT.name],
    ])
      expect([flags, (await sandbox.run([...ALL, ...flags])).status]).toEqual([flags, 64]);
  });
});

it('the page without data has at most 400 kB, and a policy that allows nothing but its own script and style', () => {
  const page = readFileSync('dist/report/page.html', 'utf8');
  expect(Buffer.byteLength(page)).toBeLessThan(400_000);
  const [, policy] = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page) ?? [];
  expect(policy).toMatch(
    /^default-src 'none'; script-src 'sha256-[^' ]+'; style-src 'sha256-[^' ]+'; base-uri 'none'; form-action 'none'$/,
  );
});

describe('what sessions found out again', () => {
  it('is in the report where one session follows another, and not elsewhere', async () => {
    expect((await makeReport('--all-projects')).debt).toBeUndefined();
    const own = makeSandbox();
    for (const day of [3, 4]) await captureWork(own, { day, steps: [{ ask: `Part ${day}` }, { edit: 'src/a.ts' }] });
    const { debt } = readData(await own.ok(['report', '--output', '-']));
    expect([debt?.brief.successors, debt?.other.successors, debt?.other.enough]).toEqual([0, 1, false]);
  });
});
