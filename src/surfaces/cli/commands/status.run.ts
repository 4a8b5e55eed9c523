import { findPause } from '../../../platform/pause.ts';
import { findProjectFolder } from '../../../platform/project-folder.ts';
import { listPending } from '../../../run/checkpoint.ts';
import type { RunState } from '../../../run/checkpoint-file.ts';
import type { CliContext } from '../context.ts';
import { dim, yellow } from '../output.ts';
import { openCheckpoint } from './check.run.ts';
import type { CheckpointFlags } from './check.ts';

/** The first lines are those of the original tool; what it did not know follows. */
export function runStatus(this: CliContext, flags: CheckpointFlags): void {
  const checkpoint = openCheckpoint(this, flags.checkpoint);
  const state = checkpoint.load();
  const pause = findPause(this.machine, findProjectFolder(this.machine.cwd));
  if (flags.json) {
    this.out.json({ ...toJson(state), path: checkpoint.path, paused: pause });
    return;
  }
  this.out.line(`status: ${state.status}`);
  for (const [name, step] of state.steps) this.out.line(`  [${step === 'done' ? 'x' : ' '}] ${name}`);
  const pending = listPending(state);
  if (state.status === 'in_progress' && pending.length > 0) this.out.line(`pending: ${pending.join(', ')}`);
  if (state.run !== null) {
    const { id, attempts, steps, changes } = state.run;
    this.out.line(dim(`run: ${id}, attempt ${attempts}, begun ${state.startedAt ?? 'at an unknown time'}`));
    for (const [name, { error }] of steps)
      if (error !== null) this.out.line(yellow('error: '), `${error} `, dim(`(${name})`));
    for (const change of changes) this.out.line(dim(`change: ${change}`));
  }
  if (pause !== null)
    this.out.line(
      yellow('paused: '),
      pause.why === null ? pause.path : `${pause.why} `,
      pause.why === null ? '' : dim(`(${pause.path})`),
    );
}

function toJson({ status, steps, startedAt, finishedAt, run }: RunState): Record<string, unknown> {
  return {
    status,
    started_at: startedAt,
    finished_at: finishedAt,
    run: run === null ? null : { id: run.id, attempts: run.attempts, changes: run.changes },
    steps: [...steps].map(([name, state]) => ({ name, state, ...run?.steps.get(name) })),
  };
}
