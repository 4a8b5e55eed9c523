import { cleanLine, countUtf8Bytes, cutAtWord } from '../../model/text.ts';
import { type Account, readText, type Turn } from './account.ts';
import { type Block, countLineBytes, type Printed } from './block.ts';
import { fitMessage, shareOut } from './fit.ts';
import { QUOTE, readMessage } from './lines.ts';
import { BARE_BYTES, describeAuthor, findAnswered } from './user.ts';

const REQUEST_SHARE = 0.45;
const MAX_REQUEST_BYTES = 500;
const REPEATED_REQUEST_BYTES = 70;
const MAX_CLOSING_BYTES = 1100;
const MAX_LAST_BYTES = 2200;
const MAX_DONE_BYTES = 560;
const FRAME = 24;

/** The session turn by turn: each request with the agent's closing words on it. The newest get the most room. */
export function describeTurns(account: Account, budget: number, goal: (text: string) => number): Block {
  const { turns, current, first, tasks } = account;
  const scale = Math.max(1, budget / 2000);
  const rows = turns
    .filter(({ prompt, closing }) => prompt !== null || closing !== null)
    .map((turn, at, all) => {
      const isLast = at === all.length - 1;
      const isRepeated = turn.prompt !== null && (turn.prompt === current || turn.prompt === first);
      const request = printRequest(account, turn, isRepeated);
      const words =
        isLast && account.working.length > 0
          ? [...account.working, turn.closing].flatMap((fact) => (fact === null ? [] : [fact]))
          : [];
      const closing = turn.closing?.text ?? '';
      const age = all.length - 1 - at;
      const weight = ((turn.work === null ? 0.8 : 1.3) * (1 + goal(`${request} ${closing}`))) / Math.sqrt(1 + age);
      const most = scale * (isLast ? MAX_LAST_BYTES : MAX_CLOSING_BYTES);
      const body =
        closing === '' ? (turn.work?.text ?? '') : fitMessage(closing, most, { isOver: !isLast }).join(' · ');
      const full =
        Math.min(countUtf8Bytes(request), MAX_REQUEST_BYTES) +
        Math.min(countUtf8Bytes(body), most) +
        FRAME +
        (turn.work === null ? 0 : 120);
      return { turn, request, closing, words, isLast, weight, full };
    });
  const done = tasks.filter(({ status }) => status === 'completed');
  return {
    heading: 'What happened, turn by turn',
    weight: 44,
    most: 20_000,
    print: (bytes): Printed => {
      const printed: Printed = { lines: [], ids: [] };
      if (done.length > 0) {
        printed.lines.push(
          `${QUOTE}Tasks done: ${cutAtWord(
            done
              .slice(-9)
              .map(({ text }) => cutAtWord(cleanLine(text), 110))
              .join('; '),
            Math.min(MAX_DONE_BYTES, bytes / 6),
          )}`,
        );
        printed.ids.push(...done.map(({ id }) => id));
      }
      const got = shareOut(rows, bytes - countLineBytes(printed.lines));
      for (const [at, row] of rows.entries()) {
        const lines = printTurn(row, got[at] ?? 0);
        if (lines.length === 0 || countLineBytes([...printed.lines, ...lines]) > bytes) continue;
        printed.lines.push(...lines);
        printed.ids.push(
          ...[row.turn.prompt, row.turn.closing, row.turn.work].flatMap((fact) => (fact === null ? [] : [fact.id])),
        );
      }
      return printed;
    },
  };
}

function printRequest(account: Account, { prompt }: Turn, isRepeated: boolean): string {
  if (prompt === null) return '';
  const text = readMessage(prompt.text);
  if (isRepeated) return `${describeAuthor(prompt)}"${cutAtWord(text, REPEATED_REQUEST_BYTES)}"`;
  const answered =
    countUtf8Bytes(text) <= BARE_BYTES || readText(prompt, 'question') !== null ? findAnswered(account, prompt) : null;
  const to = answered === null ? '' : ` (to: ${cutAtWord(answered, 130)})`;
  return `${describeAuthor(prompt)}"${text}"${to}`;
}

interface Row {
  turn: Turn;
  request: string;
  closing: string;
  isLast: boolean;
}

function printTurn({ turn, request, closing, isLast }: Row, bytes: number): string[] {
  const room = Math.max(60, Math.min(countUtf8Bytes(request), MAX_REQUEST_BYTES, bytes * REQUEST_SHARE));
  const asked = cutAtWord(request, room);
  const stopped = turn.prompt?.detail?.interrupted === true ? ' (interrupted by the user)' : '';
  const head = `${QUOTE}- ${asked}${asked.startsWith('"') && !asked.endsWith('"') && !asked.endsWith(')') ? '"' : ''}${stopped}`;
  const work = turn.work?.text ?? '';
  const left = bytes - countUtf8Bytes(head) - 8;
  if (closing === '' || left < 50) return work === '' || left < 30 ? [head] : [`${head} → ${cutAtWord(work, left)}`];
  const commit = work.slice(Math.max(0, work.indexOf('committed ')));
  const made = work.includes('committed ') && left > 220 ? ` [${cutAtWord(commit, 130)}]` : '';
  const lines = fitMessage(closing, left - countUtf8Bytes(made), { isOver: !isLast, code: isLast });
  if (isLast && lines.length > 2) return [`${head} →${made}`, ...lines.map((line) => `${QUOTE}  ${line}`)];
  return [`${head} → ${lines.map(cleanLine).join(' · ')}${made}`];
}
