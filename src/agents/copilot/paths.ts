import { basename, dirname, join, resolve } from 'node:path';
import { listNames } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';

export function findCopilotHome({ env, home, cwd }: Machine): string | null {
  if (env.COPILOT_HOME) return resolve(cwd, env.COPILOT_HOME);
  return home === undefined ? null : join(home, '.copilot');
}

/** Where transcripts may be: a folder for each session; older versions kept one file. */
export function* listTranscripts(machine: Machine): Generator<string> {
  const home = findCopilotHome(machine);
  if (home === null) return;
  const states = join(home, 'session-state');
  for (const name of listNames(states)) {
    yield name.endsWith('.jsonl') ? join(states, name) : join(states, name, 'events.jsonl');
  }
}

/** What the session is called, for transcripts that do not say it themselves. */
export function readIdFromPath(path: string): string {
  return basename(path) === 'events.jsonl' ? basename(dirname(path)) : basename(path, '.jsonl');
}

export function findWorkspaceFile(path: string): string | null {
  return basename(path) === 'events.jsonl' ? join(dirname(path), 'workspace.yaml') : null;
}
