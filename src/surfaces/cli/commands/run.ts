import { buildCommand, type Command } from '@stricli/core';
import {
  assertHasNote,
  makeSteps,
  NOTE_INPUT,
  type RunPlace,
  redactSaid,
  STATE_INPUT,
} from '../../../app/runs/steps.ts';
import { HandoverError } from '../../../errors.ts';
import { Checkpoint } from '../../../memory/runs/checkpoint.ts';
import { type RunOutcome, runSteps, type StepEvent } from '../../../memory/runs/engine.ts';
import { nameOfStep, readRunConfig } from '../../../memory/runs/run-config.ts';
import { findPause } from '../../../platform/pause.ts';
import { findProjectFolder } from '../../../platform/project-file.ts';
import { findCheckpoint } from '../check-now.ts';
import { type CliContext, findStore, refuseBoth } from '../context.ts';
import { dim } from '../output.ts';
import { checkpointFlag } from './check.ts';

export interface RunFlags {
  config?: string;
  note?: string;
  currentState?: string;
  checkpoint?: string;
  noPush: boolean;
  dryRun: boolean;
  resume: boolean;
  restart: boolean;
  json: boolean;
}

const text = (input: string): string => input;
const one = (brief: string, placeholder: string) =>
  ({ kind: 'parsed', parse: text, optional: true, brief, placeholder }) as const;
const yes = (brief: string) => ({ kind: 'boolean', default: false, withNegated: false, brief }) as const;

export const run: Command<CliContext> = buildCommand<RunFlags, [], CliContext>({
  func: runRun,
  parameters: {
    flags: {
      config: one(
        'Declares the steps; the project’s handover.toml, or your own settings, if left out',
        'file',
      ),
      note: one('What happened; - reads it from standard input', 'text'),
      currentState: one('Where things stand; the note if left out', 'text'),
      checkpoint: checkpointFlag,
      noPush: yes('Send nothing anywhere'),
      dryRun: yes('Only say what would be done'),
      resume: yes('Only go on with a run that was interrupted'),
      restart: yes('Begin anew, even if a run was interrupted'),
      json: yes('Print JSON'),
    },
  },
  docs: { brief: 'Carry out the declared steps, going on where an interrupted run ended' },
});

const MAX_INPUT_BYTES = 2 * 1024 * 1024;

export async function runRun(this: CliContext, flags: RunFlags): Promise<void> {
  if (flags.resume && flags.restart) throw refuseBoth('--resume', '--restart');
  const { machine } = this;
  const root = findProjectFolder(machine.cwd);
  const config = readRunConfig(machine, root, flags.config);
  const place: RunPlace = { store: findStore(this), root, config, push: !flags.noPush };
  const checkpoint = new Checkpoint(chooseCheckpoint(this, flags, config.checkpoint), machine);
  if (flags.dryRun) {
    printPlan(this, flags, { place, checkpoint });
    return;
  }
  const isInterrupted = !flags.restart && checkpoint.resumeCode() === 1;
  if (flags.resume && !isInterrupted) {
    printNothing(this, flags);
    return;
  }
  const inputs = await readInputs(this, flags, place);
  if (!isInterrupted) await assertHasNote(place, inputs);
  const outcome = await runSteps({
    steps: makeSteps(place),
    checkpoint,
    restart: flags.restart,
    resumeOnly: flags.resume,
    inputs,
    findPause: () => findPause(machine, root, config.pauseFiles),
    onEvent: drawProgress(this),
  });
  if (outcome === null) printNothing(this, flags);
  else print(this, outcome, flags);
}

function printNothing({ out }: CliContext, { json }: RunFlags): void {
  if (json) out.json({ executed: [], resumed: false });
  else out.line('no run was interrupted: nothing to go on with');
}

/** A flag, then the environment, then the declaration, then the usual place. */
function chooseCheckpoint({ machine }: CliContext, flags: RunFlags, declared: string | null): string {
  const variable = machine.env.AGENT_HANDOVER_CHECKPOINT;
  return findCheckpoint(
    machine.cwd,
    flags.checkpoint ?? (variable ? undefined : (declared ?? undefined)),
    variable,
  );
}

/** They are kept with the run, so they are redacted before it begins. */
async function readInputs(
  context: CliContext,
  flags: RunFlags,
  place: RunPlace,
): Promise<Map<string, string>> {
  const inputs = new Map<string, string>();
  const note = flags.note === '-' ? readNote(context) : flags.note;
  for (const [input, text] of [
    [NOTE_INPUT, note],
    [STATE_INPUT, flags.currentState],
  ] as const) {
    if (text === undefined) continue;
    if (text.trim() === '') throw refuseEmpty(input);
    inputs.set(input, await redactSaid(place, text));
  }
  return inputs;
}

function refuseEmpty(input: string): HandoverError {
  return new HandoverError('HANDOVER_USAGE', `the ${input.replace('_', ' ')} that was given is empty`, {
    hint: 'Give a text, or leave the flag out. Nothing was done.',
  });
}

function readNote(context: CliContext): string {
  const text = context.readInput(MAX_INPUT_BYTES);
  if (text !== null) return text;
  throw new HandoverError(
    'HANDOVER_TEXT_TOO_LARGE',
    `standard input has more than ${MAX_INPUT_BYTES} bytes`,
    {
      hint: 'Give a shorter note.',
    },
  );
}

function printPlan(
  { out }: CliContext,
  flags: RunFlags,
  { place, checkpoint }: { place: RunPlace; checkpoint: Checkpoint },
): void {
  const { config } = place;
  const steps = config.steps.map(nameOfStep);
  const backend = config.backend ?? 'none';
  if (flags.json) {
    const { memoryDir, tag, path } = config;
    out.json({ config: path, memory_dir: memoryDir, tag, checkpoint: checkpoint.path, backend, steps });
    return;
  }
  out.line(`memory_dir: ${config.memoryDir}`);
  out.line(`tag: ${config.tag}`);
  out.line(`checkpoint: ${checkpoint.path}`);
  out.line(`backend: ${backend}`);
  out.line(`steps: ${steps.join(', ')}`);
}

function drawProgress({ err, drawsProgress }: CliContext): (event: StepEvent) => void {
  return (event) => {
    if (!drawsProgress) return;
    if (event.kind === 'begun') err.redraw(dim(`step ${event.position} of ${event.total}: ${event.step}`));
    else err.redraw(null);
  };
}

function print({ out, err }: CliContext, outcome: RunOutcome, flags: RunFlags): void {
  const { id, executed, skipped, attempts, changes } = outcome;
  if (flags.json) {
    out.json({ id, executed, skipped, attempts, changes });
    return;
  }
  for (const change of changes) err.line(dim(change));
  if (skipped.length > 0) err.line(dim(`done before: ${skipped.join(', ')}`));
  out.line(`handover steps executed: ${executed.length === 0 ? '(none)' : executed.join(', ')}`);
}
