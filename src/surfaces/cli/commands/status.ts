import { buildCommand, type Command } from '@stricli/core';
import { listPending } from '../../../memory/runs/checkpoint.ts';
import type { RunState } from '../../../memory/runs/checkpoint-file.ts';
import { describeAge } from '../../../model/time.ts';
import { findPause } from '../../../platform/pause.ts';
import { describePlace } from '../../../platform/place.ts';
import { findProjectFolder } from '../../../platform/project-file.ts';
import { type CliContext, findStore } from '../context.ts';
import { findHookFailures } from '../hook-failures.ts';
import { dim, yellow } from '../output.ts';
import { findWaiting } from '../waiting.ts';
import { type CheckpointFlags, checkpointFlag, openCheckpoint } from './check.ts';

/** The first lines are those of the original tool; what it did not know follows. */
export async function runStatus(this: CliContext, flags: CheckpointFlags): Promise<void> {
  const checkpoint = openCheckpoint(this, flags.checkpoint);
  const state = checkpoint.load();
  const pause = findPause(this.machine, findProjectFolder(this.machine.cwd));
  const newest = await findWaiting(this, describePlace('.', this.machine), undefined);
  const failures = findHookFailures(findStore(this));
  if (flags.json) {
    this.out.json({
      ...toJson(state),
      path: checkpoint.path,
      paused: pause,
      newest:
        newest === null
          ? null
          : { id: newest.handover.id, created_at: newest.handover.created_at, status: newest.status.status },
      hook_failures: failures.map(({ message }) => message),
    });
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
      if (error !== null)
        this.out.line(yellow('error: '), error.includes(name) ? error : `${error} (${name})`);
    for (const change of changes) this.out.line(dim(`change: ${change}`));
  }
  if (pause !== null)
    this.out.line(
      yellow('paused: '),
      pause.why === null ? pause.path : `${pause.why} `,
      pause.why === null ? '' : dim(`(${pause.path})`),
    );
  if (newest !== null) {
    const { handover, status } = newest;
    const age = describeAge(this.machine.clock.now() - Date.parse(handover.created_at));
    this.out.line(`newest: ${handover.title} `, dim(`(${handover.id}, ${age}, ${status.status})`));
  }
  for (const { message } of failures) this.out.line(yellow('warning: '), message);
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

export const status: Command<CliContext> = buildCommand<CheckpointFlags, [], CliContext>({
  func: runStatus,
  parameters: {
    flags: {
      checkpoint: checkpointFlag,
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Tell how far the last run came, whether automation is paused, and what waits here' },
});
