import type { FactKind, Trust } from '../model/fact.ts';

export type Standing = 'open' | 'resolved' | 'refuted' | 'pinned';

/** Where a hit comes from. */
export interface HitOrigin {
  handover?: string;
  agent?: string;
  session?: string;
  project?: { id: string; name: string };
  at: string;
  /** In the transcript. */
  line?: number;
  /** Of the text of a session: who said it, where the transcript is, and where in it the line begins, in bytes. */
  speaker?: 'human' | 'agent' | 'tool';
  transcript?: string;
  offset?: number;
  /** The agent does not have the session any more: only its text is kept. */
  gone?: true;
  /** How many handovers hold it, this one included. */
  handovers?: number;
  /** It came in a bundle from elsewhere. */
  imported?: true;
}

/** One thing that was found. */
export interface SearchHit {
  what: 'fact' | 'handover' | 'note' | 'session';
  /** The id of the fact, the handover or the session; of a note, its path. */
  id: string;
  /** The fact itself, the title, or the part of the text around what was found. */
  text: string;
  kind?: FactKind;
  trust?: Trust;
  /** As the fact has it: of a task `done`, of a file `edited` … */
  status?: string;
  standing?: Standing;
  /** Why it was refuted or resolved. */
  because?: string;
  from: HitOrigin;
  /** The command that opens it. */
  open: string;
  score: number;
}
