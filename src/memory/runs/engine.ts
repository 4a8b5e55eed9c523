import { HandoverError, isErrno } from '../../errors.ts';
import { cleanLine } from '../../model/text.ts';
import { describeMachine, type Machine } from '../../platform/machine.ts';
import { findPause, type Pause, pauseError } from '../../platform/pause.ts';
import type { Checkpoint } from './checkpoint.ts';
import { parseRunTime, type RunState } from './checkpoint-file.ts';

/** What a step may build on. All of it is the same when the step is tried again after an interruption. */
export interface StepContext {
  runId: string;
  /** When the run began, in milliseconds: the time of all that it writes. */
  at: number;
  /** Names the effect of this step in this run: what was done under this name is not to be done again. */
  effect: string;
  /** What the run was given. */
  inputs: ReadonlyMap<string, string>;
}

/**
 * One thing to do. It may be done again when the process ended before its being done was recorded, so its effect should
 * carry the name it is given. A text that it returns, or promises, says what it left behind.
 */
export interface Step {
  name: string;
  run(context: StepContext): unknown;
}

export type StepEvent =
  | { kind: 'begun'; step: string; position: number; total: number }
  | { kind: 'done'; step: string; effect: string | null }
  | { kind: 'failed'; step: string };

export interface RunOptions {
  steps: readonly Step[];
  checkpoint: Checkpoint;
  /** Asked before the first write and before each step. */
  findPause?: () => Pause | null;
  onEvent?: (event: StepEvent) => void;
  /** Do all steps, whatever was done before. */
  restart?: boolean;
  /** Begin nothing: another process may have finished the run that was to go on. */
  resumeOnly?: boolean;
  inputs?: ReadonlyMap<string, string>;
}

export interface RunOutcome {
  id: string;
  /** Steps that were carried out now. */
  executed: string[];
  /** Steps that an earlier attempt had done. */
  skipped: string[];
  attempts: number;
  /** Steps that were added or taken away since the run began. */
  changes: string[];
  state: RunState;
}

/**
 * Carries out the steps that are not done yet, one after another, and records each. Ends at the first that fails. Null when
 * there was nothing to go on with, and nothing was to begin.
 */
export async function runSteps(options: RunOptions): Promise<RunOutcome | null> {
  const { steps, checkpoint } = options;
  assertNotPaused(options);
  const hold = checkpoint.hold();
  try {
    if (options.resumeOnly && checkpoint.resumeCode() !== 1) return null;
    const state = checkpoint.start(
      steps.map(({ name }) => name),
      { restart: options.restart ?? false, inputs: options.inputs ?? new Map() },
    );
    return await runPending(options, state);
  } finally {
    hold.release();
  }
}

/** That a step is done is written together with what happens next, and always before the next step begins. */
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
    checkpoint.record({ ...withFinished(), begun: step.name });
    onEvent({ kind: 'begun', step: step.name, position: index + 1, total: pending.length });
    const context = {
      runId: id,
      at: parseRunTime(started.startedAt) ?? checkpoint.machine.clock.now(),
      effect: `${id} ${step.name}`,
      inputs: started.run?.inputs ?? new Map(),
    };
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
    const failure = describeFailure(step.name, cause);
    options.checkpoint.record({ failed: { name: step.name, error: failure.message } });
    options.onEvent?.({ kind: 'failed', step: step.name });
    throw failure;
  }
}

/** A coded failure keeps its code, and so its exit status. */
function describeFailure(name: string, cause: unknown): HandoverError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const code = cause instanceof HandoverError ? cause.code : isErrno(cause) ? 'HANDOVER_IO' : null;
  const first = cause instanceof HandoverError && cause.hint !== undefined ? cause.hint : '';
  const next = first === '' ? 'Go' : `${first.replace(/\.$/, '')}. Then go`;
  return new HandoverError(
    code ?? 'HANDOVER_STEP_FAILED',
    `step "${name}" failed: ${cleanLine(why) || 'no reason was given'}`,
    { hint: `${next} on from there with: handover run --resume (and --config, if it was given)`, cause },
  );
}

function assertNotPaused({ findPause: find }: RunOptions): void {
  const pause = find?.() ?? null;
  if (pause !== null) throw pauseError(pause);
}

export interface EngineOptions {
  steps: readonly Step[];
  checkpoint: Checkpoint;
  /** `~` is the home folder. The project's and the user's own PAUSE files count as well. */
  pauseFile?: string;
  machine?: Machine;
}

/** Runs steps with a checkpoint, as the original tool's engine did. */
export class HandoverEngine {
  readonly #options: EngineOptions;

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  /** Resumes a run that was interrupted; with `resume: false` it begins anew. The names of the steps that were carried out. */
  async run(options: { resume?: boolean } = {}): Promise<string[]> {
    const { steps, checkpoint, pauseFile, machine = describeMachine() } = this.#options;
    const configured = pauseFile === undefined ? [] : [pauseFile];
    const outcome = await runSteps({
      steps,
      checkpoint,
      findPause: () => findPause(machine, machine.cwd, configured),
      restart: options.resume === false,
    });
    return outcome?.executed ?? [];
  }
}
