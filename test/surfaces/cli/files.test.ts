import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { captureWork } from '../../support/captured-work.ts';
import { makeSandbox, makeTempFolder } from '../../support/cli.ts';

type Row = Record<string, unknown> & { path: string };

const sandbox = makeSandbox();
const ids: string[] = [];

beforeAll(async () => {
  const steps = [{ ask: 'Rework the cart, please' }, { edit: 'src/cart.ts' }, { edit: 'src/money.ts' }];
  await captureWork(sandbox, { day: 1, steps });
  const grown = await captureWork(sandbox, { day: 1, steps: [...steps, { run: 'rm src/money.ts' }] });
  const below = join(sandbox.project, 'src');
  mkdirSync(below);
  const second = await captureWork(sandbox, {
    day: 2,
    steps: [{ ask: 'Speed up the cart, please' }, { edit: 'src/cart.ts' }, { edit: '../outside/x.ts' }],
  });
  const byHand = await sandbox.save('--agent', 'codex', '--title', 'Look at it', '--file', 'src/cart.ts');
  ids.push(grown.id, second.id, byHand);
});

describe('handover files', () => {
  it('counts the sessions of all agents that changed a file, the most changed files first', async () => {
    const rows = await sandbox.json<Row[]>(['files']);
    expect(rows.map(({ path }) => path)).toEqual(['src/cart.ts', join(sandbox.folder, 'outside/x.ts'), 'src/money.ts']);
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
    expect(await sandbox.json(['files'], { env: { HANDOVER_SQLITE: 'none' } })).toEqual(rows);
  });

  it('prints a table, limited by --limit', async () => {
    const { stdout, stderr } = await sandbox.run(['files', '--limit', '1']);
    expect(stdout).toBe(
      `src/cart.ts\n  edited in 2 sessions, named in 1, last just now, by claude-code, codex, ${ids[2]}\n`,
    );
    expect(stderr).toContain('2 more; show all: handover files --limit 0');
    const all = await sandbox.run(['files', '--limit', '1', '--all', '--since', '2020-01-01']);
    expect(all.stderr).toContain('show all: handover files --all --since 2020-01-01 --limit 0\n');
  });

  it('filters by agent and time, and says what to type when there is nothing', async () => {
    expect(await sandbox.json<Row[]>(['files', '--agent', 'codex'])).toMatchObject([
      { path: 'src/cart.ts', sessions: 1 },
    ]);
    expect(await sandbox.json(['files', '--since', '2099-01-01'])).toEqual([]);
    const cwd = makeTempFolder();
    const { stdout, stderr } = await sandbox.run(['files'], { cwd });
    expect([stdout, stderr.includes('handover files --all')]).toEqual(['no handover mentions a file\n', true]);
    expect(await sandbox.json<Row[]>(['files', '--all'], { cwd })).toHaveLength(3);
  });

  it('lists no words that only look like a path: what no call touched must be there', async () => {
    const other = makeSandbox();
    writeFileSync(join(other.project, 'limits.ts'), 'export const limit = 5;\n');
    await captureWork(other, {
      day: 4,
      steps: [
        { ask: 'Read limits.ts, [docs/CLAUDE.md, keygen.ts/sign.ts and /auth/.well-known/jwks.json before you begin' },
        { say: 'The limits are in limits.ts; the keys of keygen.ts/sign.ts are at /auth/.well-known/jwks.json.' },
        { edit: 'src/cart.ts' },
        { say: 'As [docs/CLAUDE.md and keygen.ts/sign.ts ask, limits.ts is next; /auth/.well-known/jwks.json stays.' },
      ],
    });
    const paths = (await other.json<Row[]>(['files'])).map(({ path }) => path);
    expect(paths).toEqual(['src/cart.ts', 'limits.ts']);
    expect(await other.ok(['show'])).not.toMatch(/^- \[mentioned\] (?!limits\.ts)/m);
    // Also of a handover that was kept with them, or whose file is gone since.
    rmSync(join(other.project, 'limits.ts'));
    expect((await other.json<Row[]>(['files'])).map(({ path }) => path)).toEqual(['src/cart.ts']);
  });
});
