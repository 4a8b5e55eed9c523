import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { captureWork } from '../../support/captured-work.ts';
import { commitAt, makeSandbox, makeTempFolder, runGit } from '../../support/cli.ts';

interface Answer {
  days: {
    date: string;
    sessions: Record<string, unknown>[];
    marks: Record<string, unknown>[];
    commits: { subject: string }[];
  }[];
  has_more: boolean;
}

const sandbox = makeSandbox();
const ids: string[] = [];

beforeAll(async () => {
  runGit(sandbox.project, 'init', '--quiet');
  const steps = [
    { ask: 'How should the cart keep amounts?' },
    { say: '1. Cents, as integers\n2. Decimals\n\nWhich one?' },
    { ask: '1' },
    { say: 'We decided to keep amounts in cents.' },
    { ask: 'Rework the cart so that it keeps amounts in cents' },
    { edit: 'src/cart.ts' },
    { run: 'npm run lint', output: 'src/cart.ts:1:1: error: unused variable here', fails: true as const },
    { run: 'npm test', output: 'Tests: 12 passed' },
    { run: 'git commit -m "Keep cents"', output: '[main 1a2b3c4] Keep cents\n 1 file changed' },
  ];
  const first = await captureWork(sandbox, { day: 1, steps });
  const grown = await captureWork(sandbox, {
    day: 1,
    steps: [...steps, { say: 'We decided to round at the end.' }],
  });
  writeFileSync(join(sandbox.project, 'cart.txt'), 'cart');
  runGit(sandbox.project, 'add', '.');
  runGit(sandbox.project, 'commit', '--quiet', '-m', 'Keep cents');
  const second = await captureWork(sandbox, { day: 2, steps: [{ ask: 'Speed up the cart, please' }] });
  const byHand = await sandbox.save('--agent', 'codex', '--title', 'Review', '--decision', 'Use a queue');
  const { facts } = await sandbox.json<{ facts: { id: string; text: string }[] }>(['show', byHand]);
  await sandbox.ok(['refute', facts.find(({ text }) => text === 'Use a queue')?.id ?? '', '--because', 'it lost jobs']);
  ids.push(first.id, grown.id, second.id, byHand);
});

describe('handover timeline', () => {
  it('lists sessions day by day, the newest first, each once', async () => {
    const { days } = await sandbox.json<Answer>(['timeline']);
    // An id begins with the day of its handover.
    const today = ids[3]?.replace(/^(\d{4})(\d\d)(\d\d).*/, '$1-$2-$3');
    expect(days.map(({ date }) => date)).toEqual([today, '2026-02-02', '2026-02-01']);
    const [now, , work] = days;
    expect(now).toMatchObject({
      sessions: [{ agent: 'codex', handover: ids[3], decisions: [{ text: 'Use a queue' }] }],
      marks: [{ mark: 'refuted', text: 'Use a queue', because: 'it lost jobs' }],
      commits: [{ subject: 'Keep cents' }],
    });
    expect(work?.sessions).toMatchObject([
      {
        handover: ids[1],
        handovers: 2,
        goal: 'Rework the cart so that it keeps amounts in cents',
        requests: [
          { text: 'How should the cart keep amounts?' },
          { text: '1' },
          { text: 'Rework the cart so that it keeps amounts in cents' },
        ],
        commits: [{ text: 'commit 1a2b3c4: Keep cents' }],
        decisions: [
          { kind: 'decision', text: 'Which one? → "1", in its list: 1. Cents, as integers (the others: 2. Decimals)' },
        ],
        checks: { passed: ['npm test'], failed: ['npm run lint'] },
        open_errors: 1,
        files_changed: 1,
      },
    ]);
    expect(await sandbox.json(['timeline'], { env: { HANDOVER_SQLITE: 'none' } })).toMatchObject({ days });
  });

  it('prints a readable text', async () => {
    const lines = (await sandbox.ok(['timeline', '--agent', 'claude-code'])).split('\n');
    expect(lines.slice(lines.indexOf('2026-02-01'))).toEqual([
      '2026-02-01',
      '  09:00  claude-code   How should the cart keep amounts?',
      '         asked: 1',
      '         asked: Rework the cart so that it keeps amounts in cents',
      '         commit 1a2b3c4: Keep cents',
      '         decided: Which one? → "1", in its list: 1. Cents, as integers (the others: 2. Decimals)',
      '         checks: npm run lint failed, npm test passed',
      `         1 file changed, 1 error open, ${ids[1]} and 1 before it`,
      '',
    ]);
  });

  it('goes back as far as --since and --limit say', async () => {
    const { days, has_more } = await sandbox.json<Answer>(['timeline', '--limit', '1']);
    expect([days.length, has_more]).toEqual([1, true]);
    expect((await sandbox.run(['timeline', '--limit', '1'])).stderr).toContain('handover timeline --limit 0');
    expect((await sandbox.run(['timeline', '--all', '--limit', '1'])).stderr).toContain(
      'handover timeline --all --limit 0',
    );
    expect(await sandbox.json<Answer>(['timeline', '--since', '2099-01-01'])).toMatchObject({ days: [] });
  });

  it('shows commits of a period without sessions, and all of a day by time, the newest first', async () => {
    const own = makeSandbox();
    runGit(own.project, 'init', '--quiet');
    await captureWork(own, { day: 1, steps: [{ ask: 'Rework the cart' }, { say: 'Done.' }] });
    commitAt(own.project, 'Before breakfast', '2026-02-01T08:00:00Z');
    commitAt(own.project, 'After lunch', '2026-02-01T13:00:00Z');
    commitAt(own.project, 'A day later', '2026-02-02T10:00:00Z');
    const { days } = await own.json<Answer>(['timeline', '--since', '2026-02-02']);
    expect(days).toMatchObject([{ date: '2026-02-02', sessions: [], commits: [{ subject: 'A day later' }] }]);
    const lines = (await own.ok(['timeline'])).split('\n').filter((line) => /^(?: {2})?\d/.test(line));
    expect(lines.map((line) => line.replace(/commit [0-9a-f]+/, 'commit'))).toEqual([
      '2026-02-02',
      '  10:00  commit  A day later',
      '2026-02-01',
      '  13:00  commit  After lunch',
      '  09:00  claude-code   Rework the cart',
      '  08:00  commit  Before breakfast',
    ]);
  });

  it('says what to type in a project without handovers', async () => {
    const cwd = makeTempFolder();
    const { stdout, stderr } = await sandbox.run(['timeline'], { cwd });
    expect([stdout, stderr.includes('handover timeline --all')]).toEqual(['no handovers found\n', true]);
    expect((await sandbox.json<Answer>(['timeline', '--all'], { cwd })).days.length).toBe(3);
  });
});
