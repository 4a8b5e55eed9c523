import { printAtOnce } from '../../platform/print.ts';
import { VERSION } from '../../version.ts';

/** The entry of both commands. What needs no command is answered before anything else is loaded. */
export function main(): void {
  const args = process.argv.slice(2);
  if (args.length === 1 && (args[0] === '--version' || args[0] === '-v' || args[0] === 'version')) {
    printAtOnce(`${VERSION}\n`);
    return;
  }
  void (SHORT_WAYS.get(args[0] ?? '') ?? run)(args);
}

/** What agents start, and wait for, does without the command line where its words are plain. */
const SHORT_WAYS: ReadonlyMap<string, (args: readonly string[]) => Promise<void>> = new Map([
  ['check', check],
  ['mcp', serve],
]);

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

/** `mcp`, or `mcp --agent NAME`. */
async function serve(args: readonly string[]): Promise<void> {
  const [, flag, agent] = args;
  if (args.length === 1 || (args.length === 3 && flag === '--agent')) {
    const { runServer } = await import('../mcp/main.ts');
    if (runServer(agent)) return;
  }
  await run(args);
}

/** The entry of what a hook leaves to be done, which needs the same parts as the commands. */
export function work(): void {
  void import('../hook/work.ts').then(({ runWorker }) => runWorker(process.argv[3] ?? ''));
}
