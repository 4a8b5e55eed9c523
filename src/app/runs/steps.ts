import { relative, resolve } from 'node:path';
import { HandoverError } from '../../errors.ts';
import { compactMemory } from '../../memory/compact.ts';
import type { Memory } from '../../memory/read-memory.ts';
import type { Step, StepContext } from '../../memory/runs/engine.ts';
import { nameOfStep, type RunConfig, type StepDeclaration } from '../../memory/runs/run-config.ts';
import type { Snapshot } from '../../memory/snapshot.ts';
import { addNote, replaceState } from '../../memory/write-memory.ts';
import type { Handover } from '../../model/handover.ts';
import { pathOfUserConfig } from '../../platform/paths.ts';
import { expandTilde } from '../../platform/pause.ts';
import { readPublishSettings } from '../../platform/publish-settings.ts';
import type { Store } from '../../store/store.ts';

/** Names of what a run may be given. */
export const NOTE_INPUT = 'note';
export const STATE_INPUT = 'current_state';

/** Where a run takes place. */
export interface RunPlace {
  store: Store;
  /** The project's folder. */
  root: string;
  config: RunConfig;
  /** Whether anything may leave the machine. */
  push: boolean;
}

export function makeSteps(place: RunPlace): Step[] {
  return place.config.steps.map((declared) => ({
    name: nameOfStep(declared),
    run: (context) => runStep(place, declared, context),
  }));
}

/** What a step needs is loaded when it is its turn: most runs need little. */
async function runStep(
  place: RunPlace,
  declared: StepDeclaration,
  context: StepContext,
): Promise<string | null> {
  switch (declared.kind) {
    case 'collect':
      return await collectNewest(place, declared.agent);
    case 'note':
      return await writeNote(place, declared.text, context);
    case 'current_state':
      return await writeState(place, declared.text, context);
    case 'snapshot':
      return showPath(place, await snapshot(place, declared.mode, context));
    case 'compact':
      compactMemory(memoryOf(place), { at: context.at });
      return null;
    case 'export':
      return await exportFile(place, declared, context);
    case 'publish':
      return await publish(place);
    case 'command':
      return await runCommand(place, declared, context);
  }
}

/** The text that was given, that is declared, or that the newest handover tells. */
async function writeNote(
  place: RunPlace,
  text: string | undefined,
  { at, effect, inputs }: StepContext,
): Promise<string> {
  const said = inputs.get(NOTE_INPUT) ?? text ?? place.config.note ?? (await describeNewest(place));
  const note = { text: await redactInput(place, said), tag: place.config.tag, at, effect };
  return showPath(place, addNote(memoryOf(place), 1, note));
}

/** Without a state of its own, the note is the state, as it was in the original. */
async function writeState(
  place: RunPlace,
  text: string | undefined,
  { at, effect, inputs }: StepContext,
): Promise<string> {
  const { currentState, note } = place.config;
  const given = inputs.get(STATE_INPUT) ?? text ?? currentState ?? inputs.get(NOTE_INPUT) ?? note;
  const said = given ?? (await describeNewest(place));
  return showPath(place, replaceState(memoryOf(place), { text: await redactInput(place, said), at, effect }));
}

/** Without what has the shape of a secret. What a run is given goes through it before it is written anywhere. */
export async function redactInput(
  { store, root }: Pick<RunPlace, 'store' | 'root'>,
  text: string,
): Promise<string> {
  const { openRedactor } = await import('../../redact/open-redactor.ts');
  return openRedactor(store.machine, { folder: root, makesKey: true }).redactText(text);
}

async function describeNewest(place: RunPlace): Promise<string> {
  const handover = await findNewest(place);
  const { printNote } = await import('../../memory/snapshot.ts');
  if (handover !== null) return printNote(handover);
  throw nothingToNoteError();
}

async function findNewest(place: RunPlace): Promise<Handover | null> {
  const { findNewestHandover } = await import('../../store/newest.ts');
  return await findNewestHandover(place.store, await projectOf(place));
}

/** Whether a run would find out halfway that it has nothing to write. */
export async function assertHasNote(place: RunPlace, inputs: ReadonlyMap<string, string>): Promise<void> {
  const { steps, note } = place.config;
  const needs = steps.some(
    (step) => (step.kind === 'note' || step.kind === 'current_state') && step.text === undefined,
  );
  if (!needs || inputs.has(NOTE_INPUT) || note !== null) return;
  if (steps.some(({ kind }) => kind === 'collect') || (await findNewest(place)) !== null) return;
  throw nothingToNoteError();
}

function nothingToNoteError(): HandoverError {
  return new HandoverError('HANDOVER_USAGE', 'there is nothing to note', {
    hint: 'Say what happened: handover run --note "what happened"',
  });
}

/** Done only when all of it has arrived; what fails is tried again by the next attempt. */
async function publish({ store, root, config, push }: RunPlace): Promise<string> {
  const { machine } = store;
  if (config.backend === 'none') return 'off';
  const { publishProject } = await import('../../exchange/publish/publish-project.ts');
  const isAllowed = readPublishSettings(root, machine).backend !== undefined;
  if (config.backend === 'git' && !isAllowed) throw publishNotAllowedError(config, pathOfUserConfig(machine));
  const { outcome, commit } = await publishProject(
    { folder: root, push: push && config.push, memory: config.memoryDir },
    machine,
  );
  return commit === null ? outcome : `${outcome} ${commit.slice(0, 12)}`;
}

function publishNotAllowedError({ path }: RunConfig, own: string): HandoverError {
  return new HandoverError(
    'HANDOVER_PUBLISH_UNCONFIGURED',
    `${path} asks to publish by git, and your own settings do not say so`,
    { hint: `If it may, write these two lines into ${own}: [publish] and backend = "git"` },
  );
}

const MAX_OUTPUT_BYTES = 64 * 1024;

async function runCommand(
  { store, root }: RunPlace,
  { argv, timeout_seconds }: Extract<StepDeclaration, { kind: 'command' }>,
  { effect }: StepContext,
): Promise<null> {
  const { runProgram } = await import('../../platform/exec.ts');
  const [program = '', ...args] = argv;
  const { status, stderr } = runProgram(program, args, {
    cwd: root,
    env: { ...store.machine.env, HANDOVER_EFFECT: effect },
    timeoutMs: timeout_seconds * 1000,
    maxBytes: MAX_OUTPUT_BYTES,
  });
  if (status === 0) return null;
  const [line = ''] = stderr.trim().split('\n').slice(-1);
  const how = status === null ? 'was ended by a signal' : `ended with status ${status}`;
  throw new HandoverError('HANDOVER_STEP_FAILED', `${program} ${how}${line === '' ? '' : `: ${line}`}`);
}

async function snapshot(
  { store, root }: RunPlace,
  mode: string | undefined,
  { at }: StepContext,
): Promise<Snapshot> {
  const { takeSnapshot } = await import('../../memory/snapshot.ts');
  return await takeSnapshot(store, root, { mode: mode ?? 'run', at });
}

/** As it is to stand in a checkpoint that may be read elsewhere. */
function showPath({ root }: RunPlace, { path }: { path: string }): string {
  return relative(root, path).replaceAll('\\', '/');
}

function memoryOf({ store, config }: RunPlace): Memory {
  return { root: config.memoryDir, machine: store.machine };
}

async function collectNewest(place: RunPlace, agent: string | undefined): Promise<string | null> {
  const { collectSession } = await import('./collect.ts');
  return await collectSession(place.store, await projectOf(place), agent);
}

async function exportFile(
  place: RunPlace,
  declared: Extract<StepDeclaration, { kind: 'export' }>,
  context: StepContext,
): Promise<string> {
  const { store, root } = place;
  const { exportNewest } = await import('./export.ts');
  const path = resolve(root, expandTilde(declared.output, store.machine));
  await exportNewest({ store, root, project: await projectOf(place), path }, declared, context);
  return declared.output;
}

async function projectOf({ store, root }: RunPlace): Promise<string> {
  const { identifyProject } = await import('../../platform/project.ts');
  return identifyProject(root, store.machine).id;
}
