import { baseName } from '../model/paths.ts';
import { isCheck } from './outcome.ts';
import type { CommandRun } from './session-log.ts';
import type { Segment } from './shell.ts';
import { locatePath } from './touched-files.ts';

/* Where a command runs, when two commands are the same check, and when one of them checks more. */

type Ran = Segment & { run: CommandRun };

/** A package that is chosen by its name is the same wherever in the workspace the command runs. */
const BY_NAME = /^(?:pnpm|npm|yarn|bun|turbo)\b.* (?:--filter|-F|--workspace|-w)[ =]["']?[@\w]/;

export function placeOf({ run, folder, text }: Ran): string | null {
  if (BY_NAME.test(text)) return null;
  return folder === null ? run.folder : locatePath(folder, run.folder);
}

/** A check with where and with what it runs, so far as that is not usual. */
export function nameCheck(part: Ran): string {
  const { run, text, folder, assigned } = part;
  const variables = assigned.map((word) => `${word.slice(0, word.indexOf('='))}=… `).join('');
  const isElsewhere = folder !== null && placeOf(part) !== run.folder;
  return `${isElsewhere ? `cd ${folder} && ` : ''}${variables}${text}`;
}

/** A command with its folder, where that is neither above nor below that of the session: there it is about something else. */
export function nameCommand(part: Ran, cwd: string | null): string {
  const place = placeOf(part);
  const isHere = place === null || cwd === null || `${place}/`.startsWith(`${cwd}/`) || cwd.startsWith(`${place}/`);
  return isHere ? part.text : `cd …/${baseName(place)} && ${part.text}`;
}

/** Flags that only change how much is printed, when a run stops, or whether what is found is mended. */
const PRINTING =
  /^(?:-[vqsx]+|-rA?|--verbose|--quiet|--silent|--tb=\w+|--no-header|--(?:no-)?colou?rs?(?:=\w+)?|--reporter=\S+|-count=\d+|-race|--bail|--run|--fix|--write|--)$/;
/** Flags whose value selects a part. */
const SELECTING =
  /^(?:-run|-[kmtw]|-pl|--grep|--filter|--testNamePattern|--test-name-pattern|--workspace|--package|--test|--tests)(?:=|$)/;
/** Variables that change no result by themselves. */
const NEUTRAL = /^(?:PYTHONPATH|PATH|CI|TERM|NO_COLOR|FORCE_COLOR)\+?=/;

/** Without what only prints, or mends what it finds: what it looks at is the same. */
function listWords({ words }: Segment): string[] {
  return words
    .filter((word, at) => !PRINTING.test(word) && word !== '--reporter' && words[at - 1] !== '--reporter')
    .map((word) => word.replace(/[:-]fix$/, ''));
}

function listVariables({ assigned }: Segment): string[] {
  return assigned.filter((word) => !NEUTRAL.test(word)).sort();
}

/** How a check is the same check again: where it runs, with which variables, and what. */
export function keyOf(segment: Segment, folder: string | null): string {
  return JSON.stringify([folder, listVariables(segment), listWords(segment)]);
}

/** What a program does: tools that check are named alone, others with their subcommand. */
function taskOf({ words: [program = '', ...rest] }: Segment): string {
  if (isCheck(program) && program !== 'make') return program;
  const task = rest.find((word, at) => !word.startsWith('-') && !SELECTING.test(rest[at - 1] ?? ''));
  return `${program} ${task ?? ''}`;
}

/** Whether a check runs at least what another one ran: the same without some of what selects a part. */
export function isWider(later: Segment, earlier: Segment): boolean {
  const [ours, theirs] = [listWords(later), listWords(earlier)];
  if (taskOf(later) !== taskOf(earlier) || listVariables(later).join() !== listVariables(earlier).join()) return false;
  const isGo = later.words[0] === 'go';
  const covers = (wide: string, narrow: string): boolean => {
    if (wide === narrow) return true;
    if (isGo && !wide.endsWith('...')) return false;
    const base = wide.replace(/\/?(?:\.{3})?$/, '').replace(/^\.(?:\/|$)/, '');
    const path = narrow.replace(/^\.\//, '');
    return /^[\w.]/.test(path) && (base === '' || path.startsWith(`${base}/`) || path.startsWith(`${base}::`));
  };
  const isSelection = (word: string, at: number): boolean =>
    ours.some((wide) => covers(wide, word)) ||
    !word.startsWith('-') ||
    SELECTING.test(word) ||
    SELECTING.test(theirs[at - 1] ?? '');
  return ours.every((wide) => theirs.some((word) => covers(wide, word))) && theirs.every(isSelection);
}

/** Whether a command runs only a part of what it names. */
export function isSelective({ words, text }: Segment): boolean {
  return words.some((word) => SELECTING.test(word)) || SELECTED.test(text);
}

/** The name of the test that a command runs alone. */
const SELECTED = /(?:-run|-k|-t|--grep|--filter|--testNamePattern)[= ]["'^]*(\w{4,})|::(\w{4,})/;

export function findSelectedTest({ text }: Segment): string | undefined {
  const found = SELECTED.exec(text);
  return found?.[1] ?? found?.[2];
}
