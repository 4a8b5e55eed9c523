import { basename, dirname } from 'node:path';
import type { Driver } from './driver.ts';
import { writeSettings } from './settings.ts';

export const codex: Driver = {
  agent: 'codex',
  program: 'codex',
  prepare: ({ home, project, modelUrl }) =>
    writeSettings(
      home,
      '.codex/config.toml',
      `model = "scripted"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[model_providers.scripted]
name = "Scripted"
base_url = "${modelUrl}/v1"
env_key = "SCRIPTED_API_KEY"
wire_api = "responses"

[analytics]
enabled = false

[projects."${project}"]
trust_level = "trusted"
`,
    ),
  env: () => ({ SCRIPTED_API_KEY: 'dummy-key' }),
  ask: ({ prompt, goOn }) => [
    'exec',
    // Codex runs no hook that nobody has looked at; the flag is its own way for tests.
    '--dangerously-bypass-hook-trust',
    '--json',
    ...(goOn ? ['resume', '--last'] : []),
    prompt,
  ],
  inTerminal: ['--dangerously-bypass-hook-trust'],
  clear: '/clear',
  edit: (path, { from, to }) => [
    {
      name: 'exec_command',
      args: {
        cmd: `apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: ${basename(dirname(path))}/${basename(path)}\n@@\n-${from}\n+${to}\n*** End Patch\nEOF`,
      },
    },
  ],
  run: (command) => ({ name: 'exec_command', args: { cmd: command } }),
  nameTool: (tool) => ({ namespace: 'mcp__handover', name: tool }),
  compactions: [
    {
      by: 'tokens',
      tokens: 30_000,
      args: ['-c', 'model_auto_compact_token_limit=20000'],
      restoredAtOnce: true,
    },
  ],
  reachedBy: 'start',
};
