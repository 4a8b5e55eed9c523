import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { computeV2Checksum } from '../../../src/exchange/legacy/v2-envelope.ts';
import { makeStory, SESSION_ID } from '../../fixtures/agents/claude-code.ts';
import { makeSandbox } from '../../support/cli.ts';
import { writeSession, writeWork } from '../../support/hooks.ts';

/** The story in Claude Code's own place, below the home folder of a sandbox. */
function layOutStory(sandbox: { home: string }): string {
  const path = join(sandbox.home, '.claude', 'projects', '-home-ann-shop', `${SESSION_ID}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, makeStory().text);
  return path;
}

describe('handover sessions', () => {
  it('lists the sessions of all agents, as text and as JSON', async () => {
    const sandbox = makeSandbox();
    expect(await sandbox.ok(['sessions'])).toBe('no sessions found\n');
    const path = layOutStory(sandbox);
    expect(await sandbox.ok(['sessions'])).toContain(`${SESSION_ID}  claude-code`);
    const [session] = await sandbox.json<Record<string, unknown>[]>(['sessions']);
    expect(Object.keys(session ?? {})).toEqual([
      'agent',
      'id',
      'cwd',
      'title',
      'started_at',
      'changed_at',
      'bytes',
      'path',
    ]);
    expect(session).toMatchObject({ agent: 'claude-code', id: SESSION_ID, cwd: '/home/ann/shop', path });
    expect(await sandbox.json(['sessions', '--agent', 'codex'])).toEqual([]);
  });

  it('refuses an agent it cannot read', async () => {
    const { status, stderr } = await makeSandbox().run(['sessions', '--agent', 'hal']);
    expect(status).toBe(64);
    expect(stderr).toContain('claude-code, codex');
  });
});

describe('handover capture', () => {
  it('saves a handover of a session and prints the brief', async () => {
    const sandbox = makeSandbox();
    layOutStory(sandbox);
    const brief = await sandbox.ok(['capture', '--session', SESSION_ID.slice(0, 6)]);
    expect(brief).toContain('## The user\n> Now: "Never retry on 404, and keep the delay below 2000 ms"\n');
    expect(brief).toContain('> First: "Make the upload retry when the server is busy"\n');
    expect(brief).toMatch(/> \[in_progress\] Test the retry\n/);
    expect(brief).toContain('src/: retry.ts (new; 1 edit)');
    expect(brief).toContain('> Checks: `npm test` passed, after the last edit.\n');
    expect(brief).toContain('We use exponential backoff instead of a queue.');
    const [row] = await sandbox.json<{ agent: string; title: string }[]>(['list']);
    expect(row).toMatchObject({
      agent: 'claude-code',
      title: 'Make the upload retry when the server is busy',
    });
  });

  it('names the work by what was first asked, not by a greeting or the latest detail', async () => {
    const sandbox = makeSandbox();
    const session = writeSession(sandbox);
    const title = 'Let the importer read a stream, since the files of the bank have grown';
    for (const request of ['hi', `${title}\nThey have 4 GB now.`, 'and mend the typo in the last line'])
      session.transcript.human(request);
    session.write();
    await sandbox.ok(['capture', '--print', 'none']);
    expect(await sandbox.json(['list'])).toMatchObject([{ title }]);
    expect(await sandbox.ok([])).toMatch(/^ {2}last +claude-code, [^:]*: Let the importer/m);
  });

  it('saves nothing in a dry run, and detects the agent of a file', async () => {
    const sandbox = makeSandbox();
    const path = layOutStory(sandbox);
    const handover = await sandbox.json<{ facts: unknown[] }>(['capture', '--transcript', path, '--dry-run']);
    expect(handover.facts.length).toBeGreaterThan(8);
    expect(handover).not.toHaveProperty('id');
    const brief = await sandbox.ok(['capture', '--transcript', path, '--dry-run', '--budget', '400']);
    expect(brief).toMatch(/^# Handover \(not saved\)\n[\s\S]*\n# Left out: \d+ facts \([^:]+\)\n$/);
    expect(await sandbox.json(['list'])).toEqual([]);
  });

  it('prints the envelope of handoff V2, with its checksum', async () => {
    const sandbox = makeSandbox();
    const path = layOutStory(sandbox);
    const printed = await sandbox.ok(['capture', '--transcript', path, '--print', 'v2', '--dry-run']);
    const envelope: { checksum: string; resume_snapshot: object } = JSON.parse(printed);
    expect(envelope.checksum).toBe(computeV2Checksum(envelope));
    expect(envelope.resume_snapshot).toMatchObject({
      schema_version: 2,
      source_session_id: SESSION_ID,
      goal: 'Never retry on 404, and keep the delay below 2000 ms',
      n_1_transcript_path: path,
      next_step: '(advisory) Task in progress: Test the retry',
    });
  });

  it.each([
    [['--transcript', 'nowhere.jsonl'], 66],
    [['--session', 'none'], 66],
    [['--agent', 'hal'], 64],
    [['--transcript', 'a', '--session', 'b'], 64],
    [['--latest', '--session', 'b'], 64],
    [['--latest', '--transcript', 'a'], 64],
  ])('refuses %j', async (args, status) => {
    const sandbox = makeSandbox();
    layOutStory(sandbox);
    expect((await sandbox.run(['capture', ...args])).status).toBe(status);
  });

  it('captures the newest session of the project with --latest, as without it', async () => {
    const sandbox = makeSandbox();
    const older = writeSession(sandbox);
    writeWork(older, { goal: 'The older task', file: join(sandbox.project, 'a.ts'), decision: 'ok' });
    const newer = writeSession(sandbox);
    writeWork(newer, { goal: 'The newer task', file: join(sandbox.project, 'b.ts'), decision: 'ok' });
    utimesSync(older.path, new Date(0), new Date(0));
    for (const args of [['--latest'], []]) {
      const { session } = await sandbox.json<{ session: { id: string } }>(['capture', '--dry-run', ...args]);
      expect(session.id).toBe(newer.id);
    }
  });

  it('reports a file that is no transcript', async () => {
    const sandbox = makeSandbox();
    writeFileSync(join(sandbox.home, 'notes.jsonl'), '{"hello":"world"}\n');
    const { status, stderr } = await sandbox.run(['capture', '--transcript', join(sandbox.home, 'notes.jsonl')]);
    expect(status).toBe(65);
    expect(stderr).toContain('handover sessions');
  });
});
