import type { Fact, FactKind } from '../model/fact.ts';
import { findContentWords } from '../model/words.ts';
import type { Account, Said } from './account.ts';
import { draftFact } from './draft-fact.ts';
import type { Valuation } from './value.ts';
import { weighNames } from './weigh.ts';

const MAX_STATEMENTS = 220;
const MAX_SCANNED = 12_000;

/** How a sentence shows what it is. The first that fits decides. */
const SIGNS: readonly (readonly [FactKind, RegExp])[] = [
  [
    'rejected',
    /\b(?:instead of|rather than|won'?t work|does(?:n'?t| not) work|didn'?t work|rejected|ruled out|not worth|abandon\w*|revert(?:ed)?)\b/i,
  ],
  [
    'decision',
    /\b(?:decid\w+|we (?:will|use|chose)|going with|chose|settled on|the approach|approach:|agreed)\b/i,
  ],
  ['blocker', /\b(?:blocked|waiting for|can'?t proceed|cannot proceed|needs? your|requires? your)\b/i],
  ['next', /\b(?:next step|next,|remaining|still need|needs? to|todo|to do next|will then|left to do)\b/i],
  ['question', /\?\s*$/],
];

const CUE =
  /\b(?:decid\w*|instead|because|root cause|the (?:issue|problem|bug|fix)|should|must|don't|never|need to|needs to|next|remaining|todo|fixed|turns out|approach|plan|implemented|added|updated|created|removed|changed|still|fails?|failing|pass(?:es|ing|ed)?)\b/i;

/** What was settled is worth keeping for itself, also without a name in it. */
const LASTING: ReadonlySet<FactKind> = new Set(['decision', 'rejected', 'blocker']);
const LASTING_POINTS = 200;

/** Talk about what is about to be done, not about what is. */
const CHATTER =
  /^(?:let me|let's|now (?:i|let)|i'?ll |i will |i'?m going|i am going|great|perfect|good[,.!]|okay|ok[,.]|sure|want me|would you like|shall i|should i|here(?:'s| is| are)|looking at|first,? (?:i|let)|excellent|done[.!]|pros:|cons:|you'?re right|happy to)/i;

interface Sentence extends Said {
  source: 'reply' | 'proposal' | 'summary' | 'task';
}

/** What the agent stated, sentence by sentence, with the best of an earlier summary and of proposed plans. */
export function findStatementFacts(account: Account, valuation: Valuation): Fact[] {
  const weighed = collectSentences(account).map((sentence) => weigh(account, valuation, sentence));
  const unique = new Map<string, Fact>();
  for (const fact of weighed) if (fact !== null && !unique.has(fact.id)) unique.set(fact.id, fact);
  return [...unique.values()]
    .sort((a, b) => density(b) - density(a) || (a.text < b.text ? -1 : 1))
    .slice(0, MAX_STATEMENTS);
}

function collectSentences(account: Account): Sentence[] {
  const from = (source: Sentence['source'], items: readonly Said[]): Sentence[] =>
    items.flatMap((said) => splitSentences(said.text).map((text) => ({ ...said, text, source })));
  const tasks = account.plan.map((item) => ({
    call: account.calls,
    line: account.planLine,
    text: `${item.text}.\n${item.detail ?? ''}`,
  }));
  return [
    ...from('reply', account.replies),
    ...from('proposal', account.proposals.slice(-2)),
    ...from('summary', account.summaries.slice(-1)),
    ...from('task', tasks),
  ];
}

const SHORTEST = 25;
const LONGEST = 400;

/** Whole sentences of prose: no code, no tables, no headings, no openings of lists. */
function splitSentences(text: string): string[] {
  return text
    .slice(0, MAX_SCANNED)
    .replace(/```[\s\S]*?(?:```|$)/g, '\n')
    .split(/(?<=[.!?:])\s+|\n+/)
    .map((part) =>
      part
        .replace(/^[\s>*•#-]+/, '')
        .replace(/^\d+[.)]\s+/, '')
        .replaceAll('**', '')
        .trim(),
    )
    .filter(
      (part) =>
        part.length >= SHORTEST && part.length <= LONGEST && !part.startsWith('|') && !part.endsWith(':'),
    );
}

function weigh(account: Account, valuation: Valuation, sentence: Sentence): Fact | null {
  const names = weighNames(sentence.text, valuation);
  const age = account.calls - sentence.call;
  const words = findContentWords(sentence.text).length;
  const freshness = 0.25 + 40 / (40 + age);
  const wordPoints =
    10 * freshness * (CUE.test(sentence.text) ? 1.4 : 1) * (CHATTER.test(sentence.text) ? 0.25 : 1);
  const kind = kindOf(sentence);
  const lasting =
    LASTING.has(kind) && !CHATTER.test(sentence.text) ? Math.round(LASTING_POINTS * freshness) : 0;
  return draftFact(kind, {
    text: sentence.text,
    line: sentence.line,
    trust: 'quoted',
    origin: 'agent',
    weight: { points: Math.round(wordPoints * words) + lasting, age, names },

    detail: {
      word: Math.round(wordPoints * 10) / 10,
      lasting,
      from: sentence.source,
      ...(CHATTER.test(sentence.text) ? { chatter: true } : {}),
    },
  });
}

function kindOf(sentence: Sentence): FactKind {
  return SIGNS.find(([, sign]) => sign.test(sentence.text))?.[0] ?? 'note';
}

function density(fact: Fact): number {
  const names = fact.detail?.names;
  const total =
    typeof names === 'object' && names !== null
      ? Object.values(names).reduce((sum: number, points) => sum + Number(points), 0)
      : 0;
  return (Number(fact.detail?.points) + total) / (fact.text.length + 10);
}
