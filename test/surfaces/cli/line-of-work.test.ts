import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GOAL, openSandbox, workOneTurn } from '../../app/automation/one-turn.ts';
import { captureWork, type Step } from '../../support/captured-work.ts';
import { makeSandbox } from '../../support/cli.ts';
import { startAgent, waitForWorkers, writeSession, writeWork } from '../../support/hooks.ts';
import { writeText } from '../../support/transcripts.ts';

const SESSION: readonly Step[] = [
  { ask: 'Make the upload retry when the server is busy' },
  { edit: 'upload.ts' },
  { say: 'The upload retries now; the tests are still to be written.' },
];
const NOTE = ['--summary', 'Stopped before the tests', '--next', 'Write the tests of the upload'];

describe('what was said along a line of work', () => {
  const ASKED = 'Please migrate the code.\n- log no contents of rows\n- streams all the way\n- src/legacy stays';
  const middle: readonly Step[] = [{ ask: 'pnpm, please, and no npm.' }, { say: 'So be it.' }];

  it('is told in the brief of every later session, and where it ended by hand, with the reason', async () => {
    const sandbox = makeSandbox();
    await captureWork(sandbox, { day: 3, steps: [{ ask: ASKED }, { say: 'Part 1 is done.' }, ...middle] });
    await captureWork(sandbox, { day: 4, steps: [{ ask: 'Go on with part 2' }, { edit: 'b.ts' }] });
    await captureWork(sandbox, { day: 5, steps: [{ ask: 'Go on with part 3' }, { edit: 'c.ts' }] });
    const brief = await sandbox.ok(['resume']);
    for (const words of ['log no contents of rows', 'src/legacy stays', 'pnpm, please', 'Go on with part 2'])
      expect(brief).toContain(words);
    const { facts } = await sandbox.json<{ facts: { id: string; text: string }[] }>(['show', 'latest']);
    const asked = facts.find(({ text }) => text === ASKED)?.id ?? '';
    await sandbox.ok(['resolve', asked, '--because', 'migrated']);
    await captureWork(sandbox, { day: 6, steps: [{ ask: 'Go on with part 4' }, { edit: 'd.ts' }] });
    expect(await sandbox.ok(['diff', '--chain'])).toMatch(/resolved \(1\)\n.*Please migrate.*by hand: migrated/);
  });

  it('is followed across a handover that was forgotten, which is named', async () => {
    const sandbox = makeSandbox();
    const first = await captureWork(sandbox, { day: 3, steps: [{ ask: ASKED }, { plan: ['Sort it'] }] });
    const second = await captureWork(sandbox, { day: 4, steps: [{ ask: 'ok' }, { edit: 'b.ts' }] });
    await captureWork(sandbox, { day: 5, steps: [{ ask: 'Go on with part 3' }, { edit: 'c.ts' }] });
    await sandbox.ok(['forget', second.id, '--yes']);
    const printed = await sandbox.ok(['diff', '--chain']);
    expect(printed).toMatch(new RegExp(`${first.id}.*\\n${second.id}  forgotten`));
    expect(printed).toMatch(new RegExp(`Please migrate.*since ${first.id}`));
    expect(printed).toMatch(new RegExp(`Sort it.*since ${first.id}`));
  });
});

describe('a handover written by hand', () => {
  it('adds to the session that was captured before it', async () => {
    const sandbox = makeSandbox();
    await captureWork(sandbox, { day: 3, steps: SESSION });
    const id = await sandbox.save(...NOTE);
    const brief = await sandbox.json<{ id: string; text: string }>(['resume']);
    expect(brief.id).toBe(id);
    for (const words of ['retry when the server is busy', 'upload.ts', 'Stopped before', 'Write the tests'])
      expect(brief.text).toContain(words);
    const { prompt } = await sandbox.json<{ prompt: string }>(['to', 'codex']);
    for (const words of ['retry when the server is busy', 'upload.ts', 'Write the tests'])
      expect(prompt).toContain(words);
  });

  it('is part of a session that is captured after it, though its last event is older', async () => {
    const sandbox = makeSandbox();
    await sandbox.save(...NOTE);
    const captured = await captureWork(sandbox, { day: 3, steps: SESSION });
    const brief = await sandbox.json<{ id: string; text: string }>(['resume']);
    expect(brief.id).toBe(captured.id);
    for (const words of ['retry when the server is busy', 'upload.ts', 'Write the tests'])
      expect(brief.text).toContain(words);
  });

  it('adds to another note where there is no session: its next step is open until it is resolved', async () => {
    const sandbox = makeSandbox();
    await sandbox.save('First note', '--next', 'Do one', '--decision', 'Use tabs');
    await sandbox.save('Second note', '--next', 'Do two');
    const { text } = await sandbox.json<{ text: string }>(['resume']);
    for (const words of ['First note', 'Second note', 'Use tabs', 'Do two', 'Do one']) expect(text).toContain(words);
    await sandbox.ok(['resolve', 'Do one']);
    await sandbox.save('Third note');
    const later = await sandbox.ok(['render']);
    expect([later.includes('Do one'), later.includes('Do two')]).toEqual([false, true]);
  });

  it('by another agent does not make the request of an earlier day look new', async () => {
    const sandbox = makeSandbox();
    await captureWork(sandbox, { day: 3, steps: SESSION });
    await sandbox.ok(['save', '--agent', 'codex', 'A note of Codex', '--next', 'Write the tests']);
    const brief = await sandbox.ok(['resume']);
    expect(brief).toContain('- "Make the upload retry when the server is busy" (of an earlier session, 2026-02-03)');
  });

  it('adds to another one, and both are in the session that goes on', async () => {
    const sandbox = makeSandbox();
    await captureWork(sandbox, { day: 3, steps: SESSION });
    await sandbox.save(...NOTE);
    await sandbox.save('--title', 'One more', '--decision', 'Retries are at most five');
    const both = await sandbox.json<{ text: string }>(['resume']);
    for (const words of ['server is busy', 'Write the tests', 'at most five']) expect(both.text).toContain(words);
    await captureWork(sandbox, { day: 3, steps: [...SESSION, { edit: 'wait.ts' }, { say: 'The pause is done.' }] });
    const { facts } = await sandbox.json<{ facts: { kind: string; text: string }[] }>(['show', 'latest']);
    const texts = facts.map(({ text }) => text);
    for (const words of ['Write the tests of the upload', 'Retries are at most five', 'wait.ts'])
      expect(texts).toContain(words);
    expect(facts.filter(({ kind, text }) => kind === 'goal' && text.includes('server is busy'))).toHaveLength(1);
    expect(facts.filter(({ kind }) => kind === 'constraint')).toEqual([]);
  });

  it('is also in a session that ran side by side with the one it was added to', async () => {
    const sandbox = makeSandbox();
    const long: readonly Step[] = [{ ask: 'Sort the orders by day' }, { edit: 'orders.ts' }];
    await captureWork(sandbox, { day: 3, until: 9, steps: long });
    await captureWork(sandbox, { day: 4, until: 8, steps: SESSION });
    await sandbox.save(...NOTE);
    const { facts } = await captureWork(sandbox, { day: 3, until: 9, steps: [...long, { edit: 'days.ts' }] });
    const texts = facts.map(({ text }) => text);
    expect(texts).toContain('Write the tests of the upload');
    expect(texts).not.toContain('upload.ts');
  });

  it.each(['startup', 'clear'])('is given by the hook of the next session (%s)', async (source) => {
    const { sandbox, work } = openSandbox();
    writeText(join(sandbox.home, '.config/agent-handover/config.toml'), '[restore]\nstartup = "brief"\n');
    const terminal = { env: { TMUX_PANE: '%7', TERM_SESSION_ID: 'w0t0p0' } };
    const { agent } = await workOneTurn(sandbox, work, terminal);
    await sandbox.save(...NOTE);
    const id = await sandbox.save('--title', 'One more', '--decision', 'Retries are at most five');
    // After /clear in the same agent; else in another, while the first still runs.
    const reader = source === 'clear' ? agent : startAgent(sandbox);
    const given = await reader.receive('SessionStart', writeSession(sandbox).input({ source }));
    for (const words of [id, GOAL, 'upload.ts', 'Write the tests of the upload', 'at most five'])
      expect(given).toContain(words);
    await Promise.all([...new Set([agent, reader])].map((one) => one.end()));
  });

  it('is given by the hook where no session was captured before', async () => {
    const { sandbox } = openSandbox();
    const id = await sandbox.save(...NOTE);
    const agent = startAgent(sandbox);
    const given = await agent.receive('SessionStart', writeSession(sandbox).input({ source: 'startup' }));
    expect(given).toContain(`# Handover ${id}: a note was saved here, less than a minute ago: `);
    await agent.end();
  });
});

describe('a session that is captured by hand and by its hook', () => {
  it('is kept once', async () => {
    const { sandbox, work } = openSandbox();
    const session = writeSession(sandbox);
    writeWork(session, { ...work, file: join(sandbox.project, 'upload.ts') });
    await sandbox.ok(['capture']);
    const agent = startAgent(sandbox, { env: { TMUX_PANE: '%7', TERM_SESSION_ID: 'w0t0p0' } });
    await agent.call('Stop', session.input({ last_assistant_message: work.decision }));
    await waitForWorkers(sandbox);
    await agent.end();
    expect(await sandbox.json(['list'])).toHaveLength(1);
  });
});
