import type { Fact } from '../../model/fact.ts';
import { isQuestion, type MessageLine } from '../../model/message-lines.ts';
import { cleanLine, cleanText, countUtf8Bytes, cutAtWord } from '../../model/text.ts';
import { type Account, readNumber, type Turn } from './account.ts';
import { type Block, countLineBytes, DEFAULT_BUDGET, NOTHING, type Printed } from './block.ts';
import { prepareLines } from './choose-lines.ts';
import { fitMessage, listLines, type Share, shareOut, weighLine } from './fit.ts';
import { QUOTE, readMessage } from './lines.ts';
import { BARE_BYTES, describeAuthor, findAnswered } from './user.ts';

/** Of the room for the turns, what the requests may take at most while the answers need the rest. */
const REQUESTS_SHARE = 0.38;
const MAX_REQUEST_BYTES = 420;
const REPEATED_REQUEST_BYTES = 70;
/** Fewer bytes of an answer say nothing. */
const SHORTEST_CLOSING = 70;
const SHORTEST_REQUEST = 90;
/** Of a request that is there for its answer only. */
const STUB_BYTES = 40;
const MAX_DONE_BYTES = 560;
const DONE_TASKS = 9;
const DONE_FRAME = 22;
/** The last answer tells where things are. */
const LAST_WEIGHT = 1.4;
const AGING = 0.75;

interface Row {
  turn: Turn;
  request: string;
  /** The agent's words, or what the turn did where it said nothing. */
  lines: MessageLine[];
  isLast: boolean;
  weight: number;
}

/** The session turn by turn: each request with the agent's closing words on it. The newest get the most room. */
export function describeTurns(account: Account, rateGoal: (text: string) => number): Block {
  const turns = insertSummary(
    account.turns.filter((turn, at) => !isEmpty(turn) && !isSentAgain(turn, account.turns, at)),
    account.summary,
  );
  const rows = turns.map((turn, at): Row => {
    const isLast = at === turns.length - 1;
    const request = printRequest(account, turn);
    const isUnfinished = isLast && turn.closing?.detail?.unfinished === true;
    const answer = isUnfinished ? printWorking(account) : (turn.closing?.text ?? turn.work?.text ?? '');
    const age = turns.length - 1 - at;
    const goal = 1 + rateGoal(`${request} ${answer}`);
    const weight = ((turn.work === null ? 0.8 : 1.3) * (isLast ? LAST_WEIGHT : 1) * goal) / (1 + age) ** AGING;
    return { turn, request, lines: listLines(answer, { isOver: !isLast, code: isLast }), isLast, weight };
  });
  const chooseAnswers = prepareAnswers(rows);
  const newest = [account.current, ...account.after];
  const commitBytes = rows.reduce((sum, { turn }) => sum + countUtf8Bytes(printCommit(turn)), 0);
  const answerBytes = rows.reduce((sum, { lines }) => sum + countLineBytes(lines.map(({ text }) => text)), 0);
  return {
    heading: 'What happened, turn by turn',
    weight: 70,
    most: 20_000,
    print: (bytes): Printed => {
      const done = printDone(account, Math.min(MAX_DONE_BYTES, bytes / 10));
      const room = bytes - countLineBytes(done.lines);
      const asked = rows.map(({ request, weight }) => ({
        full: Math.min(MAX_REQUEST_BYTES, countUtf8Bytes(request)),
        weight,
      }));
      const frames = rows.length * FRAME_BYTES + commitBytes;
      const unclaimed = room - frames - answerBytes;
      const requests = shareTelling(asked, Math.max(room * REQUESTS_SHARE, unclaimed), SHORTEST_REQUEST);
      const printWithin = (left: number): Printed => {
        const answers = chooseAnswers(left);
        // The section about the user has the newest requests.
        const isNew = ({ turn }: Row, at: number): boolean =>
          (answers[at] ?? []).length > 0 || ((requests[at] ?? 0) > 0 && !newest.includes(turn.prompt));
        return rows.some(isNew) ? printRows(rows, requests, answers) : NOTHING;
      };
      let left = room - requests.reduce((sum, size) => sum + size, 0) - frames;
      let told = printWithin(left);
      // What a turn takes beside its words is only an estimate so far: what is over goes from the answers.
      for (
        let over = countLineBytes(told.lines) - room;
        over > 0 && left > 0;
        over = countLineBytes(told.lines) - room
      ) {
        left -= over;
        told = printWithin(left);
      }
      const both = { lines: [...done.lines, ...told.lines], ids: [...done.ids, ...told.ids] };
      if (countLineBytes(both.lines) <= bytes) return both;
      return countLineBytes(done.lines) <= bytes ? done : NOTHING;
    },
  };
}

function isEmpty({ prompt, closing }: Turn): boolean {
  return prompt === null && closing === null;
}

/** Whether nothing came of a request, and the user sent it once more. */
function isSentAgain({ prompt, closing, work }: Turn, turns: readonly Turn[], at: number): boolean {
  return closing === null && work === null && turns.some((turn, later) => later > at && turn.prompt?.id === prompt?.id);
}

/** The turns that something is told of, and how many are not among them. */
function printRows(rows: readonly Row[], requests: readonly number[], answers: readonly string[][]): Printed {
  const printed = rows.map((row, at) => printTurn(row, requests[at] ?? 0, answers[at] ?? []));
  const skipped = printed.filter((lines) => lines.length === 0).length;
  const gap = printed.findIndex((lines) => lines.length === 0);
  const place = printed.slice(gap, gap + skipped).some((lines) => lines.length > 0) ? ', here and below' : '';
  const note = `${QUOTE}- (${skipped === 1 ? '1 turn is' : `${skipped} turns are`} left out${place})`;
  return {
    lines: printed.flatMap((lines, at) => (at === gap ? [note] : lines)),
    ids: rows.flatMap(({ turn: { prompt, closing, work } }, at) =>
      printed[at]?.length === 0 ? [] : [prompt, closing, work].flatMap((fact) => (fact === null ? [] : [fact.id])),
    ),
  };
}

const FRAME_BYTES = 10;
const MAX_COMMIT_BYTES = 120;

/** As many requests as can say something, those first that cost least for their weight; what is left goes to all of them. */
function shareTelling(given: readonly Share[], bytes: number, shortest: number): number[] {
  const costOf = ({ full }: Share): number => Math.min(full, shortest);
  const ranked = given
    .map((share, at) => ({ share, at }))
    .filter(({ share }) => share.full > 0)
    .sort((a, b) => b.share.weight / costOf(b.share) - a.share.weight / costOf(a.share) || b.at - a.at);
  const got = given.map(() => 0);
  let left = bytes;
  for (const { share, at } of ranked) {
    const cost = costOf(share);
    if (cost > left) continue;
    got[at] = cost;
    left -= cost;
  }
  const more = shareOut(
    given.map(({ full, weight }, at) => ({ full: got[at] === 0 ? 0 : full - (got[at] ?? 0), weight })),
    left,
  );
  return got.map((own, at) => own + (more[at] ?? 0));
}

/** The last line mostly offers more. */
const END_WEIGHT = 0.5;
const SHORTEST_LINE = 180;
const LONGEST_LINE = 320;
const LINES_AT_LEAST = 9;
const OPENING_BYTES = 90;
/** In so few words mostly the answer itself: yes, no, done. */
const SHORT_OPENING = 60;

/** By row, the lines of its answer that are shown in so many bytes. */
function prepareAnswers(rows: readonly Row[]): (bytes: number) => string[][] {
  const candidates = rows.flatMap(({ turn, lines, weight }, message) =>
    lines.map((line, at) => {
      const isEnd = at > 0 && at === lines.length - 1;
      // What was said on the way may be overtaken by what was said after it.
      const place = isOpen(turn) ? (at + 1) / lines.length : isEnd ? END_WEIGHT : 1;
      return { ...line, message, weight: weight * place * weighLine(line) };
    }),
  );
  const choose = prepareLines(candidates);
  return (bytes) => {
    const longest = Math.min(LONGEST_LINE, Math.max(SHORTEST_LINE, Math.floor(bytes / LINES_AT_LEAST)));
    const chosen = choose({ bytes, longest });
    const answers = rows.map((): string[] => []);
    for (const [at, text] of chosen) {
      const { message = 0 } = candidates[at] ?? {};
      const own = answers[message];
      // What is left out between two lines is marked, or half a list would pass for all of it.
      const isNext = candidates[at - 1]?.message !== message || chosen.has(at - 1);
      own?.push(isNext ? text : `… ${text}`);
    }
    return answers.map((texts, message) => {
      const first = candidates.findIndex((line) => line.message === message);
      const [
        {
          turn,
          lines: [opening],
        } = { turn: null, lines: [] },
      ] = rows.slice(message, message + 1);
      if (texts.length === 0 || chosen.has(first) || turn === null || opening === undefined || isOpen(turn))
        return texts;
      const shown = candidates.find((line, at) => line.message === message && chosen.has(at));
      // Items say what they are about, but not whether that is done, planned or refused.
      const isShort = countUtf8Bytes(opening.text) <= SHORT_OPENING;
      if (!asks(turn) && shown?.isItem !== true && !isShort) return texts;
      // It is shown below the heading that the answer begins with.
      if (opening.isFirst && shown?.lead === opening.lead) return texts;
      return [cutAtWord(opening.text, OPENING_BYTES), ...texts];
    });
  };
}

/** Whether it answers a question: then it says at the beginning what the answer is, and the rest may read like the contrary. */
function asks({ prompt, closing }: Turn): boolean {
  return prompt !== null && !isOpen({ closing }) && isQuestion(cleanLine(prompt.text));
}

function isOpen({ closing }: Pick<Turn, 'closing'>): boolean {
  return closing?.detail?.unfinished === true;
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
    lines: [`${QUOTE}Tasks marked done: ${cutAtWord(texts.join('; '), bytes - DONE_FRAME)}`],
    ids: done.map(({ id }) => id),
  };
}

/** As a turn of its own, before the turn that it was made in. That began with a request: an answer given since has a number, too. */
function insertSummary(turns: readonly Turn[], summary: Fact | null): Turn[] {
  if (summary === null) return [...turns];
  const during = turns.findLastIndex(({ number }) => number <= readNumber(summary, 'turn'));
  const at = Math.max(0, during);
  const own: Turn = { number: turns[at]?.number ?? 0, prompt: null, steering: [], closing: summary, work: null };
  return [...turns.slice(0, at), own, ...turns.slice(at)];
}

const SUMMARY = '(compacted; the agent summed up)';

function printRequest(account: Account, turn: Turn): string {
  const said = turn.steering.filter((fact) => !account.after.includes(fact));
  const words = said.map((fact) => `${describeAuthor(fact)} "${readMessage(fact.text)}"`.trimStart());
  return [printOpening(account, turn), ...words].filter((text) => text !== '').join(', then ');
}

function printOpening(account: Account, { prompt, closing }: Turn): string {
  if (prompt === null) return closing !== null && closing === account.summary ? SUMMARY : '';
  const text = readMessage(prompt.text);
  const author = `${describeAuthor(prompt)} `.trimStart();
  if (prompt === account.current || prompt === account.first)
    return `${author}"${cutAtWord(text, REPEATED_REQUEST_BYTES)}"`;
  const answered = countUtf8Bytes(text) <= BARE_BYTES ? findAnswered(account, prompt) : null;
  return `${author}${answered === null ? '' : `(to: ${cutAtWord(answered, 130)}) `}"${text}"`;
}

function printCommit({ work }: Turn): string {
  const made = /committed .*$/.exec(cleanLine(work?.text ?? ''))?.[0];
  return made === undefined ? '' : ` [${cutAtWord(made, MAX_COMMIT_BYTES)}]`;
}

function printTurn({ turn, request, isLast }: Row, requestBytes: number, lines: readonly string[]): string[] {
  if (requestBytes === 0 && lines.length === 0) return [];
  const asked = cutAtWord(request, Math.max(requestBytes, STUB_BYTES));
  const isCut = asked.includes('"') && !asked.endsWith('"');
  const stopped = turn.prompt?.detail?.interrupted === true ? ' (interrupted by the user)' : '';
  const head = `${QUOTE}- ${asked}${isCut ? '"' : ''}${stopped}`;
  if (lines.length === 0) return asked === '…' || asked === '' ? [] : [head];
  if (turn.closing === null) return [`${head} → ${joinLines(lines)}`];
  const commit = lines.length < 2 ? '' : printCommit(turn);
  if (isLast && lines.length > 1)
    return [
      `${head} →${turn.closing.detail?.unfinished === true ? ' on the way the agent said:' : ''}${commit}`,
      ...lines.map((line) => `${QUOTE}  ${line}`),
    ];
  return [`${head} → ${joinLines(lines)}${commit}`];
}

function joinLines(lines: readonly string[]): string {
  return lines.map(cleanLine).join(' · ').replaceAll(' · … ', ' … ');
}

/** The last events as a log, oldest first, ending with the last one. A small brief has better uses for its bytes. */
export function describeSteps({ log }: Account, budget: number): Block {
  const entries: string[][] = [];
  for (const line of cleanText(log?.text ?? '').split('\n')) {
    if (line.startsWith('  ') && entries.length > 0) entries.at(-1)?.push(line);
    else entries.push([line]);
  }
  return {
    heading: 'Last steps',
    weight: 9 * Math.min(1, (budget / DEFAULT_BUDGET) ** 2),
    most: 6000,
    print: (bytes) => {
      const shown: string[] = [];
      let left = bytes;
      const folders = new Set<string>();
      for (const whole of entries.toReversed()) {
        const entry = whole.map((line) => shortenPaths(line, folders));
        const lines = entry.map((line) => `${QUOTE}${line}`);
        const size = countLineBytes(lines);
        if (size > left) {
          if (left >= SHORTEST_STEP) shown.unshift(...takeLines(lines, left));
          break;
        }
        left -= size;
        shown.unshift(...lines);
      }
      return shown.length === 0 || log === null ? NOTHING : { lines: shown, ids: [log.id] };
    },
  };
}

const PATH = /(?<=")((?:[A-Za-z]:)?[\\/][^"\s]*[\\/])(?=[^"\\/\s]+")/g;
const SHORTEST_FOLDER = 16;

/** The folder of a path is told once: in the newest step, which the reader goes on from. */
function shortenPaths(line: string, told: Set<string>): string {
  return line.replace(PATH, (folder) => {
    if (folder.length < SHORTEST_FOLDER) return folder;
    if (told.has(folder)) return '…/';
    told.add(folder);
    return folder;
  });
}

const SHORTEST_STEP = 100;

const FAILED = `${QUOTE}  FAILED: `;
const FAILURE_BYTES = 60;

/** The beginning of an entry: what does not fit of its first line is cut. A failure is told, or the call would pass for a success. */
function takeLines([head = '', ...rest]: readonly string[], bytes: number): string[] {
  const failed = rest.some((line) => line.startsWith(FAILED));
  const first = cutAtWord(head, bytes - 1 - (failed ? FAILURE_BYTES : 0));
  let left = bytes - countUtf8Bytes(first) - 1;
  const others = rest.map((line) => (line.startsWith(FAILED) ? cutAtWord(line, left - 1) : line));
  return [
    first,
    ...others.filter((line) => {
      left -= countUtf8Bytes(line) + 1;
      return left >= 0;
    }),
  ];
}
