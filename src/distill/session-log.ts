import type { Action, FileEdit, PlanItem } from '../model/event.ts';
import { countUtf8Bytes } from '../model/text.ts';
import { type MentionSource, NameIndex, NameWindow } from './name-index.ts';
import type { TouchedFile } from './touched-files.ts';

/** Something said, with the number of calls made before it and its line in the transcript. */
export interface Message {
  call: number;
  text: string;
  line: number;
  /** The question of the agent that it answers. */
  question?: string;
  /** The call that the human refused with these words. */
  refused?: string;
  /** Who wrote it, where that is another agent: the lead of a team. */
  from?: string;
  /** Said while the agent was at work on the request before it. */
  steering?: true;
  /** Said on the way: the agent's answer is still to come. */
  interim?: true;
}

export interface PendingCall {
  call: number;
  what: string;
  line: number;
  source: MentionSource;
  command: CommandRun | null;
  path: string | null;
  edits: readonly FileEdit[];
  step: Step;
  /** Whether the work goes on while the agent does something else. */
  isBackground: boolean;
  /** The texts of its input, where the call may be about background work. */
  about: readonly string[];
}

/** A call as the log of the last steps shows it. */
export interface Step {
  call: number;
  line: number;
  tool: string;
  kind: Action['kind'];
  /** What it was given, by the usual names of parameters. */
  input: Record<string, string>;
  /** Null until the result is seen. */
  failed: boolean | null;
  /** The beginning and the end of the result. */
  output: string;
}

export interface CommandRun {
  call: number;
  command: string;
  /** Where the agent was when it ran the command. */
  folder: string | null;
  background: boolean;
  line: number;
  /** The output when it went into the background; null otherwise. */
  started: string | null;
  /** Null until the result is seen. */
  failed: boolean | null;
  exit: number | null;
  output: string;
}

export interface ToolResult {
  call: number;
  source: MentionSource;
  /** Cleared once it was searched for paths. */
  text: string;
  /** Null until the text is searched. */
  paths: string[] | null;
}

/**
 * What happened in a session, as far as facts are made of it. Plain data, stored in checkpoints of transcripts. Grows with
 * what was said and touched, not with the size of outputs.
 */
export class SessionLog {
  calls = 0;
  /** The numbers of those that the human made, not the agent. */
  humanCalls = new Set<number>();
  prompts: Message[] = [];
  replies: Message[] = [];
  /** What the agent thought last, since it last said something. */
  thought: Message | null = null;
  proposals: Message[] = [];
  /** What the agent wrote for itself when its context was compacted last, with the number of prompts before it. */
  summary: (Message & { after: number }) | null = null;
  /** Documents in prose that were written as a whole, as they stand after later edits; the newest last. */
  documents = new Map<string, Message>();
  plan: PlanItem[] = [];
  planLine = 0;
  /** How many calls there were when it was stated. */
  planCall = 0;
  files = new Map<string, TouchedFile>();
  commands: CommandRun[] = [];
  /** By the agent's id of the call. */
  pending = new Map<string, PendingCall>();
  steps: Step[] = [];
  /** What calls did outside of the files: issues, comments, messages. */
  actions: { call: number; text: string }[] = [];
  results: ToolResult[] = [];
  /** What the next prompt answers, or refuses. */
  asked: Pick<Message, 'question' | 'refused'> | null = null;
  lastSpeaker: 'human' | 'agent' | null = null;
  /** Numbers of the prompts whose work the human stopped, from 1. */
  interrupted = new Set<number>();
  /** The provider's limit or error that ended the session; null once the session went on. */
  stop: Message | null = null;
  windows: NameWindow[] = [new NameWindow()];
  index: NameIndex = new NameIndex();
  cwd: string | null = null;
  branch: string | null = null;
  model: string | null = null;
  firstAt: string | null = null;
  lastAt: string | null = null;
}

const SUBSTANTIVE_BYTES = 25;
/** Commands to the agent. */
const BARE = /^\s*\/[\w:-]+\s*$/;
const WITH_ARGUMENTS = /^\s*\/[\w:-]+\s+\S/;

/** The position of the request that the session began with: no bare command to the agent, nothing as short as a greeting. */
export function findFirstPrompt({ prompts }: SessionLog): number {
  const first = prompts.findIndex(
    ({ text, question }) =>
      question === undefined &&
      (WITH_ARGUMENTS.test(text) || (countUtf8Bytes(text) > SUBSTANTIVE_BYTES && !BARE.test(text))),
  );
  return Math.max(0, first);
}

/** The position of the request being worked on: the last substantive one that answers, refuses and steers nothing, else the last; -1 without any. */
export function findCurrentPrompt({ prompts }: SessionLog): number {
  const substantive = prompts.findLastIndex(
    ({ question, refused, steering, text }) =>
      (question ?? refused) === undefined && steering !== true && countUtf8Bytes(text) > SUBSTANTIVE_BYTES,
  );
  return substantive === -1 ? prompts.length - 1 : substantive;
}
