import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { captureWork } from '../questions/worked-session.ts';
import { makeDesk, makeTempFolder } from '../support/cli.ts';

type Row = Record<string, unknown> & { path: string };

const desk = makeDesk();
const ids: string[] = [];

beforeAll(async () => {
  const steps = [{ ask: 'Rework the cart, please' }, { edit: 'src/cart.ts' }, { edit: 'src/money.ts' }];
  await captureWork(desk, { day: 1, steps });
  const grown = await captureWork(desk, { day: 1, steps: [...steps, { run: 'rm src/money.ts' }] });
  const below = join(desk.project, 'src');
  mkdirSync(below);
  const second = await captureWork(desk, {
    day: 2,
    steps: [{ ask: 'Speed up the cart, please' }, { edit: 'src/cart.ts' }, { edit: '../outside/x.ts' }],
  });
  const byHand = await desk.save('--agent', 'codex', '--title', 'Look at it', '--file', 'src/cart.ts');
  ids.push(grown.id, second.id, byHand);
});

describe('handover files', () => {
  it('counts sessions, not handovers, over all agents; those first that were changed most', async () => {
    const rows = await desk.json<Row[]>(['files']);
    expect(rows.map(({ path }) => path)).toEqual(['src/cart.ts', join(desk.folder, 'outside/x.ts'), 'src/money.ts']);
    expect(rows[0]).toMatchObject({
      sessions: 3,
      created: 0,
      edited: 2,
      named: 1,
      agents: ['claude-code', 'codex'],
      last: 'named',
      handover: ids[2],
    });
    expect(rows[2]).toMatchObject({ sessions: 1, edited: 0, deleted: 1, handover: ids[0] });
    expect(await desk.json(['files'], { env: { HANDOVER_SQLITE: 'none' } })).toEqual(rows);
  });

  it('shows them to a person, as many as wanted', async () => {
    const { stdout, stderr } = await desk.run(['files', '--limit', '1']);
    expect(stdout).toBe(
      `src/cart.ts\n  3 sessions: edited 2, named 1; by claude-code, codex; last just now, ${ids[2]}\n`,
    );
    expect(stderr).toContain('2 more; show all: handover files --limit 0');
    const all = await desk.run(['files', '--limit', '1', '--all', '--since', '2020-01-01']);
    expect(all.stderr).toContain('show all: handover files --all --since 2020-01-01 --limit 0\n');
  });

  it('is narrowed by agent and time, and tells what to do where nothing is', async () => {
    expect(await desk.json<Row[]>(['files', '--agent', 'codex'])).toMatchObject([{ path: 'src/cart.ts', sessions: 1 }]);
    expect(await desk.json(['files', '--since', '2099-01-01'])).toEqual([]);
    const cwd = makeTempFolder();
    const { stdout, stderr } = await desk.run(['files'], { cwd });
    expect([stdout, stderr.includes('handover files --all')]).toEqual(['no handover mentions a file\n', true]);
    expect(await desk.json<Row[]>(['files', '--all'], { cwd })).toHaveLength(3);
  });
});
