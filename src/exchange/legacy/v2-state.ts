import type { Fact, FactKind } from '../../model/fact.ts';
import type { Handover } from '../../model/handover.ts';
import { cutAtWord } from '../../model/text.ts';
import type { V2Snapshot } from './v2-envelope.ts';

/** The facts of some kinds, the latest first. */
export function listLatest(handover: Handover, ...kinds: readonly FactKind[]): Fact[] {
  return handover.facts.filter((fact) => kinds.includes(fact.kind)).sort((a, b) => ageOf(a) - ageOf(b));
}

/** How many calls ago it was; what was declared holds now. */
export function ageOf(fact: Fact): number {
  const age = fact.detail?.age;
  return typeof age === 'number' ? age : 0;
}

const RECENT_CALLS = 10;

/** Whether it was said so lately that it still stands. */
export function isCurrent(fact: Fact): boolean {
  return ageOf(fact) <= RECENT_CALLS;
}

export function textIn(fact: Fact, key: string): string | null {
  const value = fact.detail?.[key];
  return typeof value === 'string' ? value : null;
}

/** What the work is for: what was given on purpose, else what is being worked on, else what was asked for. */
export function findGoal(handover: Handover): string | null {
  const goals = listLatest(handover, 'goal');
  const given = goals.find((fact) => fact.trust === 'declared');
  const current = goals.find((fact) => textIn(fact, 'role') === 'current');
  return (given ?? current ?? goals[0])?.text ?? null;
}

/** The last thing that the human said; null where nobody wrote down what was said. */
export function findLastMessage(handover: Handover): string | null {
  const said = handover.facts.filter((fact) => typeof fact.detail?.message === 'number');
  const [last] = said.sort((a, b) => Number(b.detail?.message) - Number(a.detail?.message));
  const imported = handover.facts.find((fact) => fact.detail?.last === true);
  return (last ?? imported)?.text ?? null;
}

const PENDING_PERCENT = 65;
const STARTED_PERCENT = 35;

/** By the plan where there is one, else by the steps that handoff V2 knows. */
export function judgeProgress(handover: Handover): Pick<V2Snapshot, 'progress_percent' | 'progress_state'> {
  const tasks = listLatest(handover, 'task');
  const done = tasks.filter((task) => task.status === 'completed' || task.status === 'done').length;
  const isPending = listLatest(handover, 'running').length > 0;
  const isBlocked = listLatest(handover, 'blocker').some(isCurrent);
  const isOpen = isPending || tasks.length > done;
  const started = findGoal(handover) === null ? 0 : STARTED_PERCENT;
  const told = tasks.length === 0 ? undefined : Math.floor((100 * done) / tasks.length);
  return {
    progress_percent: told ?? (isPending ? PENDING_PERCENT : started),
    progress_state: isBlocked ? 'blocked' : isOpen ? 'in_progress' : 'ready',
  };
}

const MAX_STEP_BYTES = 200;
const SHORTEST_LINE = 12;

/** The tool marks every step that the user did not confirm. */
export function findNextStep(handover: Handover): string {
  const task = findOpenTask(handover, 'in_progress');
  const [next] = listLatest(handover, 'next').filter(isCurrent);
  const [running] = listLatest(handover, 'running');
  const stopped = handover.facts.find((fact) => textIn(fact, 'role') === 'stopped');
  const line = stopped?.text.split('\n').find((text) => text.trim().length >= SHORTEST_LINE);
  const goal = findGoal(handover);
  const [label, step] =
    [
      ['Task in progress', task?.text],
      ['Next step', next?.text],
      ['Next task', findOpenTask(handover, 'pending')?.text],
      ['Previous session had pending', running?.text],
      ['Previous session context', line],
      ['Previous session goal', goal ?? undefined],
    ].find(([, text]) => text !== undefined) ?? [];
  if (step === undefined) return 'Ask the user what to work on next.';
  return `(advisory) ${label}: ${cutAtWord(step.replace(/\s+/g, ' ').trim(), MAX_STEP_BYTES)}`;
}

function findOpenTask(handover: Handover, status: string): Fact | undefined {
  return handover.facts.find((fact) => fact.kind === 'task' && fact.status === status);
}

const CORRECTION =
  /^(?:no[,.]|that'?s (?:not|wrong|incorrect)|you(?:'re| are) wrong|you misunderstood|i (?:didn'?t|did not) (?:ask|mean)|let me clarify|correction:|actually,|wait,|hold on,)/i;
const QUESTION_END = /[?？؟]\s*$/;

/** What a message is in any language: only its end and a few English openings are looked at. */
export function readIntent(message: string): V2Snapshot['message_intent'] {
  if (CORRECTION.test(message.trim())) return 'correction';
  return QUESTION_END.test(message) ? 'question' : 'instruction';
}

const SLASH_COMMAND = /^\/[a-z][\w:-]*(\s+\S)?/;

export function readGoalOrigin(goal: string): V2Snapshot['goal_origin'] {
  const command = SLASH_COMMAND.exec(goal.trim());
  if (command === null) return 'user_message';
  return command[1] === undefined ? 'slash_command_bare' : 'slash_command_with_args';
}
