import { HandoverError } from '../errors.ts';

/*
 * A block between two marks in a file that belongs to somebody else. Texts here are bytes as Latin-1, one character a
 * byte, so that whatever encoding the file has, all outside of the marks stays as it is.
 */

const BEGIN = '<!-- agent-handover:begin -->';
const END = '<!-- agent-handover:end -->';

/** Where the block stands, the marks included; null when there is none. */
function locate(content: string, path: string): { start: number; end: number } | null {
  const begins = findLines(content, BEGIN);
  const ends = findLines(content, END);
  const [start] = begins;
  const [last] = ends;
  if (start === undefined && last === undefined) return null;
  if (start === undefined || last === undefined || begins.length + ends.length !== 2 || last < start) {
    throw new HandoverError('HANDOVER_INPUT_INVALID', `the marks of agent-handover in ${path} do not match`, {
      hint: `There must be one ${BEGIN} and, after it, one ${END}. Put them right by hand.`,
    });
  }
  return { start, end: last + END.length };
}

/** Where a mark begins a line. */
function findLines(content: string, mark: string): number[] {
  const found: number[] = [];
  for (let at = content.indexOf(mark); at >= 0; at = content.indexOf(mark, at + 1))
    if (at === 0 || content[at - 1] === '\n' || (content.startsWith('\u00ef\u00bb\u00bf') && at === 3))
      found.push(at);
  return found;
}

/**
 * The content with the block in it: in its place if it was there, else at the end after a blank line. Whether the
 * last line is closed stays as it was, and tells later how to take the block out again.
 */
export function putBlock(content: string | null, lines: readonly string[], path: string): string {
  const eol = content?.includes('\r\n') ? '\r\n' : '\n';
  const block = [BEGIN, ...lines, END].join(eol);
  if (content === null) return `${block}\n`;
  const place = locate(content, path);
  if (place !== null) return content.slice(0, place.start) + block + content.slice(place.end);
  if (content === '') return `${eol}${block}`;
  return content.endsWith('\n') ? `${content}${eol}${block}${eol}` : `${content}${eol}${eol}${block}`;
}

/** The content without the block and without what was put around it; null when nothing else was ever there. */
export function takeBlock(content: string, path: string): string | null {
  const place = locate(content, path);
  if (place === null) return content;
  const before = content.slice(0, place.start);
  const after = content.slice(place.end);
  if (before === '' && after === '\n') return null;
  if (after.replace(/^\r?\n/, '') !== '') return dropLineEnds(before, 1) + after.replace(/^\r?\n/, '');
  if (after !== '' || before === '\n' || before === '\r\n') return dropLineEnds(before, 1);
  return dropLineEnds(before, 2);
}

function dropLineEnds(text: string, count: number): string {
  let kept = text;
  for (let i = 0; i < count; i++) kept = kept.replace(/\r?\n$/, '');
  return kept;
}
