import { HandoverError, isErrno } from '../../errors.ts';
import { cleanLine } from '../../model/text.ts';
import { describeMachine, type Machine } from '../../platform/machine.ts';
import { findPause, type Pause, pauseError } from '../../platform/pause.ts';
import type { Checkpoint } from './checkpoint.ts';
import { parseRunTime, type RunState } from './checkpoint-file.ts';

/** The same for every attempt at a step. */
export interface StepContext {
  runId: string;
  /** Start of the run, in milliseconds: the time of everything it writes. */
  at: number;
  /** Idempotency key of this step in this run. */
  effect: string;
  inputs: ReadonlyMap<string, string>;
}

/** Must be idempotent by `effect`: it may run again after a kill. A string that it returns says what it produced. */
export interface Step {
  name: string;
  run(context: StepContext): unknown;
}

export type StepEvent =
  | { kind: 'started'; step: string; position: number; total: number }
  | { kind: 'done'; step: string; effect: string | null }
  | { kind: 'failed'; step: string };

export interface RunOptions {
  steps: readonly Step[];
  checkpoint: Checkpoint;
  /** Called before the first write and before each step. */
  findPause?: () => Pause | null;
  onEvent?: (event: StepEvent) => void;
  /** Run all steps again. */
  restart?: boolean;
  /** Do not start a new run, even if another process has finished the interrupted one meanwhile. */
  resumeOnly?: boolean;
  inputs?: ReadonlyMap<string, string>;
}

export interface RunOutcome {
  id: string;
  /** Steps run now. */
  executed: string[];
  /** Steps done by an earlier attempt. */
  skipped: string[];
  attempts: number;
  /** Steps added or removed since the run started. */
  changes: string[];
  state: RunState;
}

/** Runs the pending steps in order, and stops at the first that fails. Null when `resumeOnly` found nothing to resume. */
export async function runSteps(options: RunOptions): Promise<RunOutcome | null> {
  const { steps, checkpoint } = options;
  assertNotPaused(options);
  const hold = checkpoint.hold();
  try {
    if (options.resumeOnly && checkpoint.resumeCode() !== 1) return null;
    const { restart = false, inputs = new Map() } = options;
    const names = steps.map(({ name }) => name);
    return await runPending(options, checkpoint.start(names, { restart, inputs }));
  } finally {
    hold.release();
  }
}

/** A step's completion is written together with the start of the next one, in one write. */
async function runPending(options: RunOptions, started: RunState): Promise<RunOutcome> {
  const { steps, checkpoint, onEvent = () => undefined } = options;
  const id = started.run?.id ?? 'unknown';
  const pending = steps.filter(({ name }) => started.steps.get(name) !== 'done');
  let finished: { name: string; effect: string | null } | undefined;
  const withFinished = () => (finished === undefined ? {} : { done: finished });
  for (const [index, step] of pending.entries()) {
    try {
      assertNotPaused(options);
    } catch (error) {
      if (finished !== undefined) checkpoint.record(withFinished());
      throw error;
    }
    checkpoint.record({ ...withFinished(), started: step.name });
    onEvent({ kind: 'started', step: step.name, position: index + 1, total: pending.length });
    const at = parseRunTime(started.startedAt) ?? checkpoint.machine.clock.now();
    const context = { runId: id, at, effect: `${id} ${step.name}`, inputs: started.run?.inputs ?? new Map() };
    finished = { name: step.name, effect: await attempt(options, step, context) };
    onEvent({ kind: 'done', step: step.name, effect: finished.effect });
  }
  const state = checkpoint.record({ ...withFinished(), completed: true });
  return {
    id,
    executed: pending.map(({ name }) => name),
    skipped: steps.filter((step) => !pending.includes(step)).map(({ name }) => name),
    attempts: started.run?.attempts ?? 1,
    changes: started.run?.changes ?? [],
    state,
  };
}

async function attempt(options: RunOptions, step: Step, context: StepContext): Promise<string | null> {
  try {
    const result = await step.run(context);
    return typeof result === 'string' ? result : null;
  } catch (cause) {
    const failure = stepError(step.name, cause);
    options.checkpoint.record({ failed: { name: step.name, error: failure.message } });
    options.onEvent?.({ kind: 'failed', step: step.name });
    throw failure;
  }
}

/** Keeps the code of a coded error, and so its exit status. */
function stepError(name: string, cause: unknown): HandoverError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const code = isErrno(cause) ? 'HANDOVER_IO' : 'HANDOVER_STEP_FAILED';
  const first = cause instanceof HandoverError ? cause.hint : undefined;
  const next = first ? `${first.replace(/\.$/, '')}. Then continue` : 'Continue';
  const hint = `${next} with: handover run --resume (and --config, if you used it)`;
  const message = `step "${name}" failed: ${cleanLine(why) || 'no reason was given'}`;
  return new HandoverError(cause instanceof HandoverError ? cause.code : code, message, { hint, cause });
}

function assertNotPaused({ findPause: find }: RunOptions): void {
  const pause = find?.() ?? null;
  if (pause !== null) throw pauseError(pause);
}

export interface EngineOptions {
  steps: readonly Step[];
  checkpoint: Checkpoint;
  /** `~` is the home folder. The project's and the user's PAUSE files count as well. */
  pauseFile?: string;
  machine?: Machine;
}

/** Runs steps with a checkpoint, with the interface of the original tool. */
export class HandoverEngine {
  readonly #options: EngineOptions;

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  /** Resumes an interrupted run, or with `resume: false` starts over. Returns the names of the steps it ran. */
  async run(options: { resume?: boolean } = {}): Promise<string[]> {
    const { steps, checkpoint, pauseFile, machine = describeMachine() } = this.#options;
    const files = pauseFile === undefined ? [] : [pauseFile];
    const find = (): Pause | null => findPause(machine, machine.cwd, files);
    const restart = options.resume === false;
    return (await runSteps({ steps, checkpoint, findPause: find, restart }))?.executed ?? [];
  }
}
