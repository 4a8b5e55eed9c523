import { basename, dirname, resolve } from 'node:path';
import { HandoverError, isErrno } from '../../errors.ts';
import { makeHandoverId } from '../../model/id.ts';
import { cleanLine, cutToBytes } from '../../model/text.ts';
import { moveFileDurably } from '../../platform/durable-file.ts';
import { acquireLock, type Lock } from '../../platform/lock.ts';
import { describeMachine, type Machine } from '../../platform/machine.ts';
import {
  ensureLockFolder,
  ensureProjectFolder,
  readProjectFile,
  writeProjectFile,
} from '../../platform/project-file.ts';
import { pathOfCheckpoint } from '../../platform/project-folder.ts';
import * as checkpointFile from './checkpoint-file.ts';
import type { ResumeCode } from './resume-code.ts';

const MAX_BYTES = 4 * 1024 * 1024;
const MAX_ERROR_BYTES = 500;
const LOCK_WAIT_MS = 60_000;
/** A step may take hours, perhaps on another machine. */
const STALE_LOCK_MS = 24 * 60 * 60 * 1000;

const NEW_RECORD = { attempts: 0, started_at: null, finished_at: null, error: null, effect: null };

const RESUME_CODES = { none: 0, in_progress: 1, completed: 2 } as const;

interface StartOptions {
  /** Start over, even if a run was interrupted. */
  restart?: boolean;
  /** Kept with the run, so that resuming does not need them again. */
  inputs?: ReadonlyMap<string, string>;
}

interface StepNews {
  done?: { name: string; effect?: string | null };
  failed?: { name: string; error: string };
  started?: string;
  /** An error while a step is pending. */
  completed?: boolean;
}

/** The progress of a run, in a JSON file that the original tool reads too. Changes are atomic, durable and locked. */
export class Checkpoint {
  readonly path: string;
  readonly machine: Machine;
  #isHeld = false;

  constructor(path: string = pathOfCheckpoint('.'), machine: Machine = describeMachine()) {
    this.path = resolve(machine.cwd, path);
    this.machine = machine;
  }

  /** A missing file means no run; a damaged one is an error. */
  load(): checkpointFile.RunState {
    try {
      const bytes = readProjectFile(this.path, MAX_BYTES);
      return bytes === null ? checkpointFile.NO_RUN : checkpointFile.parseCheckpoint(bytes.toString('utf8'), this.path);
    } catch (cause) {
      if (!isErrno(cause) && !(cause instanceof HandoverError)) throw cause;
      if (cause.code === 'HANDOVER_CHECKPOINT_DAMAGED') throw cause;
      const message = `the checkpoint ${this.path} cannot be read (${isErrno(cause) ? cause.code : cause.message})`;
      const hint = 'Check that it is a file and that you may read it.';
      throw new HandoverError('HANDOVER_CHECKPOINT_UNREADABLE', message, { hint, cause });
    }
  }

  /** Or resumes an interrupted run: done steps stay done; `changes` lists steps that were added or dropped. */
  start(names: readonly string[], options: StartOptions = {}): checkpointFile.RunState {
    for (const name of names) checkpointFile.assertStepName(name);
    const twice = checkpointFile.findDuplicate(names);
    if (twice !== undefined)
      throw new HandoverError('HANDOVER_INPUT_INVALID', `two steps have the same name, "${twice}"`, {
        hint: 'Give each step its own name.',
      });
    return this.#withLock(() => {
      const before = options.restart ? this.#setAside() : this.load();
      const fresh = this.#begin(names, options.inputs ?? new Map());
      return this.#write(before.status === 'in_progress' ? continueRun(before, fresh) : fresh);
    });
  }

  markDone(name: string, effect: string | null = null): checkpointFile.RunState {
    return this.record({ done: { name, effect } });
  }

  complete(): checkpointFile.RunState {
    return this.record({ completed: true });
  }

  pendingSteps(): string[] {
    return listPending(this.load());
  }

  resumeCode(): ResumeCode {
    return RESUME_CODES[this.load().status];
  }

  /** Records several events in one write. */
  record(news: StepNews): checkpointFile.RunState {
    for (const name of [news.done?.name, news.failed?.name, news.started])
      if (name !== undefined) checkpointFile.assertStepName(name);
    return this.#withLock(() =>
      this.#write(applyNews(this.load(), news, checkpointFile.formatRunTime(this.machine.clock.now()))),
    );
  }

  /** Exclusive until released, so that no step is run by two processes. Fails at once while another holds it. */
  hold(): { release(): void } {
    const lock = this.#acquire(0);
    this.#isHeld = true;
    return {
      release: () => {
        this.#isHeld = false;
        lock.release();
      },
    };
  }

  #begin(names: readonly string[], inputs: ReadonlyMap<string, string>): checkpointFile.RunState {
    const now = this.machine.clock.now();
    const id = makeHandoverId(now, this.machine.random.bytes(3));
    return {
      status: 'in_progress',
      steps: new Map(names.map((name) => [name, 'pending'])),
      startedAt: checkpointFile.formatRunTime(now),
      finishedAt: null,
      run: { id, attempts: 1, steps: new Map(), changes: [], inputs: new Map(inputs) },
    };
  }

  /** A damaged checkpoint is renamed and kept. */
  #setAside(): checkpointFile.RunState {
    try {
      this.load();
    } catch (error) {
      if (!(error instanceof HandoverError) || error.code !== 'HANDOVER_CHECKPOINT_DAMAGED') throw error;
      const time = checkpointFile.formatRunTime(this.machine.clock.now()).replace(/[:.+]/g, '');
      moveFileDurably(this.path, `${this.path}.damaged-${time}`);
    }
    return checkpointFile.NO_RUN;
  }

  #write(state: checkpointFile.RunState): checkpointFile.RunState {
    writeProjectFile(this.path, checkpointFile.formatCheckpoint(state));
    return state;
  }

  #withLock<T>(work: () => T): T {
    if (this.#isHeld) return work();
    const lock = this.#acquire(LOCK_WAIT_MS);
    try {
      return work();
    } finally {
      lock.release();
    }
  }

  #acquire(waitMs: number): Lock {
    const folder = dirname(this.path);
    const locks = ensureLockFolder(ensureProjectFolder(dirname(folder), basename(folder)));
    const { clock } = this.machine;
    return acquireLock({ folder: locks, name: 'checkpoint', waitMs, clock, staleMs: STALE_LOCK_MS });
  }
}

/** The interrupted run with the steps and inputs of the new one. */
function continueRun(before: checkpointFile.RunState, fresh: checkpointFile.RunState): checkpointFile.RunState {
  if (fresh.run === null) return before;
  const added = [...fresh.steps.keys()].filter((name) => !before.steps.has(name));
  const removed = [...before.steps.keys()].filter((name) => !fresh.steps.has(name));
  const run = before.run ?? fresh.run;
  return {
    ...before,
    startedAt: before.startedAt ?? fresh.startedAt,
    steps: new Map([...fresh.steps.keys()].map((name) => [name, before.steps.get(name) ?? 'pending'])),
    run: {
      ...run,
      attempts: run.attempts + 1,
      inputs: new Map([...run.inputs, ...fresh.run.inputs]),
      changes: [
        ...run.changes,
        ...added.map((name) => `step "${name}" was added, and is to be done`),
        ...removed.map((name) => {
          const isDone = before.steps.get(name) === 'done';
          return `step "${name}" was taken away, ${isDone ? 'after it had been done' : 'and had not been done'}`;
        }),
      ],
    },
  };
}

export function listPending({ steps }: checkpointFile.RunState): string[] {
  return [...steps].filter(([, state]) => state !== 'done').map(([name]) => name);
}

function applyNews(before: checkpointFile.RunState, news: StepNews, now: string): checkpointFile.RunState {
  const steps = new Map(before.steps);
  const records = new Map(before.run?.steps ?? []);
  const change = (name: string, to: Partial<checkpointFile.StepRecord>): void => {
    records.set(name, { ...(records.get(name) ?? NEW_RECORD), ...to });
  };
  if (news.done !== undefined) {
    const { name, effect = null } = news.done;
    steps.set(name, 'done');
    change(name, { finished_at: now, error: null, effect });
  }
  if (news.failed !== undefined)
    change(news.failed.name, { error: cutToBytes(cleanLine(news.failed.error), MAX_ERROR_BYTES) });
  if (news.started !== undefined) {
    const attempts = (records.get(news.started)?.attempts ?? 0) + 1;
    change(news.started, { attempts, started_at: now, error: null });
  }
  const state: checkpointFile.RunState = {
    ...before,
    status: before.status === 'none' ? 'in_progress' : before.status,
    startedAt: before.startedAt ?? now,
    steps,
    run: before.run === null ? null : { ...before.run, steps: records },
  };
  if (!news.completed) return state;
  const pending = listPending(state);
  const run = state.run === null ? null : { ...state.run, inputs: new Map() };
  if (pending.length === 0) return { ...state, status: 'completed', finishedAt: now, run };
  throw new HandoverError('HANDOVER_INPUT_INVALID', `the run is not finished; pending steps: ${pending.join(', ')}`, {
    hint: 'Mark each step done before completing the run.',
  });
}
