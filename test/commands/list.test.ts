import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { describePlace } from '../../src/platform/project.ts';
import { openStore } from '../../src/store/store.ts';
import { errorCode, makeDesk, runGit } from '../support/cli.ts';
import { keepSample } from '../support/samples.ts';

const HOUR = 3_600_000;
const desk = makeDesk();
const app = join(desk.folder, 'App');
const ids: Record<string, string> = {};

/** Days ago, and what is kept of that day. */
const KEPT = [
  { name: 'ancient', hoursAgo: 24 * 400, parts: { title: 'Ancient work', agent: 'aider' } },
  {
    name: 'week',
    hoursAgo: 24 * 6,
    parts: { title: 'Last week', agent: 'Codex', summary: 'Rewrote the PARSER' },
  },
  {
    name: 'day',
    hoursAgo: 30,
    parts: { title: 'Yesterday', facts: [{ kind: 'decision' as const, text: 'Use 100% of _it_' }] },
  },
  {
    name: 'now',
    hoursAgo: 0.5,
    parts: { title: 'Just now', facts: [{ kind: 'next' as const, text: 'Write tests\nsecond line' }] },
  },
];

beforeAll(() => {
  mkdirSync(join(app, 'sub'), { recursive: true });
  runGit(app, 'init', '--quiet');
  const elsewhere = describePlace('.', desk.machine);
  const inApp = describePlace(app, desk.machine);
  for (const { name, hoursAgo, parts } of KEPT) {
    const clock = { now: () => Date.now() - hoursAgo * HOUR };
    const store = openStore({ ...desk.machine, clock });
    ids[name] = keepSample(store, parts, name === 'week' || name === 'now' ? inApp : elsewhere).id;
  }
});

async function names(...args: string[]): Promise<string[]> {
  const answers = await Promise.all(
    [undefined, 'none'].map((HANDOVER_SQLITE) =>
      desk.json<{ id: string }[]>(['list', ...args], { env: { HANDOVER_SQLITE } }),
    ),
  );
  const [indexed, scanned] = answers.map((rows) =>
    rows.map((row) => Object.keys(ids).find((name) => ids[name] === row.id) ?? row.id),
  );
  expect(scanned).toEqual(indexed);
  return indexed ?? [];
}

const day = (hoursAgo: number): string => new Date(Date.now() - hoursAgo * HOUR).toISOString();

describe('handover list', () => {
  it('shows the newest first, for a person and as JSON', async () => {
    expect(await names()).toEqual(['now', 'day', 'week', 'ancient']);
    const text = await desk.ok(['list']);
    expect(text.split('\n').slice(0, 3)).toEqual([
      `${ids.now}  manual        Just now`,
      '  App, 30m ago',
      '  next: Write tests',
    ]);
    const [row = {}] = await desk.json<Record<string, unknown>[]>(['list']);
    expect(Object.keys(row)).toEqual([
      'id',
      'created_at',
      'agent',
      'project',
      'root',
      'title',
      'next',
      'session',
      'terminal',
      'last_at',
      'score',
    ]);
    expect(Object.keys(row.project ?? {})).toEqual(['id', 'name']);
    expect(row).toMatchObject({ id: ids.now, agent: 'manual', title: 'Just now', root: app });
  });

  it('says so when nothing is kept, or nothing matches', async () => {
    const empty = makeDesk();
    expect(await empty.ok(['list'])).toBe('no handovers found\n');
    expect(await empty.ok(['list', '--json'])).toBe('[]\n');
    expect(await desk.ok(['list', '--query', 'nowhere'])).toBe('no handovers found\n');
    expect(await desk.ok(['list', '--query', 'nowhere', '--json'])).toBe('[]\n');
  });

  it('filters by agent, without regard to case, also as --tool', async () => {
    expect(await names('--agent', 'codex')).toEqual(['week']);
    expect(await names('--tool', 'AIDER')).toEqual(['ancient']);
    expect(await names('--agent', 'code')).toEqual([]);
  });

  it('filters by project: folder, subfolder, name, id, and a folder that is gone', async () => {
    for (const words of [app, join(app, 'sub'), 'app', '../App', describePlace(app, desk.machine).project.id]) {
      expect(await names('--project', words), words).toEqual(['now', 'week']);
    }
    expect(await names('--project', '.')).toEqual(['day', 'ancient']);
    expect(await names('--project', '/gone/App')).toEqual([]);
    expect(await names('--project', 'p-0000000000000000')).toEqual([]);
  });

  it('searches title, summary and facts, without regard to case, and takes no character for a pattern', async () => {
    expect(await names('--query', 'parser')).toEqual(['week']);
    expect(await names('--query', 'WRITE tests')).toEqual(['now']);
    expect(await names('--query', '100% of _it_')).toEqual(['day']);
    expect(await names('--query', '%')).toEqual(['day']);
    expect(await names('--query', '*')).toEqual([]);
  });

  it('filters by time: a length, a day, a time, with both ends in the range', async () => {
    expect(await names('--since', '2h')).toEqual(['now']);
    expect(await names('--since', '1d12h')).toEqual(['now', 'day']);
    expect(await names('--since', '2w', '--until', '1h')).toEqual(['day', 'week']);
    expect(await names('--until', '52w')).toEqual(['ancient']);
    expect(await names('--since', day(30).slice(0, 10))).toEqual(['now', 'day']);
    expect(await names('--until', day(24 * 6).slice(0, 10))).toEqual(['week', 'ancient']);
    expect(await names('--since', day(31), '--until', day(1))).toEqual(['day']);
    expect(await names('--since', day(31).slice(0, 16).replace('T', ' '))).toEqual(['now', 'day']);
  });

  it('filters by the beginning of an id, and by several things at once', async () => {
    expect(await names('--id', ids.week ?? '')).toEqual(['week']);
    expect(await names('--id', (ids.week ?? '').slice(0, 17).toUpperCase())).toEqual(['week']);
    expect(await names('--id', '1999')).toEqual([]);
    expect(await names('--agent', 'codex', '--query', 'parser', '--project', app, '--since', '1w')).toEqual(['week']);
  });

  it('shows only the newest with --latest, and so many with --limit', async () => {
    expect(await names('--latest')).toEqual(['now']);
    expect(await names('--latest', '--agent', 'codex')).toEqual(['week']);
    expect(await names('--limit', '2')).toEqual(['now', 'day']);
    expect(await names('--limit', '0')).toHaveLength(4);
    expect(await names('--latest', '--limit', '0')).toEqual(['now']);
    const { stdout, stderr } = await desk.run(['list', '--limit', '3']);
    expect(stdout.match(/^\d{8}-/gm)).toHaveLength(3);
    expect(stderr).toContain('handover list --limit 0');
    const narrowed = await desk.run(['list', '--limit', '1', '--project', app, '--until', '2099-01-01', '--status']);
    expect(narrowed.stderr).toContain(`handover list --project ${app} --until 2099-01-01 --status --limit 0\n`);
  });

  it.each([
    ['--limit', '-1'],
    ['--limit', 'x'],
    ['--limit', '1.5'],
    ['--limit', ''],
    ['--latest', '--limit', '2'],
    ['--since', 'yesterday'],
    ['--since', '0h'],
    ['--since', '2026-13-01'],
    ['--since', '-2h'],
    ['--until', ''],
    ['--until', '2026-01-01T25:00'],
    ['--project', ' '],
    ['--id', 'latest'],
    ['--nonsense'],
    ['stray'],
  ])('refuses %s %s', async (...args) => {
    const result = await desk.run(['list', ...args.filter((word) => word !== undefined), '--json']);
    expect([result.status, errorCode(result), result.stdout]).toEqual([64, 'HANDOVER_USAGE', '']);
  });
});
