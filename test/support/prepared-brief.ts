import type { PreparedBrief } from '../../src/app/automation/prepared-briefs.ts';

/** The header of a prepared brief. */
export const PREPARED_BRIEF: Omit<PreparedBrief, 'marks'> = {
  schema: 'ready/8',
  agent: 'claude-code',
  session: 's',
  handover: '20260131-120000-k3fz',
  checksum: '',
  capturedMs: 0,
  workedMs: 0,
  root: '/',
  terminal: null,
  process: null,
  isEnded: false,
  isNote: false,
  transcript: null,
  transcriptBytes: 0,
  compactions: 0,
  title: 'retry uploads',
  head: null,
  branch: null,
  running: [],
  files: [],
};
