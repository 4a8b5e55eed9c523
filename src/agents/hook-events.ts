import type { AgentName } from './agent.ts';

/** What a hook is called for, in words that are the same for all agents. */
export type HookMoment =
  /** A session begins, or begins again: new, resumed, cleared, or after compaction where the agent says so. */
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

/** The hooks that are made use of, by the agents' own names for them. */
export const HOOK_EVENTS = {
  'claude-code': {
    SessionStart: 'start',
    UserPromptSubmit: 'prompt',
    Stop: 'turn',
    PreCompact: 'compaction',
    SessionEnd: 'end',
  },
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
  qwen: {
    SessionStart: 'start',
    UserPromptSubmit: 'prompt',
    Stop: 'turn',
    PreCompact: 'compaction',
    SessionEnd: 'end',
  },
  copilot: {
    sessionStart: 'start',
    userPromptSubmitted: 'prompt',
    agentStop: 'turn',
    preCompact: 'compaction',
    sessionEnd: 'end',
  },
  cline: {
    TaskStart: 'start',
    PreToolUse: 'tool',
    TaskComplete: 'turn',
  },
} as const satisfies Partial<Record<AgentName, Record<string, HookMoment>>>;

export type HookedAgent = keyof typeof HOOK_EVENTS;
