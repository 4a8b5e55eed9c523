import { dim } from '../../../app/describe/styled-text.ts';
import { pickToSend } from '../../../app/find-handover.ts';
import { briefAgain } from '../../../app/resume.ts';
import { HandoverError } from '../../../errors.ts';
import { openSink, type TextSink } from '../../../platform/streams.ts';
import { briefFlags, readBriefFlags } from '../brief-flags.ts';
import type { CliContext } from '../context.ts';
import {
  allProjectsFlag,
  command,
  type FlagValues,
  idFlag,
  idPositional,
  json,
  terminalFlag,
  toggle,
} from '../flags.ts';

const renderFlags = {
  id: idFlag,
  allProjects: allProjectsFlag,
  ...briefFlags,
  copy: toggle('Copy it to the clipboard instead of printing it'),
  json,
};
const restoreFlags = { terminal: terminalFlag, ...briefFlags, json };

export const render = command('render', runRender, { positional: idPositional, flags: renderFlags });
export const restore = command('restore', runRestore, { flags: restoreFlags });

async function runRender(this: CliContext, values: FlagValues<typeof renderFlags>, id?: string): Promise<void> {
  const { reader, options } = readBriefFlags(values, this.machine);
  const handover = await pickToSend(this, id ?? values.id, values);
  const { text, tokens, leftOut } = briefAgain(this, handover, { ...options, reader });
  if (values.copy) {
    const { copyText } = await import('../../../platform/clipboard.ts');
    const copier = copyText(text, this.machine) ?? copyByTerminal(text, openSink(2));
    this.err.line(dim(`copied ${handover.id} to the clipboard by ${copier}: about ${tokens} tokens`));
  }
  const asked = { id: handover.id, target: reader.agent, budget: options.budget };
  if (values.json) this.out.json({ ...asked, tokens, left_out: leftOut.map((fact) => fact.id), text });
  else if (!values.copy) this.out.block(text);
}

/** Longer ones are ignored by many terminals. */
const MAX_SEQUENCE = 74_000;

/** Asks the terminal to copy it (OSC 52): it may be on another machine than this one. */
function copyByTerminal(text: string, terminal: TextSink): string {
  const sequence = `\u001b]52;c;${Buffer.from(text).toString('base64')}\u0007`;
  if (terminal.isTerminal && sequence.length <= MAX_SEQUENCE && terminal.write(sequence)) return 'the terminal';
  const hint = 'Install wl-clipboard, xclip or xsel, or pass it on yourself: handover render | PROGRAM';
  throw new HandoverError('HANDOVER_PROGRAM_MISSING', 'nothing here can copy to the clipboard', { hint });
}

async function runRestore(this: CliContext, values: FlagValues<typeof restoreFlags>): Promise<void> {
  const { restoreHere } = await import('../../../app/restore.ts');
  const { reader, options } = readBriefFlags(values, this.machine);
  const { handover, brief } = await restoreHere(this, { terminal: values.terminal, reader, options });
  const { tokens, text } = brief;
  if (values.json) this.out.json({ id: handover.id, status: 'consumed', target: reader.agent, tokens, text });
  else this.out.block(text);
}
