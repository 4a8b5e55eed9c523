import { type HookDialect, readUsualInput, USUAL_DIALECT } from '../hook-input.ts';
import { getText } from '../json.ts';

/** What the plugin in OpenCode sends and takes, see `docs/hooks.md`. It keeps the text itself, through compactions too. */
export const opencodeHook: HookDialect = {
  ...USUAL_DIALECT,
  read: (input, event) => {
    const usual = readUsualInput(input);
    if (usual === null) return null;
    const isSubAgent = (getText(input, 'parent_id') ?? '') !== '';
    const source = event === 'session.compacted' ? 'compaction' : usual.source;
    return { ...usual, source, hasPrompt: true, isSubAgent };
  },
  write: (_, text) => JSON.stringify({ context: text }),
  keepsContext: false,
};
