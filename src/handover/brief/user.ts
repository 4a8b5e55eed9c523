import type { Fact } from '../../model/fact.ts';
import { splitMessage } from '../../model/message-lines.ts';
import { cleanLine, countUtf8Bytes, cutAtWord } from '../../model/text.ts';
import { type Account, readNumber, readText } from './account.ts';
import { type Block, countLineBytes, type Entry, printEntries } from './block.ts';
import { shareOut } from './fit.ts';
import { describeSession, QUOTE, readMessage } from './lines.ts';

const MAX_REQUEST_BYTES = 4000;
const SHORTEST_BYTES = 40;
const MAX_ANSWERED_BYTES = 320;
const SHORT_BYTES = 160;
const MAX_AUTHOR_BYTES = 60;
/** For the beginning of the current request. */
const LEAST_BYTES = 120;
/** A message as short as "yes" says nothing without what it answers. */
export const BARE_BYTES = 25;

type Spoken = { label: string; fact: Fact; answered: string | null };

/** What the user wants: the current request in full where it fits, what it answers, what came after, and how it began. */
export function describeUser(account: Account): Block {
  const { current, after, first, rules } = account;
  return {
    heading: 'The user',
    weight: 22,
    ...(current === null ? {} : { least: LEAST_BYTES }),
    most: 5000,
    print: (bytes) => {
      const isFirst = first === null || first.id === current?.id;
      const spoken = [
        ...(current === null ? [] : [{ label: 'Now', fact: current, weight: 6, most: MAX_REQUEST_BYTES }]),
        ...after.map((fact) => ({ label: 'Then', fact, weight: 3, most: MAX_ANSWERED_BYTES })),
        ...(isFirst ? [] : [{ label: 'First', fact: first, weight: 3, most: MAX_REQUEST_BYTES }]),
      ].map((part) => ({ ...part, text: readMessage(part.fact.text), answered: findAnswered(account, part.fact) }));
      const kept = rules.map((fact): Entry => {
        const text = cutAtWord(cleanLine(fact.text), MAX_ANSWERED_BYTES);
        return { lines: [`${QUOTE}- "${text}"${describeSession(fact)}`], id: fact.id };
      });
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
        ...kept.flatMap(({ lines }) => lines),
      ]);
      const shares = spoken.map(({ text, weight, most }) => ({ full: Math.min(most, countUtf8Bytes(text)), weight }));
      const got = shareOut(shares, bytes - frames);
      const said = spoken.map((part, at): Entry => {
        const text = cutAtWord(part.text, Math.max(SHORTEST_BYTES, got[at] ?? 0));
        return { lines: print(part, text), id: part.fact.id };
      });
      return printEntries([...said, ...kept], bytes);
    },
  };
}

export function describeAuthor(fact: Fact): string {
  const from = readText(fact, 'from');
  return from === null ? '' : ` (from ${cutAtWord(cleanLine(from), MAX_AUTHOR_BYTES)}, not the user)`;
}

/** The question that a message answers: one that was asked by a call, or the one that ended the words before a short message. */
export function findAnswered({ turns }: Account, fact: Fact): string | null {
  const asked = readText(fact, 'question');
  if (asked !== null) return cleanLine(asked);
  if (countUtf8Bytes(fact.text) > SHORT_BYTES) return null;
  const message = readNumber(fact, 'message');
  const before = turns.findLast(({ number, closing }) => number < message && closing !== null);
  if (before?.closing == null || before.number !== message - 1) return null;
  const lines = splitMessage(before.closing.text).map(({ text }) => text);
  const question = lines.findLast((text) => /[?？؟]["')*]*$/.test(text));
  const numbers = new Set(fact.text.match(/(?<![\p{L}\p{N}.#])[1-9](?![\p{L}\p{N}%])/gu));
  const options = lines.filter((text) =>
    numbers.has(/^(?:[^.:]{3,40}: )?(?:\p{L}{4,12} )?([1-9])[.):]\s/u.exec(text)?.[1] ?? ''),
  );
  const parts = [...options.slice(-2), ...(question === undefined ? [] : [question])];
  return parts.length === 0 ? null : cleanLine(parts.join(' '));
}
