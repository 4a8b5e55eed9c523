const STOP_WORDS = new Set(
  'the a an and or of to in on for with is are was were be been this that it as at by from not but have has had will would should can could do does did done i we you they he she its their our your which what when where who how if then than so also into out up down over under only just any all each more most some such no yes using used use new now let me'.split(
    ' ',
  ),
);

/** Whether a folded English word says nothing by itself. */
export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word);
}

/** Scripts that put no spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;

/** Words that carry meaning, folded, in any script. Where no spaces tell words apart, every two characters stand for one. */
export function findContentWords(text: string): string[] {
  const folded = text.toLowerCase();
  const runs = folded.match(UNSPACED);
  const spaced = runs === null ? folded : folded.replace(UNSPACED, ' ');
  const words = spaced.match(/\p{L}[\p{L}\p{M}\p{N}_'-]{2,}/gu) ?? [];
  return [...new Set([...words.filter((word) => !STOP_WORDS.has(word)), ...(runs ?? []).flatMap(pairUp)])];
}

function pairUp(run: string): string[] {
  const characters = [...run];
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}
