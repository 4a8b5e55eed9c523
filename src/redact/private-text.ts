const OPEN = '<private>';
const CLOSE = '</private>';

/** A part of a text that its writer does not want to be kept, tags included. */
export interface PrivatePart {
  start: number;
  end: number;
}

/**
 * What stands between `<private>` and `</private>`. Where a human did not close the tag, all that follows: rather too much
 * than what was not to be kept.
 */
export function findPrivateParts(text: string, { byHuman = false } = {}): PrivatePart[] {
  const parts: PrivatePart[] = [];
  for (let start = text.indexOf(OPEN); start !== -1; ) {
    const close = isSpokenOf(text, start) ? start : text.indexOf(CLOSE, start);
    if (close === -1) return byHuman ? [...parts, { start, end: text.length }] : parts;
    const end = close === start ? start + OPEN.length : close + CLOSE.length;
    if (close !== start) parts.push({ start, end });
    start = text.indexOf(OPEN, end);
  }
  return parts;
}

/** A tag in quotes is a word of the text. */
function isSpokenOf(text: string, start: number): boolean {
  const before = text.charAt(start - 1);
  return /["'`]/.test(before) && text.charAt(start + OPEN.length) === before;
}
