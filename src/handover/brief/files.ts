import type { Fact } from '../../model/fact.ts';
import { cleanLine, cleanText, countNouns, countUtf8Bytes, cutAtWord, revealControls } from '../../model/text.ts';
import { type Account, readNumber } from './account.ts';
import { type Block, countLineBytes, DEFAULT_BUDGET, type Printed } from './block.ts';
import { printNow, QUOTE } from './lines.ts';

/** In tokens. In so little room, what to open and to run says more than what was said. */
const SMALL_BUDGET = 600;

/** Files with what was done to them, by folder; those about the goal first, then those edited last and most. */
export function describeFiles(
  { changed, otherFiles }: Account,
  budget: number,
  rateGoal: (text: string) => number,
): Block {
  const sort = (files: readonly Fact[], compare: (a: Fact, b: Fact) => number): Fact[] => {
    const goal = new Map(files.map((fact) => [fact, rateGoal(fact.text)]));
    return [...files].sort((a, b) => (goal.get(b) ?? 0) - (goal.get(a) ?? 0) || compare(a, b));
  };
  const newest = sort(changed, (a, b) => rateAge(a) - rateAge(b));
  const likely = sort(
    dropDoubtful(otherFiles, changed),
    (a, b) => readNumber(b, 'relevance') - readNumber(a, 'relevance'),
  ).slice(0, MAX_OTHERS);
  return {
    heading: 'Files',
    weight: budget < SMALL_BUDGET ? 150 : 10 * Math.min(1, budget / DEFAULT_BUDGET),
    most: 3000,
    print: (bytes): Printed => {
      const most = printByFolder(CHANGED, newest, Math.floor(bytes * CHANGED_SHARE));
      const edited = most.ids.length === 0 || likely.length === 0 ? printByFolder(CHANGED, newest, bytes) : most;
      const used = countLineBytes(edited.lines);
      const others = printByFolder(OTHERS, likely, bytes - used);
      return { lines: [...edited.lines, ...others.lines], ids: [...edited.ids, ...others.ids] };
    },
  };
}

const EDITS_WEIGHT = 0.6;

/** How long ago a file was edited, on a scale on which one that was edited often stays young. */
function rateAge(file: Fact): number {
  return Math.log2(1 + readNumber(file, 'age')) - EDITS_WEIGHT * Math.log2(1 + readNumber(file, 'edits'));
}

/** With its slash; empty where the path has none. */
function folderOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}

/** Of files that nobody opened, only those in a folder where others were: what else looks like a path may be none. */
function dropDoubtful(files: readonly Fact[], changed: readonly Fact[]): Fact[] {
  const opened = [...changed, ...files.filter(({ status }) => status !== 'mentioned')];
  const known = new Set(opened.map(({ text }) => folderOf(text)).filter((folder) => folder !== ''));
  return files.filter((fact) => fact.status !== 'mentioned' || known.has(folderOf(fact.text)));
}

const MAX_OTHERS = 20;
const CHANGED = 'Changed';
const OTHERS = 'Read or named';
const CHANGED_SHARE = 0.7;
/** For how many of how many. */
const COUNT_BYTES = 12;

/** Of changed files it says how many have no room. */
function printByFolder(label: typeof CHANGED | typeof OTHERS, files: readonly Fact[], bytes: number): Printed {
  const folders = new Map<string, string[]>();
  const ids: string[] = [];
  const root = findSharedRoot(files.map(({ text }) => revealControls(text)));
  const where = root === '' ? ': ' : ` below ${root}: `;
  let left = bytes - countUtf8Bytes(`${label}${where}`) - QUOTE.length - (label === CHANGED ? COUNT_BYTES : 0);
  for (const fact of files) {
    const path = revealControls(fact.text).slice(root.length);
    const folder = folderOf(path);
    const text = `${path.slice(folder.length)}${describeFile(fact)}`;
    const size = countUtf8Bytes(text) + 2 + (folders.has(folder) ? 0 : countUtf8Bytes(folder) + QUOTE.length + 5);
    if (size > left) continue;
    left -= size;
    folders.set(folder, [...(folders.get(folder) ?? []), text]);
    ids.push(fact.id);
  }
  const count = label === CHANGED && ids.length < files.length ? ` (${ids.length} of ${files.length})` : '';
  const lines = [...folders].map(
    ([folder, names], at) =>
      `${QUOTE}${at === 0 ? `${label}${count}${where}` : '  '}${folder === '' ? '' : `${folder}: `}${names.join(', ')}`,
  );
  return { lines, ids };
}

const SHORTEST_ROOT = 20;

/** The folder that all of some absolute paths are in, where naming it once saves bytes; else empty. */
function findSharedRoot(paths: readonly string[]): string {
  const [first = [], ...others] = paths.map((path) => path.split('/').slice(0, -1));
  const own = first.findIndex((part, at) => others.some((parts) => parts[at] !== part));
  const root = `${first.slice(0, own === -1 ? first.length : own).join('/')}/`;
  return others.length > 0 && root.startsWith('/') && root.length >= SHORTEST_ROOT ? root : '';
}

function describeFile(fact: Fact): string {
  const [edits, begun] = [readNumber(fact, 'edits'), readNumber(fact, 'begun')];
  const declared = Array.isArray(fact.detail?.declared)
    ? fact.detail.declared.slice(0, 3).map((name) => revealControls(String(name)))
    : [];
  const marks = [
    ...(fact.status === 'created' ? ['new'] : []),
    ...(fact.status === 'deleted' || fact.status === 'committed' ? [describeEnd(fact, fact.status)] : []),
    ...(edits > 0 ? [countNouns(edits, 'edit')] : []),
    ...(begun > 0 ? [`${begun === 1 ? 'an edit' : `${begun} edits`} begun, no result seen`] : []),
    ...(edits + begun === 0 && readNumber(fact, 'failures') > 0 ? ['edit failed'] : []),
    ...(fact.status === 'read' ? ['read'] : []),
    ...(fact.status === 'mentioned' ? ['named'] : []),
    ...(declared.length === 0 ? [] : [`declares ${declared.join(', ')}`]),
  ];
  return `${marks.length === 0 ? '' : ` (${marks.join('; ')})`}${printNow(fact.detail?.now)}`;
}

/** What was moved is not gone. */
function describeEnd({ detail }: Fact, status: string): string {
  return typeof detail?.moved === 'string' ? `moved to ${revealControls(detail.moved)}` : status;
}

const MAX_COMMAND_BYTES = 90;
const COMMANDS_PER_LINE = 3;

/** Commands to run again, the likeliest first, each with its own outcome; then links. */
export function describeCommands({ commands, commits, links, state }: Account, budget: number): Block {
  // Where it stands tells the commits; older handovers do not say where it stands.
  const references = state === null ? [...commits, ...links] : links;
  // What only failed, and checks nothing, is not worth running again; and checks are told with where it stands.
  const told = cleanText(state?.text ?? '');
  const isTold = ({ kind, text, detail }: Fact): boolean =>
    kind === 'check' &&
    detail?.environment === undefined &&
    detail?.now === undefined &&
    told.includes(`\`${cleanLine(text)}\` `);
  const elsewhere = commands.filter(isTold).map(({ id }) => id);
  const useful = commands.filter((fact) => (fact.kind === 'check' || fact.status !== 'failed') && !isTold(fact));
  const ranked = useful.sort((a, b) => rateCommand(b) - rateCommand(a));
  return {
    heading: 'Commands',
    weight: budget < SMALL_BUDGET ? 90 : 9 * Math.min(1, budget / DEFAULT_BUDGET),
    most: 900,
    print: (bytes) => {
      const shown: Fact[] = [];
      let left = bytes;
      for (const fact of [...ranked, ...references]) {
        const size = countUtf8Bytes(printCommand(fact)) + countUtf8Bytes(SEPARATOR);
        if (size > left) continue;
        left -= size;
        shown.push(fact);
      }
      const lines: string[] = [];
      for (let at = 0; at < shown.length; at += COMMANDS_PER_LINE)
        lines.push(
          `${QUOTE}${shown
            .slice(at, at + COMMANDS_PER_LINE)
            .map(printCommand)
            .join(SEPARATOR)}`,
        );
      return { lines, ids: [...shown.map(({ id }) => id), ...elsewhere] };
    },
  };
}

const SEPARATOR = ' · ';

function rateCommand(fact: Fact): number {
  return readNumber(fact, 'relevance') - readNumber(fact, 'age') / 1000;
}

function printCommand(fact: Fact): string {
  if (fact.kind === 'reference') return cleanLine(`${fact.text}${printNow(fact.detail?.now)}`);
  const since = fact.detail?.edited === true ? ' (files were edited since)' : '';
  const status =
    fact.kind !== 'check'
      ? ''
      : fact.status === 'failed'
        ? ` → FAILED${since}`
        : fact.status === 'ok'
          ? ` → passed${since}`
          : '';
  const variables = fact.detail?.environment;
  const set = Array.isArray(variables) && variables.length > 0 ? ` (env ${variables.join(', ')})` : '';
  return cleanLine(`\`${cutAtWord(fact.text, MAX_COMMAND_BYTES)}\`${set}${status}${printNow(fact.detail?.now)}`);
}
