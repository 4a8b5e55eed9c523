import { appendFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SESSION_ID, Transcript } from '../../fixtures/agents/claude-code.ts';
import { message, meta, THREAD } from '../../fixtures/agents/codex.ts';
import { said } from '../../fixtures/agents/codex-home.ts';
import { type Desk, errorCode, makeDesk, runGit } from '../../support/cli.ts';
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
  desk: Desk,
  cwd: string,
  { id = SESSION_ID, request = 'Write the parser', minutesAgo = 5 } = {},
): string {
  const t = new Transcript({ cwd, sessionId: id });
  t.human(request);
  t.call('a', 'Write', { file_path: join(cwd, 'src/parse.ts'), content: 'export {};\n' });
  t.result('a', 'ok');
  t.say('We decided to use recursive descent.');
  const path = join(desk.home, '.claude/projects/-p', `${id}.jsonl`);
  writeText(path, t.text);
  return date(path, minutesAgo);
}

function date(path: string, minutesAgo: number): string {
  const then = Date.now() / 1000 - 60 * minutesAgo;
  utimesSync(path, then, then);
  return path;
}

const resume = (desk: Desk, ...args: string[]): Promise<Resumed> => desk.json(['resume', ...args]);

describe('handover resume', () => {
  it('captures a session that no hook captured, and prints its brief', async () => {
    const desk = makeDesk();
    laySession(desk, desk.project);
    const { status, stdout, stderr } = await desk.run(['resume', '--target', 'claude-code']);
    expect(status).toBe(0);
    expect(stderr).toMatch(/^saved handover \S+ from a session of claude-code that had not been captured\n$/);
    expect(stdout).toContain('> Write the parser');
    expect(stdout).toContain('recursive descent');
    expect(await desk.json<unknown[]>(['list'])).toHaveLength(1);
    const again = await resume(desk);
    expect([again.caught_up, (await desk.json<unknown[]>(['list'])).length]).toEqual([[], 1]);
  });

  it('captures a session again when it went on, and new sessions of each agent, oldest first', async () => {
    const desk = makeDesk();
    const path = laySession(desk, desk.project);
    await resume(desk);
    const t = new Transcript({ cwd: desk.project });
    t.human('Now the lexer');
    appendFileSync(
      path,
      `${JSON.stringify({ ...t.rows[0], uuid: 'later', parentUuid: null, timestamp: '2026-01-31T10:00:00.000Z' })}\n`,
    );
    date(path, -1);
    const rollout = join(desk.home, '.codex/sessions/2026/01/31', `rollout-2026-01-31T12-00-00-${THREAD}.jsonl`);
    const rows = [meta({ cwd: desk.project }), said('Port it to Windows'), message('user', 'Port it to Windows')];
    date(writeText(rollout, toJsonLines(rows)), -2);
    const { caught_up, id } = await resume(desk);
    expect(caught_up.map(({ agent, outcome }) => `${agent} ${outcome}`)).toEqual(['claude-code kept', 'codex kept']);
    expect(id).toBe(caught_up[1]?.id);
    expect(await desk.ok(['show', caught_up[0]?.id ?? ''])).toContain('Now the lexer');
  });

  it('uses only the worktree that it is run in', async () => {
    const desk = makeDesk();
    runGit(desk.project, 'init', '-q');
    runGit(desk.project, 'commit', '-q', '--allow-empty', '-m', 'one');
    const other = join(desk.folder, 'other');
    runGit(desk.project, 'worktree', 'add', '-q', other);
    laySession(desk, desk.project, { request: 'Write the parser' });
    laySession(desk, other, { id: OTHER_ID, request: 'Write the printer', minutesAgo: 1 });
    const here = await resume(desk);
    const there = await resume(desk, other);
    expect([here.text, there.text].map((text) => /Write the (\w+)/.exec(text)?.[1])).toEqual(['parser', 'printer']);
    expect(here.caught_up.map(({ session }) => session)).toEqual([SESSION_ID]);
    const third = join(desk.folder, 'third');
    runGit(desk.project, 'worktree', 'add', '-q', third);
    const none = await desk.run(['resume', third, '--json']);
    expect([none.status, errorCode(none)]).toEqual([66, 'HANDOVER_NOT_FOUND']);
  });

  it('starts with what changed since: age, commits, files', async () => {
    const desk = makeDesk();
    runGit(desk.project, 'init', '-q');
    for (const name of ['same.ts', 'edited.ts', 'gone.ts']) writeFileSync(join(desk.project, name), 'one\n');
    runGit(desk.project, 'add', '.');
    runGit(desk.project, 'commit', '-q', '-m', 'one');
    await desk.save('--summary', 'Half done', '--file', 'same.ts', '--file', 'edited.ts', '--file', 'gone.ts');
    const unchanged = await resume(desk);
    expect(unchanged.changed).toMatchObject({ branch: null, head: null, files: [] });
    expect(unchanged.text).toContain('> just now; nothing that it tells of has changed\n');
    writeFileSync(join(desk.project, 'edited.ts'), 'two\n');
    rmSync(join(desk.project, 'gone.ts'));
    runGit(desk.project, 'checkout', '-q', '-b', 'feature');
    runGit(desk.project, 'commit', '-q', '-a', '-m', 'a second one');
    const { changed, text } = await resume(desk);
    expect(changed).toMatchObject({
      branch: { after: 'feature' },
      head: { commits: [{ subject: 'a second one' }] },
      files: [
        { path: 'edited.ts', change: 'changed' },
        { path: 'gone.ts', change: 'gone' },
      ],
    });
    expect(text.indexOf('## Changed since this handover')).toBeLessThan(text.indexOf('## Where things stand'));
    expect(text).toMatch(
      /> branch \S+ -> feature\n> head \w{12} -> \w{12}, 1 commit since\n> {3}\w{12} a second one\n> changed: edited.ts\n> gone: gone.ts\n/,
    );
  });

  it('notices a file that changed after the session, also when it captures only now', async () => {
    const desk = makeDesk();
    writeText(join(desk.project, 'src/parse.ts'), 'changed by hand\n');
    laySession(desk, desk.project);
    expect((await resume(desk)).changed.files).toEqual([{ path: 'src/parse.ts', change: 'changed' }]);
  });

  it('inside a session does not resume that session itself', async () => {
    const desk = makeDesk();
    laySession(desk, desk.project, { id: OTHER_ID, request: 'Write the printer', minutesAgo: 9 });
    laySession(desk, desk.project, { request: 'Resume, please', minutesAgo: 0 });
    const { stdout } = await desk.run(['resume'], { env: { CLAUDE_CODE_SESSION_ID: SESSION_ID } });
    expect(stdout).toContain('Write the printer');
    expect(stdout).not.toContain('Resume, please');
  });

  it('ignores old uncaptured sessions, except for the last one', async () => {
    const desk = makeDesk();
    const week = 8 * 24 * 60;
    laySession(desk, desk.project, { id: OTHER_ID, minutesAgo: week + 10 });
    laySession(desk, desk.project, { minutesAgo: week });
    expect((await resume(desk)).caught_up.map(({ session }) => session)).toEqual([SESSION_ID]);
  });

  it('respects the budget and a goal, and reports a transcript without events', async () => {
    const desk = makeDesk();
    laySession(desk, desk.project);
    const { tokens, text } = await resume(desk, '--budget', '300', '--goal', 'Finish the parser');
    expect(tokens).toBeLessThanOrEqual(300);
    expect(text).toContain('> Finish the parser');
    writeText(
      join(desk.home, '.claude/projects/-p', `${OTHER_ID}.jsonl`),
      `${JSON.stringify({ type: 'odd', cwd: desk.project, sessionId: OTHER_ID, uuid: 'x' })}\n`.repeat(40),
    );
    const { status, stdout } = await desk.run(['resume']);
    expect([status, stdout.includes('Write the parser')]).toEqual([0, true]);
  });
});
