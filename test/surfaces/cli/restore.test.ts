import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeEnvelope, writeEnvelope } from '../../fixtures/v2-envelopes.ts';
import { errorCode, makeSandbox, type Sandbox } from '../../support/cli.ts';
import { readJournal } from '../../support/journal.ts';
import { writeText } from '../../support/transcripts.ts';

/** A handover of a session in a terminal, made so many minutes ago. */
async function lay(sandbox: Sandbox, terminal: string, minutesAgo = 0): Promise<string> {
  const format = (ms: number): string => new Date(ms).toISOString().replace('Z', '+00:00');
  const at = Date.now() - minutesAgo * 60_000;
  const snapshot = {
    terminal_id: `env_${terminal}`,
    snapshot_id: `${terminal}-${minutesAgo}`,
    goal: `Work of ${terminal}, ${minutesAgo} minutes ago`,
    created_at: format(at),
    expires_at: format(at + 20 * 60_000),
  };
  const path = join(sandbox.folder, `${terminal}-${minutesAgo}_handoff.json`);
  writeText(path, writeEnvelope(makeEnvelope({ snapshot })));
  const args = ['migrate', '--from', path, '--project', sandbox.project];
  const { records } = await sandbox.json<{ records: { id: string }[] }>(args);
  return records[0]?.id ?? '';
}

describe('handover restore', () => {
  it('consumes the latest handover of the worktree once, and refuses a second time', async () => {
    const sandbox = makeSandbox();
    const id = await sandbox.save('--summary', 'Half done', '--next', 'Write the test');
    expect(await sandbox.ok(['restore', '--target', 'codex'])).toContain('> Next, stated by hand: Write the test');
    expect(readJournal(sandbox.store).at(-1)).toMatchObject({ event: 'consumed', subject: id });
    const again = await sandbox.run(['restore', '--json']);
    expect([again.status, errorCode(again), again.stdout]).toEqual([77, 'HANDOVER_STATUS_FINAL', '']);
    expect(again.stderr).toContain('handover resume');
    expect(await sandbox.ok(['resume'])).toContain('> Next, stated by hand: Write the test');
  });

  it('restores only the handover of the given terminal', async () => {
    const sandbox = makeSandbox();
    await lay(sandbox, 'left', 2);
    await lay(sandbox, 'right', 1);
    const { text } = await sandbox.json<{ text: string }>(['restore', '--terminal', 'left']);
    expect(text).toContain('Work of left');
    expect(text).not.toContain('Work of right');
    expect((await sandbox.run(['restore', '--terminal', 'none'])).status).toBe(66);
    const rows = await sandbox.json<{ terminal: string; status: string }[]>(['list', '--terminal', 'right']);
    expect(rows).toMatchObject([{ terminal: 'env_right', status: 'pending' }]);
    expect(await sandbox.ok(['list', '--status'])).toContain('consumed, terminal env_left');
  });

  it('rejects an expired handover for good, but render still shows it', async () => {
    const sandbox = makeSandbox();
    const id = await lay(sandbox, 'left', 45);
    const first = await sandbox.run(['restore', '--json']);
    expect([first.status, errorCode(first)]).toEqual([77, 'HANDOVER_STALE']);
    expect(readJournal(sandbox.store).at(-1)).toMatchObject({ event: 'rejected_stale', subject: id });
    expect(errorCode(await sandbox.run(['restore', '--json']))).toBe('HANDOVER_STATUS_FINAL');
    expect(await sandbox.ok(['render', id])).toContain('Work of left, 45 minutes ago');
  });

  it('uses HANDOFF_FRESHNESS_MINUTES, and refuses an invalid value', async () => {
    const sandbox = makeSandbox();
    await sandbox.save('--summary', 'Half done');
    const env = { HANDOFF_FRESHNESS_MINUTES: 'soon' };
    const { status, stderr } = await sandbox.run(['restore'], { env });
    expect([status, stderr.includes('HANDOFF_FRESHNESS_MINUTES is not a whole number')]).toEqual([78, true]);
    expect(await sandbox.ok(['restore'], { env: { HANDOFF_FRESHNESS_MINUTES: '5' } })).toContain('Half done');
  });
});

describe('handover debug', () => {
  it('says what restore would do, and changes nothing', async () => {
    const sandbox = makeSandbox();
    expect(await sandbox.json(['debug'])).toMatchObject({
      newest: null,
      freshness_minutes: 20,
      retention_days: 90,
    });
    const id = await sandbox.save('--summary', 'Half done');
    for (const _ of [1, 2]) expect(await sandbox.ok(['debug'])).toContain('would restore it');
    await sandbox.ok(['restore']);
    expect(await sandbox.json(['debug'])).toMatchObject({
      newest: { id, status: 'consumed', restores: false, reason: 'it is consumed' },
    });
  });
});
