/** What of a text in Markdown is words: code, tables and rules are told by their form. */

export const HEADING: RegExp = /^\s*#{1,6}\s+/;

/** From this length on a line that ends in no mark was broken where the next one goes on. */
const BROKEN = 60;
const BROKEN_BEFORE_SMALL = 40;
/** What opens a line of its own: a mark, a number, a letter of a list, a label. */
const LINE_START = /^\s*(?:[^\p{L}\p{N}`"'([\s]|\d{1,2}[.)]|\p{L}[.)]\s|[\p{L}\p{N} ]{1,30}:\s)/u;

/** Puts together the lines of a paragraph that was broken by hand. */
export function joinLines(lines: readonly string[]): string[] {
  const joined: string[] = [];
  let last = '';
  for (const line of lines) {
    const broken = last.length >= (/^\s*\p{Ll}/u.test(line) ? BROKEN_BEFORE_SMALL : BROKEN);
    const goesOn =
      broken && /[\p{L}\p{N},`'")\]]\s*$/u.test(last) && !LINE_START.test(line) && line.trim() !== '';
    const before = goesOn ? joined.pop() : undefined;
    if (line.trim() !== '') joined.push(before === undefined ? line : `${before} ${line.trim()}`);
    last = line;
  }
  return joined;
}

const RULE = /^[-=*_]{3,}\s*$/;
/** A line of a listing or of a program that nobody fenced in. */
const CODE =
  /^\s*(?:\d+(?:→|\t|\s{3,})|<[a-z!/]|\$ |>>> |[│├└]|at \S+ ?\(|File "|[-d][rwx-]{9}|"[\w-]+":\s|(?:import|export|const|let|var|func|def|class|return|if|for|while)\b.*[({;:]\s*$|import\s.*['"]\s*$|from [\w.]+ import |[\w.$]+ (?:=|:=|\+=) \S|(?:(?:await|return|throw|yield|new) )?[\w.$]+\(.*\)\s*$)|[;{}]\s*$/;

/** A text without its code, tables and rules, line by line. */
export function keepProse(text: string): string {
  return proseLines(text)
    .map((line) => dropEmphasis(line.replace(HEADING, '').trimEnd()))
    .filter((line) => line.trim() !== '')
    .join('\n');
}

/** The lines of a text, empty ones included, without code, tables and rules. */
export function proseLines(text: string): string[] {
  return dropFenced(text.split('\n')).filter(
    (line) => !isTable(line) && !RULE.test(line.replace(/^[\s>]+/, '')) && !CODE.test(line),
  );
}

/** A fence opens anywhere on its line, if it is not closed there again; it ends on a line of its own. */
const TICKS = /`{3,}/g;
const TILDES = /^[\s>]*(~{3,})/;
const CLOSING = /^[\s>]*(`{3,}|~{3,})\s*$/;

function dropFenced(lines: readonly string[]): string[] {
  const kept: string[] = [];
  let fence: string | null = null;
  for (const line of lines) {
    if (fence !== null) {
      if (CLOSING.exec(line)?.[1]?.startsWith(fence)) fence = null;
      continue;
    }
    const ticks = [...line.matchAll(TICKS)];
    const opening = ticks.length % 2 === 1 ? ticks.at(-1) : undefined;
    fence = TILDES.exec(line)?.[1] ?? opening?.[0] ?? null;
    if (fence === null) kept.push(line);
    else kept.push(opening === undefined ? '' : line.slice(0, opening.index));
  }
  return kept;
}

const STRONG = /(?<![\w/*`])\*\*(?=[^\s*])((?:[^*]|\*(?!\*)){1,300})\*\*(?![\w/*`])/g;
const STRONG_BY_LINES = /(?<!\w)__([^_\n]{1,150} [^_\n]{1,150})__(?!\w)/g;
const WEAK = /(?<![\w/*`])\*(?=[\p{L}`"'(])([^*\n]{0,200}[^\s*])\*(?![\w/*`])/gu;

export function dropEmphasis(line: string): string {
  if (!line.includes('*') && !line.includes('__')) return line;
  return line.replace(STRONG, '$1').replace(STRONG_BY_LINES, '$1').replace(WEAK, '$1');
}

function isTable(line: string): boolean {
  return (
    /^[\s>]*\|/.test(line) ||
    / \| .* \| /.test(line.replace(/`[^`]*`/g, ' ')) ||
    /^[\s>:|-]*-\|-[\s:|-]*$/.test(line)
  );
}
