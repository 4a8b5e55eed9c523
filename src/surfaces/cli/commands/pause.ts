import type { Machine } from '../../../platform/machine.ts';
import { clearPause, findPause, type PauseScope, setPause } from '../../../platform/pause.ts';
import { findProjectFolder } from '../../../platform/project-folder.ts';
import { openRedactor } from '../../../redact/open-redactor.ts';
import type { CliContext } from '../context.ts';
import { command, type FlagValues, json, text, toggle } from '../flags.ts';

const flags = { everywhere: toggle('In all your projects, with ~/.agent_handover/PAUSE'), json };
const pauseFlags = { why: text('The reason, shown to everything that is paused'), ...flags };

export const pause = command('pause', runPause, { flags: pauseFlags });
export const unpause = command('unpause', runUnpause, { flags });

function runPause(this: CliContext, values: FlagValues<typeof pauseFlags>): void {
  const { machine } = this;
  const why = values.why === undefined ? null : redact(values.why, machine);
  const path = setPause(machine, scopeOf(this, values.everywhere), why ?? '');
  if (values.json) this.out.json({ paused: true, path, why });
  else this.out.line(`paused by ${path}`);
}

function runUnpause(this: CliContext, values: FlagValues<typeof flags>): void {
  const wasSet = clearPause(this.machine, scopeOf(this, values.everywhere));
  const left = findPause(this.machine, findProjectFolder(this.machine.cwd));
  if (values.json) {
    this.out.json({ paused: left !== null, was_set: wasSet, path: left?.path ?? null });
    return;
  }
  this.out.line(wasSet ? 'unpaused' : 'nothing was paused here');
  if (left !== null) this.notify({ level: 'note', text: `still paused by ${left.path}` });
}

function redact(text: string, machine: Machine): string {
  return openRedactor(machine, { folder: machine.cwd, makesKey: true }).redactText(text, { byHuman: true });
}

function scopeOf({ machine }: CliContext, everywhere: boolean): PauseScope {
  return everywhere ? 'everywhere' : { root: findProjectFolder(machine.cwd) };
}
