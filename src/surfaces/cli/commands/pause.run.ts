import { clearPause, findPause, type PauseScope, setPause } from '../../../platform/pause.ts';
import { findProjectFolder } from '../../../platform/project-file.ts';
import { openRedactor } from '../../../redact/open-redactor.ts';
import type { CliContext } from '../context.ts';
import { yellow } from '../output.ts';
import type { PauseFlags } from './pause.ts';

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

function reachOf({ machine }: CliContext, { everywhere }: Pick<PauseFlags, 'everywhere'>): PauseScope {
  return everywhere ? 'everywhere' : { root: findProjectFolder(machine.cwd) };
}
