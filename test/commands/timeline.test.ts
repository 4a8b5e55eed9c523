import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { captureWork } from '../questions/worked-session.ts';
import { makeDesk, makeTempFolder, runGit } from '../support/cli.ts';

interface Answer {
  days: {
    date: string;
    sessions: Record<string, unknown>[];
    marks: Record<string, unknown>[];
    commits: { subject: string }[];
  }[];
  has_more: boolean;
}

const desk = makeDesk();
const ids: string[] = [];

beforeAll(async () => {
  runGit(desk.project, 'init', '--quiet');
  const steps = [
    { ask: 'Rework the cart, please' },
    { say: 'We decided to keep amounts in cents.' },
    { edit: 'src/cart.ts' },
    { run: 'npm run lint', output: 'src/cart.ts:1:1: error: unused variable here', fails: true as const },
    { run: 'npm test', output: 'Tests: 12 passed' },
  ];
  const first = await captureWork(desk, { day: 1, steps });
  const grown = await captureWork(desk, {
    day: 1,
    steps: [...steps, { say: 'We decided to round at the end.' }],
  });
  writeFileSync(join(desk.project, 'cart.txt'), 'cart');
  runGit(desk.project, 'add', '.');
  runGit(desk.project, 'commit', '--quiet', '-m', 'Keep cents');
  const second = await captureWork(desk, { day: 2, steps: [{ ask: 'Speed up the cart, please' }] });
  const byHand = await desk.save('--agent', 'codex', '--title', 'Review', '--decision', 'Use a queue');
  const { facts } = await desk.json<{ facts: { id: string; text: string }[] }>(['show', byHand]);
  await desk.ok(['refute', facts.find(({ text }) => text === 'Use a queue')?.id ?? '', '--because', 'it lost jobs']);
  ids.push(first.id, grown.id, second.id, byHand);
});

describe('handover timeline', () => {
  it('tells what happened day by day, the newest first, each session once', async () => {
    const { days } = await desk.json<Answer>(['timeline']);
    const today = new Date().toISOString().slice(0, 10);
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
        goal: 'Rework the cart, please',
        decisions: [
          { kind: 'decision', text: 'We decided to round at the end.' },
          { kind: 'decision', text: 'We decided to keep amounts in cents.' },
        ],
        checks: { passed: ['npm test'], failed: ['npm run lint'] },
        open_errors: 1,
        files_changed: 1,
      },
    ]);
    expect(await desk.json(['timeline'], { env: { HANDOVER_SQLITE: 'none' } })).toMatchObject({ days });
  });

  it('is pleasant to read', async () => {
    const lines = (await desk.ok(['timeline', '--agent', 'claude-code'])).split('\n');
    expect(lines.slice(lines.indexOf('2026-02-01'))).toEqual([
      '2026-02-01',
      '  09:00  claude-code   Rework the cart, please',
      '         decided: We decided to round at the end.',
      '         decided: We decided to keep amounts in cents.',
      '         checks: npm run lint failed, npm test passed',
      `         1 file changed, 1 error open, ${ids[1]} and 1 before it`,
      '',
    ]);
  });

  it('goes back as far as it is told to', async () => {
    const { days, has_more } = await desk.json<Answer>(['timeline', '--limit', '1']);
    expect([days.length, has_more]).toEqual([1, true]);
    expect((await desk.run(['timeline', '--limit', '1'])).stderr).toContain('handover timeline --limit 0');
    expect((await desk.run(['timeline', '--all', '--limit', '1'])).stderr).toContain(
      'handover timeline --all --limit 0',
    );
    expect(await desk.json<Answer>(['timeline', '--since', '2099-01-01'])).toMatchObject({ days: [] });
  });

  it('says what to do in a project of which nothing is kept', async () => {
    const cwd = makeTempFolder();
    const { stdout, stderr } = await desk.run(['timeline'], { cwd });
    expect([stdout, stderr.includes('handover timeline --all')]).toEqual(['no handovers found\n', true]);
    expect((await desk.json<Answer>(['timeline', '--all'], { cwd })).days.length).toBe(3);
  });
});
