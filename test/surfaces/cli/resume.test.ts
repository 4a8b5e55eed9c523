import { appendFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SESSION_ID, Transcript } from '../../fixtures/agents/claude-code.ts';
import { message, meta, THREAD } from '../../fixtures/agents/codex.ts';
import { said } from '../../fixtures/agents/codex-home.ts';
import { commitAt, errorCode, makeSandbox, runGit, type Sandbox } from '../../support/cli.ts';
import { toJsonLines, writeText } from '../../support/transcripts.ts';

const OTHER_ID = '7c1d8e1f-5c6f-4a1b-8e68-1d2a8d3baf22';

interface Resumed {
  id: string;
  text: string;
  tokens: number;
  changed: { age_seconds: number; branch: unknown; head: unknown; files: { path: string; change: string }[] };
  caught_up: { agent: string; session: string; outcome: string; id: string | null }[];
}

/** A session of Claude Code in a folder, that was changed last so many minutes ago. */
function laySession(
  sandbox: Sandbox,
  cwd: string,
  { id = SESSION_ID, request = 'Write the parser', minutesAgo = 5, timestamp = '2026-01-31T09:00:00.000Z' } = {},
): string {
  const t = new Transcript({ cwd, sessionId: id, timestamp });
  t.human(request);
  t.call('a', 'Write', { file_path: join(cwd, 'src/parse.ts'), content: 'export {};\n' });
  t.result('a', 'ok');
  t.say('We decided to use recursive descent.');
  const path = join(sandbox.home, '.claude/projects/-p', `${id}.jsonl`);
  writeText(path, t.text);
  return date(path, minutesAgo);
}

function date(path: string, minutesAgo: number): string {
  const then = Date.now() / 1000 - 60 * minutesAgo;
  utimesSync(path, then, then);
  return path;
}

const resume = (sandbox: Sandbox, ...args: string[]): Promise<Resumed> => sandbox.json(['resume', ...args]);

describe('handover resume', () => {
  it('captures a session that no hook captured, and prints its brief', async () => {
    const sandbox = makeSandbox();
    laySession(sandbox, sandbox.project);
    const { status, stdout, stderr } = await sandbox.run(['resume', '--target', 'claude-code']);
    expect(status).toBe(0);
    expect(stderr).toMatch(/^captured 1 session that no hook had saved: \S+ \(claude-code\)\n$/);
    expect(stdout).toContain('> Now: "Write the parser"');
    expect(stdout).toContain('recursive descent');
    expect(await sandbox.json<unknown[]>(['list'])).toHaveLength(1);
    const again = await resume(sandbox);
    expect([again.caught_up, (await sandbox.json<unknown[]>(['list'])).length]).toEqual([[], 1]);
  });

  it('captures a session again when it went on, and new sessions of each agent, oldest first', async () => {
    const sandbox = makeSandbox();
    const path = laySession(sandbox, sandbox.project);
    await resume(sandbox);
    const t = new Transcript({ cwd: sandbox.project });
    t.human('Now the lexer');
    appendFileSync(
      path,
      `${JSON.stringify({ ...t.rows[0], uuid: 'later', parentUuid: null, timestamp: '2026-01-31T10:00:00.000Z' })}\n`,
    );
    date(path, -1);
    const rollout = join(sandbox.home, '.codex/sessions/2026/01/31', `rollout-2026-01-31T12-00-00-${THREAD}.jsonl`);
    const rows = [meta({ cwd: sandbox.project }), said('Port it to Windows'), message('user', 'Port it to Windows')];
    date(writeText(rollout, toJsonLines(rows)), -2);
    const { caught_up, id } = await resume(sandbox);
    expect(caught_up.map(({ agent, outcome }) => `${agent} ${outcome}`)).toEqual(['claude-code kept', 'codex kept']);
    expect(id).toBe(caught_up[1]?.id);
    expect(await sandbox.ok(['show', caught_up[0]?.id ?? ''])).toContain('Now the lexer');
  });

  it('takes the session that was worked on last, whatever the dates of copied files are', async () => {
    const sandbox = makeSandbox();
    const last = { request: 'Write the printer', timestamp: '2026-01-31T11:00:00.000Z', minutesAgo: 9 };
    laySession(sandbox, sandbox.project, { ...last, id: OTHER_ID });
    laySession(sandbox, sandbox.project, { request: 'Write the parser', minutesAgo: 2 });
    const { stdout, stderr } = await sandbox.run(['resume']);
    expect(stdout).toContain('> Now: "Write the printer"');
    expect(stderr).toBe('captured 2 sessions that no hook had saved; list them: handover list\n');
    const captured = await sandbox.json<{ session: { id: string } }>(['capture', '--dry-run']);
    expect(captured.session.id).toBe(OTHER_ID);
  });

  it('uses only the worktree that it is run in', async () => {
    const sandbox = makeSandbox();
    runGit(sandbox.project, 'init', '-q');
    runGit(sandbox.project, 'commit', '-q', '--allow-empty', '-m', 'one');
    const other = join(sandbox.folder, 'other');
    runGit(sandbox.project, 'worktree', 'add', '-q', other);
    laySession(sandbox, sandbox.project, { request: 'Write the parser' });
    laySession(sandbox, other, { id: OTHER_ID, request: 'Write the printer', minutesAgo: 1 });
    const here = await resume(sandbox);
    const there = await resume(sandbox, other);
    expect([here.text, there.text].map((text) => /Write the (\w+)/.exec(text)?.[1])).toEqual(['parser', 'printer']);
    expect(here.caught_up.map(({ session }) => session)).toEqual([SESSION_ID]);
    const third = join(sandbox.folder, 'third');
    runGit(sandbox.project, 'worktree', 'add', '-q', third);
    const none = await sandbox.run(['resume', third, '--json']);
    expect([none.status, errorCode(none)]).toEqual([66, 'HANDOVER_NOT_FOUND']);
  });

  it('reads a handover by the end of its id, one of another project by its whole id only', async () => {
    const sandbox = makeSandbox();
    writeFileSync(join(sandbox.project, 'edited.ts'), 'one\n');
    const older = await sandbox.save('--title', 'Write the parser', '--file', 'edited.ts');
    await sandbox.save('--title', 'Write the printer');
    writeFileSync(join(sandbox.project, 'edited.ts'), 'two\n');
    const named = await resume(sandbox, older.slice(-4));
    expect([named.id, named.changed.files]).toMatchObject([older, [{ path: 'edited.ts', change: 'changed' }]]);
    const elsewhere = { cwd: sandbox.home };
    expect((await sandbox.run(['resume', older.slice(-4)], elsewhere)).status).toBe(66);
    expect((await sandbox.json<Resumed>(['resume', older], elsewhere)).changed.files).toHaveLength(1);
    const missing = await sandbox.run(['resume', 'nope']);
    expect([missing.status, missing.stderr]).toEqual([66, expect.stringContaining('no handover has the id "nope"')]);
    expect((await sandbox.run(['resume', './nope'])).stderr).toContain('does not exist');
  });

  it('starts with what changed since: age, commits, files', async () => {
    const sandbox = makeSandbox();
    runGit(sandbox.project, 'init', '-q');
    for (const name of ['same.ts', 'edited.ts', 'gone.ts']) writeFileSync(join(sandbox.project, name), 'one\n');
    runGit(sandbox.project, 'add', '.');
    runGit(sandbox.project, 'commit', '-q', '-m', 'one');
    await sandbox.save('--summary', 'Half done', '--file', 'same.ts', '--file', 'edited.ts', '--file', 'gone.ts');
    const unchanged = await resume(sandbox);
    expect(unchanged.changed).toMatchObject({ branch: null, head: null, files: [] });
    expect(unchanged.text).toContain('> just now; nothing in it has changed since\n');
    writeFileSync(join(sandbox.project, 'edited.ts'), 'two\n');
    rmSync(join(sandbox.project, 'gone.ts'));
    runGit(sandbox.project, 'checkout', '-q', '-b', 'feature');
    runGit(sandbox.project, 'commit', '-q', '-a', '-m', 'a second one');
    const { changed, text } = await resume(sandbox);
    expect(changed).toMatchObject({
      branch: { after: 'feature' },
      head: { commits: [{ subject: 'a second one' }] },
      files: [
        { path: 'edited.ts', change: 'changed' },
        { path: 'gone.ts', change: 'gone' },
      ],
    });
    expect(text.indexOf('## Changed since this handover')).toBeLessThan(text.indexOf('## Where it stands'));
    expect(text).toMatch(
      /> branch \S+ -> feature\n> head \w{12} -> \w{12}, 1 commit since\n> {3}\w{12} a second one\n> changed: edited.ts\n> gone: gone.ts\n/,
    );
  });

  it('tells commits between the end of a session and its capture as made since the session ended', async () => {
    const sandbox = makeSandbox();
    runGit(sandbox.project, 'init', '-q');
    const known = commitAt(sandbox.project, 'Known to the session', '2026-01-31T08:00:00Z');
    laySession(sandbox, sandbox.project);
    commitAt(sandbox.project, 'Made after the kill', '2026-02-01T09:00:00Z');
    const { changed, text, id } = await resume(sandbox);
    expect(changed.head).toMatchObject({ before: known, commits: [{ subject: 'Made after the kill' }] });
    expect(text).toMatch(
      /> head \w{12} -> \w{12}, 1 commit since the session ended\n> {3}\w{12} Made after the kill\n/,
    );
    expect(await sandbox.ok(['render', id])).toMatch(
      /> head \w{12} -> \w{12}, 1 commit since the session ended\n> {3}\w{12} Made after the kill\n/,
    );
    commitAt(sandbox.project, 'Made after the capture', '2026-02-02T09:00:00Z');
    expect((await resume(sandbox)).changed.head).toMatchObject({
      before: known,
      commits: [{ subject: 'Made after the capture' }, { subject: 'Made after the kill' }],
    });
  });

  it('notices a file that was written after the session, also when it captures only now', async () => {
    const sandbox = makeSandbox();
    writeText(join(sandbox.project, 'src/parse.ts'), 'changed by hand\n');
    laySession(sandbox, sandbox.project);
    expect((await resume(sandbox)).changed.files).toEqual([{ path: 'src/parse.ts', change: 'written' }]);
  });

  it('inside a session does not resume that session itself', async () => {
    const sandbox = makeSandbox();
    laySession(sandbox, sandbox.project, { id: OTHER_ID, request: 'Write the printer', minutesAgo: 9 });
    laySession(sandbox, sandbox.project, { request: 'Resume, please', minutesAgo: 0 });
    const { stdout } = await sandbox.run(['resume'], { env: { CLAUDE_CODE_SESSION_ID: SESSION_ID } });
    expect(stdout).toContain('Write the printer');
    expect(stdout).not.toContain('Resume, please');
  });

  it('ignores old uncaptured sessions, except for the last one', async () => {
    const sandbox = makeSandbox();
    const week = 8 * 24 * 60;
    laySession(sandbox, sandbox.project, { id: OTHER_ID, minutesAgo: week + 10 });
    laySession(sandbox, sandbox.project, { minutesAgo: week });
    expect((await resume(sandbox)).caught_up.map(({ session }) => session)).toEqual([SESSION_ID]);
  });

  it('respects the budget and a goal, and reports a transcript without events', async () => {
    const sandbox = makeSandbox();
    laySession(sandbox, sandbox.project);
    const { tokens, text } = await resume(sandbox, '--budget', '300', '--goal', 'Finish the parser');
    expect(tokens).toBeLessThanOrEqual(300);
    expect(text).toContain('> Finish the parser');
    writeText(
      join(sandbox.home, '.claude/projects/-p', `${OTHER_ID}.jsonl`),
      `${JSON.stringify({ type: 'odd', cwd: sandbox.project, sessionId: OTHER_ID, uuid: 'x' })}\n`.repeat(40),
    );
    const { status, stdout } = await sandbox.run(['resume']);
    expect([status, stdout.includes('Write the parser')]).toEqual([0, true]);
  });
});
