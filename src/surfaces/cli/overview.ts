import type { CliTarget } from './commands/table.ts';
import { bold, type Output } from './output.ts';

/** Commands as a person looks for them. Every command is in one group. */
export const GROUPS: readonly { title: string; names: readonly string[] }[] = [
  { title: 'Set up', names: ['init', 'hooks', 'mcp', 'migrate'] },
  { title: 'Hand over', names: ['capture', 'save', 'to'] },
  { title: 'Go on', names: ['resume', 'restore', 'render'] },
  { title: 'Find', names: ['search', 'list', 'show', 'select', 'diff', 'sessions'] },
  { title: 'Ask', names: ['why', 'errors', 'files', 'timeline'] },
  { title: 'Say of a fact', names: ['pin', 'unpin', 'resolve', 'refute'] },
  { title: 'Memory in the project', names: ['snapshot', 'auto', 'compact', 'push'] },
  { title: 'Runs', names: ['run', 'check', 'status', 'pause', 'unpause'] },
  { title: 'Between machines and people', names: ['export', 'import', 'keys', 'redact'] },
  { title: 'Keep house', names: ['doctor', 'debug', 'cleanup', 'forget'] },
];

const NAME_WIDTH = 10;

/** The help without a command: one line for each. */
export function printOverview(out: Output, commands: ReadonlyMap<string, CliTarget>): void {
  out.line('Carries the work of an AI coding session over to the next one.');
  out.line();
  out.line('usage: handover COMMAND [FLAGS]');
  for (const { title, names } of GROUPS) {
    out.line();
    out.line(bold(title));
    for (const name of names) out.line(`  ${name.padEnd(NAME_WIDTH)}`, commands.get(name)?.brief ?? '');
  }
  out.line();
  out.line('More of a command: handover COMMAND --help. Begin with: handover init');
}
