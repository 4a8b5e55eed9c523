import type { Fact } from '../../model/fact.ts';
import { splitMessage } from '../../model/message-lines.ts';
import { cleanLine, countUtf8Bytes, cutAtWord } from '../../model/text.ts';
import { type Account, readNumber, readText } from './account.ts';
import { type Block, type Entry, printEntries } from './block.ts';
import { describeSession, QUOTE, readMessage } from './lines.ts';

const NOW_SHARE = 0.62;
const FIRST_SHARE = 0.3;
const MAX_ANSWERED_BYTES = 320;
const SHORT_BYTES = 160;
/** A message as short as "yes" says nothing without what it answers. */
export const BARE_BYTES = 25;

/** What the user wants: the current request in full where it fits, what it answers, what came after, and how it began. */
export function describeUser(account: Account): Block {
  const { current, after, first, rules } = account;
  return {
    heading: 'The user',
    weight: 17,
    most: 4000,
    print: (bytes) => {
      const entries: Entry[] = [];
      const say = (label: string, fact: Fact, share: number): void => {
        const answered = findAnswered(account, fact);
        const lines = [
          `${QUOTE}${label}${describeAuthor(fact)}: "${cutAtWord(readMessage(fact.text), Math.max(80, share))}"`,
        ];
        if (answered !== null) lines.push(`${QUOTE}  in answer to: ${cutAtWord(answered, MAX_ANSWERED_BYTES)}`);
        entries.push({ lines, id: fact.id });
      };
      const isFirst = first === null || first.id === current?.id;
      if (current !== null) say('Now', current, bytes * (isFirst ? 0.9 : NOW_SHARE));
      for (const fact of after) say('Then', fact, MAX_ANSWERED_BYTES);
      if (first !== null && !isFirst) say('First', first, bytes * FIRST_SHARE);
      for (const fact of rules)
        entries.push({
          lines: [`${QUOTE}- "${cutAtWord(cleanLine(fact.text), MAX_ANSWERED_BYTES)}"${describeSession(fact)}`],
          id: fact.id,
        });
      return printEntries(entries, bytes);
    },
  };
}

export function describeAuthor(fact: Fact): string {
  const from = readText(fact, 'from');
  return from === null ? '' : ` (from ${cleanLine(from)}, not the user)`;
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
