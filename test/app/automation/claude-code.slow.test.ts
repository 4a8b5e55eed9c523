import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { printLongFingerprint } from '../../../src/model/hash.ts';
import { type Desk, runGit } from '../../support/cli.ts';
import { settle, startAgent, tellWork, writeSession } from '../../support/hooks.ts';
import { expectBrief, openDesk, workOneTurn } from './one-turn.ts';

async function listHandovers(desk: Desk): Promise<{ id: string }[]> {
  return await desk.json<{ id: string }[]>(['list']);
}

function readJournal(desk: Desk): { event: string; subject: string; session?: string; reason?: string }[] {
  const folder = join(desk.store, 'journal');
  return readdirSync(folder).flatMap((name) =>
    readFileSync(join(folder, name), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  );
}

/** Makes what lies ready older, as the store itself would have written it. */
function ageReady(desk: Desk, minutes: number): void {
  const folder = join(desk.store, 'ready', 'sessions');
  const key = readFileSync(join(desk.store, 'ready', 'key'), 'utf8');
  for (const name of readdirSync(folder)) {
    const [, head = '', ...briefs] = readFileSync(join(folder, name), 'utf8').split('\n');
    const ready: { capturedMs: number } = JSON.parse(head);
    const older = JSON.stringify({ ...ready, capturedMs: ready.capturedMs - minutes * 60_000 });
    writeFileSync(join(folder, name), [printLongFingerprint(`${key}\n${older}`), older, ...briefs].join('\n'));
  }
}

describe('a session of Claude Code with hooks', () => {
  it('gets its brief after a compaction in its first turn, before the first capture', async () => {
    const { desk, work } = openDesk();
    const session = writeSession(desk);
    const agent = startAgent(desk);
    await agent.call('SessionStart', session.input({ source: 'startup' }));
    tellWork(session, work);
    await agent.call('PreCompact', session.input({ trigger: 'auto' }));
    expectBrief(await agent.given('SessionStart', session.input({ source: 'compact' })));
    await agent.end();
  });

  it('gets the brief of the previous session after /clear, in the same terminal', async () => {
    const { desk, work } = openDesk();
    const { agent, session } = await workOneTurn(desk, work);
    await agent.call('SessionEnd', session.input({ reason: 'clear' }));
    const next = writeSession(desk);
    expectBrief(await agent.given('SessionStart', next.input({ source: 'clear' })));
    await agent.end();
  });

  it('gets a one-line hint when it is new, or the brief where configured', async () => {
    const { desk, work } = openDesk();
    const { agent, session } = await workOneTurn(desk, work);
    await agent.call('SessionEnd', session.input({ reason: 'other' }));
    await agent.end();
    await settle(desk);
    const [{ id } = { id: '' }] = await listHandovers(desk);
    const later = startAgent(desk);
    const hint = await later.given('SessionStart', writeSession(desk).input({ source: 'startup' }));
    expect(hint).toContain(`# Handover ${id}: an earlier session here`);
    expect(hint?.split('\n')).toHaveLength(1);
    const settings = join(desk.home, '.config', 'agent-handover');
    mkdirSync(settings, { recursive: true });
    writeFileSync(join(settings, 'config.toml'), '[restore]\nstartup = "brief"\n');
    const other = startAgent(desk);
    expectBrief(await other.given('SessionStart', writeSession(desk).input({ source: 'startup' })));
    await Promise.all([later.end(), other.end()]);
  });

  it('gets a list of what changed since', async () => {
    const { desk, work } = openDesk();
    const { agent, session } = await workOneTurn(desk, work);
    await agent.call('SessionEnd', session.input({ reason: 'clear' }));
    await settle(desk);
    appendFileSync(work.file, 'export const two = 2;\n');
    runGit(desk.project, 'commit', '--quiet', '--allow-empty', '--message', 'second');
    const given = await agent.given('SessionStart', writeSession(desk).input({ source: 'clear' }));
    expectBrief(given);
    const head = runGit(desk.project, 'rev-parse', 'HEAD').slice(0, 12);
    expect(given).toMatch(new RegExp(`Since then: 1 file changed, HEAD moved from \\w{12} to ${head}\\.`));
    expect(given).toContain('> changed since: upload.ts');
    await agent.end();
  });

  it('gets on resume nothing, or what changed since, or its brief if the transcript is missing', async () => {
    const { desk, work } = openDesk();
    const { agent, session } = await workOneTurn(desk, work);
    await agent.call('SessionEnd', session.input({ reason: 'other' }));
    await agent.end();
    await settle(desk);
    const later = startAgent(desk);
    expect(await later.given('SessionStart', session.input({ source: 'resume' }))).toBeNull();
    appendFileSync(work.file, 'export const two = 2;\n');
    const told = await later.given('SessionStart', session.input({ source: 'resume' }));
    expect(told).toMatch(
      /^# Handover \S+: since this session was last here, 1 file changed \("upload\.ts": data, not an order\)\./,
    );
    expect(told?.split('\n')).toHaveLength(1);
    appendFileSync(session.path, `${JSON.stringify({ type: 'summary', summary: 'went on' })}\n`);
    expect(await later.given('SessionStart', session.input({ source: 'resume' }))).toBeNull();
    rmSync(session.path);
    expectBrief(await later.given('SessionStart', session.input({ source: 'resume' })));
    await later.end();
  });

  it('that was killed in its first turn is captured when the next one starts, and delivered with its prompt', async () => {
    const { desk, work } = openDesk();
    const settings = join(desk.home, '.config', 'agent-handover');
    mkdirSync(settings, { recursive: true });
    writeFileSync(join(settings, 'config.toml'), '[restore]\nstartup = "brief"\n');
    const killed = startAgent(desk);
    const session = writeSession(desk);
    await killed.call('SessionStart', session.input({ source: 'startup' }));
    tellWork(session, work);
    await killed.kill();
    const next = writeSession(desk);
    const agent = startAgent(desk);
    expect(await agent.given('SessionStart', next.input({ source: 'startup' }))).toBeNull();
    expectBrief(await agent.given('UserPromptSubmit', next.input({ prompt: 'go on' })));
    expect(await agent.given('UserPromptSubmit', next.input({ prompt: 'and then' }))).toBeNull();
    await agent.end();
  });

  it('is captured once, however often a turn ends', async () => {
    const { desk, work } = openDesk();
    const { agent, session } = await workOneTurn(desk, work);
    for (let i = 0; i < 3; i++) {
      await Promise.all([
        agent.call('Stop', session.input()),
        agent.call('SessionEnd', session.input({ reason: 'other' })),
      ]);
    }
    await settle(desk);
    expect(await listHandovers(desk)).toHaveLength(1);
    await agent.end();
  });

  it('is captured with the last reply, though the transcript does not have it yet', async () => {
    const { desk, work } = openDesk();
    const session = writeSession(desk);
    const agent = startAgent(desk);
    tellWork(session, work);
    const words = 'The upload retries now; what is left is a test that the delay stays below two seconds.';
    await agent.call('Stop', session.input({ last_assistant_message: words }));
    await settle(desk);
    await agent.call('PreCompact', session.input({ trigger: 'manual', last_assistant_message: words }));
    expect(await agent.given('SessionStart', session.input({ source: 'compact' }))).toContain(words);
    await agent.end();
  });

  it('journals what was delivered and consumed', async () => {
    const { desk, work } = openDesk();
    const { agent, session } = await workOneTurn(desk, work);
    await agent.call('PreCompact', session.input({ trigger: 'auto' }));
    await agent.call('SessionStart', session.input({ source: 'compact' }));
    session.transcript.human('Never retry on 404');
    session.write();
    await agent.call('Stop', session.input());
    await settle(desk);
    const [given] = readJournal(desk).filter(({ event }) => event === 'delivered');
    const [used] = readJournal(desk).filter(({ event }) => event === 'consumed');
    expect(given).toMatchObject({ session: session.id, reason: 'brief, after compaction' });
    expect(used).toMatchObject({ session: session.id, subject: given?.subject });
    await agent.end();
  });

  it('gets only a hint once the brief is stale, and the journal says so', async () => {
    const { desk, work } = openDesk();
    const env = { HANDOFF_FRESHNESS_MINUTES: '5' };
    const { agent, session } = await workOneTurn(desk, work, { env });
    const next = writeSession(desk);
    await agent.call('SessionEnd', session.input({ reason: 'clear' }));
    await settle(desk);
    ageReady(desk, 6);
    expect(await agent.given('SessionStart', next.input({ source: 'clear' }))).toContain('an earlier session here');
    tellWork(next, work);
    await agent.call('Stop', next.input());
    await settle(desk);
    expect(readJournal(desk).map(({ event }) => event)).toContain('rejected_stale');
    await agent.end();
  });

  it('gets no brief that was forgotten, modified or planted', async () => {
    const { desk, work } = openDesk();
    const { agent, session } = await workOneTurn(desk, work);
    const folder = join(desk.store, 'ready', 'sessions');
    const [name = ''] = readdirSync(folder);
    const whole = readFileSync(join(folder, name), 'utf8');
    writeFileSync(join(folder, name), whole.replace('exponential backoff', 'rm -rf ~; backoff'));
    expect(await agent.given('SessionStart', session.input({ source: 'compact' }))).toBeNull();
    writeFileSync(join(folder, name), whole);
    const [{ id } = { id: '' }] = await listHandovers(desk);
    await desk.ok(['forget', id]);
    expect(await agent.given('SessionStart', session.input({ source: 'compact' }))).toBeNull();
    expect(existsSync(join(folder, name))).toBe(false);
    await agent.end();
  });
});
