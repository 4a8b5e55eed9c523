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
/** How much of a message, in characters, is looked for, and what share of it must be found. */
const MESSAGE = { characters: 600, share: 0.6 };
const LONG_MESSAGE = 800;
const ERROR = { characters: 160, run: 3, share: 0.6 };
const TASK = { run: 2, share: 0.7 };

interface Measured {
  value: number;
  missed: readonly string[];
}
type Sheet = Map<Metric, Measured>;

export function scoreBrief(text: string, truth: Truth): Scored {
  const sheet: Sheet = new Map([['tokens', { value: countTokens(text), missed: [] }]]);
  scoreNames(sheet, text, truth);
  scoreProse(sheet, text, truth);
  scoreQuotes(sheet, text, truth);
  scorePrecision(sheet, text, truth);
  average(sheet, 'FUT', FUT_PARTS);
  average(sheet, 'SUM', SUM_PARTS);
  return {
    score: new Map([...sheet].map(([metric, { value }]) => [metric, value])),
    misses: new Map([...sheet].map(([metric, { missed }]) => [metric, missed])),
  };
}

function scoreNames(sheet: Sheet, text: string, { names, commands }: Truth): void {
  const credited = keepCredited(text);
  for (const metric of NAME_METRICS)
    noteShare(sheet, metric, names[metric], (name) => isNamedIn(name, credited));
  const stems = findStems(credited.replaceAll('`', ' ; '));
  for (const metric of COMMAND_METRICS)
    noteShare(sheet, metric, commands[metric], (stem) => credited.includes(stem) || stems.has(stem));
}

function scoreProse(sheet: Sheet, text: string, { prose }: Truth): void {
  const words = findContentWords(text);
  for (const metric of PROSE_METRICS) {
    if (prose[metric].size >= FEWEST_PROSE_WORDS)
      noteShare(sheet, metric, prose[metric], (word) => words.has(word));
  }
}

function scoreQuotes(sheet: Sheet, text: string, truth: Truth): void {
  const quoter = new Quoter(text);
  noteShare(sheet, 'userMsg', truth.messages, (message) => {
    return quoter.measureQuote(takeCharacters(message, MESSAGE.characters)) >= MESSAGE.share;
  });
  for (const [metric, message] of [
    ['lastUser', truth.lastMessage],
    ['firstUser', truth.firstMessage],
  ] as const) {
    if (message === '') continue;
    const value = quoter.measureQuote(takeCharacters(message, LONG_MESSAGE));
    sheet.set(metric, { value, missed: value < 1 ? [message] : [] });
  }
  noteShare(sheet, 'rules', truth.rules, (rule) => quoter.measureQuote(rule) >= MESSAGE.share);
  noteShare(sheet, 'openErr', truth.openErrors, (line) => {
    return quoter.measureQuote(takeCharacters(line, ERROR.characters), ERROR.run) >= ERROR.share;
  });
  noteShare(sheet, 'todo', truth.openTasks, (task) => quoter.measureQuote(task, TASK.run) >= TASK.share);
}

/** Of what the brief names, how much matters and how much is true. */
function scorePrecision(sheet: Sheet, text: string, truth: Truth): void {
  const files = new Set([...findPaths(text)].map(baseName));
  noteShare(sheet, 'filePrec', files, (file) => truth.relevantFiles.has(file));
  const { file, ident, error } = findEntities(text);
  noteShare(sheet, 'ground', [...file, ...ident, ...error], (name) => truth.known.names(name));
  const { share, noise } = measureUse(text, truth);
  if (share !== null) sheet.set('useful', { value: share, missed: noise });
  const staleness = measureStaleness(text, truth.past);
  if (staleness.share !== null) sheet.set('stale', { value: staleness.share, missed: staleness.stale });
}

function noteShare(
  sheet: Sheet,
  metric: Metric,
  wanted: Iterable<string>,
  isThere: (item: string) => boolean,
): void {
  const items = [...wanted];
  if (items.length === 0) return;
  const missed = items.filter((item) => !isThere(item));
  sheet.set(metric, { value: (items.length - missed.length) / items.length, missed });
}

function average(sheet: Sheet, metric: Metric, parts: readonly Metric[]): void {
  const values = parts.flatMap((part) => sheet.get(part)?.value ?? []);
  if (values.length === 0) return;
  sheet.set(metric, { value: values.reduce((sum, value) => sum + value, 0) / values.length, missed: [] });
}
