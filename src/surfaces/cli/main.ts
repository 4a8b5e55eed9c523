import type { CachedProgram } from '../../platform/code-cache.ts';
import { printAtOnce } from '../../platform/streams.ts';
import { VERSION } from '../../version.ts';

const VERSION_WORDS: ReadonlySet<string> = new Set(['--version', '-v', '-V', 'version']);

/** The entry of both commands. `--version`, `check` and `mcp` are served before the command line is loaded. */
export async function main(program: CachedProgram): Promise<void> {
  const args = process.argv.slice(2);
  if (args.length === 1 && VERSION_WORDS.has(args[0] ?? '')) {
    printAtOnce(`${VERSION}\n`);
  } else if (args[0] === 'check') {
    await check(args);
  } else if (args[0] === 'mcp' && (await serve(args))) {
    saveServerCode(program);
  } else {
    await run(args);
    if (process.exitCode === 0) await saveCode(program);
  }
}

/** The entry of the worker that a hook starts; it needs the same code as the commands. */
export async function work(program: CachedProgram): Promise<void> {
  const { runWorker } = await import('../hook/worker.ts');
  await runWorker(process.argv[3] ?? '');
  await saveCode(program);
}

async function run(args: readonly string[]): Promise<void> {
  const { runCommandLine } = await import('./run.ts');
  await runCommandLine(args);
}

/** Agents ask at every start whether a run was interrupted: the plain answer is a status alone. */
async function check(args: readonly string[]): Promise<void> {
  const { answerCheck } = await import('../../app/runs/check.ts');
  const status = answerCheck(args.slice(1), { cwd: process.cwd(), env: process.env });
  if (status === null) await run(args);
  else process.exitCode = status;
}

/** `mcp`, or `mcp --agent NAME`: an agent waits for it, so the command line is not loaded. False for other arguments. */
async function serve(args: readonly string[]): Promise<boolean> {
  const [, flag, agent] = args;
  if (args.length !== 1 && (args.length !== 3 || flag !== '--agent')) return false;
  const { runServer } = await import('../mcp/main.ts');
  return runServer(agent);
}

/** By then the client has asked for the tools. Much later, V8 would have dropped code that ran only at the start. */
const SERVER_STARTED_MS = 5000;

function saveServerCode(program: CachedProgram): void {
  let isSaved = false;
  const keepOnce = (): void => {
    if (!isSaved) void saveCode(program);
    isSaved = true;
  };
  setTimeout(keepOnce, SERVER_STARTED_MS).unref();
  process.once('beforeExit', keepOnce);
}

/** The first run may have done little, so the compiled code is saved again this many times. */
const MAX_SAVES = 2;

async function saveCode(program: CachedProgram): Promise<void> {
  const worth = Math.min(program.warmth + 1, MAX_SAVES);
  if (program.path === null || (worth <= program.warmth && !program.isIncomplete)) return;
  const { saveCompiledCodeIfStoreExists } = await import('../../platform/save-code-cache.ts');
  saveCompiledCodeIfStoreExists(program, worth);
}
