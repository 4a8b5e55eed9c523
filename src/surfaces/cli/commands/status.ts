import { findStore } from '../../../app/context.ts';
import { describeHeld, listHolding, printHeld } from '../../../app/describe/held-task.ts';
import { dim, yellow } from '../../../app/describe/styled-text.ts';
import { findHookFailures } from '../../../app/doctor.ts';
import { findRestoreCandidate, type RestoreCandidate } from '../../../app/restore.ts';
import { findCheckpoint } from '../../../app/runs/check.ts';
import type { RemoteStatus } from '../../../app/sync.ts';
import { Checkpoint, listPending } from '../../../memory/runs/checkpoint.ts';
import type { RunState } from '../../../memory/runs/checkpoint-file.ts';
import { countNouns } from '../../../model/text.ts';
import { describeAge, lastWorkOf } from '../../../model/time.ts';
import { pathExists } from '../../../platform/folders.ts';
import { pathOfRemotes } from '../../../platform/paths.ts';
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
  const remotes = await findRemotes(this);
  const store = findStore(this);
  const failures = findHookFailures(store);
  const held = listHolding(store);
  if (values.json) {
    return this.out.json({
      ...toJson(state),
      path: checkpoint.path,
      paused: pause,
      newest: newest === null ? null : describeNewest(newest),
      hook_failures: failures.map(({ message }) => message),
      remotes: remotes.map(({ waiting, ...remote }) => ({ ...remote, waiting: waiting.length })),
      ...(held.length === 0 ? {} : { held: held.map((one) => describeHeld(store, one)) }),
    });
  }
  this.out.line(state.status === 'none' ? 'no run yet' : `status: ${state.status}`);
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
    const ageOf = (at: string): string => describeAge(this.machine.clock.now() - Date.parse(at));
    const noted = handover.noted_at === undefined ? '' : `, with a note saved by hand ${ageOf(handover.noted_at)}`;
    const age = `${ageOf(lastWorkOf(handover))}${noted}`;
    this.out.line(`newest: ${handover.title} `, dim(`(${handover.id}, ${age}, ${entry.status})`));
  }
  for (const { name, last_sync, unsent, missing, ...remote } of remotes) {
    const waiting = remote.waiting.filter(({ why }) => why !== 'revoked');
    const age = last_sync === null ? null : describeAge(this.machine.clock.now() - Date.parse(last_sync));
    const about = [
      age === null ? 'never synced' : `${unsent + missing === 0 ? 'in step, ' : ''}synced ${age}`,
      ...(unsent === 0 ? [] : [`${countNouns(unsent, 'change')} here not sent yet`]),
      ...(waiting.length === 0 ? [] : [`waits for you to trust ${waiting.map((one) => one.name).join(', ')}`]),
      ...(missing === 0 ? [] : [`lacks ${countNouns(missing, 'piece')} of what others sent`]),
    ];
    this.out.line(`remote: ${name} `, dim(`(${about.join('; ')})`));
  }
  for (const one of held) this.out.line(...printHeld(store, one));
  for (const { message } of failures) this.out.line(yellow('warning: '), message);
}

/** Nothing of syncing is loaded where there is no remote. */
async function findRemotes(context: CliContext): Promise<RemoteStatus[]> {
  if (!pathExists(pathOfRemotes(context.machine))) return [];
  const { listRemoteStatuses } = await import('../../../app/sync.ts');
  return listRemoteStatuses(findStore(context));
}

function describeNewest({ handover, status }: RestoreCandidate): Record<string, unknown> {
  const { id, created_at } = handover;
  return { id, created_at, worked_at: lastWorkOf(handover), status: status.status };
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
