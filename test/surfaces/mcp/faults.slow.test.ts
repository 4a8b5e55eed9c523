import { mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeSandbox, type Sandbox } from '../../support/cli.ts';
import { writeSession, writeWork } from '../../support/hooks.ts';
import { connect, type McpConnection, type ToolReply } from '../../support/mcp.ts';

/** What each tool is called with when nothing is wrong with it. */
const CALLS: readonly [string, Record<string, unknown>][] = [
  ['resume', {}],
  ['search', { query: 'redis', sessions: true }],
  ['get', { id: 'latest' }],
  ['save', { note: ['one'] }],
  ['resolve', { fact: 'f-zzzzzzzzzz' }],
  ['sessions', {}],
  ['status', {}],
];

const MAX_ANSWER = 12_000;
const TEN_MEGABYTES = 10 * 1024 * 1024;

/** An agent can act on it: either it is an answer, or it says what is wrong and what to do. */
function expectUsable({ text, isError }: ToolReply, what: string): void {
  expect(text.length, what).toBeLessThan(MAX_ANSWER);
  expect(text, what).not.toMatch(/^\s+at /m);
  expect(text, what).not.toContain('a bug in agent-handover');
  if (isError) expect(text, what).toMatch(/^(?:HANDOVER_\w+: .+\nnext: .+|Input validation error: .+)/s);
}

async function expectAlive({ client }: McpConnection): Promise<void> {
  await client.ping();
}

describe.each(CALLS)('the MCP tool %s', (tool, usual) => {
  const opened = connect(makeSandbox());

  it('names the wrong argument in a short message', async () => {
    const mcp = await opened;
    const { tools } = await mcp.client.listTools();
    const properties = tools.find(({ name }) => name === tool)?.inputSchema.properties ?? {};
    for (const key of ['no_such_argument', ...Object.keys(properties)]) {
      const reply = await mcp.call(tool, { ...usual, [key]: { wrong: true } });
      expect(reply.isError, key).toBe(true);
      expect(reply.text).toContain(`"${key}"`);
      expectUsable(reply, key);
    }
  });

  it('accepts or refuses ten megabytes in any argument, and keeps running', async () => {
    const mcp = await opened;
    const { tools } = await mcp.client.listTools();
    const properties = tools.find(({ name }) => name === tool)?.inputSchema.properties ?? {};
    const long = 'word '.repeat(TEN_MEGABYTES / 5);
    for (const [key, schema] of Object.entries(properties)) {
      const isList = JSON.stringify(schema).includes('"type":"array"');
      expectUsable(await mcp.call(tool, { ...usual, [key]: isList ? [long] : long }), key);
    }
    expectUsable(await mcp.call(tool, { ...usual, [long]: true }), 'a name of ten megabytes');
    expectUsable(await mcp.call(tool, { ...usual, limit: long.split(' ') }), 'a list of two million');
    await expectAlive(mcp);
  });

  it('reports a missing project folder', async () => {
    const mcp = await opened;
    const reply = await mcp.call(tool, { ...usual, project: '/no/such/folder' });
    expect(reply.isError).toBe(true);
    expect(reply.text).toMatch(/^HANDOVER_PROJECT_MISSING: .*\nnext: /);
  });
});

const DAMAGES: readonly [string, (path: string) => void][] = [
  ['overwritten', (path) => writeFileSync(path, 'rot '.repeat(5000))],
  ['cut to nothing', (path) => truncateSync(path)],
  [
    'replaced by folders',
    (path) => {
      rmSync(path);
      mkdirSync(path);
    },
  ],
];

describe.each(DAMAGES)('a store whose files are all %s', (_, damage) => {
  it('gives answers or errors with hints from every tool, and the server keeps running', async () => {
    const sandbox = await fill();
    const mcp = await connect(sandbox);
    for (const [tool, args] of CALLS) {
      for (const path of listFiles(sandbox)) damage(path);
      expectUsable(await mcp.call(tool, args), tool);
      await expectAlive(mcp);
    }
  });
});

/** A store with a handover, a journal and every index. */
async function fill(): Promise<Sandbox> {
  const sandbox = makeSandbox();
  const session = writeSession(sandbox);
  writeWork(session, { goal: 'Use redis', file: join(sandbox.project, 'a.ts'), decision: 'I decided on redis.' });
  await sandbox.ok(['capture', '--transcript', session.path]);
  await sandbox.ok(['list']);
  await sandbox.ok(['search', '--sessions', 'redis']);
  return sandbox;
}

function listFiles(sandbox: Sandbox): string[] {
  return readdirSync(sandbox.store, { recursive: true, encoding: 'utf8' })
    .map((name) => join(sandbox.store, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}
