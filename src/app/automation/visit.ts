import type { HookKind } from '../../agents/hook-dialects.ts';
import type { HookInput } from '../../agents/hook-input.ts';
import type { Machine } from '../../platform/machine.ts';
import { findDataFolder } from '../../platform/paths.ts';
import { listAncestors } from '../../platform/process-identity.ts';
import { findWorktreeRoot } from '../../platform/project.ts';
import {
  findAgentProcess,
  identifyTerminal,
  isAgentProcess,
  isBegunByTimer,
  nameProcess,
} from '../../platform/terminal.ts';
import { keyOfSession } from './folders.ts';
import type { RelaySettings } from './settings.ts';

/** One call of a hook: who calls, from where, and what is known by then. */
export interface Visit {
  kind: HookKind;
  input: HookInput;
  machine: Machine;
  /** The store's folder. */
  store: string;
  /** Of the worktree that the session is in. */
  root: string;
  key: string;
  terminal: string | null;
  process: string | null;
  /** Whether nobody is there to be given anything. Asked only when something could be given. */
  isScheduled(): boolean;
  settings: RelaySettings;
  nowMs: number;
}

/** Null where the session is in no folder that can be reached. */
export function receive(kind: HookKind, input: HookInput, machine: Machine): Omit<Visit, 'settings'> | null {
  const root = findWorktreeRoot(input.cwd ?? machine.cwd);
  if (root === null) return null;
  const ancestors = listAncestors(isAgentProcess);
  const agent = findAgentProcess(ancestors);
  return {
    kind,
    input,
    machine,
    store: findDataFolder(machine),
    root,
    key: keyOfSession({ agent: kind.agent, session: input.session }),
    terminal: identifyTerminal({ named: input.terminal, env: machine.env, ancestors }),
    process: agent === null ? null : nameProcess(agent),
    isScheduled: () => input.isScheduled || isAutomation(machine) || isBegunByTimer(listAncestors()),
    nowMs: machine.clock.now(),
  };
}

/** Build servers say so. */
function isAutomation({ env }: Machine): boolean {
  return env.CI !== undefined && env.CI !== '' && env.CI !== 'false' && env.CI !== '0';
}
