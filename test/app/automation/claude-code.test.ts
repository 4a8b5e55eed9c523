import { describe, expect, it } from 'vitest';
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
});
