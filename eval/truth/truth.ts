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
import { findEntities } from '../names/entities.ts';
import { KnownText } from '../names/known-text.ts';
import { baseName } from '../names/paths.ts';
import { findContentWords } from '../names/words.ts';

/** What a brief at a cut should have told, judged by what came next and by the summary that the agent wrote. */
export interface Truth {
  /** Base names of the files that were edited and read next, and the commands that were run. */
  nextEdit: ReadonlySet<string>;
  nextRead: ReadonlySet<string>;
  nextCmd: ReadonlySet<string>;
  useful: Useful;
  /** What was said and done up to the next compaction, without results; null where nothing came after. */
  later: KnownText | null;
}

/** What makes a line worth its bytes. */
export interface Useful {
  /** Used next, kept by the summary, or edited before. */
  names: ReadonlySet<string>;
  stems: ReadonlySet<string>;
  /** Of the summary's sections on what is pending, current and next. */
  words: ReadonlySet<string>;
  /** What the human said, and the open tasks. */
  quotes: readonly string[];
}

/** How many tool calls after a cut show what was needed next. */
const WINDOW = 30;
const MESSAGES = 15;
const LONGEST_NOD = 25;

/** Only what could be known counts: a name that comes up for the first time after the cut is nobody's loss. */
export function gatherTruth({ before, after, summary: text }: Cut): Truth {
  const known = new KnownText(before.flatMap(readBlocks).map(readBlockText).join('\n'));
  const keepNamed = (names: Iterable<string>): string[] => [...new Set(names)].filter((name) => known.names(name));
  const summary = parseSummary(text);
  const kept = findEntities(summary.body);
  const pastCalls = [...findToolCalls(before)];
  const past = listTouched(pastCalls);
  const next = listTouched([...findToolCalls(after)].slice(0, WINDOW));
  const nextEdit = keepNamed(next.edited.map(baseName));
  const nextRead = keepNamed(next.read.map(baseName));
  const later = findEntities(readWindow(after));
  const stems = findCommands(past.commands);
  const programs = new Set([...stems].map(programOf));
  const nextCmd = [...findCommands(next.commands)].filter((stem) => stems.has(stem));
  return {
    nextEdit: new Set(nextEdit),
    nextRead: new Set(nextRead),
    nextCmd: new Set(nextCmd),
    useful: {
      names: new Set([
        ...nextEdit,
        ...nextRead,
        ...past.edited.map(baseName),
        ...keepNamed([...later.ident, ...later.error, ...later.ref, ...later.url]),
        ...keepNamed([...kept.file, ...kept.ident, ...kept.error, ...kept.ref, ...kept.sym]),
      ]),
      stems: new Set([...nextCmd, ...[...kept.cmd].filter((stem) => programs.has(programOf(stem)))]),
      words: findOpenWords(summary, known),
      quotes: listQuotes(before, pastCalls),
    },
    later: after.length === 0 ? null : new KnownText(readWords(after)),
  };
}

function findCommands(commands: readonly string[]): Set<string> {
  return new Set(commands.flatMap((command) => [...findStems(command)]));
}

function findOpenWords(summary: Summary, known: KnownText): Set<string> {
  const words = ['pending tasks', 'current work', 'optional next step'].flatMap((section) => [
    ...findContentWords(findSection(summary, section)),
  ]);
  return new Set(words.filter((word) => known.hasContentWord(word)));
}

/** The human's latest messages, the first one and the last that is more than a nod, and the tasks that are open. */
function listQuotes(before: readonly Row[], calls: readonly ToolCall[]): string[] {
  const messages = before.flatMap((row) => readHumanMessage(row) ?? []);
  const last = messages.findLast((message) => isLongerThan(message, LONGEST_NOD));
  const open = listTasks(calls).filter((task) => task.status !== 'completed');
  const tasks = open.flatMap((task) => getText(task, 'content') || []);
  return [...messages.slice(-MESSAGES), ...messages.slice(0, 1), ...(last === undefined ? [] : [last]), ...tasks];
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

/** Without results: a file that is read again has all its names in it, used or not. */
function readWords(rows: readonly Row[]): string {
  return rows
    .filter((row) => row.isSidechain !== true)
    .flatMap(readBlocks)
    .filter((block) => block.type !== 'tool_result')
    .map(readBlockText)
    .join('\n');
}
