import type { Layer } from './layout.ts';

/** A file written by the original tool, or by hand, is one note without time and key. */
export interface Note {
  /** In UTC; null when unknown. */
  at: string | null;
  /** Unique in a file: the same key is not written twice. */
  key: string | null;
  text: string;
}

const HEADER = /^<!-- agent-handover \| layer[123] \| (\d{4}-\d\d-\d\d) -->\r?$/;
const MARK = /^<!-- agent-handover \| note \| (\S+) \| (n-[0-9a-z_-]+) -->\r?$/;
/** Text that looks like one of our marks is written with a backslash before it. */
const LOOKALIKE = /^\\*<!-- agent-handover \|/;
const ESCAPED_LOOKALIKE = /^\\+<!-- agent-handover \|/;

export function formatHeader(layer: Layer, date: string): string {
  return `<!-- agent-handover | layer${layer} | ${date} -->\n`;
}

/** The mark line and the text, without trailing white space. */
export function formatNote({ at, key, text }: Note): string {
  const mark = at === null || key === null ? '' : `<!-- agent-handover | note | ${at} | ${key} -->\n`;
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => (LOOKALIKE.test(line) ? `\\${line}` : line));
  return `${mark}${lines.join('\n')}\n`;
}

export function appendNote(content: string, note: Note): string {
  const gap = content.endsWith('\n') || content === '' ? '' : '\n';
  const isFirst = splitHead(content).body.trim() === '';
  return `${content}${gap}${isFirst ? '' : '\n'}${formatNote(note)}`;
}

/** Accepts any text: without marks it is one note. The date is that of the header line. */
export function parseNoteFile(content: string): { date: string | null; notes: Note[] } {
  const { date, body } = splitHead(content);
  const notes: Note[] = [];
  let open: Omit<Note, 'text'> & { lines: string[] } = { at: null, key: null, lines: [] };
  const close = (): void => {
    const text = open.lines.join('\n').trimEnd();
    if (text.trim() !== '' || open.key !== null) notes.push({ at: open.at, key: open.key, text });
  };
  for (const line of body.split('\n')) {
    const [, at, key] = MARK.exec(line) ?? [];
    if (at !== undefined && key !== undefined) {
      close();
      open = { at, key, lines: [] };
    } else open.lines.push(ESCAPED_LOOKALIKE.test(line) ? line.slice(1) : line);
  }
  close();
  return { date, notes };
}

/** Front matter must close before the first of our own lines. */
const FRONT_MATTER = /^\ufeff?---\r?\n(?:(?!<!-- agent-handover \|)[^\n]*\n)*?---\r?\n/;

/** The body is what follows byte order mark, front matter and header line. */
export function splitHead(content: string): { date: string | null; body: string } {
  const rest = content.slice(readFrontMatter(content).length);
  const [line = ''] = rest.split('\n', 1);
  const [, date] = HEADER.exec(line) ?? [];
  return date === undefined ? { date: null, body: rest } : { date, body: rest.slice(line.length + 1) };
}

/** Includes the fences and a byte order mark; empty when there is none. */
export function readFrontMatter(content: string): string {
  return FRONT_MATTER.exec(content)?.[0] ?? (content.startsWith('\ufeff') ? '\ufeff' : '');
}
