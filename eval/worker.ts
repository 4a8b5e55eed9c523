import { parentPort, workerData } from 'node:worker_threads';
import { HandoverError } from '../src/errors.ts';
import type { CorpusSession } from './corpus/corpus.ts';
import { type Answer, evaluateOne, type Task } from './together.ts';

/** A thread that evaluates the sessions that it is sent, one after the other. */
const task: Task = workerData;

parentPort?.on('message', async (session: CorpusSession) => {
  parentPort?.postMessage(await answer(session));
});

async function answer(session: CorpusSession): Promise<Answer> {
  try {
    return { results: await evaluateOne(session, task) };
  } catch (error) {
    if (!(error instanceof HandoverError)) throw error;
    const { code, message, hint } = error;
    return { failure: { code, message, hint } };
  }
}
