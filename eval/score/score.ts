import { takeCharacters } from '../names/characters.ts';
import { findStems } from '../names/commands.ts';
import { findEntities } from '../names/entities.ts';
import { isNamedIn } from '../names/known-text.ts';
import { baseName, findPaths } from '../names/paths.ts';
import { findContentWords, Quoter } from '../names/words.ts';
import type { Truth } from '../truth/truth.ts';
import { countTokens } from './budget.ts';
import { keepCredited } from './credit.ts';
import {
  COMMAND_METRICS,
  FUT_PARTS,
  type Measured,
  type Metric,
  NAME_METRICS,
  PROSE_METRICS,
  type Score,
  SUM_PARTS,
} from './metrics.ts';
import { measureStaleness } from './stale.ts';
import { measureUse } from './useful.ts';

export interface Scored {
  score: Score;
  /** What each metric found missing or, for precision, too much. */
  misses: ReadonlyMap<Metric, readonly string[]>;
}

const FEWEST_PROSE_WORDS = 4;
/** How much of a quote is looked for, in runs of how many words, and what share of them must be found. */
interface Quoting {
  characters: number;
  run: number;
  share: number;
}
const MESSAGE: Quoting = { characters: 600, run: 4, share: 0.6 };
const ERROR: Quoting = { characters: 160, run: 3, share: 0.6 };
const TASK: Quoting = { characters: Number.POSITIVE_INFINITY, run: 2, share: 0.7 };
const LONG_MESSAGE = 800;

type Sheet = Map<Metric, Measured>;

export function scoreBrief(text: string, truth: Truth): Scored {
  const sheet: Sheet = new Map([['tokens', { value: countTokens(text), missed: [] }]]);
  scoreNames(sheet, text, truth);
  scoreProse(sheet, text, truth);
  scoreQuotes(sheet, text, truth);
  scorePrecision(sheet, text, truth);
  note(sheet, 'FUT', average(sheet, FUT_PARTS));
  note(sheet, 'SUM', average(sheet, SUM_PARTS));
  return {
    score: new Map([...sheet].map(([metric, { value }]) => [metric, value])),
    misses: new Map([...sheet].map(([metric, { missed }]) => [metric, missed])),
  };
}

function scoreNames(sheet: Sheet, text: string, { names, commands }: Truth): void {
  const credited = keepCredited(text);
  for (const metric of NAME_METRICS)
    note(
      sheet,
      metric,
      measureShare(names[metric], (name) => isNamedIn(name, credited)),
    );
  const stems = findStems(credited.replaceAll('`', ' ; '));
  const isRun = (stem: string): boolean => credited.includes(stem) || stems.has(stem);
  for (const metric of COMMAND_METRICS) note(sheet, metric, measureShare(commands[metric], isRun));
}

function scoreProse(sheet: Sheet, text: string, { prose }: Truth): void {
  const words = findContentWords(text);
  for (const metric of PROSE_METRICS) {
    if (prose[metric].size < FEWEST_PROSE_WORDS) continue;
    note(
      sheet,
      metric,
      measureShare(prose[metric], (word) => words.has(word)),
    );
  }
}

function scoreQuotes(sheet: Sheet, text: string, truth: Truth): void {
  const quoter = new Quoter(text);
  const has = (quote: string, { characters, run, share }: Quoting): boolean =>
    quoter.measureQuote(takeCharacters(quote, characters), run) >= share;
  const measure = (quotes: Iterable<string>, quoting: Quoting): Measured | null =>
    measureShare(quotes, (quote) => has(quote, quoting));
  note(sheet, 'userMsg', measure(truth.messages, MESSAGE));
  note(sheet, 'rules', measure(truth.rules, MESSAGE));
  note(sheet, 'openErr', measure(truth.openErrors, ERROR));
  note(sheet, 'todo', measure(truth.openTasks, TASK));
  note(sheet, 'lastUser', measureMessage(truth.lastMessage, quoter));
  note(sheet, 'firstUser', measureMessage(truth.firstMessage, quoter));
}

function measureMessage(message: string, quoter: Quoter): Measured | null {
  if (message === '') return null;
  const value = quoter.measureQuote(takeCharacters(message, LONG_MESSAGE));
  return { value, missed: value < 1 ? [message] : [] };
}

/** Of what the brief names, how much matters and how much is true. */
function scorePrecision(sheet: Sheet, text: string, truth: Truth): void {
  const files = new Set([...findPaths(text)].map(baseName));
  const { file, ident, error } = findEntities(text);
  const named = [...file, ...ident, ...error];
  note(
    sheet,
    'filePrec',
    measureShare(files, (name) => truth.relevantFiles.has(name)),
  );
  note(
    sheet,
    'ground',
    measureShare(named, (name) => truth.known.names(name)),
  );
  note(sheet, 'useful', measureUse(text, truth));
  note(sheet, 'stale', measureStaleness(text, truth.past));
}

function note(sheet: Sheet, metric: Metric, measured: Measured | null): void {
  if (measured !== null) sheet.set(metric, measured);
}

function measureShare(wanted: Iterable<string>, isThere: (item: string) => boolean): Measured | null {
  const items = [...wanted];
  if (items.length === 0) return null;
  const missed = items.filter((item) => !isThere(item));
  return { value: (items.length - missed.length) / items.length, missed };
}

function average(sheet: Sheet, parts: readonly Metric[]): Measured | null {
  const values = parts.flatMap((part) => sheet.get(part)?.value ?? []);
  if (values.length === 0) return null;
  return { value: values.reduce((sum, value) => sum + value, 0) / values.length, missed: [] };
}
