import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type ErrorCode, HandoverError } from '../src/errors.ts';
import { type ArmName, makeArms } from './arms/table.ts';
import type { CorpusSession } from './corpus/corpus.ts';
import { evaluateSession, type Result } from './evaluate.ts';

/** What to do with sessions, in a form that can be sent to a thread. */
export interface Task {
  corpus: string;
  budgets: readonly number[];
  arms: readonly ArmName[];
  /** For what the arms write. */
  folder: string;
}

/** What a thread answers to a session; errors lose their class on the way between threads. */
export type Answer =
  | { results: Result[] }
  | { failure: { code: ErrorCode; message: string; hint: string | undefined } };

export async function evaluateOne(session: CorpusSession, task: Task): Promise<Result[]> {
  const arms = makeArms(task.folder);
  return await evaluateSession(session, { ...task, arms: task.arms.map((name) => arms[name]) });
}

type Evaluate = (session: CorpusSession) => Promise<Result[]>;

/** The results in the order of the sessions, however many threads take part. */
export async function evaluateTogether(
  sessions: readonly CorpusSession[],
  task: Task,
  threads: number,
): Promise<Result[]> {
  const results: Result[][] = [];
  let next = 0;
  const workThrough = async (evaluate: Evaluate): Promise<void> => {
    for (let at = next++; at < sessions.length; at = next++) {
      const session = sessions[at];
      if (session !== undefined) results[at] = await evaluate(session);
    }
  };
  if (threads === 1) await workThrough((session) => evaluateOne(session, task));
  else {
    const count = Math.min(threads, sessions.length);
    const folders = Array.from({ length: count }, (_, number) => join(task.folder, String(number)));
    await Promise.all(folders.map((folder) => withThread({ ...task, folder }, workThrough)));
  }
  return results.flat();
}

async function withThread(task: Task, work: (evaluate: Evaluate) => Promise<void>): Promise<void> {
  const worker = new Worker(new URL('./worker.js', import.meta.url), { workerData: task });
  try {
    await work(async (session) => {
      worker.postMessage(session);
      const [answer]: Answer[] = await once(worker, 'message');
      if (answer === undefined) return [];
      if ('results' in answer) return answer.results;
      const { code, message, hint } = answer.failure;
      throw new HandoverError(code, message, hint === undefined ? {} : { hint });
    });
  } finally {
    await worker.terminate();
  }
}
