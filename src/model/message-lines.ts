/** A line of a message that can stand alone. */
export interface MessageLine {
  text: string;
  /** Whether it is an item of a list or a row of a table. */
  isItem: boolean;
  /** Whether it is code. */
  isCode: boolean;
  /** Whether it is the first line under a heading. */
  isFirst: boolean;
}

const HEADING = /^#{1,6}\s+(.*)$/;
/** A line in bold, or one that ends in a colon, leads to what follows. */
const BOLD_LINE = /^\*\*([^*]{2,100}?):?\*\*:?$/;
const RULE = /^[-=|:\s*_]+$/;
const ITEM = /^(?:[-*+•]\s+(?:\[[ xX]\]\s+)?|\d{1,2}[.)]\s+)/;
const FENCE = /^\s*(?:```|~~~)/;
const LONGEST_LEAD = 90;

/**
 * The lines of a message in Markdown. A heading is put before the first line under it; the head of a table and rules are
 * dropped; marks of emphasis are taken out. Code is included as it is.
 */
export function splitMessage(message: string): MessageLine[] {
  const lines = message.split('\n');
  const found: MessageLine[] = [];
  let lead = '';
  let isFenced = false;
  for (const [at, line] of lines.entries()) {
    const plain = line.trim();
    if (FENCE.test(line)) {
      isFenced = !isFenced;
      continue;
    }
    if (isFenced) {
      if (plain !== '') found.push({ text: `    ${line.trimEnd()}`, isItem: false, isCode: true, isFirst: false });
      continue;
    }
    if (plain === '' || RULE.test(plain)) continue;
    const heading = (HEADING.exec(plain) ?? BOLD_LINE.exec(plain))?.[1];
    if (heading !== undefined) {
      lead = stripEmphasis(heading).replace(/[:\s]+$/, '');
      continue;
    }
    const isRow = plain.startsWith('|');
    if (isRow && RULE.test(lines[at + 1]?.trim() || 'x')) continue;
    const isItem = isRow || ITEM.test(plain);
    const text = stripEmphasis(isRow ? joinCells(plain) : plain.replace(/^[-*+•]\s+/, ''));
    if (text === '') continue;
    if (!isItem && text.endsWith(':') && text.length <= LONGEST_LEAD) {
      lead = lead === '' ? text.slice(0, -1) : `${lead}: ${text.slice(0, -1)}`;
      continue;
    }
    found.push({ text: lead === '' ? text : `${lead}: ${text}`, isItem, isCode: false, isFirst: lead !== '' });
    lead = '';
  }
  return found;
}

function joinCells(row: string): string {
  return row
    .split('|')
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '')
    .join('; ');
}

/** Not the marks of names and globs, as in `__init__` and `src/**`. */
const STRONG = /(?<![\w/*`])\*\*(?=[^\s*])((?:[^*]|\*(?!\*)){1,300})\*\*(?![\w/*`])/g;
const STRONG_BY_LINES = /(?<!\w)__([^_\n]{1,150} [^_\n]{1,150})__(?!\w)/g;

function stripEmphasis(text: string): string {
  return text.replace(STRONG, '$1').replace(STRONG_BY_LINES, '$1').trim();
}
