import { join } from 'node:path';
import { makeSandbox, type Sandbox } from './cli.ts';
import { type WrittenSession, writeSession, writeWork } from './hooks.ts';
import { connect } from './mcp.ts';

export const DECISION = 'Sessions live in Redis, because two instances share them.';

/** A session of Claude Code that is under way, and a client that says which one it is. */
export async function work(): Promise<{
  sandbox: Sandbox;
  session: WrittenSession;
  mcp: Awaited<ReturnType<typeof connect>>;
}> {
  const sandbox = makeSandbox();
  const session = writeSession(sandbox);
  writeWork(session, {
    goal: 'Move the sessions out of memory',
    file: join(sandbox.project, 'session.ts'),
    decision: 'I decided to keep the cookie format.',
  });
  const mcp = await connect(sandbox, {
    args: ['--agent', 'claude-code'],
    env: { CLAUDE_CODE_SESSION_ID: session.id },
  });
  return { sandbox, session, mcp };
}
