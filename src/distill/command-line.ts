/** Splits command lines of POSIX shells, fish, PowerShell and cmd.exe. Never fails: open quotes reach to the end. */

const MAX_SCANNED = 20_000;

/** A simple command: its words as typed, without redirected output and comments. */
export interface SimpleCommand {
  words: string[];
  /** Whether it reads the output of the command before it. */
  piped: boolean;
  /** Whether it runs only if the command before it fails. */
  afterFailure: boolean;
  /** What stands after it; empty at the end of the line. */
  operator: '' | '|' | '||' | '&&' | ';' | '&';
  /** The files that its output goes to. */
  into: string[];
}

/** Caches the results for the latest texts. Callers share the results and must not change them. */
export function remember<T>(make: (text: string) => T, most = 1000): (text: string) => T {
  let latest = new Map<string, T>();
  let older = new Map<string, T>();
  return (text) => {
    const known = latest.get(text) ?? older.get(text);
    const made = known ?? make(text);
    if (latest.size >= most) {
      older = latest;
      latest = new Map();
    }
    latest.set(text, made);
    return made;
  };
}

/** The simple commands of a command line. Cached: agents repeat commands, and each is split for several purposes. */
export const splitCommands: (line: string) => readonly SimpleCommand[] = remember(readCommands);

function readCommands(line: string): SimpleCommand[] {
  const text = dropHereDocuments(line.slice(0, MAX_SCANNED).replaceAll('\r\n', '\n'));
  const commands: SimpleCommand[] = [];
  let words: string[] = [];
  let before = '';
  let word = '';
  const endWord = (): void => {
    if (word !== '') words.push(foldLines(word));
    word = '';
  };
  const endCommand = (): void => {
    endWord();
    const { kept, into } = splitRedirections(words);
    if (kept.length > 0)
      commands.push({ words: kept, piped: before === '|', afterFailure: before === '||', operator: '', into });
    words = [];
    before = '';
  };
  let at = 0;
  const take = (end: number): void => {
    word += text.slice(at, end);
    at = end - 1;
  };
  for (; at < text.length; at++) {
    PLAIN.lastIndex = at;
    if (PLAIN.test(text)) {
      take(PLAIN.lastIndex);
      continue;
    }
    const char = text.charAt(at);
    const next = text.charAt(at + 1);
    if (next === '\n' && (char === '\\' || char === '`' || char === '^')) at++;
    else if (char === '\\') take(at + 2);
    else if (char === '"' || char === "'" || char === '`') take(findEnd(text, at));
    else if (char === '{' && word.endsWith('$')) take(findEnd(text, at));
    else if (char === '(' && word !== '') take(findEnd(text, at));
    else if (char === '#' && word === '') {
      const end = text.indexOf('\n', at);
      at = (end === -1 ? text.length : end) - 1;
    } else if (char === '>' || char === '<') {
      if (word.length >= LONGEST_OPERATOR || !OPERATOR.test(word)) endWord();
      word += char;
    } else if (char === '|' && word.endsWith('>')) word += char;
    else if (char === '&' && (word.endsWith('>') || next === '>')) {
      if (next === '>') endWord();
      word += char;
    } else if (SEPARATORS.includes(char)) {
      endCommand();
      const isDouble = next === char || text.charAt(at - 1) === char;
      before = char === '|' ? (isDouble ? '||' : '|') : '';
      const last = commands.at(-1);
      if (last?.operator === '') last.operator = operatorOf(char, isDouble);
    } else if (/\s/.test(char)) endWord();
    else word += char;
  }
  endCommand();
  return commands;
}

/** Characters without a special meaning anywhere. */
const PLAIN = /[\w./:=,@%+~-]+/y;
const SEPARATORS = '\n;|&()';
/** What belongs to a redirection before its last character. */
const OPERATOR = /^(?:\d?|&)[<>]*$/;
const LONGEST_OPERATOR = 3;

function operatorOf(char: string, isDouble: boolean): SimpleCommand['operator'] {
  if (char === '|') return isDouble ? '||' : '|';
  if (char === '&') return isDouble ? '&&' : '&';
  return char === ';' || char === '\n' ? ';' : '';
}

/** The end of the quote or substitution that begins at a place, nested ones included. */
function findEnd(text: string, at: number): number {
  const open = [closerOf(text.charAt(at))];
  for (let i = at + 1; i < text.length; i++) {
    const char = text.charAt(i);
    const closer = open.at(-1);
    if (char === '\\' && closer !== "'") i++;
    else if (char === closer) {
      open.pop();
      if (open.length === 0) return i + 1;
    } else if (closer === '"' ? char === '(' && text.charAt(i - 1) === '$' : closer === ')' && `"'(`.includes(char))
      open.push(closerOf(char));
  }
  return text.length;
}

function closerOf(opener: string): string {
  if (opener === '(') return ')';
  return opener === '{' ? '}' : opener;
}

const OUTPUT = /^(?:\d?|&)>[>|]?(?!\()(.*)$/s;

function splitRedirections(words: readonly string[]): { kept: string[]; into: string[] } {
  const kept: string[] = [];
  const into: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    const target = OUTPUT.exec(word)?.[1];
    if (target === undefined) kept.push(word);
    else if (target === '' || target === '&') into.push(words[++at] ?? '');
    else if (!target.startsWith('&')) into.push(target);
  }
  return { kept, into };
}

/** Shortens a quoted text of several lines to its first. */
function foldLines(word: string): string {
  const end = word.indexOf('\n');
  if (end === -1) return word;
  const quote = /["'`]/.exec(word)?.[0] ?? '';
  return `${word.slice(0, end).trimEnd()}…${quote}`;
}

const HERE_DOCUMENT = /(?<!<)<<-?[ \t]*(?:(['"])(\w+)\1|\\?([A-Za-z_]\w*))/g;
/** A text passed as an argument by a here-document. */
const AS_ARGUMENT = /\$\(cat <<-?[ \t]*['"]?\w+['"]?[ \t]*$/;

/** Drops the bodies of here-documents; one that is an argument is shown by its first line. */
function dropHereDocuments(text: string): string {
  if (!text.includes('<<')) return text;
  const lines = text.split('\n');
  const lastLine = new Map(lines.map((line, index) => [line.trim(), index]));
  const kept: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const opening = lines[at] ?? '';
    const body = at + 1;
    const shortened = opening.replace(HERE_DOCUMENT, (whole, _quote, quoted, plain) => {
      const mark = quoted ?? plain;
      if ((lastLine.get(mark) ?? -1) <= at) return whole;
      do at++;
      while (lines[at]?.trim() !== mark);
      return `<<${mark}`;
    });
    if (at >= body && AS_ARGUMENT.test(opening)) {
      const first = lines.slice(body, at).find((line) => line.trim() !== '') ?? '';
      const shown = first.trim().replace(/["`]/g, "'").replace(/[$\\]/g, '');
      const rest = (lines[++at] ?? '').replace(/^\s*\)/, '');
      kept.push(`${opening.replace(AS_ARGUMENT, '')}${shown}…${rest}`);
    } else kept.push(shortened);
  }
  return kept.join('\n');
}
