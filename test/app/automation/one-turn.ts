import { join } from 'node:path';
import { expect } from 'vitest';
import { type Desk, makeDesk, runGit } from '../../support/cli.ts';
import { settle, startAgent, tellWork, type WrittenSession, writeSession } from '../../support/hooks.ts';

export const GOAL = 'Make the upload retry when the server is busy';
export const DECISION = 'We use exponential backoff instead of a queue, because bursts are refused.';

export function openDesk(): { desk: Desk; work: { goal: string; file: string; decision: string } } {
  const desk = makeDesk();
  runGit(desk.project, 'init', '--quiet');
  runGit(desk.project, 'commit', '--quiet', '--allow-empty', '--message', 'first');
  return { desk, work: { goal: GOAL, file: join(desk.project, 'upload.ts'), decision: DECISION } };
}

export const expectBrief = (text: string | null): void => {
  expect(text).toMatch(/^# Handover \d{8}-\d{6}-\w{4} for Claude Code\n/);
  expect(text).toContain(GOAL);
  expect(text).toContain('upload.ts');
  expect(text).toContain('exponential backoff');
};

/** A session that began, worked and came to the end of a turn, in an agent that still runs. */
export async function workOneTurn(
  desk: Desk,
  work: { goal: string; file: string; decision: string },
  options: Parameters<typeof startAgent>[1] = {},
): Promise<{ agent: ReturnType<typeof startAgent>; session: WrittenSession }> {
  const session = writeSession(desk);
  const agent = startAgent(desk, options);
  expect(await agent.given('SessionStart', session.input({ source: 'startup' }))).toBeNull();
  tellWork(session, work);
  expect((await agent.call('Stop', session.input({ last_assistant_message: DECISION }))).stdout).toBe('');
  await settle(desk);
  return { agent, session };
}
