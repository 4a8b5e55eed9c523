import type { Fact, FactKind } from '../model/fact.ts';
import { isRefuted } from './marks.ts';

const SETTLED: ReadonlySet<FactKind> = new Set(['decision', 'rejected']);

/**
 * What holds until somebody says otherwise: what was handed over on purpose, what was settled or refuted, and rules. Beyond its
 * session a message counts as a rule only if it lays one down; "can we use X instead" was for that day.
 */
export function isLasting(fact: Fact, isSameSession: boolean): boolean {
  if (fact.pinned === true || fact.trust === 'declared' || SETTLED.has(fact.kind) || isRefuted(fact))
    return true;
  if (fact.kind !== 'constraint') return false;
  return isSameSession || fact.origin !== 'human' || laysDownRule(fact.text);
}

const LONGEST_RULE = 600;

/** Whether a request of the user is a rule besides, which holds when there is another request. */
export function isRuleGiven(fact: Fact): boolean {
  const isRequest = fact.kind === 'goal' && fact.trust === 'quoted' && fact.origin === 'human';
  return isRequest && fact.pinned !== true && fact.text.length < LONGEST_RULE && laysDownRule(fact.text);
}

/** An order that begins a sentence or a clause; in other languages a word that is said of nothing else. */
const RULES: readonly RegExp[] = [
  /(?:^|[,;:(]\s*|\b(?:and|but|also|please|you|we|it|they|this|that)\s+)(?:never|always|must(?: not|n't)?|do not|don'?t ever)\b|^(?:please )?don'?t\b|^(?:from now on|going forward|in (?:the )?future|make sure|remember (?:to|that)|no (?:new|more than)|only use)\b/i,
  /(?<!\p{L})(?:niemals|auf keinen fall|ab jetzt|nunca|jamás|siempre|sempre|jamais|désormais|никогда|нельзя)(?!\p{L})/iu,
  /必ず|絶対に|しないで|ないでください|不要|不准|必须|必須|一定要|绝不|絕不/u,
];

function laysDownRule(text: string): boolean {
  return text
    .split(/(?<=[.!?])\s+|(?<=[。！？])|\n+/)
    .map((sentence) => sentence.trim())
    .some((sentence) => !/[?？]$/.test(sentence) && RULES.some((rule) => rule.test(sentence)));
}
