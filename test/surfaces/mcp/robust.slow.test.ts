import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { HANDOVER, makeSandbox, type Sandbox } from '../../support/cli.ts';
import { connect } from '../../support/mcp.ts';
import { canTrace, traceCommand } from '../../support/strace.ts';

interface Reply {
  id: number | string | null;
  result?: { content?: { text: string }[]; isError?: boolean; protocolVersion?: string };
  error?: { code: number; message: string };
}

/** A server that is spoken to line by line. */
interface Wire {
  child: ChildProcessWithoutNullStreams;
  send(text: string): void;
  /** Waits for the answer to a request. */
  reply(id: Reply['id']): Promise<Reply>;
  ended: Promise<number | null>;
}

const children: ChildProcessWithoutNullStreams[] = [];

afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});

function start(sandbox: Sandbox): Wire {
  const child = spawn(process.execPath, [HANDOVER, 'mcp'], {
    cwd: sandbox.project,
    env: { PATH: process.env.PATH, ...sandbox.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  children.push(child);
  child.stdin.on('error', () => child.stdin.destroy());
  child.stderr.resume();
  const replies: Reply[] = [];
  const waiting: { id: Reply['id']; take: (reply: Reply) => void }[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    const reply: Reply = JSON.parse(line);
    const at = waiting.findIndex(({ id }) => id === reply.id);
    if (at === -1) replies.push(reply);
    else waiting.splice(at, 1)[0]?.take(reply);
  });
  return {
    child,
    send: (text) => void child.stdin.write(`${text}\n`),
    reply: (id) => {
      const at = replies.findIndex((reply) => reply.id === id);
      const [known] = at === -1 ? [] : replies.splice(at, 1);
      return known === undefined ? new Promise((take) => waiting.push({ id, take })) : Promise.resolve(known);
    },
    ended: new Promise((resolve) => child.on('close', (code) => resolve(code))),
  };
}

const request = (id: number | string, method: string, params: object = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });
const initialize = (protocolVersion: string): string =>
  request(0, 'initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 'a', version: '1' } });
const call = (id: number | string, name: string, args: object): string =>
  request(id, 'tools/call', { name, arguments: args });

const METHODS = ['tools/call', 'tools/list', 'resources/read', 'prompts/get', 'initialize', 'nothing', ''];

describe('an invalid request of an MCP client', () => {
  it.each([
    ['an unknown argument', 'save', { decisions: ['x'] }, /decisions/],
    ['a wrong type', 'save', { decision: 'x' }, /"decision" must be a list of texts/],
    ['nothing to save', 'save', {}, /nothing to save[\s\S]*decision/],
    ['an empty text', 'save', { note: [' '] }, /empty/],
    ['a missing id', 'get', {}, /id/],
    ['an unknown fact', 'get', { id: 'f-zzzzzzzzzz' }, /HANDOVER_NOT_FOUND[\s\S]*next: .*search/],
    ['an unknown handover', 'get', { id: '20200101-000000-aaaa' }, /HANDOVER_NOT_FOUND[\s\S]*next/],
    ['an id that is none', 'get', { id: '../../etc/passwd' }, /HANDOVER_NOT_FOUND/],
    ['an unknown fact to mark', 'resolve', { fact: 'f-zzzzzzzzzz' }, /HANDOVER_NOT_FOUND/],
    ['a budget that is too small', 'resume', { budget: 10 }, /budget/],
    ['a folder that is not there', 'resume', { project: '/no/such/folder' }, /HANDOVER_PROJECT_MISSING/],
    ['a time that is none', 'sessions', { since: 'tomorrow' }, /is not a time/],
    ['an agent that is none', 'sessions', { agent: 'vim' }, /agent/],
  ])('with %s gives an error that says what to do', async (_, tool, args, expected) => {
    const { call: ask } = await shared;
    const { isError, text } = await ask(tool, args);
    expect(isError).toBe(true);
    expect(text).toMatch(expected);
    expect(text).not.toMatch(/^\s+at /m);
  });

  const shared = connect(makeSandbox());

  it('for an unknown tool gives a protocol error', async () => {
    const { client } = await shared;
    await expect(client.callTool({ name: 'rm', arguments: {} })).rejects.toThrow(/rm/);
  });

  it('of ten megabytes is refused, and the next request is served', async () => {
    const { call: ask } = await shared;
    const { isError, text } = await ask('save', { note: ['x'.repeat(10 * 1024 * 1024)] });
    expect(isError).toBe(true);
    expect(text).toMatch(/HANDOVER_TEXT_TOO_LARGE: a note has 10485760 bytes[\s\S]*next: /);
    expect((await ask('get', { id: `f-${'z'.repeat(10 * 1024 * 1024)}` })).text.length).toBeLessThan(1000);
    expect((await ask('status')).isError).toBe(false);
  });
});

describe('a damaged store over MCP', () => {
  it('gives errors with hints, and shows intact handovers', async () => {
    const sandbox = makeSandbox();
    const mcp = await connect(sandbox);
    const { data } = await mcp.call('save', { note: ['whole'] });
    const damaged = await sandbox.save('--title', 'broken', '--summary', 'broken');
    const [year = '', month = ''] = [damaged.slice(0, 4), damaged.slice(4, 6)];
    const folder = join(sandbox.store, 'handovers', year, month);
    writeFileSync(join(folder, `${damaged}.json`), '{"schema":"handover/1"');
    writeFileSync(join(sandbox.store, 'index.sqlite'), 'rot');
    const { isError, text } = await mcp.call('get', { id: damaged });
    expect(isError).toBe(true);
    expect(text).toMatch(/^HANDOVER_RECORD_DAMAGED[\s\S]*next: .*handover doctor/);
    expect((await mcp.call('get', { id: String(data.handover) })).text).toContain('whole');
    expect((await mcp.call('resume')).text).toContain('whole');
    expect((await mcp.call('status')).text).toContain('skipped 1 damaged file');
  });

  it('that cannot be created is reported by all tools, and the server keeps running', async () => {
    const sandbox = makeSandbox();
    writeFileSync(join(sandbox.folder, 'file'), '');
    const mcp = await connect(sandbox, { env: { HANDOVER_HOME: join(sandbox.folder, 'file', 'store') } });
    expect((await mcp.call('save', { note: ['x'] })).text).toMatch(/^HANDOVER_\w+: /);
    expect((await mcp.call('status')).text).toMatch(/^HANDOVER_PATH_UNSAFE: .*\nnext: /);
  });
});

describe('the MCP connection', () => {
  it('accepts lines of any bytes', async () => {
    const wire = start(makeSandbox());
    wire.send(initialize('2025-06-18'));
    await wire.reply(0);
    let id = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            fc.string({ unit: 'binary' }),
            fc.json(),
            fc.constantFrom('[]', '{}', '{"jsonrpc":"2.0"}', '{"jsonrpc":"2.0","id":{},"method":"ping"}', '"'),
            fc
              .tuple(fc.constantFrom(...METHODS), fc.json())
              .map(([method, params]) => `{"jsonrpc":"2.0","id":"x","method":"${method}","params":${params}}`),
          ),
          { maxLength: 5 },
        ),
        async (lines) => {
          for (const line of lines) wire.send(line.replaceAll('\n', ' '));
          wire.send(request(++id, 'ping'));
          expect(await wire.reply(id)).toMatchObject({ id, result: {} });
        },
      ),
      { numRuns: 200 },
    );
    wire.child.stdin.end();
    expect(await wire.ended).toBe(0);
  });

  it('answers an invalid line with what is wrong', async () => {
    const wire = start(makeSandbox());
    wire.send('{"jsonrpc":');
    expect(await wire.reply(null)).toMatchObject({ error: { code: -32_700 } });
    wire.send('{"id":"seven"}');
    expect(await wire.reply('seven')).toMatchObject({ error: { code: -32_600 } });
    const long = 'x'.repeat(33 * 1024 * 1024);
    wire.send(`{"method":"tools/call","params":{"x":"${long}"},"jsonrpc":"2.0","id":8}`);
    expect((await wire.reply(8)).error?.message).toMatch(/has \d+ bytes; at most \d+ are read/);
    wire.send(initialize('2025-06-18'));
    expect(await wire.reply(0)).toMatchObject({ result: { protocolVersion: '2025-06-18' } });
    wire.child.stdin.end();
    expect(await wire.ended).toBe(0);
  });

  it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])('speaks the revision %s', async (version) => {
    const wire = start(makeSandbox());
    wire.send(initialize(version));
    expect(await wire.reply(0)).toMatchObject({ result: { protocolVersion: version } });
    wire.send(call(1, 'save', { note: ['kept'] }));
    expect((await wire.reply(1)).result?.content?.[0]?.text).toMatch(/^saved in handover/);
    wire.child.stdin.end();
    expect(await wire.ended).toBe(0);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('ends at %s', async (signal) => {
    const wire = start(makeSandbox());
    wire.send(initialize('2025-06-18'));
    await wire.reply(0);
    wire.child.kill(signal);
    expect(await wire.ended).toBe(0);
  });

  it('ends when its output is closed', async () => {
    const wire = start(makeSandbox());
    wire.send(initialize('2025-06-18'));
    await wire.reply(0);
    wire.child.stdout.destroy();
    for (let id = 1; id < 5; id++) wire.send(request(id, 'tools/list'));
    expect(await wire.ended).toBe(0);
  });

  it('answers requests sent before its input ended, and finishes their work', async () => {
    const sandbox = makeSandbox();
    const wire = start(sandbox);
    wire.send(initialize('2025-06-18'));
    wire.send(call(1, 'save', { note: ['kept'] }));
    wire.child.stdin.end();
    expect((await wire.reply(1)).result?.content?.[0]?.text).toMatch(/^saved in handover/);
    expect(await wire.ended).toBe(0);
    mkdirSync(join(sandbox.store, 'handovers'), { recursive: true });
    const left = readdirSync(join(sandbox.store, 'handovers'), { recursive: true, encoding: 'utf8' });
    expect(left.filter((path) => /tmp|temp/.test(path))).toEqual([]);
    expect(await sandbox.ok(['doctor'])).not.toContain('damage');
  });
});

describe('the network, used by the MCP server', () => {
  it.runIf(canTrace)('is not used: no socket listens, and none connects', async () => {
    const sandbox = makeSandbox();
    const lines = [
      initialize('2025-06-18'),
      JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
      call(1, 'save', { decision: ['one'] }),
      ...['resume', 'status', 'sessions'].map((name, at) => call(at + 2, name, {})),
      call(5, 'search', { query: 'one', sessions: true }),
      call(6, 'resolve', { fact: 'one is not here' }),
      request(7, 'resources/read', { uri: 'handover://brief' }),
      request(8, 'prompts/get', { name: 'take_over', arguments: {} }),
      call(9, 'get', { id: 'latest' }),
    ];
    const script = join(sandbox.folder, 'client.mjs');
    writeFileSync(
      script,
      `import { spawn } from 'node:child_process';
       const child = spawn(process.execPath, ${JSON.stringify([HANDOVER, 'mcp'])}, { stdio: ['pipe', 'pipe', 'ignore'] });
       let seen = '';
       child.stdout.on('data', (chunk) => { seen += chunk; if (seen.split('\\n').length > 10) child.stdin.end(); });
       child.stdin.write(${JSON.stringify(`${lines.join('\n')}\n`)});
       child.on('close', () => process.stdout.write(seen));`,
    );
    const { stdout, calls } = await traceCommand([process.execPath, script], 'network', {
      cwd: sandbox.project,
      env: { ...sandbox.env },
    });
    const answered = stdout
      .trim()
      .split('\n')
      .map((line): Reply => JSON.parse(line));
    expect(answered.map(({ id }) => id).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(answered.some(({ error }) => error !== undefined)).toBe(false);
    expect(calls.filter(isReaching)).toEqual([]);
  });

  // Pipes to a child are pairs of local sockets.
  const isReaching = (line: string): boolean => /\b(?:connect|listen|bind|accept4?|sendto)\(/.test(line);

  it.runIf(canTrace)('is seen to be used by a process that does (checks the test itself)', async () => {
    const script = `const { createServer, connect } = require('node:net');
      const server = createServer((socket) => { socket.end(); server.close(); });
      server.listen(0, '127.0.0.1', () => connect(server.address().port, '127.0.0.1').resume());`;
    const child = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(script)}])`;
    const { calls } = await traceCommand([process.execPath, '-e', child], 'network', {});
    for (const name of ['listen(', 'connect('])
      expect(
        calls.filter(isReaching).some((line) => line.includes(name)),
        name,
      ).toBe(true);
  });
});
