import type { Fact } from '../model/fact.ts';
import { splitMessage } from '../model/message-lines.ts';
import { cleanLine, countUtf8Bytes, cutAtWord } from '../model/text.ts';
import { BY_HUMAN, draftFact } from './facts.ts';
import type { SessionLog } from './session-log.ts';
import { printClosing, type Turn } from './turns.ts';

const MAX_PLAN_BYTES = 6000;
const MAX_CHOICE_BYTES = 220;
const LONGEST_CHOICE = 120;
const MAX_OPTION_BYTES = 240;
const MAX_OTHER_BYTES = 90;

/**
 * What the human settled, by the structure of the session alone: answers to questions, the last approved plan, and an
 * option picked by its number. What somebody only said is quoted elsewhere.
 */
export function findSettledFacts(log: SessionLog, turns: readonly Turn[]): (Fact | null)[] {
  const answers = log.prompts.flatMap((prompt) => {
    if (prompt.question === undefined) return [];
    const pairs = prompt.text.includes(' → ')
      ? prompt.text.split(/\n(?=[^\n]+ → )/)
      : [`${cutAtWord(cleanLine(prompt.question), MAX_OPTION_BYTES)} → ${prompt.text}`];
    return pairs.map((text) =>
      draftFact('decision', {
        text,
        line: prompt.line,
        ...BY_HUMAN,
        age: log.calls - prompt.call,
        detail: { role: 'answer' },
      }),
    );
  });
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

const NUMBERED = /^(?:[^.:]{3,40}: )?(?:\p{L}{4,12} )?([1-9]|[A-E])[.):]\s/u;

/** A short message that names one of the numbered options which the agent had just laid out, with a question. */
function draftChoice(log: SessionLog, { prompt }: Turn, before: Turn | undefined): Fact | null {
  if (prompt === null || prompt.question !== undefined || before === undefined) return null;
  const said = cleanLine(prompt.text);
  const closing = printClosing(before);
  if (countUtf8Bytes(said) > LONGEST_CHOICE || /[?？]$/.test(said) || !/[?？]/.test(closing.slice(-400))) return null;
  const options = splitMessage(closing).flatMap(({ text }) => {
    const label = NUMBERED.exec(text)?.[1];
    return label === undefined ? [] : [{ label, text }];
  });
  if (options.length < 2) return null;
  const named = new Set(said.match(/(?<![\p{L}\p{N}.#])(?:[1-9]|[A-E])(?![\p{L}\p{N}%])/gu));
  const picked = options.filter(({ label }) => named.has(label)).slice(-named.size);
  if (picked.length === 0) return null;
  const others = options
    .filter((option) => !picked.includes(option))
    .map(({ text }) => cutAtWord(text, MAX_OTHER_BYTES));
  const over = others.length === 0 ? '' : ` (not: ${others.slice(-4).join(' · ')})`;
  return draftFact('decision', {
    text: `"${cutAtWord(said, MAX_CHOICE_BYTES)}" = ${picked.map(({ text }) => cutAtWord(text, MAX_OPTION_BYTES)).join(' + ')}${over}`,
    line: prompt.line,
    ...BY_HUMAN,
    age: log.calls - prompt.call,
    detail: { role: 'choice' },
  });
}
