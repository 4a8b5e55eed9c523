import { countUtf8Bytes } from '../model/text.ts';
import { dropEmphasis, HEADING, joinLines, proseLines } from './prose.ts';

/** A sentence of prose that can stand alone: an item of a list carries the words that led to the list. */
export interface Sentence {
  text: string;
  /** The heading or the opening words above it; empty where there are none. */
  lead: string;
}

const MAX_SCANNED = 12_000;
/** In bytes: scripts that say more with a character take more bytes for it. */
const SHORTEST = 25;
const LONGEST = 400;
const LONGEST_LEAD = 60;
const FEWEST_WORDS = 3;

const ITEM = /^\s*(?:[-*•+]|\d{1,2}[.)])\s+/;
/** A line in bold that is no sentence heads what follows. */
const TITLE = /^\*\*([^*]{1,200}[^*.!?])\*\*:?\s*$/;
/** The end of a sentence, where the next one opens as sentences do in any script that has capitals, or in one that has none. */
const SENTENCE_END = /(?<=[.!?؟।۔])\s+(?=[\p{Lu}\p{Lo}`"'([¿¡])|(?<=[。！？])/u;
/** What ends in a full stop and ends no sentence: single letters, as in `e.g.` and `z. B.`, and what stands before names. */
const ABBREVIATION =
  /(?:^|[\s("])(?:(?<!\d\s)\p{Ll}\.|(?:\p{L}\.\s?){2,}|(?:eg|ie|vs|cf|ex|ej|Mrs?|Ms|Dr|Prof|St|resp|incl|bzw|bspw|inkl|ggf|evtl|[Vv]gl)\.)$/u;
const LONGEST_ABBREVIATION = 12;
/** Openings of lists whose items say nothing without the question that they weigh. */
const WEIGHING = /^(?:pros?|cons?|options?\b.*|alternatives?|trade-?offs?)$/i;
const WEIGHED = /^(?:pros?|cons?|trade-?offs?|option \w{1,3})(?: \([^)]*\))?:/i;
const DULL_LEAD =
  /^(?:summary|changes?|here(?:'s| is| are)\b.*|the following\b.*|details?|overview|result|notes?)$/i;

/** A word said in passing before what is meant. */
const INTERJECTION =
  /^(?:ok(?:ay)?|good|great|perfect|excellent|done|right|yes|sure|alright)(?:\s*[,.!:]|\s+[—–-])\s+(?:so,?\s+)?/i;

/** The sentences of a text in Markdown, without code, tables, headings, and items that stand for nothing by themselves. */
export function splitSentences(text: string): Sentence[] {
  const sentences: Sentence[] = [];
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
    const own = isItem && lead.length <= LONGEST_LEAD && !DULL_LEAD.test(lead) ? lead : '';
    for (const part of joinHalves(said.split(SENTENCE_END))) {
      const sentence = {
        text: part
          .replace(INTERJECTION, '')
          .replace(/^[^\p{L}\p{N}`"'([$/.@#¿¡-]+/u, '')
          .trim(),
        lead: own,
      };
      if (standsAlone(sentence, isItem)) sentences.push(sentence);
    }
  }
  return sentences;
}

/** Puts together what was split at an abbreviation or inside of code. */
function joinHalves(parts: readonly string[]): string[] {
  const whole: string[] = [];
  let half = '';
  for (const part of parts) {
    const joined = half === '' ? part : `${half} ${part}`;
    const isHalf =
      joined.length <= LONGEST &&
      (ABBREVIATION.test(joined.slice(-LONGEST_ABBREVIATION)) || hasOpenTick(joined));
    half = isHalf ? joined : '';
    if (!isHalf) whole.push(joined);
  }
  return half === '' ? whole : [...whole, half];
}

function hasOpenTick(text: string): boolean {
  return text.split('`').length % 2 === 0;
}

/** A sentence with the words that led to it. */
export function printSentence({ text, lead }: Sentence): string {
  return lead === '' ? text : `${lead}: ${text}`;
}

function standsAlone(sentence: Sentence, isItem: boolean): boolean {
  const { text, lead } = sentence;
  if (text.length > LONGEST || countUtf8Bytes(printSentence(sentence)) < SHORTEST || text.endsWith(':'))
    return false;
  if (WEIGHED.test(text)) return false;
  const words = countWords(printSentence(sentence).replace(/`[^`]*`/g, ' '));
  if (words < FEWEST_WORDS) return false;
  return (
    !isItem || lead !== '' || /[.!?。！？]$/.test(text) || /^\p{Lu}/u.test(text) || words >= 2 * FEWEST_WORDS
  );
}

/** Words of two letters and more; in scripts without spaces, every two characters are taken for one. */
function countWords(text: string): number {
  const spaced = text.match(/[\p{L}\p{M}\p{N}'’_-]{2,}/gu) ?? [];
  const unspaced =
    text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu) ?? [];
  return spaced.length + Math.floor(unspaced.length / 2);
}

/** Talk about what is about to be done, not about what is. */
const CHATTER =
  /^(?:let me|let'?s|let us|now,? (?:i|let|we)|i'?ll|i will|i'?m (?:going|now)|i am going|i (?:need|have|can|should|want)(?: to)? (?:see|check|look|read|find|understand|verify|also|now)|great|perfect|good\b|okay|ok\b|sure|yes,? (?:i|let)|wait\b|hmm|actually,? (?:let|wait|i)|oh\b|ah\b|alright|excellent|got it|understood|thanks|you'?re (?:absolutely )?right|sorry|apolog|happy to|feel free|here(?:'s| is| are)|looking at|first,? (?:i|let)|next,? (?:i|let)|then,? (?:i|let)|so,? (?:let|i)\b|want me|would you|shall i|should i|do you want|ready to|just let me|time to|done\b|you(?:'re| are) welcome|the user (?:wants|is asking|asked)|if you need specific details from before)/i;

/** A question that was asked in passing, or an announcement: nothing that a later session could use. */
export function isChatter(text: string): boolean {
  return CHATTER.test(text) || /[?？]\s*$/.test(text);
}
