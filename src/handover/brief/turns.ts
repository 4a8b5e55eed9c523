import { cleanLine, countUtf8Bytes, cutAtWord } from '../../model/text.ts';
import type { Account, Turn } from './account.ts';
import { type Block, countLineBytes, type Printed } from './block.ts';
import { fitMessage, shareOut } from './fit.ts';
import { QUOTE, readMessage } from './lines.ts';
import { BARE_BYTES, describeAuthor, findAnswered } from './user.ts';

/** Of the room for the turns, what the requests may take at most. */
const REQUESTS_SHARE = Number(process.env.RS ?? 0.38);
const MAX_REQUEST_BYTES = Number(process.env.RB ?? 420);
const REPEATED_REQUEST_BYTES = 70;
const MAX_CLOSING_BYTES = 1100;
const MAX_LAST_BYTES = 2200;
/** Fewer bytes of an answer say nothing. */
const SHORTEST_CLOSING = Number(process.env.SC ?? 70);
const MAX_DONE_BYTES = 560;
const DONE_TASKS = 9;
/** The last answer tells where things are. */
const LAST_WEIGHT = Number(process.env.LW ?? 2.5);

interface Row {
  turn: Turn;
  request: string;
  /** The agent's words, or what the turn did where it said nothing. */
  answer: string;
  isLast: boolean;
  weight: number;
  /** What the answer would take. */
  full: number;
}

/** The session turn by turn: each request with the agent's closing words on it. The newest get the most room. */
export function describeTurns(account: Account, budget: number, rateGoal: (text: string) => number): Block {
  const scale = Math.max(1, budget / 2000);
  const turns = account.turns.filter(({ prompt, closing }) => prompt !== null || closing !== null);
  const rows = turns.map((turn, at): Row => {
    const isLast = at === turns.length - 1;
    const request = printRequest(account, turn);
    const answer =
      isLast && turn.closing?.detail?.unfinished === true
        ? printWorking(account)
        : (turn.closing?.text ?? turn.work?.text ?? '');
    const age = turns.length - 1 - at;
    const goal = 1 + rateGoal(`${request} ${answer}`);
    const weight =
      ((turn.work === null ? 0.8 : 1.3) * (isLast ? LAST_WEIGHT : 1) * goal) /
      (1 + age) ** Number(process.env.EX ?? 0.5);
    const most = scale * (isLast ? MAX_LAST_BYTES : MAX_CLOSING_BYTES);
    const words = fitMessage(answer, most, { isOver: !isLast, code: isLast }).join(' · ');
    return { turn, request, answer, isLast, weight, full: Math.min(countUtf8Bytes(words) + COMMIT_BYTES, most) };
  });
  return {
    heading: 'What happened, turn by turn',
    weight: 50,
    most: 20_000,
    print: (bytes): Printed => {
      const printed = printDone(account, Math.min(MAX_DONE_BYTES, bytes / 6));
      const room = bytes - countLineBytes(printed.lines);
      const requests = shareOut(
        rows.map(({ request }) => ({ full: Math.min(MAX_REQUEST_BYTES, countUtf8Bytes(request)), weight: 1 })),
        room * REQUESTS_SHARE,
      );
      const frames = rows.length * FRAME_BYTES;
      const answers = shareAnswers(rows, room - requests.reduce((sum, size) => sum + size, 0) - frames);
      for (const [at, row] of rows.entries()) {
        const lines = printTurn(row, requests[at] ?? 0, answers[at] ?? 0);
        if (lines.length === 0 || countLineBytes([...printed.lines, ...lines]) > bytes) continue;
        printed.lines.push(...lines);
        const { prompt, closing, work } = row.turn;
        printed.ids.push(...[prompt, closing, work].flatMap((fact) => (fact === null ? [] : [fact.id])));
      }
      return printed;
    },
  };
}

const FRAME_BYTES = 10;
const COMMIT_BYTES = 60;

/** Answers too small to say anything get nothing, the oldest first, so that the others get more. */
function shareAnswers(rows: readonly Row[], bytes: number): number[] {
  const shares = rows.map(({ full, weight }) => ({ full, weight }));
  for (;;) {
    const got = shareOut(shares, bytes);
    const at = shares.findIndex(({ full }, index) => full > 0 && (got[index] ?? 0) < Math.min(full, SHORTEST_CLOSING));
    const share = shares[at];
    if (share === undefined) return got;
    share.full = 0;
  }
}

const WORKING_BYTES = Number(process.env.WB ?? 330);

/** What the agent said on the way, in a turn that it has not closed. */
function printWorking({ working, lastWords }: Account): string {
  const said = lastWords === null || process.env.LWD === undefined ? working : [...working, lastWords];
  return said.map(({ text }) => fitMessage(text, WORKING_BYTES).join(' ')).join('\n');
}

function printDone({ tasks }: Account, bytes: number): Printed {
  const done = tasks.filter(({ status }) => status === 'completed');
  if (done.length === 0) return { lines: [], ids: [] };
  const texts = done.slice(-DONE_TASKS).map(({ text }) => cutAtWord(cleanLine(text), 110));
  return { lines: [`${QUOTE}Tasks done: ${cutAtWord(texts.join('; '), bytes)}`], ids: done.map(({ id }) => id) };
}

function printRequest(account: Account, { prompt }: Turn): string {
  if (prompt === null) return '';
  const text = readMessage(prompt.text);
  const author = describeAuthor(prompt);
  if (prompt === account.current || prompt === account.first)
    return `${author}"${cutAtWord(text, REPEATED_REQUEST_BYTES)}"`;
  const answered = countUtf8Bytes(text) <= BARE_BYTES ? findAnswered(account, prompt) : null;
  return `${author}"${text}"${answered === null ? '' : ` (to: ${cutAtWord(answered, 130)})`}`;
}

function printTurn({ turn, request, answer, isLast }: Row, requestBytes: number, answerBytes: number): string[] {
  const asked = cutAtWord(request, requestBytes);
  const isCut = asked.startsWith('"') && !/["”)]$/.test(asked);
  const stopped = turn.prompt?.detail?.interrupted === true ? ' (interrupted by the user)' : '';
  const head = `${QUOTE}- ${asked}${isCut ? '"' : ''}${stopped}`;
  if (answer === '' || answerBytes < 30) return request === '' ? [] : [head];
  if (turn.closing === null) return [`${head} → ${cutAtWord(answer, answerBytes)}`];
  const made = /committed .*$/s.exec(turn.work?.text ?? '')?.[0];
  const commit = made === undefined || answerBytes < 200 ? '' : ` [${cutAtWord(made, 120)}]`;
  const lines = fitMessage(answer, answerBytes - countUtf8Bytes(commit), { isOver: !isLast, code: isLast });
  if (isLast && lines.length > 1)
    return [
      `${head} →${turn.closing.detail?.unfinished === true ? ' on the way the agent said:' : ''}${commit}`,
      ...lines.map((line) => `${QUOTE}  ${line}`),
    ];
  return [`${head} → ${lines.map(cleanLine).join(' · ')}${commit}`];
}
