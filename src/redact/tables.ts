import type { TextRange } from './rule.ts';

/** Values whose name is not beside them but above: columns of tables and files, rows of SQL, the data of a Kubernetes Secret. */

const MAX_LINE = 4096;
const MAX_COLUMNS = 64;
const BAR = /[|│┃║]/;
/** What tools write before a line. */
const PREFIX = /^(?:[ \t]{0,8}\d{1,6}(?:→|\t|:|\|)|[-+>](?![-+]))?[ \t]{0,20}/;
const RULE = /^[\s|│┃║+:─┼┤├╪╬╞╡═-]{3,}$/;
const UNDERLINE = /^-{2,}(?: {1,2}-{2,}){0,63}[ \r]{0,40}$/;
const HEAD_CELL = /^[ \t"'`*]{0,40}[A-Za-z_][\w.-]{0,40}(?: [\w-]{1,20}){0,2}[\s"'`*]{0,40}$/;
/** As sqlite3 prints it. */
const LIST_HEAD = /^\w{1,40}(?:\|\w{1,40}){1,63}\r?$/;
/** As kubectl, docker and the like print it. */
const ALIGNED_HEAD = /^[A-Z][A-Z0-9_ ().%/-]{0,4096}\r?$/;
const COPY = /copy [\w."]{1,80} ?\(([\w\s,"]{0,1000})$/i;
const FROM_INPUT = /[\w\s,"]{0,1000}\) from stdin[^\n]{0,200}\n/iy;
const HEAD_TAG = /<th(?: [^<>]{0,100})?>[^<>]{0,40}$/;
const HTML_ROW = /<tr[\s>](?:(?!<\/?tr[\s>])[\s\S]){0,4096}/g;
const HTML_CELL = /<td(?: [^<>]{0,100})?>\s{0,40}(?:<[a-z]{1,6}(?: [^<>]{0,100})?>)?([^<>]{0,1024})/dg;
const INSERT = /insert (?:into|ignore into) [\w."`[\]]{1,80}[ \t\r\n]{0,20}\(([\w\s,"`[\]]{0,1000})$/i;
const VALUES = /[\w\s,"`[\]]{0,1000}\)[ \t\r\n]{0,20}values[ \t\r\n]{0,20}(?=\()/iy;
const TUPLE = /[ \t\r\n]{0,20},?[ \t\r\n]{0,20}\(/y;
const FIELD =
  /[ \t\r\n]{0,20}(?:[NE]?'((?:[^'\n]|''){0,1024})'|"([^"\n]{0,1024})"|([^\s,()'"]{1,256}(?:\([^()\n]{0,200}\))?))[ \t\r\n]{0,20}([,)])/dy;

/** The tables of a text. Asked for names in the order of the text, it looks at the lines of each table once for each of a few names. */
export class Tables {
  readonly #text: string;
  readonly #lineEnds: { find(from: number): number };
  #last = { head: -1, end: -1, columns: 0 };
  /** The last head of HTML, and how many names of it were looked at. */
  #html = { at: -1, names: 0 };
  /** Where the line of the last name begins. */
  #line = { at: 0, start: 0 };

  /** `lineEnds` finds the next line feed of the text, or its end. */
  constructor(text: string, lineEnds: { find(from: number): number }) {
    this.#text = text;
    this.#lineEnds = lineEnds;
  }

  /** What stands below a name, if that is the head of a column. */
  findBelow(name: TextRange): TextRange[] {
    const line = this.#startOfLine(name.start);
    // Of a line that is too long for a table, each part counts for itself.
    const isLong = name.start - line > MAX_LINE;
    const head = isLong ? name.start - (name.start % MAX_LINE) : line;
    if (head === this.#last.head ? this.#last.columns >= 4 : head < this.#last.end) return [];
    const columns = head === this.#last.head ? this.#last.columns + 1 : 1;
    const found =
      this.#readInserted(name) ??
      this.#readCopied(name) ??
      this.#readHtml(name) ??
      (isLong ? null : this.#readColumn({ start: head, end: this.#endOfLine(name.end) }, name)) ??
      (isLong ? null : this.#readUnderlined({ start: head, end: this.#endOfLine(name.end) }, name)) ??
      (isLong ? null : this.#readAligned({ start: head, end: this.#endOfLine(name.end) }, name));
    this.#last = { head, end: found?.end ?? this.#last.end, columns };
    return found?.cells ?? [];
  }

  #startOfLine(at: number): number {
    const { at: from, start } = at < this.#line.at ? { at: 0, start: 0 } : this.#line;
    const feed = this.#text.slice(from, at).lastIndexOf('\n');
    this.#line = { at, start: feed === -1 ? start : from + feed + 1 };
    return this.#line.start;
  }

  #endOfLine(at: number): number {
    return Math.min(this.#lineEnds.find(at), at + MAX_LINE);
  }

  #readColumn(head: TextRange, name: TextRange): Column | null {
    const text = this.#text;
    const mark = this.#findMark(name);
    if (mark === null || head.end >= text.length) return null;
    const isRuled = BAR.test(mark) && !LIST_HEAD.test(text.slice(head.start, head.end));
    const names = splitCells(text, head, mark);
    const index = names.findIndex(({ start, end }) => start <= name.start && end >= name.end);
    if (index === -1 || names.length < 2 || names.length > MAX_COLUMNS) return null;
    const isHead = ({ start, end }: TextRange): boolean => HEAD_CELL.test(text.slice(start, end));
    if (isRuled ? !names.slice(index, index + 1).every(isHead) : !names.every(isHead)) return null;
    const cells: TextRange[] = [];
    let [end, isFirst] = [head.end, true];
    while (end < text.length) {
      const row = { start: end + 1, end: this.#endOfLine(end + 1) };
      const line = text.slice(row.start, row.end);
      const isRule = isRuled && RULE.test(line.replace(PREFIX, ''));
      if (isRuled && isFirst && !isRule) break;
      const parts = isRule ? [] : splitCells(text, row, mark);
      if (!isRule && (isRuled ? parts.length <= index || !BAR.test(line) : parts.length !== names.length)) break;
      const cell = parts[index];
      if (cell !== undefined) cells.push(trimCell(text, cell));
      [end, isFirst] = [row.end, false];
    }
    return { cells, end };
  }

  /** A column without marks, below dashes that are as wide as it, as sqlite3, sqlcmd and psql print them. */
  #readUnderlined(head: TextRange, name: TextRange): Column | null {
    const text = this.#text;
    const line = text.slice(head.end + 1, this.#endOfLine(head.end + 1));
    if (!UNDERLINE.test(line)) return null;
    const starts = [...line.matchAll(/-+/g)].map(({ index }) => index);
    const isOnly = starts.length === 1 && name.end - name.start === text.slice(head.start, head.end).trim().length;
    const index = isOnly ? 0 : starts.indexOf(name.start - head.start);
    if (index === -1 || (starts.length === 1 && !isOnly)) return null;
    const cells: TextRange[] = [];
    let end = head.end + 1 + line.length;
    while (end < text.length) {
      const row = { start: end + 1, end: this.#endOfLine(end + 1) };
      const cell = { start: row.start + (starts[index] ?? 0), end: row.start + (starts[index + 1] ?? MAX_LINE) };
      if (text.slice(row.start, row.end).trim() === '') break;
      cells.push(trimCell(text, { start: cell.start, end: Math.min(cell.end, row.end) }));
      end = row.end;
    }
    return { cells, end };
  }

  /** A column without marks whose cells begin below its head, which is in capitals. */
  #readAligned(head: TextRange, name: TextRange): Column | null {
    const text = this.#text;
    const line = text.slice(head.start, head.end);
    if (!ALIGNED_HEAD.test(line) || !line.includes('  ')) return null;
    const starts = [...line.matchAll(/(?<=^| {2})\S/g)].map(({ index }) => index);
    const index = starts.indexOf(name.start - head.start);
    const from = starts[index];
    if (from === undefined) return null;
    const cells: TextRange[] = [];
    let end = head.end;
    while (end < text.length) {
      const row = { start: end + 1, end: this.#endOfLine(end + 1) };
      const cell = text.slice(row.start + from, Math.min(row.start + (starts[index + 1] ?? MAX_LINE), row.end)).trim();
      if (cell === '' || /\s/.test(cell) || (from > 0 && text.charAt(row.start + from - 1) !== ' ')) break;
      cells.push({ start: row.start + from, end: row.start + from + cell.length });
      end = row.end;
    }
    return { cells, end };
  }

  /** The values of a column of `COPY t (a, b) FROM stdin`. */
  #readCopied(name: TextRange): Column | null {
    const text = this.#text;
    if (!'),"'.includes(text.charAt(name.end)) || !/[(,"\s]/.test(text.charAt(name.start - 1))) return null;
    const [, before] = COPY.exec(text.slice(Math.max(0, name.start - 1200), name.start)) ?? [];
    FROM_INPUT.lastIndex = name.end;
    if (before === undefined || !FROM_INPUT.test(text)) return null;
    const index = before.split(',').length - 1;
    const cells: TextRange[] = [];
    let start = FROM_INPUT.lastIndex;
    while (start < text.length) {
      const row = { start, end: this.#endOfLine(start) };
      const cell = splitCells(text, row, '\t')[index];
      if (cell === undefined || text.startsWith('\\.', start)) break;
      cells.push(trimCell(text, cell));
      start = row.end + 1;
    }
    return { cells, end: start };
  }

  /** The cells of HTML below a `<th>`. Of each head a few names are looked at only. */
  #readHtml({ start, end }: TextRange): Column | null {
    const text = this.#text;
    if (text.charAt(end) !== '<' || !HEAD_TAG.test(text.slice(Math.max(0, start - 160), start))) return null;
    const before = text.slice(Math.max(0, start - MAX_LINE), start);
    const head = before.lastIndexOf('<tr');
    const at = start - before.length + head;
    this.#html = at === this.#html.at ? { at, names: this.#html.names + 1 } : { at, names: 1 };
    if (head === -1 || this.#html.names > 4) return null;
    const index = (before.slice(head).match(/<th[\s>]/g) ?? []).length - 1;
    const rest = text.slice(end, end + 4 * MAX_LINE);
    const first = rest.indexOf('</tr');
    const rows = first === -1 ? '' : rest.slice(first);
    const last = rows.search(/<\/table|<th[\s>]/);
    const cells = [...rows.slice(0, last === -1 ? rows.length : last).matchAll(HTML_ROW)].flatMap((row) => {
      const [from, to] = [...row[0].matchAll(HTML_CELL)][index]?.indices?.[1] ?? [0, 0];
      const offset = end + first + row.index;
      return to === 0 ? [] : [trimCell(text, { start: offset + from, end: offset + to })];
    });
    return cells.length === 0 ? null : { cells, end };
  }

  /** What separates the cells of a head: what stands beside the name. */
  #findMark({ start, end }: TextRange): string | null {
    const text = this.#text;
    let [before, after] = [start - 1, end];
    while (before >= 0 && ' "\'`*'.includes(text.charAt(before))) before--;
    while (after < text.length && ' "\'`*\r'.includes(text.charAt(after))) after++;
    const marks = [text.charAt(after), text.charAt(before)];
    return marks.find((mark) => mark !== '' && ',;\t|│┃║'.includes(mark)) ?? null;
  }

  /** The values of a column of `INSERT INTO t (a, b) VALUES (1, 2), (3, 4)`. */
  #readInserted(name: TextRange): Column | null {
    const text = this.#text;
    if (!'),"`] \n'.includes(text.charAt(name.end)) || !/[(,"`[\s]/.test(text.charAt(name.start - 1))) return null;
    const [, before] = INSERT.exec(text.slice(Math.max(0, name.start - 1200), name.start)) ?? [];
    VALUES.lastIndex = name.end;
    if (before === undefined || !VALUES.test(text)) return null;
    const index = before.split(',').length - 1;
    const cells: TextRange[] = [];
    let end = VALUES.lastIndex;
    for (TUPLE.lastIndex = end; TUPLE.test(text); TUPLE.lastIndex = end) {
      FIELD.lastIndex = TUPLE.lastIndex;
      let match = FIELD.exec(text);
      for (let at = 0; match !== null && at <= MAX_COLUMNS; at++, match = FIELD.exec(text)) {
        const range = match.indices?.[1] ?? match.indices?.[2] ?? match.indices?.[3];
        if (at === index && range !== undefined) cells.push({ start: range[0], end: range[1] });
        end = FIELD.lastIndex;
        if (match[4] === ')') break;
      }
      if (match === null) break;
    }
    return { cells, end };
  }
}

/** The cells of a column, and where the table ends. */
type Column = { cells: TextRange[]; end: number };

function splitCells(text: string, { start, end }: TextRange, mark: string): TextRange[] {
  const cells: TextRange[] = [];
  let first = start;
  let isQuoted = false;
  for (let at = start; at < end; at++) {
    const char = text.charAt(at);
    // A quote opens only a whole cell.
    if (char === '"' && mark === ',' && (isQuoted || at === first)) isQuoted = !isQuoted;
    if (char !== mark || isQuoted) continue;
    cells.push({ start: first, end: at });
    first = at + 1;
  }
  cells.push({ start: first, end });
  return cells;
}

function trimCell(text: string, { start, end }: TextRange): TextRange {
  const cell = text.slice(start, end);
  const [before = ''] = /^\s{0,200}["'`*]{0,3}/.exec(cell) ?? [];
  const [after = ''] = /["'`*]{0,3}\s{0,200}$/.exec(cell.slice(before.length)) ?? [];
  return { start: start + before.length, end: end - after.length };
}

const MAX_BEFORE = 8192;
const MAX_AFTER = 32_768;
const DOCUMENT = /\n[^\n\w]{0,3}(?:\d{1,6}[→:|\t])?(?:---|- )|\n[ \t]{0,4}- apiVersion/g;
const DATA = /^(.{0,24}?)(?:data|stringData):[ \t]{0,8}\r?$/gm;
const PAIR =
  /^[ \t]{1,40}(?:"[^"\n]{1,100}"|'[^'\n]{1,100}'|[\w.-]{1,200}):[ \t]{0,20}(["']?)(.{0,16384}?)\1[ \t]{0,20}\r?$/;
const JSON_DATA = /"(?:data|stringData)\\{0,3}"\s{0,3}:\s{0,3}\{([^{}]{0,16384})\}/g;
const JSON_PAIR = /"([^"\\\n]{1,200})\\{0,3}"\s{0,3}:\s{0,3}\\{0,3}"([^"\\\n]{0,16384})/dg;

/** All values of a Kubernetes Secret, whose `kind` stands at a place of a text; `end` is how far it was looked at. */
export function listSecretData(text: string, at: number): { ranges: TextRange[]; end: number } {
  const before = text.slice(Math.max(0, at - MAX_BEFORE), at);
  const start =
    at - before.length + [...before.matchAll(DOCUMENT)].reduce((last, { index }) => Math.max(last, index), 0);
  DOCUMENT.lastIndex = at;
  const end = Math.min(DOCUMENT.exec(text)?.index ?? text.length, at + MAX_AFTER);
  const document = text.slice(start, end);
  const found = [...listYamlValues(document), ...listFoldedValues(document), ...listJsonValues(document)];
  return { ranges: found.map((range) => ({ start: start + range.start, end: start + range.end })), end };
}

function* listYamlValues(document: string): Generator<TextRange> {
  for (const { 0: head, 1: prefix = '', index } of document.matchAll(DATA)) {
    const from = index + head.length + 1;
    const found = [...listPairs(document, from, prefix.length)];
    // What stands before `data:` may be of that line only.
    yield* found.length > 0 || prefix.trim() === '' ? found : listPairs(document, from, 0);
  }
}

/** The values from `start` on, behind what a tool writes before each line. */
function* listPairs(document: string, start: number, prefix: number): Generator<TextRange> {
  let from = start;
  let block = Number.POSITIVE_INFINITY;
  while (from < document.length) {
    const close = document.indexOf('\n', from);
    const end = close === -1 ? document.length : close;
    const line = document.slice(from + prefix, end);
    const indent = line.length - line.trimStart().length;
    if (line.trim() !== '' && indent === 0) break;
    const first = from + prefix + indent;
    if (indent > block) yield { start: first, end };
    else {
      const [, quote = '', value = ''] = PAIR.exec(line) ?? [];
      const last = from + prefix + line.trimEnd().length - quote.length;
      const isBlock = /^[|>][-+\d]{0,2}$/.test(value);
      block = isBlock ? indent : Number.POSITIVE_INFINITY;
      if (value !== '' && !isBlock) yield { start: last - value.length, end: last };
    }
    from = end + 1;
  }
}

const FOLDED_DATA = /(?<!\S)(?:data|stringData): (?=\S)/g;
const FOLDED_PAIR =
  /(?!(?:apiVersion|kind|metadata|type|immutable|data|stringData):)[\w.-]{1,200}: (\S{1,16384})(?: |$)/dmy;

/** The same where the lines were joined, as in the subject of a commit. */
function* listFoldedValues(document: string): Generator<TextRange> {
  for (const { 0: head, index } of document.matchAll(FOLDED_DATA)) {
    FOLDED_PAIR.lastIndex = index + head.length;
    for (let pair = FOLDED_PAIR.exec(document); pair !== null; pair = FOLDED_PAIR.exec(document)) {
      const [start, end] = pair.indices?.[1] ?? [0, 0];
      if (end > start) yield { start, end };
    }
  }
}

function* listJsonValues(document: string): Generator<TextRange> {
  for (const { 0: all, 1: members = '', index } of document.matchAll(JSON_DATA)) {
    const offset = index + all.length - 1 - members.length;
    for (const { indices } of members.matchAll(JSON_PAIR)) {
      const [start, end] = indices?.[2] ?? [0, 0];
      if (end > start) yield { start: offset + start, end: offset + end };
    }
  }
}
