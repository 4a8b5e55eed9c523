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

/** A session on disk, as far as it is known without reading all of it. */
export interface FoundSession {
  agent: AgentName;
  id: string;
  /** The transcript; the database for agents that have one. */
  path: string;
  /** The folder that the agent worked in; null when it is not recorded. */
  cwd: string | null;
  /** As an agent's folder has it; on one line and without secrets only from `find-session.ts`. */
  title: string | null;
  startedMs: number | null;
  changedMs: number;
  bytes: number;
  /** Started by another session, as a sub-agent. */
  parent: string | null;
}

/** Statistics of reading one transcript: they show whether the agent changed its format. Filled while events are read. */
export interface ReadStats {
  /** All rows. */
  rows: number;
  /** Rows that no version of this agent writes: broken JSON, too long, not an object. */
  unreadable: number;
  /** Rows of kinds that this reader does not know, counted by kind. */
  unknown: Record<string, number>;
  agentVersion: string | null;
}

export function startReadStats(): ReadStats {
  return { rows: 0, unreadable: 0, unknown: {}, agentVersion: null };
}

/** Counts a row that no version of the agent writes. */
export function countUnreadable(stats: ReadStats): void {
  stats.rows++;
  stats.unreadable++;
}

const MAX_KINDS = 100;

/** Counts a row of a kind that the reader does not know. Only the first kinds get a counter of their own: they come from the file. */
export function countUnknown({ unknown }: ReadStats, kind: string): void {
  const short = kind.slice(0, 80).toWellFormed();
  const name = Object.hasOwn(unknown, short) || Object.keys(unknown).length < MAX_KINDS ? short : 'other';
  const count = Object.hasOwn(unknown, name) ? (unknown[name] ?? 0) : 0;
  // Defined rather than assigned: a kind named `__proto__` would change the prototype.
  Object.defineProperty(unknown, name, { value: count + 1, writable: true, enumerable: true, configurable: true });
}

/** The session in a file that was inspected before and has not changed since; null for any other file. */
export type RecallSession = (path: string) => FoundSession | null;

/** One coding agent. Reading never throws because of content: what is not understood is counted in `stats`. */
export interface Agent {
  name: AgentName;
  /** All sessions of this agent on the machine, in no order. Costs a listing and the head of each file not recalled at most. */
  findSessions(machine: Machine, recall?: RecallSession): Iterable<FoundSession>;
  /** The paths of this agent's transcripts, also of unreadable ones: they reveal that the format changed. */
  listTranscripts(machine: Machine): Iterable<string>;
  /** The session in a transcript file; null when the file is not one of this agent's. */
  inspectFile(path: string): FoundSession | null;
  /** The events, in order, without what was rewound or replaced. */
  readEvents(session: FoundSession, stats: ReadStats): Iterable<Event>;
  /** The same events, read so that a later call can continue; null for a transcript that cannot be read this way. */
  openTranscript?(options: TranscriptOptions): Transcript | null;
}

/** How far a transcript was read, with the state to continue from there. Plain data, so that it can be saved. */
export interface Bookmark {
  position: Position;
  /** The reader's own state, in a form that only the same build reads. */
  state: unknown;
}

export type OnEvent = (event: Event) => void;

/** A transcript that only grows, so that reading it can stop and continue later. */
export interface Transcript {
  /** Emits the events of all complete lines. False when a line undoes an earlier one: read again with `lookAhead`. */
  read(onEvent: OnEvent): boolean;
  /** Where to continue, to be called between `read` and `finish`. Null when a look ahead used an incomplete line. */
  mark(): Bookmark | null;
  /** Emits the events that are only known at the end: of an incomplete last line, and those held back. False as above. */
  finish(onEvent: OnEvent): boolean;
}

export interface TranscriptOptions {
  session: FoundSession;
  /** Filled while the transcript is read. */
  stats: ReadStats;
  /** Bytes from this offset on are not read. */
  until: number;
  /** Where to continue; without it, the beginning. */
  from?: Bookmark | undefined;
  /** Reads the file twice, first for what later lines undo. `read` and `finish` then never return false. */
  lookAhead?: boolean;
}

/** How a person starts an agent, in its own interface, with a first prompt. */
export interface Launch {
  /** As it is found in PATH. */
  program: string;
  /** What to type to get the program. */
  install: string;
  /** What `writeArgs` expects: the first prompt itself, or the path of a file with it. */
  takes: 'prompt' | 'file';
  /** Whether an @ before the name of a file, anywhere in the prompt, makes the agent attach that file. */
  attachesFiles: boolean;
  writeArgs(promptOrFile: string): string[];
}
