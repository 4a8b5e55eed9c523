import type { Fact } from '../model/fact.ts';
import { cutAtWord } from '../model/text.ts';
import type { Account } from './account.ts';
import { draftFact } from './draft-fact.ts';
import { dropEmphasis, HEADING, joinLines, proseLines } from './prose.ts';

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
  const waits = account.lastSpeaker === 'agent' && last?.call === account.calls;
  const spoken = waits ? findSpoken(last.text) : [];
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

/** The questions at the end of what was said. Who goes on working does not wait for an answer. */
function findSpoken(text: string): string[] {
  return joinLines(proseLines(text))
    .flatMap((line) => dropEmphasis(line.replace(HEADING, '')).split(/(?<=[.!?؟]["')]?)\s+|(?<=[？。！])/))
    .filter((sentence) => /[?？؟]["')]?$/.test(sentence.trim()))
    .slice(-MAX_QUESTIONS);
}
