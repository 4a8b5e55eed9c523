import { HandoverError } from '../src/errors.ts';
import type { Arm } from './arms/arm.ts';
import { type CorpusSession, listCuts, readTranscript } from './corpus/corpus.ts';
import { type Cut, cutTranscript, listCompactions } from './corpus/cuts.ts';
import { baseName } from './names/paths.ts';
import { takeFirstTokens } from './score/budget.ts';
import { type Answers, type Scored, scoreBrief } from './score/score.ts';
import { gatherTruth } from './truth/truth.ts';

/** What one arm made of one cut within one budget. */
export interface Result extends Scored {
  file: string;
  repository: string;
  cut: number;
  arm: string;
  budget: number;
  brief: string;
  /** Why there is no brief; null when there is one. */
  failure: string | null;
}

export interface Plan {
  corpus: string;
  budgets: readonly number[];
  arms: readonly Arm[];
}

/** Every arm on every cut of a session within every budget, in that order. */
export async function evaluateSession(session: CorpusSession, plan: Plan): Promise<Result[]> {
  const { file, repository } = session;
  const transcript = readTranscript(plan.corpus, session);
  const results: Result[] = [];
  const compactions = listCompactions(transcript);
  for (const index of listCuts(session, transcript)) {
    const labels = session.labels.get(index) ?? null;
    const cut = labels === null && !compactions.includes(index) ? null : cutTranscript(transcript, index);
    if (cut === null) throw cutError(session, index, labels === null ? 'index.json' : 'the labels');
    const answers: Answers = { labels, truth: cut.isReadable ? gatherTruth(cut) : null };
    for (const arm of plan.arms.filter((arm) => arm.canTell(cut))) {
      for (const attempt of await writeBriefs(arm, cut, plan.budgets)) {
        const place = { file, repository, cut: index, arm: arm.name, budget: attempt.budget };
        results.push({ ...place, ...judge(attempt, arm, answers) });
      }
    }
  }
  return results;
}

interface Attempt {
  budget: number;
  text: string;
  failure: string | null;
}

async function writeBriefs(arm: Arm, cut: Cut, budgets: readonly number[]): Promise<Attempt[]> {
  try {
    const write = await arm.prepare(cut);
    return budgets.map((budget) => ({ budget, text: write(budget), failure: null }));
  } catch (error) {
    if (!(error instanceof HandoverError)) throw error;
    return budgets.map((budget) => ({ budget, text: '', failure: error.message }));
  }
}

/** Budgets are hard: what is beyond is cut before anything is measured. A brief that is not there tells nothing. */
function judge(
  { budget, text, failure }: Attempt,
  arm: Arm,
  answers: Answers,
): Pick<Result, 'brief' | 'failure' | 'score' | 'misses'> {
  const brief = arm.isWhole ? text : takeFirstTokens(text, budget);
  const why = failure ?? (brief.trim() === '' ? 'the brief is empty' : null);
  return { brief, failure: why, ...scoreBrief(why === null ? brief : '', answers) };
}

function cutError({ file }: CorpusSession, index: number, where: string): HandoverError {
  const fault = where === 'index.json' ? 'is not a compaction' : 'is beyond its end';
  return new HandoverError('HANDOVER_INPUT_INVALID', `row ${index} of ${file} ${fault}`, {
    hint: `Correct the cut in ${where}`,
  });
}

const UUID = /^([0-9a-f]{8})(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** As `session:cut`, with the session's id shortened. */
export function nameCut({ file, cut }: Result): string {
  const name = baseName(file).replace(/\.jsonl(?:\.gz)?$/, '');
  return `${UUID.exec(name)?.[1] ?? name}:${cut}`;
}
