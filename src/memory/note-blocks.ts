export type BlockKind = 'decision' | 'constraint' | 'open' | 'done' | 'heading' | 'other';

/** A list item, a paragraph, a fenced text or a heading of Markdown. */
export interface Block {
  kind: BlockKind;
  lines: string[];
  /** A blank line stood before it. */
  isApart: boolean;
}

const FENCE = /^\s*(`{3,}|~{3,})/;
const HEADING = /^(#{1,6})\s+(.*)$/;
const ITEM = /^\s{0,3}(?:[-*+]|\d{1,9}[.)])\s+/;
const OPEN_BOX = /^\s*(?:[-*+]|\d{1,9}[.)])\s+\[ \]\s/;
const DONE_BOX = /^\s*(?:[-*+]|\d{1,9}[.)])\s+\[[xX]\]\s/;

/** Words at the start of a heading, or before a colon, that classify what follows. */
const LABELS: readonly (readonly [kind: BlockKind, words: RegExp])[] = [
  ['decision', /^(?:decisions?|decided)\b/i],
  ['constraint', /^(?:constraints?|rules?|must(?: not)?|never|always)\b/i],
  [
    'open',
    /^(?:what.?s next|next(?: steps?)?|open(?: work| questions?| points?)?|to-?do|remaining|blockers?|blocked|questions?)\b/i,
  ],
];

/** All of the text in order, without the blank lines between blocks. */
export function splitBlocks(text: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | null = null;
  let fence: string | null = null;
  let isApart = true;
  for (const line of text.split('\n')) {
    if (fence !== null) {
      open?.lines.push(line);
      if (line.trim().startsWith(fence)) fence = null;
      continue;
    }
    if (line.trim() === '') {
      isApart = true;
      continue;
    }
    const [, mark] = FENCE.exec(line) ?? [];
    const continues: boolean = open !== null && mark === undefined && belongsTo(open, line, isApart);
    if (continues) {
      if (isApart) open?.lines.push('');
      open?.lines.push(line);
    } else {
      open = { kind: HEADING.test(line) ? 'heading' : 'other', lines: [line], isApart };
      blocks.push(open);
      fence = mark ?? null;
    }
    isApart = false;
  }
  return classify(blocks);
}

function belongsTo(open: Block, line: string, isApart: boolean): boolean {
  if (open.kind === 'heading' || HEADING.test(line) || ITEM.test(line)) return false;
  const isIndented = /^(?: {2,}|\t)/.test(line);
  if (FENCE.test(open.lines[0] ?? '')) return false;
  return ITEM.test(open.lines[0] ?? '') ? isIndented || !isApart : !isApart;
}

/** A heading classifies the prose below it, up to the next heading of its own level or above. */
function classify(blocks: readonly Block[]): Block[] {
  let heading: { kind: BlockKind; level: number } | null = null;
  return blocks.map((block) => {
    const [first = ''] = block.lines;
    const [, marks, title = ''] = HEADING.exec(first) ?? [];
    if (marks !== undefined) {
      const kind = findKind(title);
      if (kind !== null) heading = { kind, level: marks.length };
      else if (heading !== null && marks.length <= heading.level) heading = null;
      return block;
    }
    if (FENCE.test(first)) return block;
    if (DONE_BOX.test(first)) return { ...block, kind: 'done' };
    if (OPEN_BOX.test(first)) return { ...block, kind: 'open' };
    return { ...block, kind: findKind(labelOf(first)) ?? heading?.kind ?? 'other' };
  });
}

function findKind(words: string): BlockKind | null {
  return LABELS.find(([, pattern]) => pattern.test(words))?.[0] ?? null;
}

/** The text before the first colon, without list and emphasis marks; empty without a colon. */
function labelOf(line: string): string {
  const words = line.replace(ITEM, '').replace(/^[*_]+/, '');
  const colon = words.indexOf(':');
  return colon < 0 || colon > 40 ? '' : words.slice(0, colon);
}

/** The text without marks and extra spaces, for comparison. */
export function wordsOf({ lines }: Block): string {
  return lines
    .join(' ')
    .replace(ITEM, '')
    .replace(/^\[[ xX]\]\s/, '')
    .replace(/\s+/g, ' ')
    .trim();
}
