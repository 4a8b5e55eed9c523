import { describe, expect, it } from 'vitest';
import { writeSession } from '../../support/hooks.ts';
import { expectBrief, openSandbox, workOneTurn } from './one-turn.ts';

describe('a session of Claude Code with hooks', () => {
  it('gets its own brief after compaction, once', async () => {
    const { sandbox, work } = openSandbox();
    const { agent, session } = await workOneTurn(sandbox, work);
    expect((await agent.call('PreCompact', session.input({ trigger: 'auto' }))).stdout).toBe('');
    expectBrief(await agent.receive('SessionStart', session.input({ source: 'compact' })));
    expect(await agent.receive('UserPromptSubmit', session.input({ prompt: 'go on' }))).toBeNull();
    expect(await agent.receive('SessionStart', session.input({ source: 'compact' }))).toBeNull();
    await agent.end();
  });

  it('is not taken for cleared when it starts up, though its process had another session before', async () => {
    const { sandbox, work } = openSandbox();
    const { agent, session } = await workOneTurn(sandbox, work);
    await agent.call('SessionEnd', session.input({ reason: 'other' }));
    const given = await agent.receive('SessionStart', writeSession(sandbox).input({ source: 'startup' }));
    expect(given).toContain('an earlier session here');
    expect(given).not.toContain('after /clear');
    await agent.end();
  });
});
