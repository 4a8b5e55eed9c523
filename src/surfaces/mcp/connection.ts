import { fileURLToPath } from 'node:url';
import type { McpServer } from '@modelcontextprotocol/server';
import { AGENT_NAMES, type AgentName } from '../../agents/agent.ts';
import { isFolder, isInside } from '../../platform/folders.ts';
import type { Machine } from '../../platform/machine.ts';

export interface Connection {
  server: McpServer;
  machine: Machine;
  /** The agent that this server was registered for; null when it is unknown. */
  agent: AgentName | null;
  startedMs: number;
  /** Whether the client can be asked for its folders: not from the protocol revision of 2026 on. */
  canAsk: boolean;
}

/** The agent at the other end: the registered one, or by the client's name. */
export function findAgent({ agent, server }: Connection): AgentName | null {
  if (agent !== null) return agent;
  const name = server.server.getClientVersion()?.name.toLowerCase() ?? '';
  const known = AGENT_NAMES.find((each) => name.includes(each));
  return known ?? (name.startsWith('claude') ? 'claude-code' : null);
}

const ASK_MS = 2000;

/** Where the client works: where it started this server, or its first root when that folder is in none of its roots. */
export async function findFolder(connection: Connection): Promise<string> {
  const { cwd } = connection.machine;
  const roots = await listRoots(connection);
  return roots.some((root) => isInside(cwd, root)) ? cwd : (roots[0] ?? cwd);
}

async function listRoots({ server, canAsk }: Connection): Promise<string[]> {
  if (!canAsk || server.server.getClientCapabilities()?.roots === undefined) return [];
  try {
    const { roots } = await server.server.listRoots(undefined, { timeout: ASK_MS });
    const paths = roots.map(({ uri }) => (uri.startsWith('file://') ? fileURLToPath(uri) : ''));
    return paths.filter((path) => path !== '' && isFolder(path));
  } catch (error) {
    // A client that does not answer, or answers badly, is assumed to work where it started us.
    if (error instanceof Error) return [];
    throw error;
  }
}
