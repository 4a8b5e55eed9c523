import type { Event } from '../model/event.ts';
import type { Position } from '../platform/lines.ts';
import type { Machine } from '../platform/machine.ts';

export const AGENT_NAMES = [
  'claude-code',
  'codex',
  'gemini',
  'opencode',
  'qwen',
  'copilot',
  'cline',
  'goose',
  'pi',
  'aider',
] as const;
export type AgentName = (typeof AGENT_NAMES)[number];

/** A session as it lies on disk, known without reading all of it. */
export interface FoundSession {
  agent: AgentName;
  id: string;
  /** The transcript; for agents that keep a database, the database. */
  path: string;
  /** The folder that the agent worked in; null when the transcript does not tell. */
  cwd: string | null;
  title: string | null;
  startedMs: number | null;
  changedMs: number;
  bytes: number;
  /** Started by another session, as a sub-agent. */
  parent: string | null;
}

/** What was met on the way, for the report on formats that drift. Filled while the events are read. */
export interface Reading {
  /** Rows that were looked at. */
  rows: number;
  /** Rows that are not what a row of this agent can be: broken JSON, too long, no object. */
  unreadable: number;
  /** Rows of a kind that this reader does not know, counted by kind. */
  unknown: Record<string, number>;
  agentVersion: string | null;
  sessionId: string | null;
}

export function startReading(): Reading {
  return { rows: 0, unreadable: 0, unknown: {}, agentVersion: null, sessionId: null };
}

/**
 * One coding agent: where it keeps its sessions and how they are read. Reading never throws on content, whatever the
 * bytes are: what cannot be understood is counted in `reading` and passed over.
 */
export interface Agent {
  name: AgentName;
  /** All sessions of this agent on the machine, in no order. Costs a listing and the head of each file at most. */
  findSessions(machine: Machine): Iterable<FoundSession>;
  /** Where this agent's transcripts lie on the machine, also those that cannot be read: by them drift shows. */
  listTranscripts(machine: Machine): Iterable<string>;
  /** The session that a transcript file holds; null when the file is not one of this agent's. */
  inspectFile(path: string): FoundSession | null;
  /** What happened, in order, without what was rewound or superseded. */
  readEvents(session: FoundSession, reading: Reading): Iterable<Event>;
  /**
   * The same events, by a reading that can be gone on with when the transcript has grown. Only for agents that add to
   * their transcripts and change nothing in them; null for a session, or a bookmark, for which it cannot be done.
   */
  openTranscript?(opening: Opening): Transcript | null;
}

/** How far a transcript was read, and what has to be known to go on from there. Plain data, so that it can be kept. */
export interface Bookmark {
  position: Position;
  /** The reader's own. */
  state: unknown;
}

export type Tell = (event: Event) => void;

/** A transcript that only grows, so that reading it can be left off and gone on with. */
export interface Transcript {
  /**
   * Tells what all whole lines say. False when one of them takes back what an earlier one told: then nothing that was
   * told holds, and the transcript has to be read with a look ahead.
   */
  read(tell: Tell): boolean;
  /**
   * Where it stands now, to be asked for between `read` and `finish`. Null when what was told rests on a look ahead at a
   * line that has no end yet, and may still become another.
   */
  mark(): Bookmark | null;
  /** Tells what can be told only at the end: of a last line without an end, of what still waits. False as above. */
  finish(tell: Tell): boolean;
}

export interface Opening {
  session: FoundSession;
  /** Filled while the transcript is read. */
  reading: Reading;
  /** What is written behind this offset is not looked at. */
  until: number;
  /** Where to go on; without it, the beginning. */
  from?: Bookmark;
  /** First looks for what later lines take back. Such a reading never fails. */
  lookAhead?: boolean;
}

/** How a person starts an agent, in its own interface, with something to begin with. */
export interface Launch {
  /** As it is found in PATH. */
  program: string;
  /** What to type to get the program. */
  install: string;
  /** What the arguments are made of: the first prompt itself, or the path of a file that holds it. */
  takes: 'prompt' | 'file';
  /** An @ before the name of a file makes the agent attach that file, wherever in the prompt it stands. */
  attachesFiles: boolean;
  writeArgs(promptOrFile: string): string[];
}
