import { buildCommand, type Command } from '@stricli/core';
import { Checkpoint, listPending } from '../../../memory/runs/checkpoint.ts';
import { findCheckpoint } from '../check-now.ts';
import type { CliContext } from '../context.ts';

export interface CheckpointFlags {
  checkpoint?: string;
  json: boolean;
}

const text = (input: string): string => input;

export const checkpointFlag = {
  kind: 'parsed',
  parse: text,
  optional: true,
  brief: 'Its file; the project’s .agent-handover/checkpoint.json if left out',
  placeholder: 'file',
} as const;

export const check: Command<CliContext> = buildCommand<CheckpointFlags, [], CliContext>({
  func: runCheck,
  parameters: {
    flags: {
      checkpoint: checkpointFlag,
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: {
    brief: 'Exit with 0: no run, 1: a run was interrupted, 2: the last run completed',
  },
});

/** The plain question was answered before; here are its other forms, and all that can be wrong. */
export function runCheck(this: CliContext, flags: CheckpointFlags): void {
  const checkpoint = openCheckpoint(this, flags.checkpoint);
  const code = checkpoint.resumeCode();
  if (flags.json) {
    const state = checkpoint.load();
    this.out.json({ code, status: state.status, pending: listPending(state), path: checkpoint.path });
  }
  this.process.exitCode = code;
}

export function openCheckpoint(
  { machine }: Pick<CliContext, 'machine'>,
  flag: string | undefined,
): Checkpoint {
  const path = findCheckpoint(machine.cwd, flag, machine.env.AGENT_HANDOVER_CHECKPOINT);
  return new Checkpoint(path, machine);
}
