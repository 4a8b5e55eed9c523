import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Handover } from '../../../src/model/handover.ts';
import { makeSandbox, type Sandbox } from '../../support/cli.ts';
import {
  type RunningAgent,
  startAgent,
  type WrittenSession,
  waitForWorkers,
  writeSession,
  writeWork,
} from '../../support/hooks.ts';

const DECISION = 'We use exponential backoff instead of a queue, because bursts are refused.';

async function workOneTurn(sandbox: Sandbox): Promise<{ agent: RunningAgent; session: WrittenSession }> {
  const session = writeSession(sandbox);
  const agent = startAgent(sandbox);
  await agent.call('SessionStart', session.input({ source: 'startup' }));
  writeWork(session, {
    goal: 'Make the upload retry',
    file: join(sandbox.project, 'upload.ts'),
    decision: DECISION,
  });
  await agent.call('Stop', session.input());
  await waitForWorkers(sandbox);
  return { agent, session };
}

async function findDecision(sandbox: Sandbox): Promise<string> {
  const { facts } = await sandbox.json<Handover>(['show']);
  return facts.find(({ text }) => text.includes('exponential backoff'))?.id ?? '';
}

describe('a prepared brief', () => {
  it('includes facts pinned after the capture, also of an earlier session', async () => {
    const sandbox = makeSandbox();
    await sandbox.save('--title', 'Earlier', '--note', 'The test server is down on Mondays');
    const { facts } = await sandbox.json<Handover>(['show']);
    const { agent, session } = await workOneTurn(sandbox);
    await sandbox.ok(['pin', facts[0]?.id ?? '']);
    const brief = await agent.receive('SessionStart', session.input({ source: 'compact' }));
    expect(brief).toContain('## Pinned\n> - The test server is down on Mondays');
    await agent.end();
  });

  it('warns of facts refuted after the capture', async () => {
    const sandbox = makeSandbox();
    const { agent, session } = await workOneTurn(sandbox);
    await sandbox.ok(['refute', await findDecision(sandbox), '--because', 'it lost messages']);
    const brief = await agent.receive('SessionStart', session.input({ source: 'compact' }));
    expect(brief).toContain(`> - tried, did not work: ${DECISION}; because: it lost messages`);
    await agent.end();
  });

  it('omits facts resolved after the capture, for this session and the next', async () => {
    const sandbox = makeSandbox();
    const { agent, session } = await workOneTurn(sandbox);
    await sandbox.ok(['resolve', await findDecision(sandbox)]);
    await agent.call('SessionEnd', session.input({ reason: 'clear' }));
    const brief = await agent.receive('SessionStart', writeSession(sandbox).input({ source: 'clear' }));
    expect(brief).toContain('Make the upload retry');
    expect(brief).not.toContain('exponential backoff');
    await agent.end();
  });
});
