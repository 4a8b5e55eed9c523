import { type HookDialect, readUsualInput, USUAL_DIALECT } from '../hook-input.ts';
import { getText } from '../shared/json.ts';

/** What makes a prompt when nobody types one. */
const TIMERS: ReadonlySet<string> = new Set(['loop_wakeup', 'schedule_wakeup', 'poll_event']);

export const claudeCodeHook: HookDialect = {
  ...USUAL_DIALECT,
  read: (input) => {
    const usual = readUsualInput(input);
    return usual === null ? null : { ...usual, isScheduled: TIMERS.has(getText(input, 'source') ?? '') };
  },
};
