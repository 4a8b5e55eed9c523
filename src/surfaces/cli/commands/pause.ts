import { buildCommand, type Command } from '@stricli/core';
import { clearPause, type PauseReach, setPause } from '../../../memory/runs/pause.ts';
import { findPause } from '../../../platform/pause.ts';
import { findProjectFolder } from '../../../platform/project-file.ts';
import { openRedactor } from '../../../redact/open-redactor.ts';
import type { CliContext } from '../context.ts';
import { yellow } from '../output.ts';

export interface PauseFlags {
  why?: string;
  everywhere: boolean;
  json: boolean;
}

const everywhere = {
  kind: 'boolean',
  default: false,
  withNegated: false,
  brief: 'All projects of yours, by ~/.agent_handover/PAUSE',
} as const;
const json = { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' } as const;

export const pause: Command<CliContext> = buildCommand<PauseFlags, [], CliContext>({
  func: runPause,
  parameters: {
    flags: {
      why: {
        kind: 'parsed',
        parse: (input: string): string => input,
        optional: true,
        brief: 'The reason, shown to whoever is stopped',
        placeholder: 'text',
      },
      everywhere,
      json,
    },
  },
  docs: { brief: 'Stop all that writes by itself in this project' },
});

export const unpause: Command<CliContext> = buildCommand<Omit<PauseFlags, 'why'>, [], CliContext>({
  func: runUnpause,
  parameters: { flags: { everywhere, json } },
  docs: { brief: 'Let it write again' },
});

export function runPause(this: CliContext, flags: PauseFlags): void {
  const { machine } = this;
  const why =
    flags.why === undefined
      ? null
      : openRedactor(machine, { folder: machine.cwd, makesKey: true }).redactText(flags.why, {
          byHuman: true,
        });
  const path = setPause(machine, reachOf(this, flags), why ?? '');
  if (flags.json) this.out.json({ paused: true, path, why });
  else this.out.line(`paused by ${path}`);
}

export function runUnpause(this: CliContext, flags: Omit<PauseFlags, 'why'>): void {
  const wasSet = clearPause(this.machine, reachOf(this, flags));
  const left = findPause(this.machine, findProjectFolder(this.machine.cwd));
  if (flags.json) {
    this.out.json({ paused: left !== null, was_set: wasSet, path: left?.path ?? null });
    return;
  }
  this.out.line(wasSet ? 'unpaused' : 'it was not paused here');
  if (left !== null) this.err.line(yellow('note: '), `still paused by ${left.path}`);
}

function reachOf({ machine }: CliContext, { everywhere }: Pick<PauseFlags, 'everywhere'>): PauseReach {
  return everywhere ? 'everywhere' : { root: findProjectFolder(machine.cwd) };
}
