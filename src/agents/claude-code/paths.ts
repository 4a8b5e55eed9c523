import { join, resolve } from 'node:path';
import { listNames } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';

/** Claude Code's folder; null on a machine without a home. */
export function findClaudeHome({ env, home, cwd }: Machine): string | null {
  if (env.CLAUDE_CONFIG_DIR) return resolve(cwd, env.CLAUDE_CONFIG_DIR);
  return home === undefined ? null : join(home, '.claude');
}

const SUFFIX = '.jsonl';
const DEEPEST_SUB_AGENT = 3;

/**
 * The paths of all transcripts. The names of the projects' folders are of no use: different folders can have the same
 * one, and it can be set to anything.
 */
export function* listTranscripts(machine: Machine): Generator<string> {
  const home = findClaudeHome(machine);
  if (home === null) return;
  const projects = join(home, 'projects');
  for (const project of listNames(projects)) {
    for (const name of listNames(join(projects, project))) {
      const path = join(projects, project, name);
      if (name.endsWith(SUFFIX)) yield path;
      else if (isSessionId(name)) yield* listSubAgents(join(path, 'subagents'), DEEPEST_SUB_AGENT);
    }
  }
}

function* listSubAgents(folder: string, depth: number): Generator<string> {
  for (const name of listNames(folder)) {
    if (name.endsWith(SUFFIX)) yield join(folder, name);
    else if (depth > 0 && !name.includes('.')) yield* listSubAgents(join(folder, name), depth - 1);
  }
}

export function isSessionId(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);
}
