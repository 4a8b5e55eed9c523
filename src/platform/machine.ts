import { homedir, hostname } from 'node:os';
import { HandoverError, hasErrno } from '../errors.ts';

/** The major version of the Node that runs this. */
export function readRuntimeVersion(): number {
  return Number(process.versions.node.split('.')[0]);
}

/** The name of this machine in its network, without the domain. */
export function nameHost(): string {
  return hostname().split('.')[0] ?? '';
}

/** Blocks the thread. */
export function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Milliseconds on the monotonic clock. Using `performance` would load a module of Node. */
export function readTimer(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

export interface Clock {
  /** Milliseconds since 1970. May repeat and may go backwards: callers that need order must not rely on it alone. */
  now(): number;
}

/** For names, never for secrets. */
export interface Random {
  bytes(count: number): Uint8Array;
}

export type Env = Readonly<Record<string, string | undefined>>;

/** Everything that features may know about the machine. Passed in everywhere, so that tests can replace it. */
export interface Machine {
  clock: Clock;
  random: Random;
  env: Env;
  platform: NodeJS.Platform;
  /** The user's home folder, or undefined where there is none. */
  home: string | undefined;
  cwd: string;
}

export const systemClock: Clock = { now: () => Date.now() };

/** Good for names that must differ, not for secrets: loading node:crypto would double the cost of a small command. */
const systemRandom: Random = {
  bytes: (count) => Uint8Array.from({ length: count }, () => Math.floor(Math.random() * 256)),
};

export function describeMachine(env: Env = process.env, cwd: string = findCurrentFolder()): Machine {
  const { platform } = process;
  const home = env.HOME ?? env.USERPROFILE ?? homedir();
  return { clock: systemClock, random: systemRandom, env, platform, home: home === '' ? undefined : home, cwd };
}

function findCurrentFolder(): string {
  try {
    return process.cwd();
  } catch (cause) {
    if (!hasErrno(cause, 'ENOENT', 'EACCES')) throw cause;
    throw new HandoverError('HANDOVER_PROJECT_MISSING', 'the current folder no longer exists, or cannot be entered', {
      hint: 'Change to an existing folder and try again.',
      cause,
    });
  }
}
