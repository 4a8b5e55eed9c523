import type { AgentName } from './agent.ts';
import { getText, type Row } from './shared/json.ts';

/** When a hook is called, in terms that are the same for all agents. */
export type HookMoment =
  /** A session starts: new, resumed, cleared, or after a compaction that the agent reports. */
  | 'start'
  /** The human has said something. */
  | 'prompt'
  /** A tool is about to be used, or was. */
  | 'tool'
  /** The agent has answered, or was stopped. */
  | 'turn'
  /** The agent may be about to compact. */
  | 'compaction'
  /** The session is over. */
  | 'end';

const DEFAULT_EVENTS = {
  SessionStart: 'start',
  UserPromptSubmit: 'prompt',
  Stop: 'turn',
  PreCompact: 'compaction',
  SessionEnd: 'end',
} as const;

/** The hooks that we use, by the agents' own names for them. */
export const HOOK_EVENTS = {
  'claude-code': DEFAULT_EVENTS,
  codex: {
    SessionStart: 'start',
    UserPromptSubmit: 'prompt',
    Stop: 'turn',
    Interrupt: 'turn',
    PreCompact: 'compaction',
    SessionEnd: 'end',
  },
  gemini: {
    SessionStart: 'start',
    BeforeAgent: 'prompt',
    AfterAgent: 'turn',
    PreCompress: 'compaction',
    SessionEnd: 'end',
  },
  opencode: {
    'session.created': 'start',
    'session.compacted': 'start',
    'chat.message': 'prompt',
    'session.idle': 'turn',
    'session.compacting': 'compaction',
    dispose: 'end',
  },
  qwen: DEFAULT_EVENTS,
  copilot: {
    sessionStart: 'start',
    userPromptSubmitted: 'prompt',
    agentStop: 'turn',
    preCompact: 'compaction',
    sessionEnd: 'end',
  },
  cline: { TaskStart: 'start', PreToolUse: 'tool', TaskComplete: 'turn' },
} as const satisfies Partial<Record<AgentName, Record<string, HookMoment>>>;

export type HookedAgent = keyof typeof HOOK_EVENTS;

/** How a session began. A fork continues what it was forked from, like a resumed session. */
export type StartSource = 'new' | 'resume' | 'clear' | 'compaction';

/** What an agent passes to a hook, in terms that are the same for all agents. */
export interface HookInput {
  /** The agent's own id of the session. */
  session: string;
  /** The folder that the agent works in; null where it does not say. */
  cwd: string | null;
  /** Null where the agent does not say, or keeps a database. */
  transcript: string | null;
  /** Of a start; null where the agent does not say. */
  source: StartSource | null;
  /** Whether the agent uses the same word for a start after clearing as for any other. */
  mayBeCleared: boolean;
  /** Of a compaction: whether the human asked for it, so that it will happen for certain. */
  isManual: boolean;
  /** Of a prompt: whether a human said anything. */
  hasPrompt: boolean;
  /** What the agent said last, which its transcript may not hold yet. */
  lastReply: string | null;
  /** The terminal, where the input names one. */
  terminal: string | null;
  isSubAgent: boolean;
  /** Started by a timer, with nobody there. */
  isScheduled: boolean;
}

/** How one agent communicates with its hooks: unchecked JSON in, a line of text out. */
export interface HookDialect {
  /** Null when the input names no session. */
  read(input: Row, event: string): HookInput | null;
  /** What to print for the agent to pass a text to its model. */
  write(event: string, text: string): string;
  /** Whether a text that a hook prints at this moment reaches the model. */
  canDeliver(moment: HookMoment, source: StartSource | null): boolean;
  /** Whether the hook before compaction runs only then. If not, it runs before every request, and only a manual one counts. */
  announcesCompaction: boolean;
  /** Whether the agent also calls its start hook after a compaction. */
  startsAfterCompaction: boolean;
  /** Whether a resumed session still has earlier deliveries in its context. */
  keepsContext: boolean;
  /** Whether the agent writes the end of a turn to its transcript only after it called the hook. */
  writesLate: boolean;
}

const SOURCES: ReadonlyMap<string, StartSource> = new Map([
  ['startup', 'new'],
  ['new', 'new'],
  ['resume', 'resume'],
  ['fork', 'resume'],
  ['branch', 'resume'],
  ['clear', 'clear'],
  ['compact', 'compaction'],
]);

/** Claude Code's format, which most other agents adopted; `own` is what differs. */
export function readDefaultInput(input: Row, own: Partial<HookInput> = {}): HookInput | null {
  const session = getText(input, 'session_id');
  if (session === null || session === '') return null;
  return {
    session,
    cwd: getText(input, 'cwd'),
    transcript: getText(input, 'transcript_path'),
    source: SOURCES.get(getText(input, 'source') ?? '') ?? null,
    mayBeCleared: getText(input, 'source') === 'new',
    isManual: getText(input, 'trigger') === 'manual',
    hasPrompt: (getText(input, 'prompt') ?? '').trim() !== '',
    lastReply: getText(input, 'last_assistant_message'),
    terminal: getText(input, 'terminal_id'),
    isSubAgent: getText(input, 'agent_id') !== null,
    isScheduled: false,
    ...own,
  };
}

/** Claude Code's dialect, the base of the others. */
export const DEFAULT_DIALECT: HookDialect = {
  read: (input) => readDefaultInput(input),
  write: (event, text) => JSON.stringify({ hookSpecificOutput: { hookEventName: event, additionalContext: text } }),
  canDeliver: (moment) => moment === 'start' || moment === 'prompt',
  announcesCompaction: true,
  startsAfterCompaction: true,
  keepsContext: true,
  writesLate: false,
};
