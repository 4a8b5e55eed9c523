const STOP_WORDS = new Set(
  'the a an and or of to in on for with is are was were be been this that it as at by from not but have has had will would should can could do does did done i we you they he she its their our your which what when where who how if then than so also into out up down over under only just any all each more most some such no yes using used use new now let me'.split(
    ' ',
  ),
);

/** Words that carry meaning, folded, in any script. */
export function findContentWords(text: string): string[] {
  const words = text.toLowerCase().match(/\p{L}[\p{L}\p{N}_'-]{2,}/gu) ?? [];
  return [...new Set(words.filter((word) => !STOP_WORDS.has(word)))];
}
