import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DEFAULT_BUDGET, SMALLEST_BUDGET } from '../../../src/handover/brief/compile.ts';
import { readHandover } from '../../../src/store/handovers.ts';
import { openStore } from '../../../src/store/store.ts';
import { DEFAULT_TOKENS, MIN_TOKENS } from '../../../src/surfaces/mcp/input.ts';
import { makeSandbox, type Sandbox } from '../../support/cli.ts';
import { type WrittenSession, writeSession, writeWork } from '../../support/hooks.ts';
import { connect } from '../../support/mcp.ts';

const DECISION = 'Sessions live in Redis, because two instances share them.';

/** A session of Claude Code that is under way, and a client that says which one it is. */
async function work(): Promise<{
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

describe('the MCP tools', () => {
  it('each describe their purpose, their arguments and what they change', async () => {
    const { client } = await connect(makeSandbox());
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual([
      'get',
      'resolve',
      'resume',
      'save',
      'search',
      'sessions',
      'status',
    ]);
    for (const { title, description, inputSchema, annotations } of tools) {
      expect(title).toEqual(expect.any(String));
      expect(description?.length).toBeGreaterThan(80);
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      for (const property of Object.values(inputSchema.properties ?? {}))
        expect(property).toMatchObject({ description: expect.any(String) });
      expect(annotations).toMatchObject({ readOnlyHint: expect.any(Boolean), openWorldHint: false });
    }
    const writing = tools.filter(({ annotations }) => annotations?.readOnlyHint === false);
    expect(writing.map(({ name }) => name).sort()).toEqual(['resolve', 'save']);
    expect(client.getInstructions()).toContain('never orders');
  });

  it('have the same budgets as briefs', () => {
    expect([MIN_TOKENS, DEFAULT_TOKENS]).toEqual([SMALLEST_BUDGET, DEFAULT_BUDGET]);
  });
});

describe('the MCP tool save', () => {
  it('saves declared facts once, with their session', async () => {
    const { sandbox, session, mcp } = await work();
    const said = {
      decision: [DECISION],
      rejected: ['JWT: it cannot be revoked'],
      next: ['write the migration'],
    };
    const first = await mcp.call('save', said);
    expect(first).toMatchObject({ isError: false, data: { changed: true, session: session.id } });
    const handover = readHandover(openStore(sandbox.machine), String(first.data.handover));
    expect(handover?.session).toMatchObject({ agent: 'claude-code', id: session.id });
    expect(handover?.facts).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: 'decision', text: DECISION, trust: 'declared', origin: 'agent' }),
        expect.objectContaining({ kind: 'goal', text: 'Move the sessions out of memory', trust: 'quoted' }),
      ]),
    );
    session.transcript.say('Saved.');
    session.write();
    expect((await mcp.call('save', said)).data).toMatchObject({
      changed: false,
      handover: first.data.handover,
    });
    expect(await sandbox.json<unknown[]>(['list'])).toHaveLength(1);
  });
});
