import { cleanLine, countUtf8Bytes, makeLater } from './text.ts';

/** A line of a message that can stand alone. */
export interface MessageLine {
  text: string;
  /** Whether it is an item of a list or a row of a table. */
  isItem: boolean;
  /** Whether it is code. */
  isCode: boolean;
  /** Whether it is the first line under a heading, which is put before it. */
  isFirst: boolean;
  /** The heading above it; empty after a list or a paragraph. */
  lead: string;
}

const HEADING = /^#{1,6}\s+(.*)$/;
/** A line in bold, or one that ends in a colon, leads to what follows. */
const BOLD_LINE = /^\*\*([^*]{2,100}?):?\*\*:?$/;
/** Nothing that could be read. */
const getRule = makeLater(() => /^[^\p{L}\p{N}]+$/u);
const ITEM = /^(?:[-*+•]\s+(?:\[[ xX]\]\s+)?|\d{1,2}[.)]\s+)/;
/** Lines of a quote: several of them may become one. */
const QUOTED = /^(?:>+(?:\s+|$))+/;
const FENCE = /^\s*(?:```|~~~)/;
const LONGEST_LEAD = 90;

/**
 * The lines of a message in Markdown. A heading is put before the first line under it; the head of a table and rules are
 * dropped; marks of emphasis and of quotes are taken out. Code is included as it is.
 */
export function splitMessage(message: string): MessageLine[] {
  const lines = message.split('\n');
  const found: MessageLine[] = [];
  let lead = '';
  let under = '';
  let isFenced = false;
  /** A lead to nothing but code belongs to the code. */
  const pushLead = (isCode: boolean): void => {
    if (lead !== '') found.push({ text: `${lead}:`, isItem: false, isCode, isFirst: false, lead: '' });
    lead = '';
  };
  for (const [at, line] of lines.entries()) {
    const plain = line.trim().replace(QUOTED, '');
    if (FENCE.test(line)) {
      isFenced = !isFenced;
      if (isFenced) pushLead(true);
      continue;
    }
    if (isFenced) {
      if (line.trim() !== '' && !getRule().test(line.trim()))
        found.push({ text: `    ${line.trimEnd()}`, isItem: false, isCode: true, isFirst: false, lead: '' });
      continue;
    }
    if (plain === '' || getRule().test(plain)) continue;
    const heading = (HEADING.exec(plain) ?? BOLD_LINE.exec(plain))?.[1];
    if (heading !== undefined) {
      lead = stripEmphasis(heading).replace(/[:\s]+$/, '');
      under = '';
      continue;
    }
    const isRow = plain.startsWith('|');
    if (isRow && getRule().test(lines[at + 1]?.trim() || 'x')) continue;
    const isItem = isRow || ITEM.test(plain);
    const text = stripEmphasis(isRow ? joinCells(plain) : plain.replace(/^[-*+•]\s+/, ''));
    if (text === '') continue;
    if (!isItem && text.endsWith(':') && text.length <= LONGEST_LEAD) {
      lead = lead === '' ? text.slice(0, -1) : `${lead}: ${text.slice(0, -1)}`;
      continue;
    }
    const isFirst = lead !== '';
    found.push({
      text: isFirst ? `${lead}: ${text}` : text,
      isItem,
      isCode: false,
      isFirst,
      lead: isFirst || !isItem ? lead : under,
    });
    if (isFirst || !isItem) under = lead;
    lead = '';
  }
  pushLead(false);
  return found;
}

/** What a message says in words, on one line: without its code. */
export function printProse(message: string): string {
  const lines = splitMessage(message).filter(({ isCode }) => !isCode);
  return cleanLine(lines.map(({ text }) => text).join(' '));
}

/** Whether a line ends in a question mark of any script, and not in an address that does. */
export function isQuestion(line: string): boolean {
  return /[?？؟]["')*]*$/.test(line) && !/:\/\/\S*$/.test(line);
}

/** Less asks for nothing by itself: "ok", "yes", "2", "go on". */
export const SHORTEST_ASKED = 10;
const COMMAND = /^\/\S+$/;

/** Whether a message has a list in it. */
export function hasList(message: string): boolean {
  return splitMessage(message).filter(({ isItem }) => isItem).length > 1;
}

/** Whether a message may hold beyond its session, by its form alone: it is no mere word, question or command of the agent. */
export function isStanding(message: string): boolean {
  const text = message.trim();
  const isSentence = !/[.!。！]\s|\n/.test(text);
  return countUtf8Bytes(text) >= SHORTEST_ASKED && !COMMAND.test(text) && !(isSentence && isQuestion(text));
}

/** How a list labels its options. */
const getLabelled = makeLater(() => /^(?:[^.:]{3,40}: )?(?:\p{L}{4,12} )?([1-9]|[A-E])[.):]\s/u);

/** The last question of a message. An option is none; what stands above the options is. */
export function findQuestion(lines: readonly MessageLine[]): string | null {
  const asked = lines.findLast(({ text }) => isQuestion(text));
  if (asked === undefined) return null;
  return getLabelled().test(asked.text) && asked.lead !== '' ? asked.lead : asked.text;
}

export interface Option {
  label: string;
  text: string;
}

/** The labelled options of a message: those of its last list, in which labels rise. */
export function listOptions(
  lines: readonly MessageLine[],
  isMeant: (option: Option) => boolean = () => true,
): readonly Option[] {
  const all = lines.flatMap(({ text, isFirst, lead }) => {
    const own = isFirst ? text.slice(lead.length + ': '.length) : text;
    const label = getLabelled().exec(own)?.[1];
    return label === undefined ? [] : [{ label, text: own }];
  });
  const options = all.filter(isMeant);
  const start = options.findLastIndex(({ label }, at) => label <= (options[at - 1]?.label ?? ''));
  return start === -1 ? options : options.slice(start);
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
