import { cleanLine, cleanText, countUtf8Bytes, cutAtWord } from '../../model/text.ts';
import type { Account, Turn } from './account.ts';
import { type Block, countLineBytes, NOTHING, type Printed } from './block.ts';
import { fitMessage, type Share, shareOut } from './fit.ts';
import { QUOTE, readMessage } from './lines.ts';
import { BARE_BYTES, describeAuthor, findAnswered } from './user.ts';

/** Of the room for the turns, what the requests may take at most while the answers need the rest. */
const REQUESTS_SHARE = 0.38;
const MAX_REQUEST_BYTES = 420;
const REPEATED_REQUEST_BYTES = 70;
const MAX_CLOSING_BYTES = 1100;
const MAX_LAST_BYTES = 2200;
/** Fewer bytes of an answer say nothing. */
const SHORTEST_CLOSING = 70;
const SHORTEST_REQUEST = 50;
const MAX_DONE_BYTES = 560;
const DONE_TASKS = 9;
const DONE_FRAME = 15;
/** The last answer tells where things are. */
const LAST_WEIGHT = 2.5;

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
  const answers = dropSaidAgain(turns);
  const rows = turns.map((turn, at): Row => {
    const isLast = at === turns.length - 1;
    const request = printRequest(account, turn);
    const answer =
      isLast && turn.closing?.detail?.unfinished === true ? printWorking(account) : (answers.get(turn) ?? '');
    const age = turns.length - 1 - at;
    const goal = 1 + rateGoal(`${request} ${answer}`);
    const weight = ((turn.work === null ? 0.8 : 1.3) * (isLast ? LAST_WEIGHT : 1) * goal) / Math.sqrt(1 + age);
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
      const asked = rows.map(({ request, weight }) => ({
        full: Math.min(MAX_REQUEST_BYTES, countUtf8Bytes(request)),
        weight,
      }));
      const frames = rows.length * FRAME_BYTES;
      const unclaimed = room - frames - rows.reduce((sum, { full }) => sum + full, 0);
      const requests = shareTelling(asked, Math.max(room * REQUESTS_SHARE, unclaimed), SHORTEST_REQUEST);
      const left = room - requests.reduce((sum, size) => sum + size, 0) - frames;
      const answers = shareTelling(rows, left, SHORTEST_CLOSING);
      const isTold = rows.map((_, at) => (requests[at] ?? 0) > 0 || (answers[at] ?? 0) >= SHORTEST_CLOSING);
      const skipped = isTold.filter((told) => !told).length;
      if (skipped === rows.length) return countLineBytes(printed.lines) > bytes ? NOTHING : printed;
      if (skipped > 0)
        printed.lines.push(`${QUOTE}- (${skipped === 1 ? '1 turn is' : `${skipped} turns are`} left out)`);
      for (const [at, row] of rows.entries()) {
        if (isTold[at] !== true) continue;
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

/** What would be too small to say anything gets nothing, the oldest first, so that the others get more. */
function shareTelling(given: readonly Share[], bytes: number, shortest: number): number[] {
  const shares = given.map(({ full, weight }) => ({ full, weight }));
  for (;;) {
    const got = shareOut(shares, bytes);
    const small = shares.filter(({ full }, at) => full > 0 && (got[at] ?? 0) < Math.min(full, shortest));
    if (small.length === 0) return got;
    for (const share of small.slice(0, Math.ceil(small.length / 4))) share.full = 0;
  }
}

const QUOTED_NAME = /`[^`\n]{3,60}`/g;

/** By turn, its answer without lines whose names all come up again in a later one: what is said last of a thing holds. */
function dropSaidAgain(turns: readonly Turn[]): Map<Turn, string> {
  const answers = new Map<Turn, string>();
  const later = new Set<string>();
  for (const turn of turns.toReversed()) {
    const lines = cleanText(turn.closing?.text ?? turn.work?.text ?? '').split('\n');
    const names = lines.map((line) => line.match(QUOTED_NAME) ?? []);
    const isSaidAgain = (own: readonly string[]): boolean => own.length > 0 && own.every((name) => later.has(name));
    answers.set(turn, lines.filter((_, at) => !isSaidAgain(names[at] ?? [])).join('\n'));
    for (const name of names.flat()) later.add(name);
  }
  return answers;
}

const WORKING_BYTES = 330;

/** What the agent said on the way, in a turn that it has not closed. Its last words are told with what comes next. */
function printWorking({ working }: Account): string {
  return working.map(({ text }) => fitMessage(text, WORKING_BYTES).join(' ')).join('\n');
}

function printDone({ tasks }: Account, bytes: number): Printed {
  const done = tasks.filter(({ status }) => status === 'completed');
  if (done.length === 0 || bytes < SHORTEST_CLOSING) return { lines: [], ids: [] };
  const texts = done.slice(-DONE_TASKS).map(({ text }) => cutAtWord(cleanLine(text), 110));
  return {
    lines: [`${QUOTE}Tasks done: ${cutAtWord(texts.join('; '), bytes - DONE_FRAME)}`],
    ids: done.map(({ id }) => id),
  };
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
  const asked = requestBytes === 0 ? '(a request)' : cutAtWord(request, requestBytes);
  const isCut = asked.startsWith('"') && !/["”)]$/.test(asked);
  const stopped = turn.prompt?.detail?.interrupted === true ? ' (interrupted by the user)' : '';
  const head = `${QUOTE}- ${asked}${isCut ? '"' : ''}${stopped}`;
  if (answer === '' || answerBytes < 30) return asked === '…' || asked === '' ? [] : [head];
  if (turn.closing === null) return [`${head} → ${cutAtWord(cleanLine(answer), answerBytes)}`];
  const made = /committed .*$/.exec(cleanLine(turn.work?.text ?? ''))?.[0];
  const commit = made === undefined || answerBytes < 200 ? '' : ` [${cutAtWord(made, 120)}]`;
  const lines = fitMessage(answer, answerBytes - countUtf8Bytes(commit), { isOver: !isLast, code: isLast });
  if (isLast && lines.length > 1)
    return [
      `${head} →${turn.closing.detail?.unfinished === true ? ' on the way the agent said:' : ''}${commit}`,
      ...lines.map((line) => `${QUOTE}  ${line}`),
    ];
  return [`${head} → ${lines.map(cleanLine).join(' · ')}${commit}`];
}
