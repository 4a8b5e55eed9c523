import { decodeText } from '../shared/json-lines.ts';

/**
 * Claude Code keeps most of what a tool gave back twice: as the text that the model was given, and as data beside it. What
 * is not looked at is not even decoded; it is half of a long transcript. Quotes inside of texts have a backslash before
 * them, so that these sequences of bytes can only be what they look like.
 */
const DATA = Buffer.from(',"toolUseResult":{');

interface Copy {
  /** What the data of such a result begins with. */
  data: Buffer;
  /** Whether it is the data that nobody reads, or the text that the model was given. */
  inData: boolean;
  /** What stands before and behind the part that nobody reads. */
  before: Buffer;
  behind: Buffer;
}

const COPIES: readonly Copy[] = (
  [
    [true, '"filePath":', ',"originalFile":"', '","structuredPatch":'],
    [true, '"stdout":"', '{"stdout":"', '","stderr":'],
    [true, '"mode":', ',"content":"', '","numLines":'],
    [false, '"type":"text","file":{', '"type":"tool_result","content":"', '"}]},"'],
  ] as const
).map(([inData, data, before, behind]) => ({
  inData,
  data: Buffer.from(data),
  before: Buffer.from(before),
  behind: Buffer.from(behind),
}));

/** A long output stands in the data alone. */
const PERSISTED = Buffer.from('"persistedOutputPath":');
const BACKSLASH = 0x5c;

/** The text of a row, with nothing in the place of what is a copy. */
export function decodeWithoutCopies(bytes: Buffer): string {
  const data = bytes.indexOf(DATA);
  const at = data + DATA.length;
  const copy = data === -1 ? undefined : COPIES.find((one) => startsWith(bytes, one.data, at));
  if (copy === undefined) return decodeText(bytes);
  const found = bytes.indexOf(copy.before, copy.inData ? at - 1 : 0);
  const start = found + copy.before.length;
  const end = found === -1 ? -1 : bytes.indexOf(copy.behind, start);
  if (end === -1 || bytes[end - 1] === BACKSLASH || bytes.includes(PERSISTED, at)) return decodeText(bytes);
  return decodeText(bytes.subarray(0, start)) + decodeText(bytes.subarray(end));
}

function startsWith(bytes: Buffer, start: Buffer, at: number): boolean {
  return bytes.subarray(at, at + start.length).equals(start);
}
