import { type HookDialect, readUsualInput, USUAL_DIALECT } from '../hook-input.ts';
import { getText } from '../json.ts';

export const geminiHook: HookDialect = {
  ...USUAL_DIALECT,
  read: (input) => {
    const usual = readUsualInput(input);
    return usual === null ? null : { ...usual, lastReply: getText(input, 'prompt_response') };
  },
  // After /clear the hook runs, but what it prints is lost.
  reaches: (moment, source) => moment === 'prompt' || (moment === 'start' && source !== 'clear'),
  announcesCompaction: false,
  startsAfterCompaction: false,
  keepsContext: false,
};
