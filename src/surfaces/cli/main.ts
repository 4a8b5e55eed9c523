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
