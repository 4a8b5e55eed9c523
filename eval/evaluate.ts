import { HandoverError } from '../src/errors.ts';
import type { Arm } from './arms/arm.ts';
import { type CorpusSession, listCuts, readTranscript } from './corpus/corpus.ts';
import { type Cut, cutTranscript } from './corpus/cuts.ts';
import { baseName } from './names/paths.ts';
import { takeFirstTokens } from './score/budget.ts';
import { type Scored, scoreBrief } from './score/score.ts';
import { gatherTruth, type Truth } from './truth/truth.ts';

/** What one arm made of one cut within one budget. */
export interface Result extends Scored {
  file: string;
  repository: string;
  cut: number;
  /** At the first compaction of its session. */
  isFirst: boolean;
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
  for (const index of listCuts(session, transcript)) {
    const cut = cutTranscript(transcript, index);
    if (cut === null) throw describeWrongCut(session, index);
    const truth = gatherTruth(cut);
    const place = { file, repository, cut: index, isFirst: cut.isFirst };
    for (const arm of plan.arms) {
      for (const attempt of await writeBriefs(arm, cut, plan.budgets))
        results.push({ ...place, arm: arm.name, ...judge(attempt, arm, truth) });
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

/**
 * Budgets are hard: what is beyond is cut before anything is measured. A brief that is not there has no excuse: all that
 * could have been measured is zero.
 */
function judge(
  { budget, text, failure }: Attempt,
  arm: Arm,
  truth: Truth,
): Pick<Result, 'budget' | 'brief' | 'failure' | 'score' | 'misses'> {
  const brief = arm.isWhole ? text : takeFirstTokens(text, budget);
  const { score, misses } = scoreBrief(brief, truth);
  const why = failure ?? (brief.trim() === '' ? 'the brief is empty' : null);
  const counted = [...score]
    .filter(([metric]) => !arm.meaningless.includes(metric))
    .map(([metric, value]) => [metric, why === null ? value : 0] as const);
  return { budget, brief, failure: why, score: new Map(counted), misses };
}

function describeWrongCut({ file }: CorpusSession, index: number): HandoverError {
  return new HandoverError('HANDOVER_INPUT_INVALID', `row ${index} of ${file} is not a compaction`, {
    hint: 'Correct the cut in index.json, or leave it away to take every compaction of the session',
  });
}

const UUID = /^([0-9a-f]{8})(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** As `session:cut`, with the session's id shortened. */
export function nameCut({ file, cut }: Result): string {
  const name = baseName(file).replace(/\.jsonl(?:\.gz)?$/, '');
  return `${UUID.exec(name)?.[1] ?? name}:${cut}`;
}
