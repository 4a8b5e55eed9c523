const LONGEST = 24_000;
const HEAD = 16_000;
const TAIL = 8_000;

/** What a tool gave back, cut in the middle when it is long: the beginning tells what it was, the end how it went. */
export function limitOutput(text: string): string {
  if (text.length <= LONGEST) return text;
  return `${text.slice(0, beforePair(text, HEAD))}\n…\n${text.slice(afterPair(text, text.length - TAIL))}`;
}

/** Never between the two halves of one character. */
function beforePair(text: string, end: number): number {
  return isInsidePair(text, end) ? end - 1 : end;
}

function afterPair(text: string, start: number): number {
  return isInsidePair(text, start) ? start + 1 : start;
}

function isInsidePair(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  const before = text.charCodeAt(index - 1);
  return code >= 0xdc00 && code < 0xe000 && before >= 0xd800 && before < 0xdc00;
}
