import { type HookDialect, readSource, USUAL_DIALECT } from '../hook-input.ts';
import { getAnyText } from '../shared/json.ts';

export const copilotHook: HookDialect = {
  ...USUAL_DIALECT,
  read: (input) => {
    const session = getAnyText(input, 'sessionId', 'session_id');
    if (session === null || session === '') return null;
    return {
      session,
      cwd: getAnyText(input, 'cwd'),
      transcript: getAnyText(input, 'transcriptPath', 'transcript_path'),
      source: readSource(getAnyText(input, 'source')),
      isManual: getAnyText(input, 'trigger') === 'manual',
      hasPrompt: (getAnyText(input, 'prompt') ?? '').trim() !== '',
      lastReply: null,
      terminal: getAnyText(input, 'terminal_id'),
      isSubAgent: false,
      isScheduled: false,
    };
  },
  write: (_, text) => JSON.stringify({ additionalContext: text }),
  startsAfterCompaction: false,
  keepsContext: false,
  lags: true,
};
