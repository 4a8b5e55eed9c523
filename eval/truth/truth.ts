import { getText, type Row } from '../../src/agents/shared/json.ts';
import type { Cut } from '../corpus/cuts.ts';
import { findSection, parseSummary, type Summary } from '../corpus/summary.ts';
import {
  findToolCalls,
  isOwnReply,
  listTasks,
  listTouched,
  readBlocks,
  readBlockText,
  readHumanMessage,
  type ToolCall,
} from '../corpus/transcript.ts';
import { isLongerThan } from '../names/characters.ts';
import { findStems, programOf } from '../names/commands.ts';
import { type Entities, findEntities } from '../names/entities.ts';
import { KnownText } from '../names/known-text.ts';
import { baseName, findPaths } from '../names/paths.ts';
import { findContentWords } from '../names/words.ts';
import type { CommandMetric, NameMetric, ProseMetric } from '../score/metrics.ts';
import { gatherPast, type Past } from '../score/stale.ts';
import { findOpenErrors } from './open-errors.ts';
import { findRules } from './rules.ts';

/** What a brief at a cut should have told, judged by what came next and by the summary that the agent wrote. */
export interface Truth {
  names: Readonly<Record<NameMetric, ReadonlySet<string>>>;
  commands: Readonly<Record<CommandMetric, ReadonlySet<string>>>;
  prose: Readonly<Record<ProseMetric, ReadonlySet<string>>>;
  /** The latest messages of the human, oldest first. */
  messages: readonly string[];
  /** The last message that is more than a nod; empty when there is none. */
  lastMessage: string;
  firstMessage: string;
  openTasks: readonly string[];
  rules: ReadonlySet<string>;
  openErrors: ReadonlySet<string>;
  past: Past;
  /** Files that were edited before, touched after, or named by the summary: any other one is noise. */
  relevantFiles: ReadonlySet<string>;
  /** All that could be known at the cut. */
  known: KnownText;
}

/** How many tool calls after a cut show what was needed next. */
const WINDOW = 30;
const MESSAGES = 15;
const LONGEST_NOD = 25;

/** Only what could be known counts: a name that comes up for the first time after the cut is nobody's loss. */
export function gatherTruth({ before, after, summary: text }: Cut): Truth {
  const known = new KnownText(before.flatMap(readBlocks).map(readBlockText).join('\n'));
  const summary = parseSummary(text);
  const kept = findEntities(summary.body);
  const pastCalls = [...findToolCalls(before)];
  const past = listTouched(pastCalls);
  const calls = [...findToolCalls(after)];
  const next = listTouched(calls.slice(0, WINDOW));
  const later = listTouched(calls);
  const messages = before.flatMap((row) => readHumanMessage(row) ?? []);
  const edited = toBaseNames(past.edited);
  return {
    names: {
      nextEdit: keepNamed(toBaseNames(next.edited), known),
      nextRead: keepNamed(toBaseNames(next.read), known),
      futEnt: keepNamed(unite(findEntities(readWindow(after)), ['ident', 'error', 'ref', 'url']), known),
      'sum.file': keepNamed(kept.file, known),
      'sum.ident': keepNamed(kept.ident, known),
      'sum.error': keepNamed(kept.error, known),
      'sum.ref': keepNamed(kept.ref, known),
      'sum.sym': keepNamed(kept.sym, known),
      secFiles: keepIncluded(toBaseNames(findPaths(findSection(summary, 'files and code'))), known),
      secErr: keepIncluded(
        unite(findEntities(findSection(summary, 'errors and fixes')), ['error', 'ident', 'file']),
        known,
      ),
      editedAll: edited,
    },
    commands: gatherCommands({ past: past.commands, next: next.commands, kept: kept.cmd }),
    prose: gatherProse(summary, known),
    messages: messages.slice(-MESSAGES),
    lastMessage: messages.findLast((message) => isLongerThan(message, LONGEST_NOD)) ?? messages.at(-1) ?? '',
    firstMessage: messages[0] ?? '',
    openTasks: listOpenTasks(pastCalls),
    rules: findRules(messages),
    openErrors: findOpenErrors(before),
    past: gatherPast(pastCalls),
    relevantFiles: new Set([...toBaseNames([...later.edited, ...later.read]), ...edited, ...kept.file]),
    known,
  };
}

function listOpenTasks(calls: readonly ToolCall[]): string[] {
  const open = listTasks(calls).filter((task) => task.status !== 'completed');
  return open.flatMap((task) => getText(task, 'content') || []);
}

function gatherCommands(run: {
  past: readonly string[];
  next: readonly string[];
  kept: ReadonlySet<string>;
}): Truth['commands'] {
  const past = new Set(run.past.flatMap((command) => [...findStems(command)]));
  const programs = new Set([...past].map(programOf));
  const next = run.next.flatMap((command) => [...findStems(command)]);
  return {
    nextCmd: new Set(next.filter((stem) => past.has(stem))),
    'sum.cmd': new Set([...run.kept].filter((stem) => programs.has(programOf(stem)))),
  };
}

function gatherProse(summary: Summary, known: KnownText): Truth['prose'] {
  const gather = (beginning: string): ReadonlySet<string> =>
    keep(findContentWords(findSection(summary, beginning)), (word) => known.hasContentWord(word));
  return {
    secGoal: gather('primary request'),
    secPending: gather('pending tasks'),
    secCurrent: gather('current work'),
    secNext: gather('optional next step'),
  };
}

/** What the agent wrote and did after a cut, as far as the window reaches. */
function readWindow(rows: readonly Row[]): string {
  const texts: string[] = [];
  let calls = 0;
  for (const block of rows.filter(isOwnReply).flatMap(readBlocks)) {
    if (block.type === 'tool_use' && ++calls > WINDOW) break;
    if (block.type === 'tool_use' || block.type === 'text') texts.push(readBlockText(block));
  }
  return texts.join('\n');
}

function toBaseNames(paths: Iterable<string>): Set<string> {
  return new Set(Array.from(paths, baseName));
}

function unite(entities: Entities, kinds: readonly (keyof Entities)[]): Set<string> {
  return new Set(kinds.flatMap((kind) => [...entities[kind]]));
}

function keep(names: ReadonlySet<string>, isKept: (name: string) => boolean): Set<string> {
  return new Set([...names].filter(isKept));
}

function keepNamed(names: ReadonlySet<string>, known: KnownText): Set<string> {
  return keep(names, (name) => known.names(name));
}

function keepIncluded(names: ReadonlySet<string>, known: KnownText): Set<string> {
  return keep(names, (name) => known.includes(name));
}
