import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeMachine, type Machine } from '../../src/platform/machine.ts';
import { afterEachFile } from './after-each-file.ts';
import { removeFolder } from './remove-folder.ts';

export const HANDOVER: string = fileURLToPath(new URL('../../bin/handover.cjs', import.meta.url));

export interface RunOptions {
  /** Added to a clean environment; undefined takes a variable away. */
  env?: Readonly<Record<string, string | undefined>>;
  cwd?: string;
  /** What the command reads; without it, nothing. `null` leaves its input open and silent. */
  input?: string | Uint8Array | null;
  /** A program and its first arguments, to start the command by. */
  through?: readonly string[];
  /** A command that takes longer is killed, and its status is null. */
  timeoutMs?: number;
}

export interface RunResult {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** What hangs must not hang for ever; a machine that is busy may take long. */
const TIMEOUT_MS = 50_000;

/**
 * Runs the built command line as a process of its own. Throws on what no input may bring about: exit status 70, which
 * says that the bug is ours, and a stack trace.
 */
export async function runHandover(args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const result = await runProcess([process.execPath, HANDOVER, ...args], options);
  const trace = /^\s+at .+:\d+:\d+\)?$/m.test(result.stderr);
  if (result.status === 70 || trace)
    throw new Error(`handover ${args.join(' ')}: status ${result.status}\n${result.stderr}`);
  return result;
}

/** Runs a program to its end. */
export async function runProcess(command: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const [program = '', ...args] = [...(options.through ?? []), ...command];
  const child = spawn(program, args, {
    cwd: options.cwd ?? tmpdir(),
    // A command that runs once has nothing from keeping its code.
    env: { PATH: process.env.PATH, NODE_DISABLE_COMPILE_CACHE: '1', ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: options.timeoutMs ?? TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  // A command may end before it has read all that it is offered.
  child.stdin.on('error', () => child.stdin.destroy());
  if (options.input !== null) child.stdin.end(options.input ?? '');
  const [stdout, stderr, status] = await Promise.all([
    collect(child.stdout),
    collect(child.stderr),
    new Promise<number | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code) => resolve(code));
    }),
  ]);
  child.stdin.destroy();
  return { status, stdout, stderr };
}

async function collect(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

const made: string[] = [];

afterEachFile(async () => {
  for (const folder of made.splice(0)) await removeFolder(folder);
});

/** A real path. The folder is removed when the test file is done. */
export function makeTempFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'handover-test-')));
  made.push(folder);
  return folder;
}

/** A user with a home, a store and a project folder of their own, all below one temporary folder. */
export interface Sandbox {
  folder: string;
  home: string;
  store: string;
  project: string;
  env: Readonly<Record<string, string | undefined>>;
  /** The same surroundings, for calls of the library. */
  machine: Machine;
  /** In the project's folder by default. */
  run(args: readonly string[], options?: RunOptions): Promise<RunResult>;
  /** A command that must succeed; returns what it printed. */
  ok(args: readonly string[], options?: RunOptions): Promise<string>;
  /** A command that must succeed and print one JSON document. */
  json<T = Record<string, unknown>>(args: readonly string[], options?: RunOptions): Promise<T>;
  /** Saves a handover and returns its id. */
  save(...args: readonly string[]): Promise<string>;
}

export function makeSandbox(folder: string = makeTempFolder()): Sandbox {
  const home = join(folder, 'home');
  const store = join(folder, 'store');
  const project = join(folder, 'project');
  mkdirSync(home, { recursive: true });
  mkdirSync(project, { recursive: true });
  const env = { HOME: home, HANDOVER_HOME: store, GIT_CONFIG_NOSYSTEM: '1' };
  const sandbox: Sandbox = {
    folder,
    home,
    store,
    project,
    env,
    machine: describeMachine({ PATH: process.env.PATH, ...env }, project),
    run: (args, options = {}) => runHandover(args, { cwd: project, ...options, env: { ...env, ...options.env } }),
    ok: async (args, options) => {
      const { status, stdout, stderr } = await sandbox.run(args, options);
      if (status !== 0) throw new Error(`handover ${args.join(' ')}: status ${status}\n${stderr}`);
      return stdout;
    },
    json: async (args, options) => dropSchema(JSON.parse(await sandbox.ok([...args, '--json'], options)), args),
    save: async (...args) => (await sandbox.json<{ id: string }>(['save', ...args])).id,
  };
  return sandbox;
}

/** What a command says its documents are must be right; without it, they are easier to compare. */
function dropSchema<T>(printed: T, [name = '']: readonly string[]): T {
  const drop = (document: unknown): unknown => {
    if (typeof document !== 'object' || document === null) return document;
    const { schema, ...rest } = { schema: null, ...document };
    if (schema === `${name}/1`) return rest;
    if (schema === 'handover/1' || 'schema_version' in rest) return document;
    throw new Error(`handover ${name}: schema ${schema}`);
  };
  return JSON.parse(JSON.stringify(Array.isArray(printed) ? printed.map(drop) : drop(printed)));
}

const GIT_SETTINGS = ['user.name=Test', 'user.email=test@example.invalid', 'init.defaultBranch=main'];

/** An empty commit of that time. */
export function commitAt(cwd: string, subject: string, at: string): string {
  const env = { GIT_COMMITTER_DATE: at, GIT_AUTHOR_DATE: at };
  runGitWith(env, cwd, 'commit', '--quiet', '--allow-empty', '-m', subject);
  return runGit(cwd, 'rev-parse', 'HEAD').trim();
}

export function runGit(cwd: string, ...args: string[]): string {
  return runGitWith({}, cwd, ...args);
}

function runGitWith(variables: Readonly<Record<string, string>>, cwd: string, ...args: string[]): string {
  const settings = GIT_SETTINGS.flatMap((setting) => ['-c', setting]);
  const env = { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_NOSYSTEM: '1', ...variables };
  return execFileSync('git', [...settings, ...args], {
    cwd,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Runs the tasks two at a time, as the machine has cores, and gives their results in order. */
export async function inPairs<T, R>(items: readonly T[], task: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) {
      const item = items[at];
      if (item !== undefined) results[at] = await task(item);
    }
  };
  await Promise.all([work(), work()]);
  return results;
}

/** The code of the error that a command printed with `--json`. */
export function errorCode(result: RunResult): string {
  const document: { error: { code: string } } = JSON.parse(result.stderr);
  return document.error.code;
}

export function hasProgram(name: string, ...args: string[]): boolean {
  try {
    execFileSync(name, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
