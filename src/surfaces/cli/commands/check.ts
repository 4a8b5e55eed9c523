import { findCheckpoint } from '../../../app/runs/check.ts';
import { Checkpoint, listPending } from '../../../memory/runs/checkpoint.ts';
import type { CliContext } from '../context.ts';
import { checkpointFlag, command, type FlagValues, json } from '../flags.ts';

const flags = { checkpoint: checkpointFlag, json };

export const check = command('check', runCheck, { flags });

/** The plain form was answered before the command line was loaded; this is for the others, and for failures. */
function runCheck(this: CliContext, values: FlagValues<typeof flags>): void {
  const { machine } = this;
  const path = findCheckpoint(machine, values.checkpoint);
  const checkpoint = new Checkpoint(path, machine);
  const code = checkpoint.resumeCode();
  if (values.json) {
    const state = checkpoint.load();
    this.out.json({ code, status: state.status, pending: listPending(state), path });
  }
  this.process.exitCode = code;
}
