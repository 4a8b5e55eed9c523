import { Client, type ClientOptions } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEachFile } from './after-each-file.ts';
import { HANDOVER, type Sandbox } from './cli.ts';

export interface ConnectOptions {
  env?: Readonly<Record<string, string>>;
  cwd?: string;
  args?: readonly string[];
  /** What the client calls itself. */
  name?: string;
  options?: ClientOptions;
  /** Hears what the server prints besides its replies. */
  onStderr?(text: string): void;
}

export interface ToolReply {
  text: string;
  isError: boolean;
  data: Record<string, unknown>;
}

/** The official client, with a server of ours at its other end. */
export interface McpConnection {
  client: Client;
  /** The id of the server's process. */
  pid: number;
  call(name: string, args?: Record<string, unknown>, meta?: Record<string, unknown>): Promise<ToolReply>;
}

const open: Client[] = [];

afterEachFile(async () => {
  for (const client of open.splice(0)) await client.close();
});

export async function connect(sandbox: Sandbox, connection: ConnectOptions = {}): Promise<McpConnection> {
  const { env = {}, cwd = sandbox.project, args = [], name = 'a-client', options = {}, onStderr } = connection;
  // Without a cache of its code, which it would write a few seconds after its start, whatever a test is at.
  const own = { PATH: process.env.PATH, NODE_DISABLE_COMPILE_CACHE: '1' };
  const known = Object.entries({ ...own, ...sandbox.env, ...env });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [HANDOVER, 'mcp', ...args],
    env: Object.fromEntries(known.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]))),
    cwd,
    stderr: onStderr === undefined ? 'ignore' : 'pipe',
  });
  transport.stderr?.on('data', (part) => onStderr?.(String(part)));
  const client = new Client({ name, version: '1.0.0' }, options);
  open.push(client);
  await client.connect(transport);
  return {
    client,
    pid: transport.pid ?? 0,
    call: async (tool, given = {}, meta) => {
      const reply = await client.callTool({
        name: tool,
        arguments: given,
        ...(meta === undefined ? {} : { _meta: meta }),
      });
      const [first] = reply.content;
      return {
        text: first?.type === 'text' ? first.text : '',
        isError: reply.isError === true,
        data: Object.fromEntries(Object.entries(reply.structuredContent ?? {})),
      };
    },
  };
}
