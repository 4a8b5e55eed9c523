import type { Fact, FactKind } from '../../model/fact.ts';
import { cleanLine, cutAtWord } from '../../model/text.ts';
import { type Account, readNumber, readText } from './account.ts';
import { type Block, type Entry, printEntries } from './block.ts';
import { fitMessage } from './fit.ts';
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

/** What was stated on purpose. */
export function describeDeclared({ declared }: Account): Block {
  const ranked = [...declared].sort((a, b) => rankOf(a) - rankOf(b));
  const entries = ranked.map((fact) => ({ lines: printFact(fact), id: fact.id }));
  return {
    heading: 'Stated on purpose',
    weight: null,
    most: Number.POSITIVE_INFINITY,
    print: (bytes) => printEntries(entries, bytes),
  };
}

const PLAN_SHARE = 0.5;
const MAX_PLAN_BYTES = 900;
const MAX_SETTLED_BYTES = 260;
const MAX_QUESTION_BYTES = 130;

/** What the user settled: answers, picked options, the last approved plan. Newest first, so that these get in first. */
export function describeSettled({ settled }: Account): Block {
  const newestFirst = [...settled].reverse();
  const ordered = [
    ...newestFirst.filter(({ detail }) => detail?.role !== 'plan'),
    ...newestFirst.filter(({ detail }) => detail?.role === 'plan'),
  ];
  return {
    heading: 'What was settled',
    weight: 18,
    most: 2400,
    print: (bytes) => {
      const entries = ordered.map((fact): Entry => ({ lines: [printSettled(fact, bytes)], id: fact.id }));
      const shown = printEntries(entries, bytes);
      return shown;
    },
  };
}

function printSettled(fact: Fact, bytes: number): string {
  if (fact.detail?.role === 'plan') {
    const room = Math.min(MAX_PLAN_BYTES, Math.floor(bytes * PLAN_SHARE));
    return `${QUOTE}Plan approved by the user: ${fitMessage(fact.text, room).join(' · ')}`;
  }
  if (fact.detail?.role === 'choice' || !fact.text.includes(' → '))
    return `${QUOTE}The user chose: ${cutAtWord(cleanLine(fact.text), MAX_SETTLED_BYTES)}${describeSession(fact)}`;
  const [asked = '', ...answer] = fact.text.split(' → ');
  const question = cutAtWord(cleanLine(asked), MAX_QUESTION_BYTES);
  const text = cutAtWord(cleanLine(answer.join(' → ')), MAX_SETTLED_BYTES);
  return `${QUOTE}Asked "${question}" the user answered: ${text}${describeSession(fact)}`;
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
  return all === 0 ? 0 : count(changed.filter(({ text }) => /\.(?:mdx?|rst|txt|adoc)$/i.test(text))) / all;
}
