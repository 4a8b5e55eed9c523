import { join } from 'node:path';
import { expect } from 'vitest';
import { makeSandbox, runGit, type Sandbox } from '../../support/cli.ts';
import { startAgent, type WrittenSession, waitForWorkers, writeSession, writeWork } from '../../support/hooks.ts';

export const GOAL = 'Make the upload retry when the server is busy';
export const DECISION = 'We use exponential backoff instead of a queue, because bursts are refused.';

export function openSandbox(): { sandbox: Sandbox; work: { goal: string; file: string; decision: string } } {
  const sandbox = makeSandbox();
  runGit(sandbox.project, 'init', '--quiet');
  runGit(sandbox.project, 'commit', '--quiet', '--allow-empty', '--message', 'first');
  return { sandbox, work: { goal: GOAL, file: join(sandbox.project, 'upload.ts'), decision: DECISION } };
}

export const expectBrief = (text: string | null): void => {
  expect(text).toMatch(/^# Handover \d{8}-\d{6}-\w{4} for Claude Code\n/);
  expect(text).toContain(GOAL);
  expect(text).toContain('upload.ts');
  expect(text).toContain('exponential backoff');
};

/** A session that began, worked and came to the end of a turn, in an agent that still runs. */
export async function workOneTurn(
  sandbox: Sandbox,
  work: { goal: string; file: string; decision: string },
  { atMs, ...options }: Parameters<typeof startAgent>[1] & { atMs?: number } = {},
): Promise<{ agent: ReturnType<typeof startAgent>; session: WrittenSession }> {
  const session = writeSession(sandbox, { ...(atMs === undefined ? {} : { atMs }) });
  const agent = startAgent(sandbox, options);
  expect(await agent.receive('SessionStart', session.input({ source: 'startup' }))).toBeNull();
  writeWork(session, work);
  expect((await agent.call('Stop', session.input({ last_assistant_message: DECISION }))).stdout).toBe('');
  await waitForWorkers(sandbox);
  return { agent, session };
}
