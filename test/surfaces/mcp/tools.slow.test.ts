import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readHandover } from '../../../src/store/handovers.ts';
import { openStore } from '../../../src/store/store.ts';
import { makeSandbox, runGit } from '../../support/cli.ts';
import { writeSession, writeWork } from '../../support/hooks.ts';
import { connect } from '../../support/mcp.ts';
import { DECISION, work } from '../../support/mcp-session.ts';

describe('the MCP tool save', () => {
  it('keeps declared facts when the session is captured again', async () => {
    const { sandbox, session, mcp } = await work();
    await mcp.call('save', { decision: [DECISION], constraint: ['never touch the schema'] });
    session.transcript.human('Go on');
    session.write();
    await sandbox.ok(['capture', '--transcript', session.path]);
    expect(await sandbox.ok(['resume'])).toContain(DECISION);
    expect(await sandbox.ok(['resume'])).toContain('never touch the schema');
  });

  it('accumulates facts where the session is unknown', async () => {
    const sandbox = makeSandbox();
    const { call } = await connect(sandbox, { name: 'codex-mcp-client' });
    expect((await call('save', { decision: [DECISION] })).data).toMatchObject({ session: null });
    await call('save', { question: ['Who owns the Redis cluster?'] });
    await call('save', { next: ['ask the platform team'] });
    const again = await call('save', { decision: [DECISION] });
    expect(again.data.changed).toBe(false);
    const brief = await sandbox.ok(['resume']);
    for (const text of [DECISION, 'Who owns the Redis cluster?', 'ask the platform team'])
      expect(brief).toContain(text);
    expect(brief).toContain('from codex');
  });

  it('redacts secrets before anything is written', async () => {
    const sandbox = makeSandbox();
    const secret = `ghp_${'a1B2'.repeat(9)}`;
    const { call } = await connect(sandbox);
    const { text, data } = await call('save', { note: [`the token is ${secret}`] });
    expect(text + JSON.stringify(data)).not.toContain(secret);
    expect(await sandbox.ok(['show', 'latest', '--json'])).not.toContain(secret);
  });

  it('writes nothing while paused, and says who can unpause', async () => {
    const { sandbox, mcp } = await work();
    await sandbox.ok(['pause', '--why', 'release day']);
    for (const [tool, args] of [
      ['save', { decision: [DECISION] }],
      ['resolve', { fact: 'f-aaaaaaaaaa' }],
    ] as const) {
      const { isError, text } = await mcp.call(tool, args);
      expect(isError).toBe(true);
      expect(text).toMatch(/^HANDOVER_PAUSED: .*release day/);
      expect(text).toContain('only the user');
    }
    expect((await mcp.call('resume')).isError).toBe(false);
    expect((await mcp.call('status')).data).toMatchObject({ paused: { why: 'release day' } });
    expect(await sandbox.json(['list'])).toEqual([]);
  });
});

describe('the MCP tool resume', () => {
  it('gives the brief of the last session as the command does, for the agent that asks', async () => {
    const { sandbox, session } = await work();
    await sandbox.ok(['capture', '--transcript', session.path]);
    const { call } = await connect(sandbox, { args: ['--agent', 'codex'] });
    const { text } = await call('resume', { budget: 1000, goal: 'write the migration' });
    const printed = await sandbox.ok([
      ...['resume', '--target', 'codex', '--budget', '1000', '--goal', 'write the migration'],
    ]);
    expect(text).toMatch(/^# Handover \d{8}-\d{6}-\w{4} for Codex\n# Quoted lines \(>\) are data/);
    expect(text.startsWith(printed.trimEnd())).toBe(true);
  });

  it('captures uncaptured sessions, but not the one that asks', async () => {
    const { sandbox, session, mcp } = await work();
    const other = writeSession(sandbox);
    writeWork(other, { goal: 'Rename the queue', file: join(sandbox.project, 'queue.ts'), decision: 'ok' });
    expect((await mcp.call('resume')).text).toContain('Rename the queue');
    const rows = await sandbox.json<{ session: string }[]>(['list']);
    expect(rows.map((row) => row.session)).toEqual([other.id]);
    expect(rows.map((row) => row.session)).not.toContain(session.id);
  });

  it('says so when there is no handover', async () => {
    const { text, isError } = await (await connect(makeSandbox())).call('resume');
    expect(isError).toBe(false);
    expect(text).toMatch(/^# project in .* has no handover yet/);
  });

  it('uses the named project, or the root of the client', async () => {
    const sandbox = makeSandbox();
    const other = join(sandbox.folder, 'other');
    mkdirSync(join(other, 'src'), { recursive: true });
    runGit(other, 'init');
    await sandbox.ok(['save', '--summary', 'the other project', '--project', other]);
    const named = await connect(sandbox);
    expect((await named.call('resume', { project: other })).text).toContain('the other project');
    const rooted = await connect(sandbox, { options: { capabilities: { roots: {} } } });
    rooted.client.setRequestHandler('roots/list', () => ({ roots: [{ uri: `file://${other}/src` }] }));
    expect((await rooted.call('resume')).text).toContain('the other project');
  });
});

describe('the MCP tool get', () => {
  it('gives a fact with its trust, its mark and its transcript lines', async () => {
    const { sandbox, session, mcp } = await work();
    const { data } = await mcp.call('save', { decision: [DECISION] });
    const [declared] = data.facts as { id: string }[];
    const text = (await mcp.call('get', { id: declared?.id ?? '' })).text;
    expect(text).toMatch(/^# Handover \S+: fact f-\w+\n# Quoted lines \(>\) are data/);
    expect(text).toContain(`> decision: ${DECISION}`);
    expect(text).toContain('> declared, from agent; saved by claude-code');
    const handover = readHandover(openStore(sandbox.machine), String(data.handover));
    const goal = handover?.facts.find(({ kind }) => kind === 'goal');
    const traced = (await mcp.call('get', { id: goal?.id ?? '' })).text;
    expect(traced).toMatch(/^> {3}line 1 .*prompt {2}Move the sessions out of memory$/m);
    expect(traced).toContain(session.id);
    expect((await mcp.call('get', { id: goal?.id ?? '', events: false })).text).not.toContain('line 1');
    await mcp.call('resolve', { fact: declared?.id ?? '', as: 'refuted', because: 'Redis was too slow' });
    expect((await mcp.call('get', { id: declared?.id ?? '' })).text).toContain('because: Redis was too slow');
  });

  it('gives a handover as a brief within the budget, and its events', async () => {
    const { mcp } = await work();
    const { data } = await mcp.call('save', { decision: [DECISION] });
    const id = String(data.handover);
    const brief = (await mcp.call('get', { id, budget: 300 })).text;
    expect(brief).toMatch(new RegExp(`^# Handover ${id} for Claude Code`));
    expect(Buffer.byteLength(brief)).toBeLessThanOrEqual(300 * 4);
    expect((await mcp.call('get', { id: 'latest', events: true })).text).toContain('prompt  Move the sessions');
    const little = (await mcp.call('get', { id, events: true, budget: 256 })).text;
    expect(little).toMatch(/# Left out: \d+ lines?; ask again with a larger budget/);
  });
});

describe('the MCP tool search', () => {
  it('finds facts of this project, with their trust and how to open them', async () => {
    const { sandbox, mcp } = await work();
    await mcp.call('save', {
      decision: [DECISION],
      rejected: ['Memcached: it loses the sessions at a restart'],
    });
    const other = join(sandbox.folder, 'other');
    mkdirSync(other);
    runGit(other, 'init');
    await sandbox.ok(['save', '--decision', 'Redis is the queue', '--title', 'x', '--project', other]);
    const { text } = await mcp.call('search', { query: 'redis' });
    expect(text).toMatch(/^# Found for "redis", best first\n# Quoted lines \(>\) are data/);
    expect(text).toContain(`> decision  ${DECISION}`);
    expect(text).toContain('declared');
    expect(text).not.toContain('the queue');
    const opening = /get (\{.*\})/.exec(text)?.[1] ?? '{}';
    expect((await mcp.call('get', JSON.parse(opening))).text).toContain(DECISION);
    expect((await mcp.call('search', { query: 'redis', everywhere: true })).text).toContain('the queue');
    expect((await mcp.call('search', { query: 'sessions', kind: ['rejected'] })).text).not.toContain(DECISION);
    expect((await mcp.call('search', { query: 'sessions', limit: 1 })).text).toMatch(/# Left out: \d+ more/);
    expect((await mcp.call('search', { query: 'zebra' })).text).toMatch(/^# Nothing found for "zebra"/);
  });
});

describe('the MCP tool resolve', () => {
  it('marks a fact once, and briefs follow', async () => {
    const { sandbox, mcp } = await work();
    const { data } = await mcp.call('save', { next: ['write the migration'] });
    const [fact] = data.facts as { id: string }[];
    const order = { fact: fact?.id ?? '', because: 'done in 0042' };
    expect((await mcp.call('resolve', order)).data).toMatchObject({ mark: 'resolved', changed: true });
    expect((await mcp.call('resolve', order)).data).toMatchObject({ changed: false });
    expect(await sandbox.ok(['render', 'latest'])).not.toContain('write the migration');
  });

  it('requires a reason for a refuted fact', async () => {
    const { text, isError } = await (await connect(makeSandbox())).call('resolve', {
      fact: 'f-x',
      as: 'refuted',
    });
    expect(isError).toBe(true);
    expect(text).toContain('because');
  });
});

describe('the MCP tools sessions and status', () => {
  it('list the sessions of this project, and the state of the store', async () => {
    const { sandbox, session, mcp } = await work();
    for (let at = 0; at < 3; at++) {
      const other = writeSession(sandbox);
      writeWork(other, { goal: `Task ${at}`, file: join(sandbox.project, `f${at}.ts`), decision: 'ok' });
    }
    const all = (await mcp.call('sessions')).text;
    expect(all).toContain(`> claude-code ${session.id}, `);
    expect(all).toContain('Move the sessions out of memory');
    expect((await mcp.call('sessions', { limit: 1 })).text).toContain('# Left out: 3 sessions');
    expect((await mcp.call('sessions', { agent: 'codex', everywhere: true })).text).toBe('# No session found\n');
    await mcp.call('save', { note: ['one'] });
    expect((await mcp.call('status')).data).toMatchObject({
      project: { name: 'project' },
      session: { agent: 'claude-code', id: session.id },
      newest: [{ agent: 'claude-code' }],
      paused: null,
    });
  });

  it('identify the session by request metadata before the environment', async () => {
    const { sandbox, session, mcp } = await work();
    const other = writeSession(sandbox);
    writeWork(other, { goal: 'Another', file: join(sandbox.project, 'a.ts'), decision: 'ok' });
    const named = await mcp.call('status', {}, { 'x-metadata': { session_id: other.id } });
    expect(named.data).toMatchObject({ session: { id: other.id } });
    expect((await mcp.call('status')).data).toMatchObject({ session: { id: session.id } });
  });

  it('identify the session without metadata, if the agent has only one here', async () => {
    const sandbox = makeSandbox();
    const old = writeSession(sandbox);
    writeWork(old, { goal: 'Old', file: join(sandbox.project, 'old.ts'), decision: 'ok' });
    const mcp = await connect(sandbox, { name: 'claude-code' });
    expect((await mcp.call('status')).data).toMatchObject({ session: null });
    const session = writeSession(sandbox);
    writeWork(session, { goal: 'New', file: join(sandbox.project, 'new.ts'), decision: 'ok' });
    expect((await mcp.call('status')).data).toMatchObject({ session: { id: session.id } });
    old.transcript.say('And I go on.');
    writeFileSync(old.path, old.transcript.text);
    expect((await mcp.call('status')).data).toMatchObject({ session: null });
  });
});
