import { relative, resolve } from 'node:path';
import { HandoverError, usageError } from '../../errors.ts';
import { compactMemory } from '../../memory/compact.ts';
import type { Memory } from '../../memory/read-memory.ts';
import type { Step, StepContext } from '../../memory/runs/engine.ts';
import { nameOfStep, type RunConfig, type StepDeclaration } from '../../memory/runs/run-config.ts';
import { addNote, replaceState } from '../../memory/write-memory.ts';
import type { Handover } from '../../model/handover.ts';
import { pathOfUserConfig } from '../../platform/paths.ts';
import { expandTilde } from '../../platform/pause.ts';
import { readPublishSettings } from '../../platform/publish-settings.ts';
import type { Store } from '../../store/store.ts';

export const NOTE_INPUT = 'note';
export const STATE_INPUT = 'current_state';

export interface RunPlace {
  store: Store;
  root: string;
  config: RunConfig;
  /** Whether anything may be sent from this machine. */
  push: boolean;
}

export function makeSteps(place: RunPlace): Step[] {
  return place.config.steps.map((declared) => ({
    name: nameOfStep(declared),
    run: (context) => runStep(place, declared, context),
  }));
}

/** Returns what the step produced, for the checkpoint. What a step needs is loaded only when it runs. */
async function runStep(place: RunPlace, declared: StepDeclaration, context: StepContext): Promise<string | null> {
  const { store, root } = place;
  switch (declared.kind) {
    case 'collect': {
      const { collectSession } = await import('./handover-steps.ts');
      return await collectSession(store, await findProjectId(place), declared.agent);
    }
    case 'note':
      return await writeNote(place, declared.text, context);
    case 'current_state':
      return await writeState(place, declared.text, context);
    case 'snapshot': {
      const { writeHandoffFile } = await import('../../memory/handoff-file.ts');
      return showPath(place, await writeHandoffFile(store, root, { mode: declared.mode ?? 'run', at: context.at }));
    }
    case 'compact':
      compactMemory(memoryOf(place), { at: context.at });
      return null;
    case 'export': {
      const { exportNewest } = await import('./handover-steps.ts');
      const path = resolve(root, expandTilde(declared.output, store.machine));
      await exportNewest({ store, root, project: await findProjectId(place), path }, declared, context);
      return declared.output;
    }
    case 'publish':
      return await publish(place);
    case 'command':
      return await runCommand(place, declared, context);
  }
}

/** The text that was given, else the declared one, else the newest handover. */
async function writeNote(
  place: RunPlace,
  declared: string | undefined,
  { at, effect, inputs }: StepContext,
): Promise<string> {
  const text = inputs.get(NOTE_INPUT) ?? declared ?? place.config.note ?? (await describeNewest(place));
  const note = { text: await redactInput(place, text), tag: place.config.tag, at, effect };
  return showPath(place, addNote(memoryOf(place), 1, note));
}

/** Without a state of its own the note is the state, as in the original tool. */
async function writeState(
  place: RunPlace,
  declared: string | undefined,
  { at, effect, inputs }: StepContext,
): Promise<string> {
  const { currentState, note } = place.config;
  const given = inputs.get(STATE_INPUT) ?? declared ?? currentState ?? inputs.get(NOTE_INPUT) ?? note;
  const text = await redactInput(place, given ?? (await describeNewest(place)));
  return showPath(place, replaceState(memoryOf(place), { text, at, effect }));
}

/** Redacts the texts that a run gets as input. Must be called before they are written anywhere. */
export async function redactInput({ store, root }: Pick<RunPlace, 'store' | 'root'>, text: string): Promise<string> {
  const { openRedactor } = await import('../../redact/open-redactor.ts');
  return openRedactor(store.machine, { folder: root, makesKey: true }).redactText(text);
}

async function describeNewest(place: RunPlace): Promise<string> {
  const handover = await findNewest(place);
  const { printHandoverNote } = await import('../../memory/handoff-file.ts');
  if (handover !== null) return printHandoverNote(handover);
  throw nothingToNoteError();
}

async function findNewest(place: RunPlace): Promise<Handover | null> {
  const { findNewestHandover } = await import('../../store/find-handover.ts');
  return await findNewestHandover(place.store, await findProjectId(place));
}

/** Throws when a step would have no text to write. Called before a run, so that it does not fail halfway. */
export async function assertHasNote(place: RunPlace, inputs: ReadonlyMap<string, string>): Promise<void> {
  const { steps, note } = place.config;
  const isOpen = (step: StepDeclaration): boolean =>
    (step.kind === 'note' || step.kind === 'current_state') && step.text === undefined;
  if (!steps.some(isOpen) || inputs.has(NOTE_INPUT) || note !== null) return;
  if (steps.some(({ kind }) => kind === 'collect') || (await findNewest(place)) !== null) return;
  throw nothingToNoteError();
}

function nothingToNoteError(): HandoverError {
  return usageError(
    'there is nothing to write in the note',
    'Describe what happened: handover run --note "what happened"',
  );
}

/** Done only when everything has been published. */
async function publish({ store, root, config, push }: RunPlace): Promise<string> {
  const { machine } = store;
  if (config.backend === 'none') return 'off';
  const { publishProject } = await import('../../exchange/publish/publish-project.ts');
  if (config.backend === 'git' && readPublishSettings(root, machine).backend === undefined) {
    const message = `${config.path} asks to publish by git, but your own settings do not`;
    const hint = `To allow it, write these two lines into ${pathOfUserConfig(machine)}: [publish] and backend = "git"`;
    throw new HandoverError('HANDOVER_PUBLISH_UNCONFIGURED', message, { hint });
  }
  const request = { folder: root, push: push && config.push, memory: config.memoryDir };
  const { outcome, commit } = await publishProject(request, machine);
  return commit === null ? outcome : `${outcome} ${commit.slice(0, 12)}`;
}

async function runCommand(
  { store, root }: RunPlace,
  { argv, timeout_seconds }: Extract<StepDeclaration, { kind: 'command' }>,
  { effect }: StepContext,
): Promise<null> {
  const { runProgram } = await import('../../platform/processes.ts');
  const [program = '', ...args] = argv;
  const env = { ...store.machine.env, HANDOVER_EFFECT: effect };
  const options = { cwd: root, env, timeoutMs: timeout_seconds * 1000, maxBytes: 64 * 1024 };
  const { status, stderr } = runProgram(program, args, options);
  if (status === 0) return null;
  const [line = ''] = stderr.trim().split('\n').slice(-1);
  const how = status === null ? 'was ended by a signal' : `ended with status ${status}`;
  throw new HandoverError('HANDOVER_STEP_FAILED', `${program} ${how}${line === '' ? '' : `: ${line}`}`);
}

/** Relative, because checkpoints may be read on another machine. */
function showPath({ root }: RunPlace, { path }: { path: string }): string {
  return relative(root, path).replaceAll('\\', '/');
}

function memoryOf({ store, config }: RunPlace): Memory {
  return { root: config.memoryDir, machine: store.machine };
}

async function findProjectId({ store, root }: RunPlace): Promise<string> {
  const { identifyProject } = await import('../../platform/project.ts');
  return identifyProject(root, store.machine).id;
}
