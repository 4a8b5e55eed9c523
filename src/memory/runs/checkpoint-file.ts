import * as v from 'valibot';
import { HandoverError } from '../../errors.ts';
import { parseJson } from '../../model/json.ts';
import { clampTime } from '../../model/time.ts';

const TextOrNull = v.fallback(v.nullable(v.string()), null);
const StepRecord = v.object({
  attempts: v.fallback(v.number(), 0),
  started_at: TextOrNull,
  finished_at: TextOrNull,
  /** Of the last attempt, if it failed. */
  error: TextOrNull,
  /** What the step produced: a path, an id. */
  effect: TextOrNull,
});
export type StepRecord = v.InferOutput<typeof StepRecord>;

/** Unknown to the original tool, which keeps it when it marks a step and drops it when it starts a run. */
const RunRecord = v.object({
  id: v.string(),
  attempts: v.fallback(v.number(), 1),
  steps: v.fallback(v.record(v.string(), StepRecord), {}),
  /** Steps added or removed between attempts. */
  changes: v.fallback(v.array(v.string()), []),
  /** What the run was started with, so that it can be resumed without it. */
  inputs: v.fallback(v.record(v.string(), v.string()), {}),
});

const CheckpointFile = v.looseObject({
  status: v.picklist(['none', 'in_progress', 'completed']),
  steps: v.record(v.string(), v.picklist(['pending', 'done'])),
  started_at: v.nullish(v.string(), null),
  finished_at: v.nullish(v.string(), null),
  run: v.fallback(v.nullish(RunRecord, null), null),
});

export interface RunState {
  status: 'none' | 'in_progress' | 'completed';
  /** In the order of the file, which is the order of the run. */
  steps: Map<string, 'pending' | 'done'>;
  startedAt: string | null;
  finishedAt: string | null;
  run: RunDetails | null;
}

interface RunDetails extends Omit<v.InferOutput<typeof RunRecord>, 'steps' | 'inputs'> {
  steps: Map<string, StepRecord>;
  inputs: Map<string, string>;
}

const NO_TIMES = { startedAt: null, finishedAt: null };
export const NO_RUN: RunState = { status: 'none', steps: new Map(), ...NO_TIMES, run: null };

/** `path` is for error messages. */
export function parseCheckpoint(text: string, path: string): RunState {
  const result = v.safeParse(CheckpointFile, parseFileJson(text, path));
  if (!result.success) {
    const [issue] = result.issues;
    throw damagedError(path, `${v.getDotPath(issue) ?? 'the whole'}: ${issue.message}`);
  }
  const { status, steps, started_at: startedAt, finished_at: finishedAt, run } = result.output;
  const toMap = <T>(record: Record<string, T>): Map<string, T> => new Map(Object.entries(record));
  const details = run === null ? null : { ...run, steps: toMap(run.steps), inputs: toMap(run.inputs) };
  return { status, steps: toMap(steps), startedAt, finishedAt, run: details };
}

function parseFileJson(text: string, path: string): unknown {
  try {
    return parseJson(text, 'it', { maxBytes: 4 * 1024 * 1024, maxDepth: 16 });
  } catch (error) {
    if (error instanceof HandoverError) throw damagedError(path, error.message, error);
    throw error;
  }
}

function damagedError(path: string, wrong: string, cause?: unknown): HandoverError {
  return new HandoverError('HANDOVER_CHECKPOINT_DAMAGED', `the checkpoint ${path} is damaged (${wrong})`, {
    hint: 'Look at the file. To start over and keep a copy of it: handover run --restart',
    cause,
  });
}

/** Keys and layout of the original's file, without a final newline; what it does not know comes last. */
export function formatCheckpoint({ status, steps, startedAt, finishedAt, run }: RunState): string {
  const file = {
    status,
    steps: Object.fromEntries(steps),
    started_at: startedAt,
    finished_at: finishedAt,
    ...(run === null ? {} : { run: toPlain(run) }),
  };
  return JSON.stringify(file, null, 2);
}

function toPlain({ steps, inputs, ...rest }: RunDetails): object {
  return { ...rest, steps: Object.fromEntries(steps), inputs: Object.fromEntries(inputs) };
}

/** ISO 8601 with microseconds and an offset, as the original writes it. */
export function formatRunTime(ms: number): string {
  return new Date(clampTime(ms)).toISOString().replace('Z', '000+00:00');
}

/** Null when the text is not a time. */
export function parseRunTime(text: string | null): number | null {
  const ms = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}

export function findDuplicate(names: readonly string[]): string | undefined {
  return names.find((name, at) => names.indexOf(name) !== at);
}

const MAX_NAME = 100;

/** Only names that keep their position as keys of a JavaScript object are accepted. */
export function assertStepName(name: string): void {
  const isPlain = /\p{L}/u.test(name) && !/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(name);
  if (isPlain && name.length <= MAX_NAME && name !== '__proto__') return;
  throw new HandoverError('HANDOVER_INPUT_INVALID', `${JSON.stringify(name.slice(0, MAX_NAME))} cannot name a step`, {
    hint: `A name needs a letter, has no control characters, and has at most ${MAX_NAME} characters.`,
  });
}
