import { type HookDialect, USUAL_DIALECT } from '../hook-input.ts';

/** Codex refuses any key that it does not know, so nothing but the usual form may be printed. */
export const codexHook: HookDialect = USUAL_DIALECT;
