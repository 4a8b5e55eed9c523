import { Checkpoint, listPending } from '../../../memory/runs/checkpoint.ts';
import { findCheckpoint } from '../check-now.ts';
import type { CliContext } from '../context.ts';
import type { CheckpointFlags } from './check.ts';

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
