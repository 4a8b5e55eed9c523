import type { Fact } from '../../model/fact.ts';
import { cleanLine, countUtf8Bytes, cutAtWord, revealControls } from '../../model/text.ts';
import { type Account, readNumber } from './account.ts';
import type { Block, Printed } from './block.ts';
import { QUOTE } from './lines.ts';

/** In tokens. In so little room, what to open and to run says more than what was said. */
const SMALL_BUDGET = 450;

/** Files with what was done to them, by folder; those about the goal first, then the newest. */
export function describeFiles(
  { changed, otherFiles }: Account,
  budget: number,
  rateGoal: (text: string) => number,
): Block {
  const sort = (files: readonly Fact[], compare: (a: Fact, b: Fact) => number): Fact[] => {
    const goal = new Map(files.map((fact) => [fact, rateGoal(fact.text)]));
    return [...files].sort((a, b) => (goal.get(b) ?? 0) - (goal.get(a) ?? 0) || compare(a, b));
  };
  const newest = sort(changed, (a, b) => readNumber(a, 'age') - readNumber(b, 'age'));
  const likely = sort(otherFiles, (a, b) => readNumber(b, 'relevance') - readNumber(a, 'relevance')).slice(
    0,
    MAX_OTHERS,
  );
  return {
    heading: 'Files',
    weight: budget < SMALL_BUDGET ? 30 : 8,
    most: 3000,
    print: (bytes): Printed => {
      const edited = printByFolder('Changed', newest, Math.floor(bytes * (likely.length === 0 ? 1 : 0.7)));
      const used = edited.lines.reduce((sum, line) => sum + countUtf8Bytes(line) + 1, 0);
      const others = printByFolder('Not changed', likely, bytes - used);
      return { lines: [...edited.lines, ...others.lines], ids: [...edited.ids, ...others.ids] };
    },
  };
}

const MAX_OTHERS = 20;

function printByFolder(label: string, files: readonly Fact[], bytes: number): Printed {
  const folders = new Map<string, string[]>();
  const ids: string[] = [];
  let left = bytes - label.length - QUOTE.length;
  for (const fact of files) {
    const path = revealControls(fact.text);
    const at = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1;
    const folder = path.slice(0, at);
    const text = `${path.slice(at)}${describeFile(fact)}`;
    const size = countUtf8Bytes(text) + 2 + (folders.has(folder) ? 0 : countUtf8Bytes(folder) + QUOTE.length + 5);
    if (size > left) continue;
    left -= size;
    folders.set(folder, [...(folders.get(folder) ?? []), text]);
    ids.push(fact.id);
  }
  const lines = [...folders].map(
    ([folder, names], at) =>
      `${QUOTE}${at === 0 ? `${label}: ` : '  '}${folder === '' ? '' : `${folder}: `}${names.join(', ')}`,
  );
  return { lines, ids };
}

function describeFile(fact: Fact): string {
  const edits = readNumber(fact, 'edits');
  const declared = Array.isArray(fact.detail?.declared)
    ? fact.detail.declared.slice(0, 3).map((name) => revealControls(String(name)))
    : [];
  const marks = [
    ...(fact.status === 'created' ? ['new'] : []),
    ...(fact.status === 'deleted' ? ['deleted'] : []),
    ...(edits > 0 ? [edits === 1 ? '1 edit' : `${edits} edits`] : []),
    ...(edits === 0 && readNumber(fact, 'failures') > 0 ? ['edit failed'] : []),
    ...(fact.status === 'read' ? ['read'] : []),
    ...(fact.status === 'mentioned' ? ['named'] : []),
    ...(declared.length === 0 ? [] : [`declares ${declared.join(', ')}`]),
  ];
  return marks.length === 0 ? '' : ` (${marks.join('; ')})`;
}

const MAX_COMMAND_BYTES = 90;
const COMMANDS_PER_LINE = 3;

/** Commands to run again, the likeliest first, each with its own outcome; then links. */
export function describeCommands({ commands, commits, links, state }: Account, budget: number): Block {
  // Where it stands tells the commits; older handovers do not say where it stands.
  const references = state === null ? [...commits, ...links] : links;
  const ranked = [...commands].sort((a, b) => rateCommand(b) - rateCommand(a));
  return {
    heading: 'Commands',
    weight: budget < SMALL_BUDGET ? 20 : 6,
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
      return { lines, ids: shown.map(({ id }) => id) };
    },
  };
}

const SEPARATOR = ' · ';

function rateCommand(fact: Fact): number {
  return readNumber(fact, 'relevance') - readNumber(fact, 'age') / 1000;
}

function printCommand(fact: Fact): string {
  if (fact.kind === 'reference') return cleanLine(fact.text);
  const status =
    fact.status === 'failed' ? ' → FAILED' : fact.status === 'ok' && fact.kind === 'check' ? ' → passed' : '';
  const variables = fact.detail?.environment;
  const set = Array.isArray(variables) && variables.length > 0 ? ` (env ${variables.join(', ')})` : '';
  return cleanLine(`\`${cutAtWord(fact.text, MAX_COMMAND_BYTES)}\`${set}${status}`);
}
