import { resolve } from 'node:path';
import { readResumeCode } from '../../memory/runs/resume-code.ts';
import type { Env } from '../../platform/machine.ts';
import { findProjectFolder, pathOfCheckpoint, readSmallFile } from '../../platform/project-folder.ts';

/** The checkpoint file of the project, unless a flag or the environment names another. */
export function findCheckpoint({ cwd, env }: { cwd: string; env: Env }, named?: string): string {
  const variable = env.AGENT_HANDOVER_CHECKPOINT;
  const path = named ?? (variable === '' ? undefined : variable);
  return path === undefined ? pathOfCheckpoint(findProjectFolder(cwd)) : resolve(cwd, path);
}

/** The exit status of a plain `check`, before anything else is loaded; null where there is more to say. */
export function answerCheck(args: readonly string[], place: { cwd: string; env: Env }): number | null {
  const [first, second] = args;
  if (args.length !== 0 && !(args.length === 2 && first === '--checkpoint' && !second?.startsWith('-'))) return null;
  const text = readSmallFile(findCheckpoint(place, second));
  if (text === undefined) return 0;
  return text === null ? null : readResumeCode(text);
}
