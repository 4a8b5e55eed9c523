import { HandoverError } from '../../../errors.ts';
import type { CliContext } from '../context.ts';
import { proposeHooks } from '../init-hooks.ts';
import type { InitPart } from '../init-part.ts';
import { bold, dim, green, type Output } from '../output.ts';
import type { InitFlags } from './init.ts';

export async function runInit(this: CliContext, flags: InitFlags): Promise<void> {
  const parts: InitPart[] = flags.hooks ? [proposeHooks(this, flags.agent)] : [];
  const open = parts.filter(({ proposals }) => proposals.length > 0);
  if (!flags.json) print(this.out, parts);
  const goesOn = open.length > 0 && !flags.dryRun && (flags.yes || (await ask(this)));
  const left = goesOn ? open.flatMap((part) => part.apply()) : [];
  if (flags.json) this.out.json({ done: goesOn, parts: parts.map(toJson), next: left });
  else if (goesOn) printDone(this.out, left);
}

async function ask(context: CliContext): Promise<boolean> {
  if (!context.interactive) {
    throw new HandoverError('HANDOVER_USAGE', 'there is no terminal to ask in, and nothing was done', {
      hint: 'To do all of it: handover init --yes. To do a part: add --agent NAME, or --no-hooks.',
    });
  }
  const { askToGoOn } = await import('../confirm.ts');
  if (await askToGoOn('Do this?')) return true;
  throw new HandoverError('HANDOVER_CANCELLED', 'nothing was done');
}

function print(out: Output, parts: readonly InitPart[]): void {
  for (const { proposals, notes } of parts) {
    for (const proposal of proposals) out.line(green('to do: '), proposal);
    for (const note of notes) out.line(dim('note: '), note);
  }
  if (parts.every(({ proposals }) => proposals.length === 0)) out.line(bold('there is nothing to set up'));
}

function printDone(out: Output, left: readonly string[]): void {
  out.line(bold('done'), dim('  see: handover hooks status; back: handover hooks uninstall'));
  for (const step of left) out.line(dim('next: '), step);
}

function toJson({ name, proposals, notes }: InitPart): unknown {
  return { name, proposals, notes };
}
