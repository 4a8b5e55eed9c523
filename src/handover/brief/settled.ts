import type { Fact, FactKind } from '../../model/fact.ts';
import { isProse } from '../../model/paths.ts';
import { cleanLine, cutAtWord, cutInside } from '../../model/text.ts';
import { type Account, readNumber, readText } from './account.ts';
import { type Block, countLineBytes, type Entry, printEntries } from './block.ts';
import { fitMessage, shareOut } from './fit.ts';
import { describeSession, printFact, QUOTE } from './lines.ts';

const RANKS: readonly FactKind[] = [
  'goal',
  'next',
  'constraint',
  'blocker',
  'decision',
  'rejected',
  'question',
  'task',
];

function rankOf({ kind }: Fact): number {
  const rank = RANKS.indexOf(kind);
  return rank === -1 ? RANKS.length : rank;
}

const SHORTEST_STATEMENT = 40;

/** Statements as entries. Where there is not room for all, the long ones are cut to an even share of what the short ones leave. */
export function cutEvenly(facts: readonly Fact[], room: number): Entry[] {
  const printed = facts.map((fact) => ({ fact, lines: printFact(fact) }));
  const shares = printed.map(({ lines }) => ({ full: countLineBytes(lines), weight: 1 }));
  const got = shareOut(shares, room);
  return printed.map(({ fact, lines }, at): Entry => {
    const share = got[at] ?? 0;
    if (countLineBytes(lines) <= share) return { lines, id: fact.id };
    const print = (text: string): string[] => printFact({ ...fact, text });
    const most = Math.max(SHORTEST_STATEMENT, share - countLineBytes(print('-')));
    return { lines: print(cutAtWord(cleanLine(fact.text), most)), id: fact.id };
  });
}

/** The share of the page that is kept for what was stated on purpose. */
const DECLARED_SHARE = 0.15;

/** What was stated on purpose. */
export function describeDeclared({ declared }: Account): Block {
  const ranked = [...declared].sort((a, b) => rankOf(a) - rankOf(b));
  const full = countLineBytes(ranked.flatMap(printFact));
  return {
    heading: 'Stated on purpose',
    weight: null,
    ...(full === 0 ? {} : { least: (room) => Math.min(full, Math.floor(room * DECLARED_SHARE)) }),
    most: Number.POSITIVE_INFINITY,
    print: (bytes) => printEntries(cutEvenly(ranked, bytes), bytes),
  };
}

const PLAN_SHARE = 0.5;
const MAX_PLAN_BYTES = 900;
const MAX_SETTLED_BYTES = 320;
const MAX_QUESTION_BYTES = 130;

/** What the user settled: answers, picked options, the last approved plan. Newest first, so that these get in first. */
export function describeSettled({ settled }: Account): Block {
  const answers = settled.filter(({ detail }) => detail?.role !== 'plan');
  // What answered several questions, such as "next" or "done", moved the talk on and settled nothing; nor did another
  // answer to a question that begins like those.
  const countAnswers = (fact: Fact, to: readonly Fact[]): number =>
    to.filter((other) => answerOf(other) === answerOf(fact)).length;
  const isPassing = (fact: Fact): boolean => {
    const alike = answers.filter((other) => openingOf(other) === openingOf(fact));
    return countAnswers(fact, answers) > 1 || alike.some((other) => countAnswers(other, alike) > 1);
  };
  const ordered = [
    ...answers.filter((fact) => !isPassing(fact)),
    ...answers.filter(isPassing),
    ...settled.filter(({ detail }) => detail?.role === 'plan'),
  ];
  return {
    heading: 'What was settled',
    weight: 18,
    most: 2400,
    print: (bytes) => {
      const entries = ordered.map((fact): Entry => ({ lines: [printSettled(fact, bytes)], id: fact.id }));
      return printEntries(entries, bytes);
    },
  };
}

function answerOf({ text }: Fact): string {
  return text.slice(text.indexOf(' → ') + 1);
}

const OPENING_WORDS = 3;

function openingOf({ text }: Fact): string {
  return text.split(/\s+/, OPENING_WORDS).join(' ');
}

function printSettled(fact: Fact, bytes: number): string {
  if (fact.detail?.role === 'plan') {
    const room = Math.min(MAX_PLAN_BYTES, Math.floor(bytes * PLAN_SHARE));
    return `${QUOTE}Plan approved by the user: ${fitMessage(fact.text, room).join(' · ')}`;
  }
  if (!fact.text.includes(' → '))
    return `${QUOTE}The user chose: ${cutInside(cleanLine(fact.text), MAX_SETTLED_BYTES)}${describeSession(fact)}`;
  const [asked = '', ...answer] = fact.text.split(' → ');
  const question = cutAtWord(cleanLine(asked), MAX_QUESTION_BYTES);
  const text = cutInside(cleanLine(answer.join(' → ')), MAX_SETTLED_BYTES);
  return `${QUOTE}Asked "${question}" → ${text}${describeSession(fact)}`;
}

const MAX_DOCUMENTS = 2;
const SAME = 200;
const SHORTEST_DOCUMENT = 300;

/** What the agent wrote down in prose during the session, the newest first. */
export function describeDocuments({ documents, settled, changed }: Account): Block {
  // A plan that was approved is told as such.
  const plans = settled.filter(({ detail }) => detail?.role === 'plan').map(({ text }) => text.slice(0, SAME));
  const newest = documents
    .filter(({ text }) => !plans.includes(text.slice(0, SAME)))
    .reverse()
    .slice(0, MAX_DOCUMENTS);
  return {
    heading: 'Written down in the session',
    weight: 4 + 14 * shareOfProse(changed),
    most: 2400,
    print: (bytes) => {
      const count = Math.max(1, Math.min(newest.length, Math.floor(bytes / SHORTEST_DOCUMENT)));
      const room = Math.floor(bytes / count);
      const entries = newest.slice(0, count).map((fact): Entry => {
        const head = `${QUOTE}${cleanLine(readText(fact, 'path') ?? '')}: `;
        return { lines: [`${head}${fitMessage(fact.text, room - head.length - 2).join(' · ')}`], id: fact.id };
      });
      return printEntries(entries, bytes);
    },
  };
}

/** The share of edits that went into prose: in some sessions the documents are the work. */
function shareOfProse(changed: readonly Fact[]): number {
  const count = (files: readonly Fact[]): number => files.reduce((sum, fact) => sum + readNumber(fact, 'edits'), 0);
  const all = count(changed);
  return all === 0 ? 0 : count(changed.filter(({ text }) => isProse(text))) / all;
}
