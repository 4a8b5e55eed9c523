import { autocomplete, confirm, password } from '@clack/prompts';
import { HandoverError } from '../../errors.ts';
import { cutToBytes, revealControls } from '../../model/text.ts';
import { describeAge } from '../../model/time.ts';
import type { CatalogRow } from '../../store/catalog.ts';
import { timeOfWork } from '../../store/newest.ts';

// Everything is drawn on standard error, so that standard output holds only results.
const output = process.stderr;

/** A terminal that does not know its size says 0 by 0, into which nothing could be drawn. */
function assumeSize(): void {
  if (output.columns === 0) output.columns = 80;
  if (output.rows === 0) output.rows = 24;
}

assumeSize();
output.on('resize', assumeSize);

export async function askSecret(message: string): Promise<Buffer> {
  const answer = await password({ message, output });
  if (typeof answer === 'string') return Buffer.from(answer);
  throw new HandoverError('HANDOVER_CANCELLED', 'no passphrase was entered');
}

/** Whether a person agrees; cancelling counts as no. */
export async function askYesNo(message: string, initialValue: boolean): Promise<boolean> {
  return (await confirm({ message, initialValue, output })) === true;
}

const MAX_TITLE_BYTES = 60;
const ROWS_SHOWN = 10;

/** Null when the person cancelled. */
export async function pickFromRows(rows: readonly CatalogRow[], now: number): Promise<CatalogRow | null> {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const picked = await autocomplete({
    message: 'Which handover? Type parts of its title, project, agent or id',
    output,
    maxItems: ROWS_SHOWN,
    filter: () => true,
    options() {
      return rankFuzzy(this.userInput, rows).map((row) => describeOption(row, now));
    },
  });
  return typeof picked === 'string' ? (byId.get(picked) ?? null) : null;
}

function describeOption(row: CatalogRow, now: number): { value: string; label: string; hint: string } {
  const label = revealControls(cutToBytes(row.title, MAX_TITLE_BYTES));
  const age = describeAge(now - Date.parse(timeOfWork(row)));
  return { value: row.id, label, hint: revealControls(`${row.project.name}, ${row.agent}, ${age}`) };
}

/** Higher is better, null is no match. The letters of a word occur in order; adjacent and leading ones count more. */
function scoreFuzzy(typed: string, text: string): number | null {
  const folded = text.toLowerCase();
  let total = 0;
  const words = typed.toLowerCase().split(/\s+/);
  for (const word of words.filter((part) => part !== '')) {
    const score = scoreWord(word, folded);
    if (score === null) return null;
    total += score;
  }
  return total;
}

const WHOLE = 100;
const AT_WORD_START = 8;
const TOGETHER = 5;
const GAP = -1;

function scoreWord(word: string, text: string): number | null {
  const whole = text.indexOf(word);
  if (whole !== -1) return WHOLE + word.length * TOGETHER + (isWordStart(text, whole) ? AT_WORD_START : 0);
  let score = 0;
  let last = -1;
  for (const letter of word) {
    const at = text.indexOf(letter, last + 1);
    if (at === -1) return null;
    score += at === last + 1 ? TOGETHER : Math.max(GAP * (at - last), -TOGETHER);
    if (isWordStart(text, at)) score += AT_WORD_START;
    last = at;
  }
  return score;
}

function isWordStart(text: string, at: number): boolean {
  return at === 0 || !/[\p{L}\p{N}]/u.test(text.charAt(at - 1));
}

/** The matching rows, best first; equal ones in their own order. */
function rankFuzzy(typed: string, rows: readonly CatalogRow[]): CatalogRow[] {
  if (typed.trim() === '') return [...rows];
  return rows
    .flatMap((row, order) => {
      const score = scoreFuzzy(typed, [row.title, row.project.name, row.agent, row.id, ...row.next].join(' '));
      return score === null ? [] : [{ row, order, score }];
    })
    .sort((a, b) => b.score - a.score || a.order - b.order)
    .map(({ row }) => row);
}
