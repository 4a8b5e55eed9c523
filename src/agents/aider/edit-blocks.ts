export interface EditBlock {
  path: string;
  before: string;
  after: string;
}

const SEARCH = /^<{5,9} SEARCH>?\s*$/;
const DIVIDER = /^={5,9}\s*$/;
const REPLACE = /^>{5,9} REPLACE\s*$/;
const FENCE = /^\s*(?:`{3,}|~{3,})/;

/** Parts what the model said into its words and the blocks by which it edits files. A block without an end is words. */
export function separateEdits(lines: readonly string[]): { words: string; blocks: EditBlock[] } {
  const words: string[] = [];
  const blocks: EditBlock[] = [];
  const ends = findEnds(lines);
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? '';
    const end = ends.get(i);
    if (end === undefined) {
      words.push(line);
      continue;
    }
    const path = takePath(words) ?? blocks.at(-1)?.path ?? '';
    blocks.push({
      path,
      before: lines.slice(i + 1, end.divider).join('\n'),
      after: lines.slice(end.divider + 1, end.replace).join('\n'),
    });
    i = FENCE.test(lines[end.replace + 1] ?? '') ? end.replace + 1 : end.replace;
  }
  return {
    words: words
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim(),
    blocks,
  };
}

interface BlockEnd {
  divider: number;
  replace: number;
}

/** By the line of its beginning, where each whole block is divided and ends. */
function findEnds(lines: readonly string[]): Map<number, BlockEnd> {
  const ends = new Map<number, BlockEnd>();
  let begin: number | null = null;
  let divider: number | null = null;
  for (const [index, line] of lines.entries()) {
    if (SEARCH.test(line)) {
      begin = index;
      divider = null;
    } else if (begin !== null && divider === null && DIVIDER.test(line)) divider = index;
    else if (begin !== null && divider !== null && REPLACE.test(line)) {
      ends.set(begin, { divider, replace: index });
      begin = null;
      divider = null;
    }
  }
  return ends;
}

/** The name of the file stands above the block, before or behind the opening fence. */
function takePath(words: string[]): string | null {
  let path: string | null = null;
  let hasFence = false;
  for (;;) {
    const line = words.at(-1);
    if (line === undefined) return path;
    if (!hasFence && FENCE.test(line)) hasFence = true;
    else if (path === null && isFileName(line)) path = cleanFileName(line);
    else return path;
    words.pop();
  }
}

function isFileName(line: string): boolean {
  const name = cleanFileName(line);
  return (
    name !== '' && name.length < 500 && (/[./\\]/.test(name) || !name.includes(' ')) && !/[.:!?]$/.test(name)
  );
}

/** Models decorate the name as they like. */
function cleanFileName(line: string): string {
  return line
    .trim()
    .replace(/^#+\s*/, '')
    .replace(/:$/, '')
    .replace(/^[`*]+|[`*]+$/g, '')
    .trim();
}
