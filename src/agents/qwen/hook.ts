import { type HookDialect, USUAL_DIALECT } from '../hook-input.ts';

export const qwenHook: HookDialect = { ...USUAL_DIALECT, keepsContext: false };
