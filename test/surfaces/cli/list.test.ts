import { describe, expect, it } from 'vitest';
import { makeSandbox } from '../../support/cli.ts';
import { saveSamples } from './listed-handovers.ts';

const { sandbox, app, ids, names } = saveSamples();

describe('handover list', () => {
  it('shows the newest first, as text and as JSON', async () => {
    expect(await names()).toEqual(['now', 'day', 'week', 'ancient']);
    const text = await sandbox.ok(['list']);
    expect(text.split('\n').slice(0, 3)).toEqual([
      `${ids.now}  manual        Just now`,
      '  App, 30m ago',
      '  next: Write tests',
    ]);
    const [row = {}] = await sandbox.json<Record<string, unknown>[]>(['list']);
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
      'noted_at',
      'score',
    ]);
    expect(Object.keys(row.project ?? {})).toEqual(['id', 'name']);
    expect(row).toMatchObject({ id: ids.now, agent: 'manual', title: 'Just now', root: app });
  });

  it('says so when the store is empty, or nothing matches', async () => {
    const empty = makeSandbox();
    expect(await empty.ok(['list'])).toBe('no handovers found\n');
    expect(await empty.ok(['list', '--json'])).toBe('[]\n');
    expect(await sandbox.ok(['list', '--query', 'nowhere'])).toBe('no handovers found\n');
    expect(await sandbox.ok(['list', '--query', 'nowhere', '--json'])).toBe('[]\n');
  });

  it('filters by agent, without regard to case, also as --tool', async () => {
    expect(await names('--agent', 'codex')).toEqual(['week']);
    expect(await names('--tool', 'AIDER')).toEqual(['ancient']);
    expect(await names('--agent', 'code')).toEqual([]);
  });

  it('filters by id prefix, and by several filters at once', async () => {
    expect(await names('--id', ids.week ?? '')).toEqual(['week']);
    expect(await names('--id', (ids.week ?? '').slice(0, 17).toUpperCase())).toEqual(['week']);
    expect(await names('--id', '1999')).toEqual([]);
    expect(await names('--agent', 'codex', '--query', 'parser', '--project', app, '--since', '1w')).toEqual(['week']);
  });

  it('shows only the newest with --latest, and at most --limit', async () => {
    expect(await names('--latest')).toEqual(['now']);
    expect(await names('--latest', '--agent', 'codex')).toEqual(['week']);
    expect(await names('--limit', '2')).toEqual(['now', 'day']);
    expect(await names('--limit', '0')).toHaveLength(4);
    expect(await names('--latest', '--limit', '0')).toEqual(['now']);
    const { stdout, stderr } = await sandbox.run(['list', '--limit', '3']);
    expect(stdout.match(/^\d{8}-/gm)).toHaveLength(3);
    expect(stderr).toContain('handover list --limit 0');
    const narrowed = await sandbox.run(['list', '--limit', '1', '--project', app, '--until', '2099-01-01', '--status']);
    expect(narrowed.stderr).toContain(`handover list --project ${app} --until 2099-01-01 --status --limit 0\n`);
  });
});
