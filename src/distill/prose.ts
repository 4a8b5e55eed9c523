import { countUtf8Bytes } from '../model/text.ts';

/** Prose in Markdown, without code, tables and rules, and its sentences. */

export const HEADING: RegExp = /^\s*#{1,6}\s+/;

/** A line of at least this length without punctuation at its end goes on in the next line. */
const BROKEN = 60;
const BROKEN_BEFORE_LOWER_CASE = 40;
/** How a line of its own begins: with a mark, a number or letter of a list, a label. */
const LINE_START = /^\s*(?:[^\p{L}\p{N}`"'([\s]|\d{1,2}[.)]|\p{L}[.)]\s|[\p{L}\p{N} ]{1,30}:\s)/u;

/** Joins the lines of paragraphs with hard line breaks. */
export function joinLines(lines: readonly string[]): string[] {
  const joined: string[] = [];
  let last = '';
  for (const line of lines) {
    const broken = last.length >= (/^\s*\p{Ll}/u.test(line) ? BROKEN_BEFORE_LOWER_CASE : BROKEN);
    const goesOn = broken && /[\p{L}\p{N},`'")\]]\s*$/u.test(last) && !LINE_START.test(line) && line.trim() !== '';
    const before = goesOn ? joined.pop() : undefined;
    if (line.trim() !== '') joined.push(before === undefined ? line : `${before} ${line.trim()}`);
    last = line;
  }
  return joined;
}

const RULE = /^[-=*_]{3,}\s*$/;
/** A line of a listing or of code outside of a fence. */
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

/** A fence opens anywhere on a line that does not close it again, and ends on a line of its own. */
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
    /^[\s>]*\|/.test(line) || / \| .* \| /.test(line.replace(/`[^`]*`/g, ' ')) || /^[\s>:|-]*-\|-[\s:|-]*$/.test(line)
  );
}

const MAX_SCANNED = 12_000;
/** In bytes, as scripts that say more with a character take more bytes for it. */
const SHORTEST = 25;
const LONGEST = 400;
const LONGEST_LEAD = 60;
const FEWEST_WORDS = 3;

const ITEM = /^\s*(?:[-*•+]|\d{1,2}[.)])\s+/;
/** A line in bold that is no sentence is a heading. */
const TITLE = /^\*\*([^*]{1,200}[^*.!?])\*\*:?\s*$/;
/** Before the next sentence, which begins with a capital or in a script that has none. */
const SENTENCE_END = /(?<=[.!?؟।۔])\s+(?=[\p{Lu}\p{Lo}`"'([¿¡])|(?<=[。！？])/u;
/** Ends in a full stop but ends no sentence: single letters, as in `e.g.` and `z. B.`, titles before names and the like. */
const ABBREVIATION =
  /(?:^|[\s("])(?:(?<!\d\s)\p{Ll}\.|(?:\p{L}\.\s?){2,}|(?:eg|ie|vs|cf|ex|ej|Mrs?|Ms|Dr|Prof|St|resp|incl|bzw|bspw|inkl|ggf|evtl|[Vv]gl)\.)$/u;
const LONGEST_ABBREVIATION = 12;
/** Leads of lists, and items, that say nothing without the question they discuss. */
const WEIGHING = /^(?:pros?|cons?|options?\b.*|alternatives?|trade-?offs?)$/i;
const WEIGHED = /^(?:pros?|cons?|trade-?offs?|option \w{1,3})(?: \([^)]*\))?:/i;
const DULL_LEAD = /^(?:summary|changes?|here(?:'s| is| are)\b.*|the following\b.*|details?|overview|result|notes?)$/i;

const INTERJECTION =
  /^(?:ok(?:ay)?|good|great|perfect|excellent|done|right|yes|sure|alright)(?:\s*[,.!:]|\s+[—–-])\s+(?:so,?\s+)?/i;

/**
 * The sentences of a text in Markdown that can stand alone, without code, tables and headings. An item of a list is preceded
 * by the heading or words that lead to the list, if these say something.
 */
export function splitSentences(text: string): string[] {
  const sentences: string[] = [];
  let lead = '';
  for (const line of joinLines(proseLines(text.slice(0, MAX_SCANNED)))) {
    const plain = dropEmphasis(line.replace(/^[\s>]+/, '').replace(TITLE, '# $1'));
    const isItem = ITEM.test(plain);
    const said = plain
      .replace(HEADING, '')
      .replace(ITEM, '')
      .replace(/^\[[ x]\]\s+/i, '')
      .trim();
    if (HEADING.test(plain) || said.endsWith(':')) {
      lead = said.replace(INTERJECTION, '').replace(/[:\s]+$/, '');
      continue;
    }
    if (!isItem) lead = '';
    if (isItem && WEIGHING.test(lead)) continue;
    const hasLead = isItem && lead !== '' && lead.length <= LONGEST_LEAD && !DULL_LEAD.test(lead);
    const prefix = hasLead ? `${lead}: ` : '';
    for (const part of joinHalves(said.split(SENTENCE_END))) {
      const own = part
        .replace(INTERJECTION, '')
        .replace(/^[^\p{L}\p{N}`"'([$/.@#¿¡-]+/u, '')
        .trim();
      const sentence = `${prefix}${own}`;
      if (own.length > LONGEST || countUtf8Bytes(sentence) < SHORTEST) continue;
      if (own.endsWith(':') || WEIGHED.test(own)) continue;
      const words = countWords(sentence.replace(/`[^`]*`/g, ' '));
      const isWhole = !isItem || prefix !== '' || /[.!?。！？]$|^\p{Lu}/u.test(own);
      if (words >= (isWhole ? FEWEST_WORDS : 2 * FEWEST_WORDS)) sentences.push(sentence);
    }
  }
  return sentences;
}

/** Joins what was split at an abbreviation or inside of code. */
function joinHalves(parts: readonly string[]): string[] {
  const whole: string[] = [];
  let half = '';
  for (const part of parts) {
    const joined = half === '' ? part : `${half} ${part}`;
    const isHalf =
      joined.length <= LONGEST &&
      (ABBREVIATION.test(joined.slice(-LONGEST_ABBREVIATION)) || joined.split('`').length % 2 === 0);
    half = isHalf ? joined : '';
    if (!isHalf) whole.push(joined);
  }
  return half === '' ? whole : [...whole, half];
}

/** Words of two letters or more; in scripts without spaces, every two characters count as one. */
function countWords(text: string): number {
  const spaced = text.match(/[\p{L}\p{M}\p{N}'’_-]{2,}/gu) ?? [];
  const unspaced = text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu) ?? [];
  return spaced.length + Math.floor(unspaced.length / 2);
}

const CHATTER =
  /^(?:let me|let'?s|let us|now,? (?:i|let|we)|i'?ll|i will|i'?m (?:going|now)|i am going|i (?:need|have|can|should|want)(?: to)? (?:see|check|look|read|find|understand|verify|also|now)|great|perfect|good\b|okay|ok\b|sure|yes,? (?:i|let)|wait\b|hmm|actually,? (?:let|wait|i)|oh\b|ah\b|alright|excellent|got it|understood|thanks|you'?re (?:absolutely )?right|sorry|apolog|happy to|feel free|here(?:'s| is| are)|looking at|first,? (?:i|let)|next,? (?:i|let)|then,? (?:i|let)|so,? (?:let|i)\b|want me|would you|shall i|should i|do you want|ready to|just let me|time to|done\b|you(?:'re| are) welcome|the user (?:wants|is asking|asked)|if you need specific details from before)/i;

/** Whether a sentence is a question or an announcement, of no use to a later session. */
export function isChatter(text: string): boolean {
  return CHATTER.test(text) || /[?？]\s*$/.test(text);
}
