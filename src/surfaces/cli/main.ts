import type { CachedProgram } from '../../platform/code-cache.ts';
import { printAtOnce } from '../../platform/streams.ts';
import { VERSION } from '../../version.ts';

const VERSION_WORDS: ReadonlySet<string> = new Set(['--version', '-v', '-V', 'version']);

/** The entry of both commands. What needs no command is answered before anything else is loaded. */
export async function main(program: CachedProgram): Promise<void> {
  const args = process.argv.slice(2);
  if (args.length === 1 && VERSION_WORDS.has(args[0] ?? '')) {
    printAtOnce(`${VERSION}\n`);
  } else if (args[0] === 'check') {
    await check(args);
  } else if (args[0] === 'mcp' && (await serve(args))) {
    keepServer(program);
  } else {
    await run(args);
    if (process.exitCode === 0) await keep(program);
  }
}

/** The entry of what a hook leaves to be done, which needs the same parts as the commands. */
export async function work(program: CachedProgram): Promise<void> {
  const { runWorker } = await import('../hook/worker.ts');
  await runWorker(process.argv[3] ?? '');
  await keep(program);
}

async function run(args: readonly string[]): Promise<void> {
  const { runCommandLine } = await import('./run.ts');
  await runCommandLine(args);
}

/** Agents ask at every start whether a run was interrupted: the plain answer is a status alone. */
async function check(args: readonly string[]): Promise<void> {
  const { answerCheck } = await import('./check-now.ts');
  const status = answerCheck(args.slice(1));
  if (status === null) await run(args);
  else process.exitCode = status;
}

/** `mcp`, or `mcp --agent NAME`: an agent waits for it, so it does without the command line. False where that is needed. */
async function serve(args: readonly string[]): Promise<boolean> {
  const [, flag, agent] = args;
  if (args.length !== 1 && (args.length !== 3 || flag !== '--agent')) return false;
  const { runServer } = await import('../mcp/main.ts');
  return runServer(agent);
}

/** By then an agent has asked a server what it can do. Much later, V8 would have let go of what ran only at the start. */
const SERVER_STARTED_MS = 5000;

function keepServer(program: CachedProgram): void {
  let isKept = false;
  const keepOnce = (): void => {
    if (!isKept) void keep(program);
    isKept = true;
  };
  setTimeout(keepOnce, SERVER_STARTED_MS).unref();
  process.once('beforeExit', keepOnce);
}

/** The first time there may have been little to do, so a program is kept anew so many times. */
const KEPT_ANEW = 2;

async function keep(program: CachedProgram): Promise<void> {
  const worth = Math.min(program.warmth + 1, KEPT_ANEW);
  if (program.path === null || (worth <= program.warmth && !program.isIncomplete)) return;
  const { storeProgramIfStoreExists } = await import('../start/store-program.ts');
  storeProgramIfStoreExists(program, worth);
}
