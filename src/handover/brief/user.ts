import { type Fact, lineOf } from '../../model/fact.ts';
import { findQuestion, hasList, listOptions, SHORTEST_ASKED, splitMessage } from '../../model/message-lines.ts';
import { cleanLine, countUtf8Bytes, cutAtWord } from '../../model/text.ts';
import { type Account, readNumber, readText } from './account.ts';
import { type Block, countLineBytes, type Entry, printEntries } from './block.ts';
import { fitMessage, shareOut } from './fit.ts';
import { describeSession, QUOTE, readMessage } from './lines.ts';

const MAX_REQUEST_BYTES = 4000;
const SHORTEST_BYTES = 40;
const MAX_ANSWERED_BYTES = 320;
const SHORT_BYTES = 160;
const MAX_AUTHOR_BYTES = 60;
const MAX_REFUSED_BYTES = 40;
/** For the beginning of the current request. */
const LEAST_BYTES = 120;
/** A message as short as "yes" says nothing without what it answers. */
export const BARE_BYTES = 25;

const MAX_RULE_BYTES = 700;
const RULES_WEIGHT = 5;
/** Of what the user said in earlier sessions as much is told as has room in this share of the section. */
const RULES_SHARE = 0.5;
const ROOM_OF_RULE = 150;
const FEWEST_RULES = 2;

const NOW = { label: 'Now', weight: 6, most: MAX_REQUEST_BYTES };
const ASKED = { ...NOW, label: 'Asked' };
const ANSWERED = { label: 'Answered', weight: 6, most: MAX_ANSWERED_BYTES };
const THEN = { label: 'Then', weight: 3, most: MAX_ANSWERED_BYTES };
const NEWEST = { label: 'Then', weight: 6, most: MAX_REQUEST_BYTES };

type Spoken = { label: string; fact: Fact; answered: string | null };

/** What the user wants: the current request in full where it fits, what it answers, what came after, and how it began. */
export function describeUser(account: Account): Block {
  const { current, after, first, rules } = account;
  return {
    heading: 'The user',
    weight: 22,
    ...(current === null ? {} : { least: () => LEAST_BYTES }),
    most: 5000,
    print: (bytes) => {
      const isFirst = first === null || first.id === current?.id;
      const isOver = isAnswered(account);
      const asked = after.length === 0 ? NOW : isOver ? ANSWERED : ASKED;
      const spoken = [
        ...(current === null ? [] : [{ ...asked, fact: current }]),
        ...after.map((fact, at) => ({
          ...(at === after.length - 1 ? NEWEST : THEN),
          ...(isOver && at === after.length - 1 ? { label: 'Now' } : {}),
          fact,
        })),
        ...(isFirst ? [] : [{ label: 'First', fact: first, weight: 3, most: MAX_REQUEST_BYTES }]),
      ].map((part) => ({ ...part, text: readMessage(part.fact.text), answered: findAnswered(account, part.fact) }));
      const printRule = (fact: Fact, text: string): string => `${QUOTE}- "${text}"${describeSession(fact)}`;
      const kept = rules.slice(0, Math.max(FEWEST_RULES, Math.floor((bytes * RULES_SHARE) / ROOM_OF_RULE)));
      const printBare = ({ label, fact }: Spoken, text: string): string[] => [
        `${QUOTE}${label}${describeAuthor(fact)}: "${text}"`,
      ];
      const printAnswer = (part: Spoken, text: string): string[] => [
        ...printBare(part, text),
        ...(part.answered === null ? [] : [`${QUOTE}  in answer to: ${cutAtWord(part.answered, MAX_ANSWERED_BYTES)}`]),
      ];
      const least = countLineBytes(spoken.flatMap((part) => printAnswer(part, ''))) + spoken.length * SHORTEST_BYTES;
      const print = least > bytes ? printBare : printAnswer;
      const frames = countLineBytes([
        ...spoken.flatMap((part) => print(part, '')),
        ...kept.map((fact) => printRule(fact, '')),
      ]);
      const shares = [
        ...spoken.map(({ text, weight, most }) => ({ full: Math.min(most, countUtf8Bytes(text)), weight })),
        ...kept.map(({ text }) => ({
          full: countUtf8Bytes(fitRule(text, MAX_RULE_BYTES)),
          weight: RULES_WEIGHT / kept.length,
        })),
      ];
      const got = shareOut(shares, bytes - frames);
      const said = spoken.map((part, at): Entry => {
        const text = cutAtWord(part.text, Math.max(SHORTEST_BYTES, got[at] ?? 0));
        return { lines: print(part, text), id: part.fact.id };
      });
      const earlier = kept.map((fact, at): Entry => {
        const room = Math.max(SHORTEST_BYTES, got[spoken.length + at] ?? 0);
        return { lines: [printRule(fact, fitRule(fact.text, room))], id: fact.id };
      });
      return printEntries([...said, ...earlier], bytes);
    },
  };
}

/** Of a message with a list the items come first. */
function fitRule(text: string, bytes: number): string {
  const whole = hasList(text) ? fitMessage(text, MAX_RULE_BYTES).join(' · ') : cleanLine(text);
  if (countUtf8Bytes(whole) <= bytes) return whole;
  return hasList(text) ? fitMessage(text, bytes).join(' · ') : cutAtWord(whole, bytes);
}

/** What was said after the current request, less what only steered the work on it. */
export function listRequests({ after }: Account): Fact[] {
  return after.filter(({ detail }) => detail?.steers === undefined);
}

/** Whether the agent has answered the current request in full, and something else was asked since. */
export function isAnswered(account: Account): boolean {
  const { current, turns } = account;
  const newest = listRequests(account).at(-1);
  if (current === null || newest === undefined || findAnswered(account, newest) !== null) return false;
  const isAsking = newest.text.startsWith('/') || countUtf8Bytes(newest.text) >= SHORTEST_ASKED;
  const closing = turns.find(({ number }) => number === readNumber(current, 'message'))?.closing ?? null;
  return isAsking && closing !== null && closing.detail?.unfinished !== true;
}

/** Who wrote it, where that is not the user, and what call the user refused with it. */
export function describeAuthor(fact: Fact): string {
  const [from, refused] = [readText(fact, 'from'), readText(fact, 'refused')];
  const author = from === null ? '' : ` (from ${cutAtWord(cleanLine(from), MAX_AUTHOR_BYTES)}, not the user)`;
  return `${author}${refused === null ? '' : ` (refusing ${cutAtWord(cleanLine(refused), MAX_REFUSED_BYTES)})`}`;
}

/** The question that a message answers: one that was asked by a call, or the one that ended the words before a short message. */
export function findAnswered({ turns }: Account, fact: Fact): string | null {
  const asked = readText(fact, 'question');
  if (asked !== null) return cleanLine(asked);
  if (countUtf8Bytes(fact.text) > SHORT_BYTES) return null;
  const message = readNumber(fact, 'message');
  const before = turns.findLast(({ number, closing }) => number < message && closing !== null);
  if (before?.closing == null || before.number !== message - 1) return null;
  // What was said meanwhile answers nothing that was asked after it.
  if (lineOf(before.closing) > lineOf(fact)) return null;
  const lines = splitMessage(before.closing.text);
  const question = findQuestion(lines);
  const numbers = new Set(fact.text.match(/(?<![\p{L}\p{N}.#])[1-9](?![\p{L}\p{N}%])/gu));
  const options = listOptions(lines).flatMap(({ label, text }) => (numbers.has(label) ? [text] : []));
  const parts = [...options.slice(-2), ...(question === null ? [] : [question])];
  return parts.length === 0 ? null : cleanLine(parts.join(' '));
}
