import { join } from 'node:path';
import { readHead } from '../platform/external-file.ts';
import type { Machine } from '../platform/machine.ts';
import { findGeminiHome } from './gemini/setup.ts';
import type { HookedAgent } from './hook-input.ts';
import { resolveFolder } from './qwen/setup.ts';
import { findAgentHome, findOpencodeHome } from './shared/files.ts';

/* A hook checks whether its agent has our MCP server by searching the text of the settings: it has no time to parse them. */

type Places = (machine: Machine, root: string) => (string | null)[];

function inFolder(folder: string | null, ...names: readonly string[]): (string | null)[] {
  return names.map((name) => (folder === null ? null : join(folder, name)));
}

const OPENCODE = ['opencode.json', 'opencode.jsonc'];

/** The files in which each agent looks for servers: those of the user, and those of the project. */
const PLACES: Readonly<Record<HookedAgent, Places>> = {
  'claude-code': ({ env, home }, root) => [
    ...inFolder(env.CLAUDE_CONFIG_DIR || home || null, '.claude.json'),
    join(root, '.mcp.json'),
    ...inFolder(env.CLAUDE_PLUGIN_ROOT || null, '.mcp.json'),
  ],
  codex: (machine, root) => [
    ...inFolder(findAgentHome('codex', machine), 'config.toml'),
    join(root, '.codex', 'config.toml'),
    ...inFolder(machine.env.CLAUDE_PLUGIN_ROOT || null, '.mcp.json'),
  ],
  gemini: (machine, root) => [
    ...inFolder(
      findGeminiHome(machine),
      'settings.json',
      join('extensions', 'agent-handover', 'gemini-extension.json'),
    ),
    join(root, '.gemini', 'settings.json'),
  ],
  opencode: (machine, root) => [
    ...inFolder(findOpencodeHome(machine), ...OPENCODE),
    ...inFolder(join(root, '.opencode'), ...OPENCODE),
  ],
  qwen: (machine, root) => [
    ...inFolder(resolveFolder(machine, machine.env.QWEN_HOME), 'settings.json'),
    join(root, '.qwen', 'settings.json'),
  ],
  copilot: (machine, root) => [
    ...inFolder(findAgentHome('copilot', machine), 'mcp-config.json'),
    join(root, '.github', 'mcp.json'),
  ],
  cline: (machine) => inFolder(findAgentHome('cline', machine), join('data', 'settings', 'cline_mcp_settings.json')),
};

/** How our server is started, from any installation, or by a plugin of ours. */
const OUR_SERVER = /[\\/]{1,2}bin[\\/]{1,2}(?:handover\.cjs"?,\s*"mcp"|mcp\.cjs)/;
const MAX_BYTES = 8 * 1024 * 1024;

/** Whether an agent has our MCP server in its settings. */
export function hasServer(agent: HookedAgent, machine: Machine, root: string): boolean {
  return PLACES[agent](machine, root).some((path) => {
    const text = path === null ? '' : (readHead(path, MAX_BYTES)?.bytes.toString('utf8') ?? '');
    return OUR_SERVER.test(text);
  });
}
