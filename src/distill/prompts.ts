import type { Fact } from '../model/fact.ts';
import { BY_HUMAN, draftFact, type Valuation, weighNames } from './facts.ts';
import { splitSentences } from './prose.ts';
import { findCurrentPrompt, type Message, type SessionLog } from './session-log.ts';

const RECENT = 15;
const RECENT_POINTS = 3200;
const OLDER_POINTS = 400;
/** A rule holds however old it is. */
const RULE_POINTS = 2500;
const RULE = new RegExp(
  [
    "\\b(?:never|always|must(?: not)?|don'?t|do not|only use|prefer|instead of|no more than|at most|at least|keep .{1,40} (?:below|under|above))\\b",
    '\\b(?:nie(?:mals)?|immer|muss|darf|statt|höchstens|mindestens)\\b',
    '\\b(?:nunca|jamás|siempre|debe|en (?:lugar|vez) de|no uses|como máximo|al menos)\\b',
    '\\b(?:jamais|toujours|doit|au lieu de|plutôt que|au plus|au moins)\\b',
    '\\b(?:mai|nunca|sempre|deve|dovrebbe|invece di|em vez de|ao menos|pelo menos|al massimo|almeno)\\b',
    'никогда|всегда|нельзя|обязательно|должен|должна|должны|вместо|не более|не менее|не используй',
    '必ず|絶対|しないで|ではなく|以下|以上|不要|必须|必須|一定要|而不是|至少|最多|절대|항상|반드시|하지 ?마|대신',
  ].join('|'),
  'i',
);

const LONG = 600;
const LONGEST_RULE = 240;
const RULE_SENTENCE_POINTS = 600;
const MAX_RULES = 12;
/** Stricter than `RULE`: in a long message much should and must be done once, without being a rule. */
const STRICT_RULE =
  /\b(?:never|always|do not|don'?t|must not|no (?:new|external|more)|only use|niemals?|immer|nunca|siempre|sempre|jamais|toujours)\b|никогда|всегда|нельзя|必ず|絶対|しないで|不要|必须|절대|항상|반드시/i;

/** The human's messages, word for word, with their role. A message that gives a rule is a constraint wherever it stands. */
export function findPromptFacts(log: SessionLog): (Fact | null)[] {
  const { prompts, calls } = log;
  const current = findCurrentPrompt(log);
  const messages = prompts.map((prompt, index) => {
    const role = roleOf(index, current);
    const isRule = prompt.text.length < LONG && RULE.test(prompt.text);
    const kind = role !== 'message' ? 'goal' : isRule ? 'constraint' : 'note';
    const isRecent = index >= prompts.length - RECENT;
    return draftFact(kind, {
      text: prompt.text,
      line: prompt.line,
      ...BY_HUMAN,
      weight: {
        points: isRecent ? RECENT_POINTS : kind === 'constraint' ? RULE_POINTS : OLDER_POINTS,
        age: calls - prompt.call,
      },
      detail: { role, message: index + 1 },
    });
  });
  return [...messages, ...prompts.flatMap((prompt) => findRules(log, prompt))];
}

function roleOf(index: number, current: number): 'current' | 'after' | 'first' | 'message' {
  if (index === current) return 'current';
  if (index > current) return 'after';
  return index === 0 ? 'first' : 'message';
}

/** The rules in a long message, of which a brief shows only the beginning. */
function findRules(log: SessionLog, prompt: Message): (Fact | null)[] {
  if (prompt.text.length < LONG) return [];
  return splitSentences(prompt.text)
    .filter((text) => text.length <= LONGEST_RULE && STRICT_RULE.test(text))
    .slice(0, MAX_RULES)
    .map((text) =>
      draftFact('constraint', {
        text,
        line: prompt.line,
        ...BY_HUMAN,
        weight: { points: RULE_SENTENCE_POINTS, age: log.calls - prompt.call },
      }),
    );
}

const OPEN_POINTS = 20_000;
/** What is done need not be done again, and shows what the rest is about. */
const DONE_POINTS = 150;

export function findTaskFacts(log: SessionLog, valuation: Valuation): (Fact | null)[] {
  return log.plan.map(({ id, text, status, detail }) =>
    draftFact('task', {
      text,
      line: log.planLine,
      status,
      trust: 'observed',
      origin: 'agent',
      weight: {
        points: status === 'pending' || status === 'in_progress' ? OPEN_POINTS : DONE_POINTS,
        age: 0,
        names: weighNames(`${id === undefined ? '' : `#${id} `}${text}`, valuation),
      },
      detail: { ...(id === undefined ? {} : { number: id }), ...(detail === undefined ? {} : { more: detail }) },
    }),
  );
}
