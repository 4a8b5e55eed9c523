import { findStore } from '../../../app/context.ts';
import { dim } from '../../../app/describe/styled-text.ts';
import { findCheckpoint } from '../../../app/runs/check.ts';
import {
  assertHasNote,
  makeSteps,
  NOTE_INPUT,
  type RunPlace,
  redactInput,
  STATE_INPUT,
} from '../../../app/runs/steps.ts';
import { HandoverError } from '../../../errors.ts';
import { Checkpoint } from '../../../memory/runs/checkpoint.ts';
import { type RunOutcome, runSteps } from '../../../memory/runs/engine.ts';
import { nameOfStep, readRunConfig } from '../../../memory/runs/run-config.ts';
import { findPause } from '../../../platform/pause.ts';
import { findProjectFolder } from '../../../platform/project-folder.ts';
import type { CliContext } from '../context.ts';
import {
  checkpointFlag,
  command,
  conflictError,
  dryRun,
  type FlagValues,
  json,
  readInputText,
  text,
  toggle,
} from '../flags.ts';

const flags = {
  config: text(
    'The file that configures the steps; default: handover.toml of the project, or your own settings',
    'file',
  ),
  note: text('What happened; - reads it from standard input'),
  currentState: text('Where things stand; default: the note'),
  checkpoint: checkpointFlag,
  noPush: toggle('Publish nothing'),
  dryRun,
  resume: toggle('Only resume an interrupted run'),
  restart: toggle('Start over, even if a run was interrupted'),
  json,
};
type RunFlags = FlagValues<typeof flags>;

export const run = command('run', runRun, { flags });

async function runRun(this: CliContext, values: RunFlags): Promise<void> {
  const { resume, restart } = values;
  if (resume && restart) throw conflictError('--resume', '--restart');
  const { machine } = this;
  const root = findProjectFolder(machine.cwd);
  const config = readRunConfig(machine, root, values.config);
  const place: RunPlace = { store: findStore(this), root, config, push: !values.noPush };
  const checkpoint = new Checkpoint(chooseCheckpoint(this, values, config.checkpoint), machine);
  if (values.dryRun) return printPlan(this, values, place, checkpoint);
  const isInterrupted = !restart && checkpoint.resumeCode() === 1;
  if (resume && !isInterrupted) return printNothing(this, values);
  const inputs = await readInputs(this, values, place);
  if (!isInterrupted) await assertHasNote(place, inputs);
  const outcome = await runSteps({
    steps: makeSteps(place),
    checkpoint,
    restart,
    resumeOnly: resume,
    inputs,
    findPause: () => findPause(machine, root, config.pauseFiles),
    onEvent: (event) => {
      if (!this.drawsProgress) return;
      if (event.kind !== 'started') this.err.redraw(null);
      else this.err.redraw(dim(`step ${event.position} of ${event.total}: ${event.step}`));
    },
  });
  if (outcome === null) printNothing(this, values);
  else print(this, outcome, values);
}

function printNothing({ out }: CliContext, values: RunFlags): void {
  if (values.json) out.json({ executed: [], resumed: false });
  else out.line('nothing to resume: no run was interrupted');
}

/** A flag, then the environment, then the configuration, then the default. */
function chooseCheckpoint({ machine }: CliContext, values: RunFlags, configured: string | null): string {
  const hasVariable = Boolean(machine.env.AGENT_HANDOVER_CHECKPOINT);
  return findCheckpoint(machine, values.checkpoint ?? (hasVariable ? undefined : (configured ?? undefined)));
}

/** They are saved with the run, so they are redacted before it starts. */
async function readInputs(context: CliContext, values: RunFlags, place: RunPlace): Promise<Map<string, string>> {
  const inputs = new Map<string, string>();
  const note = values.note === '-' ? readInputText(context, 'Write a shorter note.') : values.note;
  for (const [input, words] of [
    [NOTE_INPUT, note],
    [STATE_INPUT, values.currentState],
  ] as const) {
    if (words === undefined) continue;
    if (words.trim() === '')
      throw new HandoverError('HANDOVER_USAGE', `the ${input.replace('_', ' ')} is empty`, {
        hint: 'Pass some text, or leave the flag out. Nothing was done.',
      });
    inputs.set(input, await redactInput(place, words));
  }
  return inputs;
}

function printPlan({ out }: CliContext, values: RunFlags, { config }: RunPlace, checkpoint: Checkpoint): void {
  const steps = config.steps.map(nameOfStep);
  const backend = config.backend ?? 'none';
  if (values.json) {
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

function print({ out, err }: CliContext, outcome: RunOutcome, values: RunFlags): void {
  const { id, executed, skipped, attempts, changes } = outcome;
  if (values.json) out.json({ id, executed, skipped, attempts, changes });
  else {
    for (const change of changes) err.line(dim(change));
    if (skipped.length > 0) err.line(dim(`already done: ${skipped.join(', ')}`));
    out.line(`handover steps executed: ${executed.length === 0 ? '(none)' : executed.join(', ')}`);
  }
}
