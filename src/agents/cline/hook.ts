import { type HookDialect, USUAL_DIALECT } from '../hook-input.ts';
import { getRow, getText } from '../shared/json.ts';

/** Only the hooks around tools are waited for; the task's own hooks cannot add anything. */
export const clineHook: HookDialect = {
  ...USUAL_DIALECT,
  read: (input) => {
    const session = getText(getRow(input, 'sessionContext'), 'rootSessionId') ?? getText(input, 'taskId');
    if (session === null || session === '') return null;
    const roots: unknown = input.workspaceRoots;
    const [root] = Array.isArray(roots) ? roots.filter((path) => typeof path === 'string') : [];
    return {
      session,
      cwd: root ?? getText(getRow(input, 'workspaceInfo'), 'rootPath'),
      transcript: null,
      source: null,
      isManual: false,
      hasPrompt: false,
      lastReply: getText(getRow(input, 'turn'), 'outputText'),
      terminal: getText(input, 'terminal_id'),
      isSubAgent: getText(input, 'parent_agent_id') !== null,
      isScheduled: false,
    };
  },
  write: (_, text) => JSON.stringify({ context: text }),
  reaches: (moment) => moment === 'tool',
  startsAfterCompaction: false,
  lags: true,
};
