import type { Fact } from '../model/fact.ts';
import { findQuestion, isQuestion, listOptions, splitMessage } from '../model/message-lines.ts';
import { cleanLine, cutAtWord } from '../model/text.ts';
import { BY_HUMAN, draftFact } from './facts.ts';
import type { SessionLog } from './session-log.ts';
import { printClosing, type Turn } from './turns.ts';

const MAX_PLAN_BYTES = 6000;
const MAX_OPTION_BYTES = 240;
const MAX_OTHER_BYTES = 90;

/**
 * What the human settled, by the structure of the session alone: answers to questions, the last approved plan, and an
 * option picked by its number. What somebody only said is quoted elsewhere.
 */
export function findSettledFacts(log: SessionLog, turns: readonly Turn[]): (Fact | null)[] {
  const pairs = log.prompts.flatMap((prompt, at) => {
    if (prompt.question === undefined || wasTakenBack(log, at)) return [];
    const texts = prompt.text.includes(' → ')
      ? prompt.text.split(/\n(?=[^\n]+ → )/)
      : [`${cutAtWord(cleanLine(prompt.question), MAX_OPTION_BYTES)} → ${prompt.text}`];
    return texts.map((text) => ({ text, prompt }));
  });
  // The last answer to a question holds. One that asks in turn settles nothing.
  const answers = [...new Map(pairs.map((pair) => [pair.text.split(' → ')[0], pair])).values()]
    .filter(({ text }) => !isQuestion(text.trim()))
    .map(({ text, prompt }) =>
      draftFact('decision', {
        text,
        line: prompt.line,
        ...BY_HUMAN,
        age: log.calls - prompt.call,
        detail: { role: 'answer' },
      }),
    );
  const choices = turns.map((turn, at) => draftChoice(log, turn, turns[at - 1]));
  const plan = log.proposals.at(-1);
  const approved =
    plan === undefined || plan.text === '' || [...log.pending.values()].some(({ call }) => call === plan.call)
      ? null
      : draftFact('decision', {
          text: cutAtWord(plan.text, MAX_PLAN_BYTES),
          line: plan.line,
          trust: 'quoted',
          origin: 'agent',
          age: log.calls - plan.call,
          detail: { role: 'plan' },
        });
  return [...answers, ...choices, approved];
}

/** Whether the human stopped the agent before anything came of a message, and wrote another one. */
function wasTakenBack({ interrupted, prompts, replies }: SessionLog, at: number): boolean {
  const [prompt, next] = prompts.slice(at, at + 2);
  if (prompt === undefined || next?.call !== prompt.call || !interrupted.has(at + 1)) return false;
  return !replies.some(({ line }) => line > prompt.line && line < next.line);
}

/** Labels of options and nothing else: with words around it, a number may mean anything. */
const CHOICE = /^[(["']*(?:[1-9]|[A-E])(?:(?:[\s,;+&/.)\]"'!=-]|and|und|et|[ye]|和|と|и)+(?:[1-9]|[A-E]))*[)\]."'!=]*$/;

/** A message that is nothing but labels of options which the agent had just laid out, with a question. */
function draftChoice(log: SessionLog, { prompt }: Turn, before: Turn | undefined): Fact | null {
  if (prompt === null || prompt.question !== undefined || before === undefined) return null;
  const said = cleanLine(prompt.text);
  if (!CHOICE.test(said)) return null;
  const lines = splitMessage(printClosing(before));
  const question = findQuestion(lines);
  if (question === null) return null;
  const named = new Set(said.match(/[1-9A-E]/g));
  const list = listOptions(lines, ({ label }) => [...named].some((own) => /\d/.test(own) === /\d/.test(label)));
  const picked = list.filter(({ label }) => named.has(label));
  if (list.length < 2 || picked.length === 0) return null;
  const others = list.filter((option) => !picked.includes(option)).map(({ text }) => cutAtWord(text, MAX_OTHER_BYTES));
  const over = others.length === 0 ? '' : ` (the others: ${others.slice(-4).join(' · ')})`;
  const meant = picked.map(({ text }) => cutAtWord(text, MAX_OPTION_BYTES)).join(' + ');
  return draftFact('decision', {
    text: `${cutAtWord(question, MAX_OPTION_BYTES)} → "${said}", in its list: ${meant}${over}`,
    line: prompt.line,
    ...BY_HUMAN,
    age: log.calls - prompt.call,
    detail: { role: 'choice' },
  });
}
