import type { FileEdit } from '../../model/event.ts';

/** The part of a patch that changes one file. */
interface Section {
  path: string;
  change: FileEdit['change'];
  /** Where the file is moved to. */
  to: string | null;
  /** The lines of each hunk, with the mark at their beginning. */
  hunks: string[][];
}

/** Context around the changed lines is left out, lines between them are part of both texts. */
function toTexts(hunk: readonly string[]): { before: string; after: string }[] {
  const isChanged = (line: string): boolean => line.startsWith('-') || line.startsWith('+');
  const first = hunk.findIndex(isChanged);
  if (first === -1) return [];
  const lines = hunk.slice(first, hunk.findLastIndex(isChanged) + 1);
  const without = (mark: string): string =>
    lines.flatMap((line) => (line.startsWith(mark) ? [] : line.slice(1))).join('\n');
  return [{ before: without('+'), after: without('-') }];
}

function toEdits({ path, change, to, hunks }: Section): FileEdit[] {
  const texts = hunks.flatMap(toTexts);
  if (change === 'created')
    return [{ path, change, before: '', after: texts.map(({ after }) => `${after}\n`).join('') }];
  if (change === 'deleted') return [{ path, change, before: '', after: '' }];
  if (to === null) return texts.map((text) => ({ path, change, ...text }));
  const [first = { before: '', after: '' }, ...others] = texts;
  return [{ path, change: 'moved', ...first, to }, ...others.map((text) => ({ path: to, change, ...text }))];
}

const HEADER = /^\*\*\* (Add|Update|Delete) File: (.+)$/;
const MOVE = '*** Move to: ';

/** The edits in a patch of the `*** Begin Patch` kind; none when the text is not one. */
export function parsePatch(text: string): FileEdit[] {
  const begin = text.indexOf('*** Begin Patch');
  if (begin === -1) return [];
  const sections: Section[] = [];
  for (const line of text.slice(begin).split(/\r?\n/)) {
    const [, verb, path = ''] = HEADER.exec(line) ?? [];
    const section = sections.at(-1);
    if (verb !== undefined) {
      const change = verb === 'Add' ? 'created' : verb === 'Delete' ? 'deleted' : 'edited';
      sections.push({ path: path.trim(), change, to: null, hunks: [[]] });
    } else if (line.startsWith('*** End Patch')) break;
    else if (section === undefined) continue;
    else if (line.startsWith(MOVE)) section.to = line.slice(MOVE.length).trim();
    else if (line.startsWith('@@')) section.hunks.push([]);
    else if (!line.startsWith('*** ')) section.hunks.at(-1)?.push(line);
  }
  return sections.flatMap(toEdits);
}

/** The edits that a unified diff of one file makes. */
export function parseUnifiedDiff(diff: string, path: string, to: string | null): FileEdit[] {
  const hunks: string[][] = [];
  for (const line of diff.split(/\r?\n/)) {
    if (line.startsWith('@@')) hunks.push([]);
    else if (!line.startsWith('\\')) hunks.at(-1)?.push(line);
  }
  return toEdits({ path, change: 'edited', to, hunks });
}
