import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeEnvelope, writeEnvelope } from '../../fixtures/v2-envelopes.ts';
import { type Desk, errorCode, makeDesk } from '../../support/cli.ts';
import { readJournal } from '../../support/journal.ts';
import { writeText } from '../../support/transcripts.ts';

/** A handover of a session in a terminal, made so many minutes ago. */
async function lay(desk: Desk, terminal: string, minutesAgo = 0): Promise<string> {
  const format = (ms: number): string => new Date(ms).toISOString().replace('Z', '+00:00');
  const at = Date.now() - minutesAgo * 60_000;
  const snapshot = {
    terminal_id: `env_${terminal}`,
    snapshot_id: `${terminal}-${minutesAgo}`,
    goal: `Work of ${terminal}, ${minutesAgo} minutes ago`,
    created_at: format(at),
    expires_at: format(at + 20 * 60_000),
  };
  const path = join(desk.folder, `${terminal}-${minutesAgo}_handoff.json`);
  writeText(path, writeEnvelope(makeEnvelope({ snapshot })));
  const args = ['migrate', '--from', path, '--project', desk.project];
  const { records } = await desk.json<{ records: { id: string }[] }>(args);
  return records[0]?.id ?? '';
}

describe('handover restore', () => {
  it('consumes the latest handover of the worktree once, and refuses a second time', async () => {
    const desk = makeDesk();
    const id = await desk.save('--summary', 'Half done', '--next', 'Write the test');
    expect(await desk.ok(['restore', '--target', 'codex'])).toContain('> - Write the test');
    expect(readJournal(desk.store).at(-1)).toMatchObject({ event: 'consumed', subject: id });
    const again = await desk.run(['restore', '--json']);
    expect([again.status, errorCode(again), again.stdout]).toEqual([77, 'HANDOVER_STATUS_FINAL', '']);
    expect(again.stderr).toContain('handover resume');
    expect(await desk.ok(['resume'])).toContain('> - Write the test');
  });

  it('restores only the handover of the given terminal', async () => {
    const desk = makeDesk();
    await lay(desk, 'left', 2);
    await lay(desk, 'right', 1);
    const { text } = await desk.json<{ text: string }>(['restore', '--terminal', 'left']);
    expect(text).toContain('Work of left');
    expect(text).not.toContain('Work of right');
    expect((await desk.run(['restore', '--terminal', 'none'])).status).toBe(66);
    const rows = await desk.json<{ terminal: string; status: string }[]>(['list', '--terminal', 'right']);
    expect(rows).toMatchObject([{ terminal: 'env_right', status: 'pending' }]);
    expect(await desk.ok(['list', '--status'])).toContain('consumed, terminal env_left');
  });

  it('rejects an expired handover for good, but render still shows it', async () => {
    const desk = makeDesk();
    const id = await lay(desk, 'left', 45);
    const first = await desk.run(['restore', '--json']);
    expect([first.status, errorCode(first)]).toEqual([77, 'HANDOVER_STALE']);
    expect(readJournal(desk.store).at(-1)).toMatchObject({ event: 'rejected_stale', subject: id });
    expect(errorCode(await desk.run(['restore', '--json']))).toBe('HANDOVER_STATUS_FINAL');
    expect(await desk.ok(['render', id])).toContain('Work of left, 45 minutes ago');
  });

  it('uses HANDOFF_FRESHNESS_MINUTES, and refuses an invalid value', async () => {
    const desk = makeDesk();
    await desk.save('--summary', 'Half done');
    const env = { HANDOFF_FRESHNESS_MINUTES: 'soon' };
    const { status, stderr } = await desk.run(['restore'], { env });
    expect([status, stderr.includes('HANDOFF_FRESHNESS_MINUTES is not a whole number')]).toEqual([78, true]);
    expect(await desk.ok(['restore'], { env: { HANDOFF_FRESHNESS_MINUTES: '5' } })).toContain('Half done');
  });
});

describe('handover debug', () => {
  it('says what restore would do, and changes nothing', async () => {
    const desk = makeDesk();
    expect(await desk.json(['debug'])).toMatchObject({
      newest: null,
      freshness_minutes: 20,
      retention_days: 90,
    });
    const id = await desk.save('--summary', 'Half done');
    for (const _ of [1, 2]) expect(await desk.ok(['debug'])).toContain('would restore it');
    await desk.ok(['restore']);
    expect(await desk.json(['debug'])).toMatchObject({
      newest: { id, status: 'consumed', restores: false, reason: 'it is consumed' },
    });
  });
});
