import { autocomplete, confirm, multiselect, password } from '@clack/prompts';
import measure from 'fast-string-truncated-width';
import { HandoverError } from '../../errors.ts';
import { cleanLine, revealControls } from '../../model/text.ts';
import { describeAge, isSavedByHand } from '../../model/time.ts';
import { type CatalogRow, timeOfWork } from '../../store/catalog.ts';
import { fitLine } from './layout.ts';
import { wantsColours, wrap } from './output.ts';

// Everything is drawn on standard error, so that standard output holds only results.
const { stderr } = process;
const output = wantsColours({ isTerminal: true }, process.env) ? stderr : withoutColours(stderr);

/** A terminal that does not know its size says 0 by 0, into which nothing could be drawn. */
function assumeSize(): void {
  if (stderr.columns === 0) stderr.columns = 80;
  if (stderr.rows === 0) stderr.rows = 24;
}

assumeSize();
stderr.on('resize', assumeSize);

const STYLES = new RegExp(`${String.fromCharCode(27)}\\[[\\d;]*m`, 'g');

/** Prompts are drawn with colours, whatever the environment says. */
function withoutColours(stream: NodeJS.WriteStream): NodeJS.WriteStream {
  const write = (text: string | Uint8Array): boolean => stream.write(String(text).replace(STYLES, ''));
  return Object.create(stream, { write: { value: write } });
}

export async function askSecret(message: string): Promise<Buffer> {
  const answer = await password({ message, output });
  if (typeof answer === 'string') return Buffer.from(answer);
  throw new HandoverError('HANDOVER_CANCELLED', 'no passphrase was entered');
}

export async function askYesNo(message: string, initialValue: boolean): Promise<boolean> {
  const answer = await confirm({ message, initialValue, output });
  if (typeof answer === 'boolean') return answer;
  throw new HandoverError('HANDOVER_CANCELLED', 'nothing was answered');
}

interface Tick {
  value: string;
  label: string;
  isTicked: boolean;
}

/** The values that were ticked; null when the person cancelled. */
export async function pickSeveral(message: string, options: readonly Tick[]): Promise<string[] | null> {
  const initialValues = options.filter(({ isTicked }) => isTicked).map(({ value }) => value);
  const room = output.columns - STYLED_FRAME_COLUMNS;
  const shown = options.map(({ value, label }) => ({
    value,
    label: wrap(revealControls(label), room, TICK_COLUMNS).join('\n').trimStart(),
  }));
  const picked = await multiselect({ message, options: shown, initialValues, required: false, output });
  return Array.isArray(picked) ? picked : null;
}

/** What is taken off a line of ticks: the signs that colour the frame are counted too. */
const STYLED_FRAME_COLUMNS = 13;

/** The box before a label, below which its other lines begin. */
const TICK_COLUMNS = 2;

const ROWS_SHOWN = 10;

export interface Picker {
  rows: readonly CatalogRow[];
  now: number;
  /** The first lines of the brief of a handover. */
  preview(id: string): readonly string[];
}

/** Null when the person cancelled. */
export async function pickFromRows({ rows, now, preview }: Picker): Promise<CatalogRow | null> {
  let typed: string | null = null;
  let focused = (): unknown => undefined;
  let matching: { value: string; readonly label: string }[] = [];
  const picked = await autocomplete<string>({
    message: 'Which handover? Type parts of its title or project',
    output,
    maxItems: ROWS_SHOWN,
    filter: () => true,
    validate: (id) => (id === undefined ? 'Nothing matches: delete some of what you typed' : undefined),
    options() {
      if (this.userInput === typed) return matching;
      typed = this.userInput;
      focused = () => (this.state === 'submit' ? undefined : this.focusedValue);
      // What is shown first is what Enter takes.
      this.focusedValue = undefined;
      matching = rankRows(typed, rows).map((row) => ({
        value: row.id,
        // Asked for whenever it is drawn, with another row in focus.
        get label() {
          return [describeOption(row, now), ...(focused() === row.id ? describeFocus(row, preview(row.id)) : [])].join(
            '\n',
          );
        },
      }));
      return matching;
    },
  });
  return rows.find(({ id }) => id === picked) ?? null;
}

/** What the frame of a prompt takes of a line. */
const FRAME_COLUMNS = 6;

/** The title on the left, project and age on the right, over the whole width. */
function describeOption(row: CatalogRow, now: number): string {
  const room = output.columns - FRAME_COLUMNS;
  const at = isSavedByHand(row) ? row.created_at : timeOfWork(row);
  const about = fitLine(`${cleanLine(row.project.name)}, ${describeAge(now - Date.parse(at))}`, room / 2);
  const title = fitLine(cleanLine(row.title), room - about.length - 2);
  const gap = Math.max(room - measure(title).width - measure(about).width, 2);
  return revealControls(`${title}${' '.repeat(gap)}${about}`);
}

/** Below the row in focus. */
function describeFocus(row: CatalogRow, lines: readonly string[]): string[] {
  const room = output.columns - FRAME_COLUMNS - 2;
  return [`${row.id}  ${isSavedByHand(row) ? `saved by hand on the work of ${row.agent}` : row.agent}`, ...lines].map(
    (line) => `  ${revealControls(fitLine(cleanLine(line), room))}`,
  );
}

/** The matching rows, best first; equal ones in their own order. */
function rankRows(typed: string, rows: readonly CatalogRow[]): CatalogRow[] {
  const words = typed
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return rows
    .flatMap((row, order) => {
      const text = [row.title, row.project.name, row.agent, row.id, ...row.next].join('\n').toLowerCase();
      const title = row.title.toLowerCase();
      const scores = words.map((word) => Math.max(2 * scoreWord(word, title), scoreWord(word, text)));
      return scores.includes(0) ? [] : [{ row, order, score: scores.reduce((sum, score) => sum + score, 0) }];
    })
    .sort((a, b) => b.score - a.score || a.order - b.order)
    .map(({ row }) => row);
}

/** 3 for a word that begins so, 2 for one that holds it, 1 for the beginnings of several words in order; 0 for none. */
function scoreWord(word: string, text: string): number {
  const at = text.indexOf(word);
  if (at !== -1) return isWordStart(text, at) ? 3 : 2;
  return text.split('\n').some((line) => isMadeOfStarts(word, line)) ? 1 : 0;
}

function isMadeOfStarts(word: string, line: string): boolean {
  const starts = [...line.matchAll(/[\p{L}\p{N}]+/gu)].map(({ index }) => index);
  let ends: number[] = [-1];
  for (const letter of word) {
    const started = starts.filter((start) => line[start] === letter && ends.some((end) => end < start));
    const continued = ends.map((end) => end + 1).filter((next) => next > 0 && line[next] === letter);
    ends = [...started, ...continued];
    if (ends.length === 0) return false;
  }
  return true;
}

function isWordStart(text: string, at: number): boolean {
  return at === 0 || !/[\p{L}\p{N}]/u.test(text.charAt(at - 1));
}
