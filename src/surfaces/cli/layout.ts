import measure from 'fast-string-truncated-width';
import { wrapAnsi } from 'fast-wrap-ansi';

const ESC = '\u001b';
/** Marks of a style, spaces, and the marks of a heading, a quote or an item in a list. */
const BEGINNING = new RegExp(`^((?:${ESC}\\[\\d+m)*)( *(?:(?:>|#{1,6}) )*(?:[-+~*] )?)`);
const MIN_COLUMNS = 20;

/** Text of a terminal so wide: no line is broken within a word. What is quoted stays quoted, what is indented indented. */
export function wrapText(text: string, columns: number): string {
  const isShort = (line: string): boolean => line.length * 2 <= columns || measure(line).width <= columns;
  return text
    .split('\n')
    .map((line) => (isShort(line) ? line : wrapLine(line, columns)))
    .join('\n');
}

function wrapLine(line: string, columns: number): string {
  const [whole, styles = '', lead = ''] = BEGINNING.exec(line) ?? [''];
  const room = Math.max(columns - lead.length, MIN_COLUMNS);
  const rows = wrapAnsi(`${styles}${line.slice(whole.length)}`, room).split('\n');
  return `${lead}${rows.join(`\n${lead.replace(/[-+~*]/, ' ')}`)}`;
}

/** The beginning of one line that fits so many columns, cut between words where one ends near. */
export function fitLine(text: string, columns: number): string {
  const room = Math.max(columns, MIN_COLUMNS);
  const { truncated, index } = measure(text, { limit: room, ellipsis: '…', ellipsisWidth: 1 });
  if (!truncated) return text;
  const kept = text.slice(0, index);
  const space = kept.lastIndexOf(' ');
  return `${(space > kept.length * 0.6 ? kept.slice(0, space) : kept).trimEnd()}…`;
}
