import { printAtOnce } from '../../platform/print.ts';
import { VERSION } from '../../version.ts';

/** The entry of both commands. What needs no command is answered before anything else is loaded. */
export function main(): void {
  const args = process.argv.slice(2);
  if (args.length === 1 && (args[0] === '--version' || args[0] === '-v' || args[0] === 'version')) {
    printAtOnce(`${VERSION}\n`);
    return;
  }
  void import('./run.ts').then(({ runCommandLine }) => runCommandLine(args));
}

/** The entry of what a hook leaves to be done, which needs the same parts as the commands. */
export function work(): void {
  void import('../hook/work.ts').then(({ runWorker }) => runWorker(process.argv[3] ?? ''));
}
