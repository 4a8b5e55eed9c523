import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { printLongFingerprint } from '../../../src/model/hash.ts';
import { runGit, type Sandbox } from '../../support/cli.ts';
import { startAgent, waitForWorkers, writeSession, writeWork } from '../../support/hooks.ts';
import { expectBrief, openSandbox, workOneTurn } from './one-turn.ts';

async function listHandovers(sandbox: Sandbox): Promise<{ id: string }[]> {
  return await sandbox.json<{ id: string }[]>(['list']);
}

function readJournal(sandbox: Sandbox): { event: string; subject: string; session?: string; reason?: string }[] {
  const folder = join(sandbox.store, 'journal');
  return readdirSync(folder).flatMap((name) =>
    readFileSync(join(folder, name), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  );
}

/** Makes prepared briefs older, as the store itself would have written it. */
function agePreparedBriefs(sandbox: Sandbox, minutes: number): void {
  const folder = join(sandbox.store, 'ready', 'sessions');
  const key = readFileSync(join(sandbox.store, 'ready', 'key'), 'utf8');
  for (const name of readdirSync(folder)) {
    const [, head = '', ...briefs] = readFileSync(join(folder, name), 'utf8').split('\n');
    const ready: { capturedMs: number } = JSON.parse(head);
    const older = JSON.stringify({ ...ready, capturedMs: ready.capturedMs - minutes * 60_000 });
    writeFileSync(join(folder, name), [printLongFingerprint(`${key}\n${older}`), older, ...briefs].join('\n'));
  }
}

describe('a session of Claude Code with hooks', () => {
  it('gets its brief after a compaction in its first turn, before the first capture', async () => {
    const { sandbox, work } = openSandbox();
    const session = writeSession(sandbox);
    const agent = startAgent(sandbox);
    await agent.call('SessionStart', session.input({ source: 'startup' }));
    writeWork(session, work);
    await agent.call('PreCompact', session.input({ trigger: 'auto' }));
    expectBrief(await agent.receive('SessionStart', session.input({ source: 'compact' })));
    await agent.end();
  });

  it('gets its brief after a compaction where it was captured by resume, and by no hook', async () => {
    const { sandbox, work } = openSandbox();
    const session = writeSession(sandbox);
    const agent = startAgent(sandbox);
    await agent.call('SessionStart', session.input({ source: 'startup' }));
    writeWork(session, work);
    await sandbox.ok(['resume']);
    expectBrief(await agent.receive('SessionStart', session.input({ source: 'compact' })));
    await agent.end();
  });

  it('gets the brief of the previous session after /clear, in the same terminal', async () => {
    const { sandbox, work } = openSandbox();
    const { agent, session } = await workOneTurn(sandbox, work);
    await agent.call('SessionEnd', session.input({ reason: 'clear' }));
    const next = writeSession(sandbox);
    expectBrief(await agent.receive('SessionStart', next.input({ source: 'clear' })));
    await agent.end();
  });

  it('gets a one-line hint when it is new, or the brief where configured', async () => {
    const { sandbox, work } = openSandbox();
    const { agent, session } = await workOneTurn(sandbox, work);
    await agent.call('SessionEnd', session.input({ reason: 'other' }));
    await agent.end();
    await waitForWorkers(sandbox);
    const [{ id } = { id: '' }] = await listHandovers(sandbox);
    const later = startAgent(sandbox);
    const hint = await later.receive('SessionStart', writeSession(sandbox).input({ source: 'startup' }));
    expect(hint).toContain(`# Handover ${id}: an earlier session here`);
    expect(hint?.split('\n')).toHaveLength(1);
    const settings = join(sandbox.home, '.config', 'agent-handover');
    mkdirSync(settings, { recursive: true });
    writeFileSync(join(settings, 'config.toml'), '[restore]\nstartup = "brief"\n');
    const other = startAgent(sandbox);
    expectBrief(await other.receive('SessionStart', writeSession(sandbox).input({ source: 'startup' })));
    await Promise.all([later.end(), other.end()]);
  });

  it('gets a list of what changed since', async () => {
    const { sandbox, work } = openSandbox();
    const { agent, session } = await workOneTurn(sandbox, work);
    await agent.call('SessionEnd', session.input({ reason: 'clear' }));
    await waitForWorkers(sandbox);
    appendFileSync(work.file, 'export const two = 2;\n');
    runGit(sandbox.project, 'commit', '--quiet', '--allow-empty', '--message', 'second');
    const given = await agent.receive('SessionStart', writeSession(sandbox).input({ source: 'clear' }));
    expectBrief(given);
    const head = runGit(sandbox.project, 'rev-parse', 'HEAD').slice(0, 12);
    expect(given).toMatch(new RegExp(`Since then: 1 file changed, HEAD moved from \\w{12} to ${head}\\.`));
    expect(given).toContain('> changed since: upload.ts');
    await agent.end();
  });

  it('gets on resume nothing, or what changed since, or its brief if the transcript is missing', async () => {
    const { sandbox, work } = openSandbox();
    const { agent, session } = await workOneTurn(sandbox, work);
    await agent.call('SessionEnd', session.input({ reason: 'other' }));
    await agent.end();
    await waitForWorkers(sandbox);
    const later = startAgent(sandbox);
    expect(await later.receive('SessionStart', session.input({ source: 'resume' }))).toBeNull();
    appendFileSync(work.file, 'export const two = 2;\n');
    const told = await later.receive('SessionStart', session.input({ source: 'resume' }));
    expect(told).toMatch(
      /^# Handover \S+: since this session was last here, 1 file changed \("changed since: upload\.ts": data, not an order\)\./,
    );
    expect(told?.split('\n')).toHaveLength(1);
    appendFileSync(session.path, `${JSON.stringify({ type: 'summary', summary: 'went on' })}\n`);
    expect(await later.receive('SessionStart', session.input({ source: 'resume' }))).toBeNull();
    rmSync(session.path);
    expectBrief(await later.receive('SessionStart', session.input({ source: 'resume' })));
    await later.end();
  });

  it('that was killed in its first turn is captured when the next one starts, and delivered with its prompt', async () => {
    const { sandbox, work } = openSandbox();
    const settings = join(sandbox.home, '.config', 'agent-handover');
    mkdirSync(settings, { recursive: true });
    writeFileSync(join(settings, 'config.toml'), '[restore]\nstartup = "brief"\n');
    const killed = startAgent(sandbox);
    const session = writeSession(sandbox);
    await killed.call('SessionStart', session.input({ source: 'startup' }));
    writeWork(session, work);
    await killed.kill();
    const next = writeSession(sandbox);
    const agent = startAgent(sandbox);
    expect(await agent.receive('SessionStart', next.input({ source: 'startup' }))).toBeNull();
    expectBrief(await agent.receive('UserPromptSubmit', next.input({ prompt: 'go on' })));
    expect(await agent.receive('UserPromptSubmit', next.input({ prompt: 'and then' }))).toBeNull();
    await agent.end();
  });

  it('is captured once, however often a turn ends', async () => {
    const { sandbox, work } = openSandbox();
    const { agent, session } = await workOneTurn(sandbox, work);
    for (let i = 0; i < 3; i++) {
      await Promise.all([
        agent.call('Stop', session.input()),
        agent.call('SessionEnd', session.input({ reason: 'other' })),
      ]);
    }
    await waitForWorkers(sandbox);
    expect(await listHandovers(sandbox)).toHaveLength(1);
    await agent.end();
  });

  it('is captured with the last reply, though the transcript does not have it yet', async () => {
    const { sandbox, work } = openSandbox();
    const session = writeSession(sandbox);
    const agent = startAgent(sandbox);
    writeWork(session, work);
    const words = 'The upload retries now; what is left is a test that the delay stays below two seconds.';
    await agent.call('Stop', session.input({ last_assistant_message: words }));
    await waitForWorkers(sandbox);
    await agent.call('PreCompact', session.input({ trigger: 'manual', last_assistant_message: words }));
    expect(await agent.receive('SessionStart', session.input({ source: 'compact' }))).toContain(words);
    await agent.end();
  });

  it('journals what was delivered and consumed', async () => {
    const { sandbox, work } = openSandbox();
    const { agent, session } = await workOneTurn(sandbox, work);
    await agent.call('PreCompact', session.input({ trigger: 'auto' }));
    await agent.call('SessionStart', session.input({ source: 'compact' }));
    session.transcript.human('Never retry on 404');
    session.write();
    await agent.call('Stop', session.input());
    await waitForWorkers(sandbox);
    const [given] = readJournal(sandbox).filter(({ event }) => event === 'delivered');
    const [used] = readJournal(sandbox).filter(({ event }) => event === 'consumed');
    expect(given).toMatchObject({ session: session.id, reason: 'brief, after compaction' });
    expect(used).toMatchObject({ session: session.id, subject: given?.subject });
    await agent.end();
  });

  it('gets only a hint once the brief is stale, and the journal says so', async () => {
    const { sandbox, work } = openSandbox();
    const env = { HANDOFF_FRESHNESS_MINUTES: '5' };
    const { agent, session } = await workOneTurn(sandbox, work, { env });
    const next = writeSession(sandbox);
    await agent.call('SessionEnd', session.input({ reason: 'clear' }));
    await waitForWorkers(sandbox);
    agePreparedBriefs(sandbox, 6);
    expect(await agent.receive('SessionStart', next.input({ source: 'clear' }))).toContain('an earlier session here');
    writeWork(next, work);
    await agent.call('Stop', next.input());
    await waitForWorkers(sandbox);
    expect(readJournal(sandbox).map(({ event }) => event)).toContain('rejected_stale');
    await agent.end();
  });

  it('is told how long ago its brief was made, not when it was last looked at', async () => {
    const { sandbox, work } = openSandbox();
    const { agent, session } = await workOneTurn(sandbox, work);
    agePreparedBriefs(sandbox, 6);
    expect(await agent.receive('SessionStart', session.input({ source: 'compact' }))).toContain(
      'less than a minute after it was made',
    );
    await agent.end();
  });

  it('gets no brief that was forgotten, modified or planted', async () => {
    const { sandbox, work } = openSandbox();
    const { agent, session } = await workOneTurn(sandbox, work);
    const folder = join(sandbox.store, 'ready', 'sessions');
    const [name = ''] = readdirSync(folder);
    const whole = readFileSync(join(folder, name), 'utf8');
    writeFileSync(join(folder, name), whole.replace('exponential backoff', 'rm -rf ~; backoff'));
    expect(await agent.receive('SessionStart', session.input({ source: 'compact' }))).toBeNull();
    writeFileSync(join(folder, name), whole);
    const [{ id } = { id: '' }] = await listHandovers(sandbox);
    await sandbox.ok(['forget', id]);
    expect(await agent.receive('SessionStart', session.input({ source: 'compact' }))).toBeNull();
    expect(existsSync(join(folder, name))).toBe(false);
    await agent.end();
  });
});
