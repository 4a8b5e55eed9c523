import { describe, expect, it } from 'vitest';
import { DEFAULT_BUDGET, SMALLEST_BUDGET } from '../../../src/handover/brief/compile.ts';
import { readHandover } from '../../../src/store/handovers.ts';
import { openStore } from '../../../src/store/store.ts';
import { DEFAULT_TOKENS, MIN_TOKENS } from '../../../src/surfaces/mcp/input.ts';
import { makeSandbox } from '../../support/cli.ts';
import { connect } from '../../support/mcp.ts';
import { DECISION, work } from '../../support/mcp-session.ts';

describe('the MCP tools', () => {
  it('save what was resolved before, when the agent states it again', async () => {
    const { sandbox, session, mcp } = await work();
    const standing = async (): Promise<string[]> => {
      const { id } = await sandbox.json<{ id: string }>(['show']);
      return (await sandbox.ok(['render', id])).split('\n').filter((line) => line.includes(DECISION));
    };
    await mcp.call('save', { decision: [DECISION] });
    await mcp.call('resolve', { fact: DECISION, because: 'it moved' });
    expect(await standing()).toEqual([]);
    await mcp.call('save', { decision: [DECISION] });
    expect(await standing()).toHaveLength(1);
    expect((await mcp.call('save', { decision: [DECISION] })).data).toMatchObject({ changed: false });
    session.transcript.say('On it.');
    session.write();
    await sandbox.ok(['capture', '--transcript', session.path]);
    expect(await standing()).toHaveLength(1);
  });

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
