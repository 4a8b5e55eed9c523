import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Handover } from '../../../src/model/handover.ts';
import { makeStory, SESSION_ID, Transcript } from '../../fixtures/agents/claude-code.ts';
import { makeSandbox, type Sandbox } from '../../support/cli.ts';
import { listFiles, snapshotTree } from '../../support/tree.ts';

const OTHER_ID = '7c1d8e1f-5c6f-4a1b-8e68-1d2a8d3baf22';

/** A transcript in Claude Code's own place, of work in the sandbox's project. */
function lay(sandbox: Sandbox, transcript: Transcript, id: string): string {
  const path = join(sandbox.home, '.claude', 'projects', '-home-ann-shop', `${id}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, transcript.text.replaceAll('/home/ann/shop', sandbox.project));
  return path;
}

/** A later session of the same work. */
function writeMore(): Transcript {
  const t = new Transcript({ sessionId: OTHER_ID, timestamp: '2026-02-01T09:00:00.000Z' });
  t.human('Now document the retry in the README, please');
  t.say('I write the section about the retry.');
  return t;
}

async function capture(sandbox: Sandbox, id: string, ...args: string[]): Promise<Handover> {
  return await sandbox.json<Handover>(['capture', '--session', id, ...args]);
}

describe('a session that is captured again', () => {
  it('gives no second handover when nothing changed, and says so', async () => {
    const sandbox = makeSandbox();
    lay(sandbox, makeStory(), SESSION_ID);
    const first = await capture(sandbox, SESSION_ID);
    const before = snapshotTree(join(sandbox.store, 'handovers'));
    const { status, stdout, stderr } = await sandbox.run(['capture', '--session', SESSION_ID, '--print', 'json']);
    expect([status, JSON.parse(stdout)]).toEqual([0, first]);
    expect(stderr).toBe(`nothing new since handover ${first.id}: nothing was saved\n`);
    expect(snapshotTree(join(sandbox.store, 'handovers'))).toEqual(before);
    expect(await sandbox.json<unknown[]>(['list'])).toHaveLength(1);
  });

  it('keeps the goal of --goal until another one is set', async () => {
    const sandbox = makeSandbox();
    lay(sandbox, makeStory(), SESSION_ID);
    const given = async (...args: string[]): Promise<[string, string[]]> => {
      const { id, facts } = await capture(sandbox, SESSION_ID, ...args);
      return [id, facts.filter((fact) => fact.trust === 'declared').map((fact) => fact.text)];
    };
    const [first, goals] = await given('--goal', 'Release it this week');
    expect(goals).toEqual(['Release it this week']);
    expect(await given('--goal', 'Release it this week')).toEqual([first, goals]);
    const [second, kept] = await given();
    expect(kept).toEqual(goals);
    expect(await given()).toEqual([second, goals]);
    expect((await given('--goal', 'Write the documentation'))[1]).toEqual(['Write the documentation']);
  });

  it('follows the first handover when it went on, with an outcome for every fact', async () => {
    const sandbox = makeSandbox();
    const story = makeStory();
    lay(sandbox, story, SESSION_ID);
    const first = await capture(sandbox, SESSION_ID);
    story.call('toolu_9', 'TodoWrite', {
      todos: [{ content: 'Test the retry', status: 'completed', activeForm: 'Testing' }],
    });
    story.result('toolu_9', 'Todos have been modified successfully.');
    story.human('Now raise the number of tries to seven, everywhere');
    lay(sandbox, story, SESSION_ID);
    const second = await capture(sandbox, SESSION_ID);
    expect(second.previous).toBe(first.id);
    const { resolved = [], superseded = [], dropped = [], carried = 0 } = second.chain ?? {};
    const parted = [...resolved, ...dropped].flatMap(({ ids }) => ids).length + superseded.length;
    expect(carried + parted).toBe(first.facts.length);
    expect(resolved).toContainEqual({
      reason: 'completed',
      ids: [first.facts.find((fact) => fact.text === 'Test the retry')?.id],
    });
    expect(superseded.map(({ reason }) => reason)).toContain('now told as a note');
    expect(second.facts).toContainEqual(
      expect.objectContaining({ kind: 'note', text: expect.stringMatching(/^Never retry on 404/) }),
    );
    const states = (of: Handover): number => of.facts.filter(({ detail }) => detail?.role === 'state').length;
    expect([states(first), states(second)]).toEqual([1, 1]);
    expect(superseded.map(({ reason }) => reason)).toEqual(expect.arrayContaining(['a later state', 'later steps']));
  });

  it('is linked in a dry run too, but nothing is saved', async () => {
    const sandbox = makeSandbox();
    lay(sandbox, makeStory(), SESSION_ID);
    const first = await capture(sandbox, SESSION_ID);
    lay(sandbox, writeMore(), OTHER_ID);
    const before = listFiles(join(sandbox.store, 'handovers'));
    expect(await capture(sandbox, OTHER_ID, '--dry-run')).toMatchObject({ previous: first.id });
    expect(listFiles(join(sandbox.store, 'handovers'))).toEqual(before);
  });

  it('needs no store in a dry run', async () => {
    const sandbox = makeSandbox();
    const path = lay(sandbox, makeStory(), SESSION_ID);
    const args = ['capture', '--transcript', path, '--dry-run', '--json'];
    const env = { HOME: undefined, HANDOVER_HOME: undefined };
    const { status, stdout } = await sandbox.run(args, { env });
    expect([status, JSON.parse(stdout).previous]).toEqual([0, null]);
    expect(listFiles(sandbox.folder)).toEqual([path]);
  });
});

describe('a handover of the next session', () => {
  it('follows the one before, and carries what the user said and open tasks with their session, but not what the agent said', async () => {
    const sandbox = makeSandbox();
    lay(sandbox, makeStory(), SESSION_ID);
    const first = await capture(sandbox, SESSION_ID);
    lay(sandbox, writeMore(), OTHER_ID);
    const second = await capture(sandbox, OTHER_ID);
    expect(second.previous).toBe(first.id);
    const carried = second.facts.filter(({ sources: [source] }) => source?.session !== undefined);
    expect(carried).toMatchObject([
      {
        kind: 'constraint',
        text: expect.stringMatching(/^Never retry on 404/),
        sources: [{ session: SESSION_ID, line: expect.any(Number) }],
      },
      { kind: 'goal', text: 'Make the upload retry when the server is busy', sources: [{ session: SESSION_ID }] },
      { kind: 'task', text: 'Test the retry', status: 'in_progress', sources: [{ session: SESSION_ID }] },
    ]);
    expect(second.facts.filter((fact) => fact.detail?.role === 'current')).toMatchObject([
      { text: 'Now document the retry in the README, please' },
    ]);
  });

  it('carries facts saved by hand in between', async () => {
    const sandbox = makeSandbox();
    lay(sandbox, makeStory(), SESSION_ID);
    await capture(sandbox, SESSION_ID);
    const byHand = await sandbox.save('--title', 'Rules', '--constraint', 'Ask Ann before a release');
    lay(sandbox, writeMore(), OTHER_ID);
    const second = await capture(sandbox, OTHER_ID);
    expect(second.previous).toBe(byHand);
    expect(second.facts).toContainEqual(
      expect.objectContaining({ text: 'Ask Ann before a release', sources: [{ ref: byHand }] }),
    );
    expect(await sandbox.ok(['render', second.id])).toContain(
      '## Stated on purpose\n> - constraint: Ask Ann before a release\n',
    );
  });

  it('is shown with the stored quality', async () => {
    const sandbox = makeSandbox();
    lay(sandbox, makeStory(), SESSION_ID);
    const first = await capture(sandbox, SESSION_ID);
    lay(sandbox, writeMore(), OTHER_ID);
    const { id, quality } = await capture(sandbox, OTHER_ID);
    const text = await sandbox.ok(['show', id]);
    expect(text).toMatch(
      new RegExp(
        `\\nfollows  ${first.id}, of its facts \\d+ carried, \\d+ changed, \\d+ resolved, \\d+ superseded, \\d+ dropped\\n`,
      ),
    );
    expect(text).toContain(`\nquality  ${quality?.score.toFixed(2)}, ${quality?.rating}\n         goal 1.00, `);
    const [row] = await sandbox.json<{ id: string; session: string; score: number }[]>(['list']);
    expect(row).toMatchObject({ id, session: OTHER_ID, score: quality?.score });
  });
});

describe('a handover written by hand', () => {
  it('has a quality, and follows no other', async () => {
    const sandbox = makeSandbox();
    const { id, path } = await sandbox.json<{ id: string; path: string }>([
      ...['save', '--title', 'T', '--goal', 'Ship the next version', '--decision', 'Use port 8080'],
    ]);
    expect(await sandbox.json<Handover>(['show', id])).toMatchObject({
      previous: null,
      quality: { score: 1, rating: 'Excellent', axes: { goal: 1, decisions: 1, blockers: 1, verified: 1 } },
    });
    expect(readFileSync(path, 'utf8')).not.toContain('"chain"');
  });
});

describe('a value that is recognised as a secret later', () => {
  it('is in nothing that earlier captures of the session stored', async () => {
    const sandbox = makeSandbox();
    const secret = 'q7ZxW3mK9tRb5LpY2nVd';
    const asked = new Transcript({ sessionId: OTHER_ID, timestamp: '2026-02-01T09:00:00.000Z' });
    asked.human(`Connect the shop, the thing is ${secret}, and tell me`);
    asked.say('I connect it.');
    lay(sandbox, makeStory(), SESSION_ID);
    const { id: other } = await capture(sandbox, SESSION_ID);
    lay(sandbox, asked, OTHER_ID);
    const first = await capture(sandbox, OTHER_ID);
    expect(JSON.stringify(first)).toContain(secret);
    expect(await sandbox.ok(['search', secret])).toContain(secret);
    asked.call('toolu_90', 'Bash', { command: 'cat .env' });
    asked.result('toolu_90', `DB_PASSWORD=${secret}`);
    asked.say('It is connected.');
    lay(sandbox, asked, OTHER_ID);
    const { stdout, stderr } = await sandbox.run(['capture', '--session', OTHER_ID, '--print', 'json']);
    expect(stderr).toContain(`forgot ${first.id}`);
    const newest: Handover = JSON.parse(stdout);
    expect(newest.previous).toBe(other);
    for (const file of listFiles(sandbox.store)) expect(readFileSync(file).includes(secret), file).toBe(false);
    const rows = await sandbox.json<{ id: string }[]>(['list']);
    expect(rows.map(({ id }) => id)).toEqual([newest.id, other]);
  });
});
