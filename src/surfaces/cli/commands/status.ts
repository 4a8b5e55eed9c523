import { findStore } from '../../../app/context.ts';
import { dim, yellow } from '../../../app/describe/styled-text.ts';
import { findHookFailures } from '../../../app/doctor.ts';
import { findRestoreCandidate } from '../../../app/restore.ts';
import { findCheckpoint } from '../../../app/runs/check.ts';
import { Checkpoint, listPending } from '../../../memory/runs/checkpoint.ts';
import type { RunState } from '../../../memory/runs/checkpoint-file.ts';
import { describeAge } from '../../../model/time.ts';
import { findPause } from '../../../platform/pause.ts';
import { describePlace } from '../../../platform/project.ts';
import { findProjectFolder } from '../../../platform/project-folder.ts';
import type { CliContext } from '../context.ts';
import { checkpointFlag, command, type FlagValues, json } from '../flags.ts';

const flags = { checkpoint: checkpointFlag, json };

export const status = command('status', runStatus, { flags });

/** The first lines are those of the original tool; what it did not know follows. */
async function runStatus(this: CliContext, values: FlagValues<typeof flags>): Promise<void> {
  const { machine } = this;
  const checkpoint = new Checkpoint(findCheckpoint(machine, values.checkpoint), machine);
  const state = checkpoint.load();
  const pause = findPause(machine, findProjectFolder(machine.cwd));
  const newest = await findRestoreCandidate(this, describePlace('.', machine), undefined);
  const failures = findHookFailures(findStore(this));
  if (values.json) {
    const { id, created_at } = newest?.handover ?? {};
    return this.out.json({
      ...toJson(state),
      path: checkpoint.path,
      paused: pause,
      newest: newest === null ? null : { id, created_at, status: newest.status.status },
      hook_failures: failures.map(({ message }) => message),
    });
  }
  this.out.line(`status: ${state.status}`);
  for (const [name, step] of state.steps) this.out.line(`  [${step === 'done' ? 'x' : ' '}] ${name}`);
  const pending = listPending(state);
  if (state.status === 'in_progress' && pending.length > 0) this.out.line(`pending: ${pending.join(', ')}`);
  if (state.run !== null) {
    const { id, attempts, steps, changes } = state.run;
    this.out.line(dim(`run: ${id}, attempt ${attempts}, started ${state.startedAt ?? 'at an unknown time'}`));
    for (const [name, { error }] of steps)
      if (error !== null) this.out.line(yellow('error: '), error.includes(name) ? error : `${error} (${name})`);
    for (const change of changes) this.out.line(dim(`change: ${change}`));
  }
  if (pause !== null) {
    const { why, path } = pause;
    this.out.line(yellow('paused: '), ...(why === null ? [path] : [`${why} `, dim(`(${path})`)]));
  }
  if (newest !== null) {
    const { handover, status: entry } = newest;
    const age = describeAge(this.machine.clock.now() - Date.parse(handover.created_at));
    this.out.line(`newest: ${handover.title} `, dim(`(${handover.id}, ${age}, ${entry.status})`));
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
