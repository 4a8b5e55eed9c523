import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { afterAll } from 'vitest';
import { findLaunch } from '../../src/agents/table.ts';
import { HANDOVER, makeTempFolder, type RunResult } from '../support/cli.ts';
import type { Ask, Driver, Surroundings } from './drivers/driver.ts';
import { kill, killProcessesBelow } from './leftovers.mjs';
import { ScriptedModel } from './model/server.ts';
import { makeRepository } from './story.ts';
import { TERMINAL, Terminal } from './terminal.ts';

/** An agent that hangs is ended after this time; the slowest first start seen took half a minute. */
const DEADLINE_MS = 180_000;

/** Copilot CLI writes its transcript up to half a second after the fact; what a kill takes before that, nobody has. */
const WRITTEN_WITHIN_MS = 1_000;

export interface StageOptions {
  args?: readonly string[];
  env?: Readonly<Record<string, string>>;
  cwd?: string;
}

interface SpawnOptions extends StageOptions {
  stdin?: 'pipe';
}

const ended: (() => Promise<void>)[] = [];

afterAll(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

/** One user on one machine: a home, a project, a model, and the agents that were set up. Nothing else is inherited. */
export class Stage {
  readonly home: string;
  readonly project: string;
  readonly model = new ScriptedModel();
  readonly #drivers: Driver[] = [];
  readonly #running = new Set<ChildProcess>();

  private constructor(folder: string) {
    this.home = join(folder, 'home');
    this.project = join(folder, 'project');
  }

  static async open(...drivers: readonly Driver[]): Promise<Stage> {
    const stage = new Stage(makeTempFolder());
    mkdirSync(stage.home);
    makeRepository(stage.project);
    await stage.model.start();
    ended.push(() => stage.#close());
    for (const driver of drivers) await stage.#setUp(driver);
    return stage;
  }

  get surroundings(): Surroundings {
    return { home: this.home, project: this.project, modelUrl: this.model.url };
  }

  /** Runs an agent without a terminal, to its end. */
  async ask(driver: Driver, ask: Ask, options: StageOptions = {}): Promise<RunResult> {
    const args = [...driver.ask(ask), ...(options.args ?? [])];
    return await finish(this.#start(driver, args, options), `${driver.agent} ${args.join(' ')}`);
  }

  /** Kills an agent as soon as the model leaves it waiting. */
  async askAndKill(driver: Driver, ask: Ask, options: StageOptions = {}): Promise<void> {
    const child = this.#start(driver, [...driver.ask(ask), ...(options.args ?? [])], options);
    child.stdout?.resume();
    child.stderr?.resume();
    const over = once(child, 'close');
    await Promise.race([this.model.untilHanging(), over, rejectLater('the model was never asked')]);
    if (child.exitCode !== null) throw new Error(`${driver.agent} ended before it could be killed`);
    await new Promise((resolve) => setTimeout(resolve, WRITTEN_WITHIN_MS));
    killGroup(child);
    await over;
  }

  /** Runs `handover` in a terminal, for a command that hands the terminal on to an agent. */
  openTerminal(args: readonly string[], options: StageOptions = {}): Terminal {
    return this.#openTerminal([process.execPath, HANDOVER, ...args], options);
  }

  /** Runs an agent in a terminal, as a person would start it. */
  openAgent(driver: Driver, prompt: string, options: StageOptions = {}): Terminal {
    const args = [...findLaunch(driver.agent).writeArgs(prompt), ...(driver.inTerminal ?? [])];
    return this.#openTerminal([join(findBin(driver), driver.program), ...args], options);
  }

  #openTerminal(command: readonly string[], options: StageOptions): Terminal {
    const env = Object.assign({}, ...this.#drivers.map((driver) => driver.env(this.surroundings)), options.env);
    return new Terminal(this.#spawn('python3', [TERMINAL, ...command], { ...options, env, stdin: 'pipe' }));
  }

  async handover(args: readonly string[], options: StageOptions = {}): Promise<RunResult> {
    const child = this.#spawn(process.execPath, [HANDOVER, ...args], options);
    const result = await finish(child, `handover ${args.join(' ')}`);
    if (result.status !== 0) throw new Error(`handover ${args.join(' ')}: ${result.status}\n${result.stderr}`);
    return result;
  }

  async #setUp(driver: Driver): Promise<void> {
    this.#drivers.push(driver);
    driver.prepare(this.surroundings);
    const signIn = driver.signIn?.(this.surroundings);
    if (signIn !== undefined) await finish(this.#start(driver, signIn), `${driver.agent} ${signIn.join(' ')}`);
  }

  #start(driver: Driver, args: readonly string[], options: StageOptions = {}): ChildProcess {
    const env = { ...driver.env(this.surroundings), ...options.env };
    return this.#spawn(join(findBin(driver), driver.program), args, { ...options, env });
  }

  #spawn(program: string, args: readonly string[], options: SpawnOptions): ChildProcess {
    const { cwd, env, stdin = 'ignore' } = options;
    const bins = this.#drivers.map(findBin);
    const child = spawn(program, args, {
      cwd: cwd ?? this.project,
      env: {
        PATH: [...bins, dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
        HOME: this.home,
        LANG: 'C.UTF-8',
        TERM: 'xterm-256color',
        GIT_CONFIG_NOSYSTEM: '1',
        ...env,
      },
      stdio: [stdin, 'pipe', 'pipe'],
      // A process group of its own, so that whatever the agent has started can be ended with it.
      detached: true,
    });
    this.#running.add(child);
    child.once('close', () => this.#running.delete(child));
    return child;
  }

  async #close(): Promise<void> {
    for (const driver of this.#drivers) {
      if (driver.cleanUp !== undefined) await finish(this.#start(driver, driver.cleanUp), driver.agent);
    }
    for (const child of this.#running) killGroup(child);
    killProcessesBelow(this.home);
    await this.model.stop();
  }
}

function findBin({ agent }: Driver): string {
  return resolve('.cache/e2e', agent, 'node_modules/.bin');
}

async function finish(child: ChildProcess, what: string): Promise<RunResult> {
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
      text[name] += chunk;
    });
  }
  const timer = setTimeout(() => killGroup(child), DEADLINE_MS);
  const [status, signal]: [number | null, string | null] = await new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', (...how) => done(how));
  });
  clearTimeout(timer);
  killGroup(child);
  if (signal !== null) throw new Error(`${what}: ended by ${signal}\n${text.stdout}\n${text.stderr}`);
  return { status, ...text };
}

function killGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) kill(-pid);
}

async function rejectLater(message: string): Promise<never> {
  await new Promise((resolve) => setTimeout(resolve, DEADLINE_MS).unref());
  throw new Error(message);
}
