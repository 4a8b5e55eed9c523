import { DIGIT, WORD } from '../names/characters.ts';
import { removeNameLists } from './name-lists.ts';

/** Something that a brief tells in one place: a line, or consecutive lines of a section. Lists of names are not in it. */
export interface Entry {
  heading: string;
  text: string;
  isLine: boolean;
}

const MAX_BYTES = 500;
const NUMBERED_HEADING = new RegExp(String.raw`^${DIGIT}{1,2}\. [A-Z][${WORD} \/&,\-]{3,60}:?\s*$`, 'u');

/** Every line, and every run of lines within a section up to 500 bytes. */
export function splitEntries(brief: string): Entry[] {
  const entries: Entry[] = [];
  let heading = '';
  let lines: string[] = [];
  for (const line of brief.split('\n')) {
    if (line.startsWith('#') || NUMBERED_HEADING.test(line)) {
      entries.push(...joinLines(heading, lines));
      heading = line.replace(/^[# ]+|[# ]+$/g, '').trim();
      lines = [];
    } else if (line.trim() !== '') lines.push(removeNameLists(line));
  }
  return [...entries, ...joinLines(heading, lines)];
}

function joinLines(heading: string, lines: readonly string[]): Entry[] {
  return lines.flatMap((line, start) => {
    const entries: Entry[] = [{ heading, text: line, isLine: true }];
    let text = line;
    for (const next of lines.slice(start + 1)) {
      text += `\n${next}`;
      if (Buffer.byteLength(text) > MAX_BYTES) break;
      entries.push({ heading, text, isLine: false });
    }
    return entries;
  });
}
