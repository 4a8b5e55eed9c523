import { join, resolve } from 'node:path';
import * as v from 'valibot';
import { catchIf, HandoverError, isHandoverError, notFoundError } from '../../errors.ts';
import { isFolder, isInside, isLexicallyInside, pathExists, resolveRealPath } from '../../platform/folders.ts';
import type { Machine } from '../../platform/machine.ts';
import { findConfigFolder } from '../../platform/paths.ts';
import { expandTilde, findPause, type Pause, pauseError } from '../../platform/pause.ts';
import { type Backend, readPublishSettings } from '../../platform/publish-settings.ts';
import {
  type ConfigFile,
  configError,
  parseSection,
  readConfigFile,
  readUserConfig,
} from '../../platform/settings-file.ts';
import { DEFAULT_TAG, listRunFiles, MEMORY_FOLDER, parseTag } from '../layout.ts';
import { findDuplicate } from './checkpoint-file.ts';

const Text = v.pipe(v.string(), v.minLength(1));

const HandoverSection = v.strictObject({
  memory_dir: v.optional(Text),
  tag: v.optional(
    v.pipe(
      Text,
      v.rawTransform(({ dataset, addIssue, NEVER }) => {
        try {
          return parseTag(dataset.value);
        } catch (error) {
          if (!(error instanceof HandoverError)) throw error;
          addIssue({ message: error.message });
          return NEVER;
        }
      }),
    ),
  ),
  checkpoint: v.optional(Text),
  pause_file: v.optional(Text),
});

const NoteSection = v.strictObject({ session: v.optional(Text), current_state: v.optional(Text) });

/** Can only switch publishing off: the destination comes from the user's settings. `null` is the original's `none`. */
const BackendSection = v.object({
  type: v.optional(v.picklist(['none', 'null', 'git'])),
  push: v.optional(v.boolean(), true),
});

const name = v.optional(Text);
const sign = v.optional(v.boolean(), false);
const exporting = { kind: v.literal('export'), name, output: Text };
export const StepDeclaration = v.variant('kind', [
  v.strictObject({ kind: v.literal('collect'), name, agent: v.optional(Text) }),
  v.strictObject({ kind: v.literal('note'), name, text: v.optional(Text) }),
  v.strictObject({ kind: v.literal('current_state'), name, text: v.optional(Text) }),
  v.strictObject({ kind: v.literal('snapshot'), name, mode: v.optional(Text) }),
  v.strictObject({ kind: v.literal('compact'), name }),
  v.variant('format', [
    v.strictObject({
      ...exporting,
      format: v.literal('bundle'),
      sign,
      recipients: v.optional(v.pipe(v.array(Text), v.minLength(1))),
    }),
    v.strictObject({ ...exporting, format: v.literal('markdown'), target: v.optional(Text) }),
    v.strictObject({ ...exporting, format: v.literal('session-handoff'), sign }),
    v.strictObject({ ...exporting, format: v.picklist(['json', 'v2']) }),
  ]),
  v.strictObject({ kind: v.literal('publish'), name }),
  v.strictObject({
    kind: v.literal('command'),
    name,
    argv: v.pipe(v.array(v.string()), v.minLength(1)),
    timeout_seconds: v.optional(v.pipe(v.number(), v.minValue(1)), 600),
  }),
]);
export type StepDeclaration = v.InferOutput<typeof StepDeclaration>;

/** The steps of the original tool, with its names. */
const DEFAULT_STEPS: readonly StepDeclaration[] = [
  { kind: 'note', name: 'session_note' },
  { kind: 'current_state', name: 'current_state' },
];

export interface RunConfig {
  /** The file it was read from; null when there is none. */
  path: string | null;
  memoryDir: string;
  tag: string;
  checkpoint: string | null;
  pauseFiles: string[];
  note: string | null;
  currentState: string | null;
  /** `none` when publishing is switched off, null when no setting mentions it. */
  backend: Backend | null;
  /** Whether anything may leave the machine. */
  push: boolean;
  steps: readonly StepDeclaration[];
}

/**
 * What a run is to do: from the named file, else the project's `handover.toml`, else the user's settings. A project's
 * file is untrusted: its paths must stay in the project, and steps of kind command and export are accepted only from
 * the user's own settings folder.
 */
export function readRunConfig(machine: Machine, root: string, named?: string): RunConfig {
  const user = readUserConfig(machine);
  const path = named === undefined ? (listRunFiles(root)[0] ?? null) : requireFile(resolve(machine.cwd, named));
  const file = path === null ? user : readConfigFile(path);
  if (file.path !== user.path) assertSectionsAreKnown(file);
  const section = parseSection(file, 'handover', HandoverSection);
  const { session, current_state } = parseSection(file, 'note', NoteSection);
  const declared = parseSection(file, 'backend', BackendSection);
  const published = readPublishSettings(root, machine);
  const { type } = declared;
  const isOff = !published.enabled || type === 'none' || type === 'null';
  const backend = isOff ? 'none' : (published.backend ?? type ?? null);
  const steps = readSteps(file);
  assertStepsAreAllowed(file, steps ?? [], machine);
  const place = (text: string): string => resolvePath(text, file, root, machine);
  const placeMemory = (named: string | undefined): string =>
    named === undefined ? join(root, MEMORY_FOLDER) : (resolveRealPath(place(named)) ?? place(named));
  const publishes = backend !== null && backend !== 'none';
  const userPause = file === user ? undefined : parseSection(user, 'handover', HandoverSection).pause_file;
  return {
    path: path ?? (user.sections.size === 0 ? null : user.path),
    memoryDir: placeMemory(section.memory_dir),
    tag: section.tag ?? DEFAULT_TAG,
    checkpoint: section.checkpoint === undefined ? null : place(section.checkpoint),
    pauseFiles: [section.pause_file, userPause].filter((each) => each !== undefined),
    note: session ?? null,
    currentState: current_state ?? null,
    backend,
    push: declared.push,
    steps: steps ?? [...DEFAULT_STEPS, ...(publishes ? [{ kind: 'publish', name: 'publish' } as const] : [])],
  };
}

/** The default folder when the settings cannot be used. */
export function findMemoryDir(machine: Machine, root: string): string {
  return readUsableConfig(machine, root)?.memoryDir ?? join(root, MEMORY_FOLDER);
}

/** Null when the settings cannot be used. */
export function readUsableConfig(machine: Machine, root: string): RunConfig | null {
  return catchIf(isHandoverError, null, () => readRunConfig(machine, root));
}

/** For commands that write without a run. Unreadable settings are an error: they could name a PAUSE file. */
export function assertNotPaused(machine: Machine, root: string): void {
  const pause = findPause(machine, root, readRunConfig(machine, root).pauseFiles);
  if (pause !== null) throw pauseError(pause);
}

/** For commands that mainly read: with unreadable settings only the default PAUSE files count. */
export function findUsualPause(machine: Machine, root: string): Pause | null {
  return findPause(machine, root, readUsableConfig(machine, root)?.pauseFiles ?? []);
}

function readSteps(file: ConfigFile): readonly StepDeclaration[] | null {
  if (!file.sections.has('step')) return null;
  const steps = parseSection(file, 'step', v.array(StepDeclaration));
  const twice = findDuplicate(steps.map(nameOfStep));
  if (twice === undefined) return steps;
  throw configError(file.path, `has two steps named "${twice}": give one of them another name = "…"`);
}

export function nameOfStep({ kind, name }: StepDeclaration): string {
  return name ?? kind;
}

const SECTIONS: readonly string[] = ['handover', 'note', 'backend', 'step'];

function assertSectionsAreKnown({ path, sections }: ConfigFile): void {
  const unknown = [...sections.keys()].find((name) => !SECTIONS.includes(name));
  if (unknown === undefined) return;
  throw configError(path, `has "${unknown}", which is none of: ${SECTIONS.join(', ')}`);
}

function requireFile(path: string): string {
  if (pathExists(path) && !isFolder(path)) return path;
  throw notFoundError(`there is no file ${path}`, 'Name the file that declares the steps: handover run --config FILE');
}

/** Steps that run programs or write the user's work to a file. */
const USER_ONLY_KINDS: readonly string[] = ['command', 'export'];

function assertStepsAreAllowed(file: ConfigFile, steps: readonly StepDeclaration[], machine: Machine): void {
  const kind = steps.find((step) => USER_ONLY_KINDS.includes(step.kind))?.kind;
  if (kind === undefined || isUserFile(file, machine)) return;
  const message = `${file.path} declares a step of kind "${kind}", which may not be run from there`;
  const hint = `Anybody who can change the project could have put it there. Move the steps to a file in ${findConfigFolder(machine)}, and name it with --config.`;
  throw new HandoverError('HANDOVER_PERMISSION', message, { hint });
}

function isUserFile({ path }: ConfigFile, machine: Machine): boolean {
  return isInside(path, findConfigFolder(machine));
}

/** Relative to the project. A path from the project's own file must stay inside it, with links resolved. */
function resolvePath(text: string, file: ConfigFile, root: string, machine: Machine): string {
  const path = resolve(root, expandTilde(text, machine));
  if (isUserFile(file, machine) || !isInside(file.path, root)) return path;
  if (isLexicallyInside(path, root) && (!pathExists(path) || isInside(path, root))) return path;
  const message = `${file.path} names ${text}, which is outside the project`;
  const hint = 'The settings of a project may name only paths inside it. Name the folder in your own settings instead.';
  throw new HandoverError('HANDOVER_PATH_UNSAFE', message, { hint });
}
