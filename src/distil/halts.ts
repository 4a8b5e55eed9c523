import type { Fact } from '../model/fact.ts';
import { cutAtWord } from '../model/text.ts';
import type { Account } from './account.ts';
import { draftFact } from './draft-fact.ts';
import { keepProse } from './prose.ts';

const MAX_QUESTIONS = 3;
const MAX_BYTES = 300;
const POINTS = 4000;

/** What the session waits for: a limit that stopped it, and questions that the human has not answered. */
export function findHaltFacts(account: Account): Fact[] {
  const { stop } = account;
  const stopped =
    stop === null
      ? null
      : draftFact('blocker', {
          text: `the session was stopped: ${cutAtWord(stop.text.replace(/\s+/g, ' '), MAX_BYTES)}`,
          line: stop.line,
          status: 'open',
          trust: 'observed',
          origin: 'tool',
          weight: { points: POINTS, age: 0 },
        });
  return [stopped, ...findQuestions(account)].filter((fact) => fact !== null);
}

function findQuestions(account: Account): (Fact | null)[] {
  const last = account.replies.at(-1);
  const asked = [...account.open.values()].filter((call) => call.voice === 'answer');
  const spoken =
    last === undefined || account.lastSpeaker !== 'agent'
      ? []
      : keepProse(last.text)
          .split(/(?<=[.!?？。！])\s+|\n/)
          .filter((sentence) => /[?？]$/.test(sentence.trim()))
          .slice(-MAX_QUESTIONS);
  return [
    ...asked.map(({ what, line }) => ({ text: what, line })),
    ...spoken.map((text) => ({ text, line: last?.line ?? 0 })),
  ].map(({ text, line }) =>
    draftFact('question', {
      text: cutAtWord(text.replace(/\s+/g, ' ').replace(/^\s*(?:[-*•]|\d+[.)])\s+/, ''), MAX_BYTES),
      line,
      status: 'open',
      trust: 'quoted',
      origin: 'agent',
      weight: { points: POINTS, age: 0 },
    }),
  );
}
