import { resolve } from 'node:path';
import { readResumeCode } from '../../memory/runs/resume-code.ts';
import { findProjectFolder, glanceAtFile, pathOfCheckpoint } from '../../platform/project-file.ts';

/** The checkpoint of the project, unless a flag or the environment names another file. */
export function findCheckpoint(cwd: string, flag: string | undefined, variable: string | undefined): string {
  const named = flag ?? (variable === '' ? undefined : variable);
  if (named !== undefined) return resolve(cwd, named);
  return pathOfCheckpoint(findProjectFolder(cwd));
}

/**
 * The answer of `check` to plain words, before anything else is loaded; null where there is more to say than a status:
 * wrong words, a damaged file, one that cannot be read.
 */
export function answerCheck(args: readonly string[]): number | null {
  const [first, second] = args;
  if (args.length !== 0 && !(args.length === 2 && first === '--checkpoint' && !second?.startsWith('-')))
    return null;
  const path = findCheckpoint(process.cwd(), second, process.env.AGENT_HANDOVER_CHECKPOINT);
  const text = glanceAtFile(path);
  if (text === undefined) return 0;
  return text === null ? null : readResumeCode(text);
}
