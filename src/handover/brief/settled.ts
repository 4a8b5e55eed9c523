import type { Fact, FactKind } from '../../model/fact.ts';
import { cleanLine, cutAtWord } from '../../model/text.ts';
import type { Account } from './account.ts';
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
const MAX_SETTLED_BYTES = 420;

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
  const label = fact.detail?.role === 'choice' ? 'The user chose: ' : 'Asked and answered: ';
  const text = fact.text.split('\n').map(cleanLine).join(' · ');
  return `${QUOTE}${label}${cutAtWord(text, MAX_SETTLED_BYTES)}${describeSession(fact)}`;
}
