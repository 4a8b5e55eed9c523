import type { Fact } from '../model/fact.ts';
import { type Account, findCurrentPrompt, type Said } from './account.ts';
import { draftFact } from './draft-fact.ts';
import { printSentence, splitSentences } from './sentences.ts';

const RECENT = 15;
const RECENT_POINTS = 3200;
const OLDER_POINTS = 400;
/** A rule holds until it is taken back, however long ago it was given. */
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
/** In plans much should and must be done; a rule forbids or prescribes for good. */
const STRICT_RULE =
  /\b(?:never|always|do not|don'?t|must not|no (?:new|external|more)|only use|niemals?|immer|nunca|siempre|sempre|jamais|toujours)\b|никогда|всегда|нельзя|必ず|絶対|しないで|不要|必须|절대|항상|반드시/i;

/**
 * What the human said, word for word: the first request, the current one, what came after it, and the rest. A message
 * that lays down a rule is a constraint wherever it stands.
 */
export function findPromptFacts(account: Account): Fact[] {
  const { prompts, calls } = account;
  const latest = findCurrentPrompt(account);
  const said = prompts.flatMap((prompt, index) => {
    const role = roleOf(index, latest);
    const recent = index >= prompts.length - RECENT;
    const kind = role === 'message' ? kindOf(prompt) : 'goal';
    const fact = draftFact(kind, {
      text: prompt.text,
      line: prompt.line,
      trust: 'quoted',
      origin: 'human',
      weight: {
        points: recent ? RECENT_POINTS : kind === 'constraint' ? RULE_POINTS : OLDER_POINTS,
        age: calls - prompt.call,
      },
      detail: { role, message: index + 1 },
    });
    return fact === null ? [] : [fact];
  });
  return [...said, ...prompts.flatMap((prompt) => findRules(account, prompt))];
}

/** A long message is shown by its beginning; the rules in the rest of it are kept by themselves. */
function findRules(account: Account, prompt: Said): Fact[] {
  if (prompt.text.length < LONG) return [];
  return splitSentences(prompt.text)
    .map(printSentence)
    .filter((text) => text.length <= LONGEST_RULE && STRICT_RULE.test(text))
    .slice(0, MAX_RULES)
    .map((text) =>
      draftFact('constraint', {
        text,
        line: prompt.line,
        trust: 'quoted',
        origin: 'human',
        weight: { points: RULE_SENTENCE_POINTS, age: account.calls - prompt.call },
      }),
    )
    .filter((fact) => fact !== null);
}

function roleOf(index: number, latest: number): 'current' | 'after' | 'first' | 'message' {
  if (index === latest) return 'current';
  if (index > latest) return 'after';
  return index === 0 ? 'first' : 'message';
}

function kindOf(prompt: Said): 'constraint' | 'note' {
  return prompt.text.length < LONG && RULE.test(prompt.text) ? 'constraint' : 'note';
}
