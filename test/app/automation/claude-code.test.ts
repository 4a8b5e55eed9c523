import { describe, expect, it } from 'vitest';
import { expectBrief, openDesk, workOneTurn } from './one-turn.ts';

describe('a session of Claude Code with hooks', () => {
  it('gets its own brief after compaction, once', async () => {
    const { desk, work } = openDesk();
    const { agent, session } = await workOneTurn(desk, work);
    expect((await agent.call('PreCompact', session.input({ trigger: 'auto' }))).stdout).toBe('');
    expectBrief(await agent.given('SessionStart', session.input({ source: 'compact' })));
    expect(await agent.given('UserPromptSubmit', session.input({ prompt: 'go on' }))).toBeNull();
    expect(await agent.given('SessionStart', session.input({ source: 'compact' }))).toBeNull();
    await agent.end();
  });
});
