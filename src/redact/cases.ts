/** A word in every mix of small letters and capitals. */
export function listCases(word: string): string[] {
  const [first = '', ...rest] = word;
  if (first === '') return [''];
  return listCases(rest.join('')).flatMap((end) =>
    [...new Set([first, first.toUpperCase()])].map((char) => char + end),
  );
}
