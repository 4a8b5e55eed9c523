import type { Fact, FactKind } from '../model/fact.ts';
import { cutAtWord, findContentWords } from '../model/text.ts';
import { BY_AGENT, draftFact, OBSERVED, type Valuation, weighNames } from './facts.ts';
import { dropEmphasis, HEADING, isChatter, joinLines, proseLines, splitSentences } from './prose.ts';
import type { Message, SessionLog } from './session-log.ts';

const MAX_STATEMENTS = 220;

/** The words that show what a sentence is. The first match decides. */
const CUES: readonly (readonly [FactKind, RegExp])[] = [
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

/** Worth keeping even without a name in them. */
const LASTING: ReadonlySet<FactKind> = new Set(['decision', 'rejected', 'blocker']);
const LASTING_POINTS = 200;

type Statement = Message & { from: 'reply' | 'proposal' | 'summary' | 'task' };

/** What the agent stated, sentence by sentence, in replies, proposed plans, the last summary and tasks: the best for their length. */
export function findStatementFacts(log: SessionLog, valuation: Valuation): Fact[] {
  const ranked = collectStatements(log)
    .map((statement) => ({ ...statement, ...weighStatement(log, valuation, statement) }))
    .sort((a, b) => b.density - a.density || (a.text < b.text ? -1 : 1));
  const unique = new Map<string, Fact>();
  for (const { kind, text, line, weight, wordPoints, lasting, from } of ranked) {
    const detail = { word: Math.round(wordPoints * 10) / 10, lasting, from };
    const fact = draftFact(kind, { text, line, ...BY_AGENT, weight, detail });
    if (fact !== null && !unique.has(fact.id)) unique.set(fact.id, fact);
    if (unique.size === MAX_STATEMENTS) break;
  }
  return [...unique.values()];
}

/** Sections of a summary that describe a state which has changed since. */
const PASSING =
  /^[ \t]*\d{1,2}\.[ \t]*\**(?:all user messages|pending tasks|current work|optional next step|key technical concepts)[\s\S]*?(?=^[ \t]*\d{1,2}\.[ \t]*\**[A-Z]|(?![\s\S]))/gim;

function collectStatements(log: SessionLog): Statement[] {
  const split = (from: Statement['from'], messages: readonly Message[]): Statement[] =>
    messages.flatMap((message) => splitSentences(message.text).map((text) => ({ ...message, text, from })));
  const [summary] = log.summaries.slice(-1);
  const summaries = summary === undefined ? [] : [{ ...summary, text: summary.text.replace(PASSING, '\n') }];
  const { calls: call, planLine: line } = log;
  const tasks = log.plan.map(({ text, detail }) => ({ call, line, text: `${text}.\n${detail ?? ''}` }));
  return [
    ...split('reply', log.replies),
    ...split('proposal', log.proposals.slice(-2)),
    ...split('summary', summaries),
    ...split('task', tasks),
  ].filter(({ text }) => !isChatter(text));
}

/** `density` is the total value for the length. */
function weighStatement(log: SessionLog, valuation: Valuation, { text, call }: Statement) {
  const names = weighNames(text, valuation);
  const age = log.calls - call;
  const freshness = 0.25 + 40 / (40 + age);
  const wordPoints = 10 * freshness * (CUE.test(text) ? 1.4 : 1);
  const kind = CUES.find(([, cue]) => cue.test(text))?.[0] ?? 'note';
  const lasting = LASTING.has(kind) ? Math.round(LASTING_POINTS * freshness) : 0;
  const points = Math.round(wordPoints * findContentWords(text).length) + lasting;
  const total = Object.values(names).reduce((sum, own) => sum + own, points);
  return { kind, weight: { points, age, names }, wordPoints, lasting, density: total / (text.length + 10) };
}

const MAX_QUESTIONS = 3;
const MAX_BYTES = 300;
const POINTS = 4000;

/** What the session waits for: a limit that stopped it, and unanswered questions. */
export function findBlockerFacts(log: SessionLog): (Fact | null)[] {
  const { stop } = log;
  const common = { status: 'open', weight: { points: POINTS, age: 0 } };
  const questions = findQuestions(log).map(({ text, line }) =>
    draftFact('question', {
      text: cutAtWord(text.replace(/\s+/g, ' ').replace(/^\s*(?:[-*•]|\d+[.)])\s+/, ''), MAX_BYTES),
      line,
      ...BY_AGENT,
      ...common,
    }),
  );
  if (stop === null) return questions;
  const text = `the session was stopped: ${cutAtWord(stop.text.replace(/\s+/g, ' '), MAX_BYTES)}`;
  return [draftFact('blocker', { text, line: stop.line, ...OBSERVED, ...common }), ...questions];
}

/** Questions asked by a call, and those at the end of the last reply if no call followed it. */
function findQuestions(log: SessionLog): { text: string; line: number }[] {
  const asked = [...log.pending.values()].filter((call) => call.source === 'answer');
  const last = log.replies.at(-1);
  const waits = log.lastSpeaker === 'agent' && last?.call === log.calls;
  const spoken = joinLines(proseLines(waits ? last.text : ''))
    .flatMap((line) => dropEmphasis(line.replace(HEADING, '')).split(/(?<=[.!?؟]["')]?)\s+|(?<=[？。！])/))
    .filter((sentence) => /[?？؟]["')]?$/.test(sentence.trim()))
    .slice(-MAX_QUESTIONS);
  return [
    ...asked.map(({ what, line }) => ({ text: what, line })),
    ...spoken.map((text) => ({ text, line: last?.line ?? 0 })),
  ];
}
