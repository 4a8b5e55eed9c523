import { basename, dirname, join, resolve } from 'node:path';
import { listNames } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';

/** Qwen Code's folder; null on a machine without a home. */
export function findQwenHome(machine: Machine): string | null {
  return findFolder(machine, machine.env.QWEN_HOME);
}

/** Where Qwen Code keeps a folder for each project. */
function findProjects(machine: Machine): string | null {
  const folder = findFolder(machine, machine.env.QWEN_RUNTIME_DIR || machine.env.QWEN_HOME);
  return folder === null ? null : join(folder, 'projects');
}

function findFolder({ home, cwd }: Machine, given: string | undefined): string | null {
  if (given) return resolve(cwd, given.replace(/^~(?=$|[\\/])/, home ?? '~'));
  return home === undefined ? null : join(home, '.qwen');
}

const SUFFIX = '.jsonl';

export function* listTranscripts(machine: Machine): Generator<string> {
  const projects = findProjects(machine);
  if (projects === null) return;
  for (const project of listNames(projects)) {
    const folder = join(projects, project);
    yield* listFiles(join(folder, 'chats'));
    const subAgents = join(folder, 'subagents');
    for (const session of listNames(subAgents)) yield* listFiles(join(subAgents, session));
  }
}

function* listFiles(folder: string): Generator<string> {
  for (const name of listNames(folder)) if (name.endsWith(SUFFIX)) yield join(folder, name);
}

const SUB_AGENT_FILE = /^agent-(.+)$/;

export function isSubAgentFile(path: string): boolean {
  return SUB_AGENT_FILE.test(basename(path, SUFFIX));
}

/** A sub-agent's file carries its id, and lies in a folder with the id of the session that started it. */
export function identify(path: string, sessionId: string): { id: string; parent: string | null } {
  const agentId = SUB_AGENT_FILE.exec(basename(path, SUFFIX))?.[1];
  if (agentId === undefined) return { id: sessionId, parent: null };
  const folder = dirname(path);
  const isBelow = basename(dirname(folder)) === 'subagents';
  return { id: agentId, parent: isBelow ? basename(folder) : sessionId };
}
