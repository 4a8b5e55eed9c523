import type { Fact, FactKind } from '../model/fact.ts';
import { findContentWords } from '../model/text.ts';
import type { Account, Said } from './account.ts';
import { draftFact, type Weight } from './draft-fact.ts';
import { isChatter, printSentence, splitSentences } from './sentences.ts';
import type { Valuation } from './value.ts';
import { weighNames } from './weigh.ts';

const MAX_STATEMENTS = 220;

/** How a sentence shows what it is. The first that fits decides. */
const SIGNS: readonly (readonly [FactKind, RegExp])[] = [
  [
    'rejected',
    /\b(?:instead of|rather than|won'?t work|does(?:n'?t| not) work|didn'?t work|rejected|ruled out|not worth|abandon\w*|revert(?:ed)?|statt|verworfen|en (?:lugar|vez) de|descart\w+|au lieu de|écart\w+)\b|却下|ではなく|代わりに|而不是|放弃/i,
  ],
  [
    'decision',
    /\b(?:decid\w+|we (?:will|use|chose)|going with|chose|settled on|the approach|approach:|agreed|entschieden|beschlossen|decidi\w+|acordado|décidé\w*|convenu)\b|決定|決め|决定/i,
  ],
  [
    'blocker',
    /\b(?:blocked|waiting for|can'?t proceed|cannot proceed|needs? your|requires? your|blockiert|bloquead\w+|bloqué\w*)\b|待ち|阻塞/i,
  ],
  [
    'next',
    /\b(?:next step|next,|remaining|still need|needs? to|todo|to do next|will then|left to do|nächster schritt|noch offen|siguiente paso|falta|prochaine étape|reste à)\b|次に|残り|下一步|待办/i,
  ],
];

const CUE =
  /\b(?:decid\w*|instead|because|root cause|the (?:issue|problem|bug|fix)|should|must|don't|never|need to|needs to|next|remaining|todo|fixed|turns out|approach|plan|implemented|added|updated|created|removed|changed|still|fails?|failing|pass(?:es|ing|ed)?)\b/i;

/** What was settled is worth keeping for itself, also without a name in it. */
const LASTING: ReadonlySet<FactKind> = new Set(['decision', 'rejected', 'blocker']);
const LASTING_POINTS = 200;

interface Statement extends Said {
  source: 'reply' | 'proposal' | 'summary' | 'task';
}

/** What the agent stated, sentence by sentence, with the best of an earlier summary and of proposed plans. */
export function findStatementFacts(account: Account, valuation: Valuation): Fact[] {
  const ranked = collectStatements(account)
    .map((statement) => weigh(account, valuation, statement))
    .sort((a, b) => b.density - a.density || (a.statement.text < b.statement.text ? -1 : 1));
  const unique = new Map<string, Fact>();
  for (const weighed of ranked) {
    const fact = draft(weighed);
    if (fact !== null && !unique.has(fact.id)) unique.set(fact.id, fact);
    if (unique.size === MAX_STATEMENTS) break;
  }
  return [...unique.values()];
}

function collectStatements(account: Account): Statement[] {
  const from = (source: Statement['source'], items: readonly Said[]): Statement[] =>
    items.flatMap((said) =>
      splitSentences(said.text).map((sentence) => ({ ...said, text: printSentence(sentence), source })),
    );
  const tasks = account.plan.map((item) => ({
    call: account.calls,
    line: account.planLine,
    text: `${item.text}.\n${item.detail ?? ''}`,
  }));
  return [
    ...from('reply', account.replies),
    ...from('proposal', account.proposals.slice(-2)),
    ...from('summary', account.summaries.slice(-1).map(dropPassing)),
    ...from('task', tasks),
  ].filter(({ text }) => !isChatter(text));
}

/** The parts of a summary that tell how things stood then: they have gone on since. */
const PASSING =
  /^[ \t]*\d{1,2}\.[ \t]*\**(?:all user messages|pending tasks|current work|optional next step|key technical concepts)[\s\S]*?(?=^[ \t]*\d{1,2}\.[ \t]*\**[A-Z]|(?![\s\S]))/gim;

function dropPassing(summary: Said): Said {
  return { ...summary, text: summary.text.replace(PASSING, '\n') };
}

interface WeighedStatement {
  statement: Statement;
  kind: FactKind;
  weight: Weight;
  wordPoints: number;
  lasting: number;
  /** What it is worth for its length. */
  density: number;
}

function weigh(account: Account, valuation: Valuation, statement: Statement): WeighedStatement {
  const { text } = statement;
  const names = weighNames(text, valuation);
  const age = account.calls - statement.call;
  const freshness = 0.25 + 40 / (40 + age);
  const wordPoints = 10 * freshness * (CUE.test(text) ? 1.4 : 1);
  const kind = kindOf(statement);
  const lasting = LASTING.has(kind) ? Math.round(LASTING_POINTS * freshness) : 0;
  const points = Math.round(wordPoints * findContentWords(text).length) + lasting;
  const total = Object.values(names).reduce((sum, own) => sum + own, points);
  const density = total / (text.length + 10);
  return { statement, kind, weight: { points, age, names }, wordPoints, lasting, density };
}

function draft({ statement, kind, weight, wordPoints, lasting }: WeighedStatement): Fact | null {
  const { text, line, source } = statement;
  return draftFact(kind, {
    text,
    line,
    trust: 'quoted',
    origin: 'agent',
    weight,
    detail: { word: Math.round(wordPoints * 10) / 10, lasting, from: source },
  });
}

function kindOf(sentence: Statement): FactKind {
  return SIGNS.find(([, sign]) => sign.test(sentence.text))?.[0] ?? 'note';
}
