import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describePlace } from '../../../src/platform/project.ts';
import { errorCode } from '../../support/cli.ts';
import { HOUR, saveSamples } from './listed-handovers.ts';

const { sandbox, app, ids, names } = saveSamples();

const day = (hoursAgo: number): string => new Date(Date.now() - hoursAgo * HOUR).toISOString();

describe('handover list', () => {
  it('filters by project: folder, subfolder, name, id, and a deleted folder', async () => {
    for (const words of [app, join(app, 'sub'), 'app', '../App', describePlace(app, sandbox.machine).project.id]) {
      expect(await names('--project', words), words).toEqual(['now', 'week']);
    }
    expect(await names('--project', '.')).toEqual(['day', 'ancient']);
    for (const words of ['/gone/App', 'p-0000000000000000'])
      expect((await sandbox.run(['list', '--project', words])).status).toBe(66);
  });

  it('searches title, summary and facts, ignoring case and without wildcards', async () => {
    expect(await names('--query', 'parser')).toEqual(['week']);
    expect(await names('--query', 'WRITE tests')).toEqual(['now']);
    expect(await names('--query', '100% of _it_')).toEqual(['day']);
    expect(await names('--query', '%')).toEqual(['day']);
    expect(await names('--query', '*')).toEqual([]);
  });

  it('filters by time: a duration, a day, a time, both ends inclusive', async () => {
    expect(await names('--since', '2h')).toEqual(['now']);
    expect(await names('--since', '1d12h')).toEqual(['now', 'day']);
    expect(await names('--since', '2w', '--until', '1h')).toEqual(['day', 'week']);
    expect(await names('--until', '52w')).toEqual(['ancient']);
    // An id begins with the day of its handover.
    const dayOfDay = ids.day?.replace(/^(\d{4})(\d\d)(\d\d).*/, '$1-$2-$3') ?? '';
    expect(await names('--since', dayOfDay)).toEqual(['now', 'day']);
    expect(await names('--until', day(24 * 6).slice(0, 10))).toEqual(['week', 'ancient']);
    expect(await names('--since', day(31), '--until', day(1))).toEqual(['day']);
    expect(await names('--since', day(31).slice(0, 16).replace('T', ' '))).toEqual(['now', 'day']);
  });

  it.each([
    ['--limit', '-1'],
    ['--limit', 'x'],
    ['--limit', '1.5'],
    ['--limit', ''],
    ['--latest', '--limit', '2'],
    ['--since', 'someday'],
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
    const result = await sandbox.run(['list', ...args.filter((word) => word !== undefined), '--json']);
    expect([result.status, errorCode(result), result.stdout]).toEqual([64, 'HANDOVER_USAGE', '']);
  });
});
