import type { ErrorCode, HandoverError } from '../../errors.ts';

/** What an agent can do by the tools of this server, where the words for a person name a command. */
const BY_TOOL: Partial<Record<ErrorCode, string>> = {
  HANDOVER_NOT_FOUND: 'find the id with the tool "search", or see what is kept here with "status"',
  HANDOVER_STORE_EMPTY: 'nothing is kept yet; keep something with the tool "save"',
  HANDOVER_ID_AMBIGUOUS: 'give one of these ids, or more of it',
  HANDOVER_TEXT_TOO_LARGE: 'say it in a sentence or two; a long text belongs into a file of the project',
  HANDOVER_PROJECT_MISSING: 'give "project" as the absolute path of a folder that exists, or leave it out',
  HANDOVER_RECORD_DAMAGED: 'use another handover, and tell the user to run: handover doctor',
  HANDOVER_STORE_DAMAGED: 'tell the user to run: handover doctor',
  HANDOVER_PAUSED: 'nothing is written while the PAUSE file is there; only the user may take it away',
};

export function adviseOn({ code, hint }: HandoverError): string | null {
  return BY_TOOL[code] ?? hint ?? null;
}
