import type { Driver } from './driver.ts';
import { writeSettings } from './settings.ts';

export const claudeCode: Driver = {
  agent: 'claude-code',
  program: 'claude',
  // Only its terminal interface reads this: it would otherwise ask for a theme, the key and trust in the folder.
  prepare: ({ home, project }) =>
    writeSettings(home, '.claude.json', {
      hasCompletedOnboarding: true,
      theme: 'dark',
      customApiKeyResponses: { approved: ['dummy-key'], rejected: [] },
      projects: { [project]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
    }),
  env: ({ modelUrl }) => ({
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: 'dummy-key',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_TELEMETRY: '1',
    // It refuses to skip its prompts for permission as root, unless a variable says that this is a sandbox.
    IS_SANDBOX: '1',
  }),
  ask: ({ prompt, goOn }) => [
    '-p',
    prompt,
    ...(goOn ? ['--continue'] : []),
    '--permission-mode',
    'bypassPermissions',
    '--output-format',
    'stream-json',
    '--verbose',
  ],
  inTerminal: ['--permission-mode', 'acceptEdits', '--allowedTools', 'Read,Edit,Bash'],
  clear: '/clear',
  edit: (path, { from, to }) => [
    { name: 'Read', args: { file_path: path } },
    { name: 'Edit', args: { file_path: path, old_string: from, new_string: to } },
  ],
  run: (command) => ({ name: 'Bash', args: { command, description: 'Check' } }),
  nameTool: (tool) => ({ name: `mcp__handover__${tool}` }),
  compactions: [
    { by: 'prompt', prompt: '/compact', restoredAtOnce: false },
    {
      by: 'tokens',
      tokens: 96_000,
      args: ['--model', 'claude-sonnet-4-5'],
      env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '100000', CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: '50' },
      restoredAtOnce: true,
    },
  ],
  reachedBy: 'start',
};
