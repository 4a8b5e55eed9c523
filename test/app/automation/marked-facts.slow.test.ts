import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Handover } from '../../../src/model/handover.ts';
import { type Desk, makeDesk } from '../../support/cli.ts';
import {
  type RunningAgent,
  settle,
  startAgent,
  tellWork,
  type WrittenSession,
  writeSession,
} from '../../support/hooks.ts';

const DECISION = 'We use exponential backoff instead of a queue, because bursts are refused.';

async function workOneTurn(desk: Desk): Promise<{ agent: RunningAgent; session: WrittenSession }> {
  const session = writeSession(desk);
  const agent = startAgent(desk);
  await agent.call('SessionStart', session.input({ source: 'startup' }));
  tellWork(session, {
    goal: 'Make the upload retry',
    file: join(desk.project, 'upload.ts'),
    decision: DECISION,
  });
  await agent.call('Stop', session.input());
  await settle(desk);
  return { agent, session };
}

async function findDecision(desk: Desk): Promise<string> {
  const { facts } = await desk.json<Handover>(['show']);
  return facts.find(({ text }) => text.includes('exponential backoff'))?.id ?? '';
}

describe('a prepared brief', () => {
  it('includes facts pinned after the capture, also of an earlier session', async () => {
    const desk = makeDesk();
    await desk.save('--title', 'Earlier', '--note', 'The test server is down on Mondays');
    const { facts } = await desk.json<Handover>(['show']);
    const { agent, session } = await workOneTurn(desk);
    await desk.ok(['pin', facts[0]?.id ?? '']);
    const brief = await agent.given('SessionStart', session.input({ source: 'compact' }));
    expect(brief).toContain('## Pinned\n> - The test server is down on Mondays');
    await agent.end();
  });

  it('warns of facts refuted after the capture', async () => {
    const desk = makeDesk();
    const { agent, session } = await workOneTurn(desk);
    await desk.ok(['refute', await findDecision(desk), '--because', 'it lost messages']);
    const brief = await agent.given('SessionStart', session.input({ source: 'compact' }));
    expect(brief).toContain(`> - tried, did not work: ${DECISION}; because: it lost messages`);
    await agent.end();
  });

  it('omits facts resolved after the capture, for this session and the next', async () => {
    const desk = makeDesk();
    const { agent, session } = await workOneTurn(desk);
    await desk.ok(['resolve', await findDecision(desk)]);
    await agent.call('SessionEnd', session.input({ reason: 'clear' }));
    const brief = await agent.given('SessionStart', writeSession(desk).input({ source: 'clear' }));
    expect(brief).toContain('Make the upload retry');
    expect(brief).not.toContain('exponential backoff');
    await agent.end();
  });
});
