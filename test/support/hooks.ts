import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { catchErrno } from '../../src/errors.ts';
import { parseClaim, readClaimFile } from '../../src/platform/lock-claim.ts';
import { isAlive } from '../../src/platform/process-identity.ts';
import { LOCKS, SPOOL, WORKER_LOCK_PREFIX } from '../../src/store/store.ts';
import { Transcript } from '../fixtures/agents/claude-code.ts';
import { afterEachFile } from './after-each-file.ts';
import type { RunResult, Sandbox } from './cli.ts';

export const HOOK: string = fileURLToPath(new URL('../../bin/hook.cjs', import.meta.url));
const AGENT = fileURLToPath(new URL('../app/automation/workers/agent.mjs', import.meta.url));

/** A process that stands for an agent and calls its hooks. Hooks of one such process come from one agent. */
export interface RunningAgent {
  call(event: string, input: object, options?: { cwd?: string }): Promise<RunResult>;
  /** The text that the hook gives to the model; null when it printed nothing. */
  receive(event: string, input: object): Promise<string | null>;
  end(): Promise<void>;
  kill(): Promise<void>;
}

const running = new Set<ChildProcess>();

afterEachFile(() => {
  for (const child of running) child.kill('SIGKILL');
});

export interface AgentOptions {
  agent?: string;
  env?: Readonly<Record<string, string | undefined>>;
  hook?: string;
}

export function startAgent(
  sandbox: Sandbox,
  { agent = 'claude-code', env = {}, hook = HOOK }: AgentOptions = {},
): RunningAgent {
  const child = spawn(process.execPath, [AGENT, hook, agent], {
    cwd: sandbox.project,
    env: { PATH: process.env.PATH, ...sandbox.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
    // Without a terminal of its own, so that the tests see the same wherever they run.
    detached: true,
  });
  running.add(child);
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const call: RunningAgent['call'] = async (event, input, options = {}) => {
    child.stdin.write(`${JSON.stringify({ event, input, ...options })}\n`);
    const { value } = await lines.next();
    return JSON.parse(value ?? '{"status":null,"stdout":"","stderr":"the agent is gone"}');
  };
  const stop = async (): Promise<void> => {
    await ended;
    running.delete(child);
  };
  return {
    call,
    receive: async (event, input) => readReceived(await call(event, input)),
    end: async () => {
      child.stdin.end();
      await stop();
    },
    kill: async () => {
      child.kill('SIGKILL');
      await stop();
    },
  };
}

/** The text in what a hook printed, in whichever form; it must have ended well. */
export function readReceived({ status, stdout, stderr }: RunResult): string | null {
  if (status !== 0 || stderr !== '') throw new Error(`the hook failed: ${status} ${stderr}`);
  if (stdout === '') return null;
  const printed: {
    hookSpecificOutput?: { additionalContext: string };
    additionalContext?: string;
    context?: string;
  } = JSON.parse(stdout);
  return printed.hookSpecificOutput?.additionalContext ?? printed.additionalContext ?? printed.context ?? null;
}

const PATIENCE_MS = 45_000;

/** Waits until all jobs that hooks left are done, and no worker is at what comes after its last one. */
export async function waitForWorkers(sandbox: Sandbox): Promise<void> {
  const until = Date.now() + PATIENCE_MS;
  while (hasJobs(sandbox) || hasWorker(sandbox)) {
    if (Date.now() > until) throw new Error('the jobs of hooks were not done in time');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  // Another worker of the same session may find that there is nothing left to do.
  await new Promise((resolve) => setTimeout(resolve, 150));
}

function hasJobs({ store }: Sandbox): boolean {
  return listNames(join(store, SPOOL)).some((name) => /^[0-9a-f]{16}\./.test(name));
}

/** A worker holds a lock until it has done all of its work. */
function hasWorker({ store }: Sandbox): boolean {
  const claims = listNames(join(store, LOCKS)).filter((name) => name.startsWith(WORKER_LOCK_PREFIX));
  return claims.some((name) => {
    const claim = catchErrno(['ENOENT'], null, () => parseClaim(readClaimFile(join(store, LOCKS, name)).text));
    return claim?.state === 'held' && isAlive(claim.holder) === 'alive';
  });
}

function listNames(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** A session of Claude Code that is written while a test runs. */
export interface WrittenSession {
  id: string;
  path: string;
  /** The input of this session's hooks, with further members. */
  input(more?: object): object;
  transcript: Transcript;
  /** Writes what the transcript holds now. */
  write(): void;
}

let count = 0;

/** `atMs`: when everything in it happened. */
export function writeSession(
  sandbox: Sandbox,
  { cwd = sandbox.project, atMs = Date.now() }: { cwd?: string; atMs?: number } = {},
): WrittenSession {
  const id = `5b0c7f0e-4b5e-4f0a-9d58-${String(++count).padStart(12, '0')}`;
  const path = join(sandbox.home, '.claude', 'projects', '-project', `${id}.jsonl`);
  const transcript = new Transcript({ cwd, sessionId: id, timestamp: new Date(atMs).toISOString() });
  return {
    id,
    path,
    transcript,
    input: (more = {}) => ({ session_id: id, transcript_path: path, cwd, ...more }),
    write: () => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, transcript.text);
    },
  };
}

/** A session that has said what it is about, and changed a file of the project. */
export function writeWork(
  session: WrittenSession,
  { goal, file, decision }: { goal: string; file: string; decision: string },
): void {
  const { transcript } = session;
  const content = 'export const one = 1;\n';
  const call = `toolu_${transcript.rows.length}`;
  transcript.human(goal);
  transcript.say(decision);
  writeFileSync(file, content);
  transcript.call(call, 'Write', { file_path: file, content });
  transcript.result(call, 'File created successfully', {
    data: { type: 'create', filePath: file, content, structuredPatch: [] },
  });
  session.write();
}
