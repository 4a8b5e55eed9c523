import type { Layer } from './layout.ts';

/**
 * One text in a file of the memory. A file that the original tool wrote, or a person by hand, is one note without time
 * and key.
 */
export interface Note {
  /** When it was written, in UTC; null where that is not known. */
  at: string | null;
  /** Tells notes apart; the same key is not written twice. */
  key: string | null;
  text: string;
}

export interface NoteFile {
  /** All that stands before the first line of text: a byte order mark, front matter, the header line. */
  head: string;
  /** As the header line has it. */
  date: string | null;
  notes: Note[];
}

const HEADER = /^<!-- agent-handover \| layer[123] \| (\d{4}-\d\d-\d\d) -->\r?$/;
const MARK = /^<!-- agent-handover \| note \| (\S+) \| (n-[0-9a-z_-]+) -->\r?$/;
/** A line of text that could be taken for one of ours, however often it was written by us before. */
const POSING = /^\\*<!-- agent-handover \|/;
const POSING_WRITTEN = /^\\+<!-- agent-handover \|/;

export function formatHeader(layer: Layer, date: string): string {
  return `<!-- agent-handover | layer${layer} | ${date} -->\n`;
}

/** The line that a note begins with, and its text. White space at its end is not part of a note. */
export function formatNote({ at, key, text }: Note): string {
  const mark = at === null || key === null ? '' : `<!-- agent-handover | note | ${at} | ${key} -->\n`;
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => (POSING.test(line) ? `\\${line}` : line));
  return `${mark}${lines.join('\n')}\n`;
}

/** A file's content with one more note at its end. */
export function appendNote(content: string, note: Note): string {
  const gap = content.endsWith('\n') || content === '' ? '' : '\n';
  const isFirst = splitHead(content).body.trim() === '';
  return `${content}${gap}${isFirst ? '' : '\n'}${formatNote(note)}`;
}

/** Understands any text: what has no marks is one note. */
export function parseNoteFile(content: string): NoteFile {
  const { head, date, body } = splitHead(content);
  const notes: Note[] = [];
  let open: { at: string | null; key: string | null; lines: string[] } = { at: null, key: null, lines: [] };
  const close = (): void => {
    const text = open.lines.join('\n').trimEnd();
    if (text.trim() !== '' || open.key !== null) notes.push({ at: open.at, key: open.key, text });
  };
  for (const line of body.split('\n')) {
    const [, at, key] = MARK.exec(line) ?? [];
    if (at !== undefined && key !== undefined) {
      close();
      open = { at, key, lines: [] };
    } else open.lines.push(POSING_WRITTEN.test(line) ? line.slice(1) : line);
  }
  close();
  return { head, date, notes };
}

/** A line of ours ends the search: what has no closing fence before it is no front matter. */
const FRONT_MATTER = /^\ufeff?---\r?\n(?:(?!<!-- agent-handover \|)[^\n]*\n)*?---\r?\n/;

export function splitHead(content: string): { head: string; date: string | null; body: string } {
  const front = readFrontMatter(content);
  const rest = content.slice(front.length);
  const end = rest.indexOf('\n');
  const line = end < 0 ? rest : rest.slice(0, end);
  const [, date] = HEADER.exec(line) ?? [];
  if (date === undefined) return { head: front, date: null, body: rest };
  const headerEnd = end < 0 ? rest.length : end + 1;
  return { head: front + rest.slice(0, headerEnd), date, body: rest.slice(headerEnd) };
}

/** With its fences, and a byte order mark before it; empty where there is none. */
export function readFrontMatter(content: string): string {
  return FRONT_MATTER.exec(content)?.[0] ?? (content.startsWith('\ufeff') ? '\ufeff' : '');
}
