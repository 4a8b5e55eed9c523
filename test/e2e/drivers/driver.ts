import type { HookedAgent } from '../../../src/agents/hook-input.ts';
import type { ToolCall } from '../model/protocol.ts';

/** Where an agent is run: a home and a project of its own, and the model that it is to ask. */
export interface Surroundings {
  home: string;
  project: string;
  modelUrl: string;
}

export interface Ask {
  prompt: string;
  /** Go on with the newest session of the project. */
  goOn: boolean;
}

/**
 * How an agent can be made to compact without a terminal: by a prompt, or by a model that says that the context is
 * full, with what the agent has to be told for that.
 */
export type Compaction = (
  | { by: 'prompt'; prompt: string }
  | { by: 'tokens'; tokens: number; args?: readonly string[]; env?: Readonly<Record<string, string>> }
) & {
  /** The brief is in the very next request; else in the first one of the next prompt. */
  restoredAtOnce: boolean;
};

/** How one real agent is set up and run without a person: no prompts for permission, no updates, no telemetry. */
export interface Driver {
  agent: HookedAgent;
  /** The name of its program. */
  program: string;
  /** Writes the agent's own settings into the home. */
  prepare(surroundings: Surroundings): void;
  /** Arguments of a first call that tells the agent of the model, where a file of settings is not the way. */
  signIn?(surroundings: Surroundings): string[];
  env(surroundings: Surroundings): Readonly<Record<string, string>>;
  /** The arguments of a run without a terminal. */
  ask(ask: Ask): string[];
  /** Further arguments of a run in a terminal, such as no prompts for permission. */
  inTerminal?: readonly string[];
  /** What to type for a session without what was said so far. */
  clear?: string;
  /** Without a terminal the agent cannot go on with an earlier session. */
  cannotGoOn?: boolean;
  edit(path: string, change: { from: string; to: string }): ToolCall[];
  run(command: string): ToolCall;
  /** What the agent calls a tool of our MCP server. */
  nameTool(tool: string): Pick<ToolCall, 'name' | 'namespace'>;
  compactions: readonly Compaction[];
  /** What a hook gives reaches the model with the first request of a session, or only after a tool was used. */
  reachedBy: 'start' | 'tool';
  /** Arguments of a last call that ends what the agent leaves running. */
  cleanUp?: readonly string[];
}
