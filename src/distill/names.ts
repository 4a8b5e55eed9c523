import { cleanLine, countUtf8Bytes, cutToBytes } from '../model/text.ts';

/** Finds names by their form alone. Every pattern takes linear time: no part of it can match a text in two ways. */

const EXTENSIONS =
  'tsx?|jsx?|mjs|cjs|mts|cts|py|pyi|go|rs|java|kt|kts|swift|rb|erb|rake|gemspec|php|c|h|cc|cpp|hpp|cs|fs|m|mm|scala|clj|ex|exs|erl|hs|ml|sh|bash|zsh|fish|ps1|bat|sql|md|mdx|rst|txt|json|jsonl|json5|ya?ml|toml|ini|cfg|conf|env|lock|xml|html?|css|scss|sass|less|vue|svelte|astro|dart|lua|zig|proto|graphql|prisma|sol|jl|pl|pm|groovy|jsonnet|tf|tfvars|hcl|gradle|mod|sum|work|Dockerfile|ipynb|csv|arb|plist|service|nix|cmake|mk|snap|tmpl|template';
const PATH = new RegExp(
  [
    `(?<![\\w@:/.\\-])(?:~|\\.{1,2})?/?(?:[\\w.@+\\-[\\]()]+/)*[\\w.@+\\-[\\]]+\\.(?:${EXTENSIONS})(?![\\w/])`,
    `(?<!\\w)[A-Za-z]:\\\\(?:[\\w.@+ \\-[\\]()]+\\\\)*[\\w.@+\\-[\\]]+\\.(?:${EXTENSIONS})(?![\\w\\\\])`,
  ].join('|'),
  'g',
);

const BACKTICKED = /`[^`\n]{2,120}`/g;
const MODIFIERS =
  'export|default|declare|pub(?:\\([a-z]{1,9}\\))?|public|private|protected|internal|static|abstract|final|override|virtual|async|const|unsafe|extern|inline|sealed|open|data|partial|suspend';
/** At the beginning of a line, so that words of a sentence declare nothing. */
const DEFINITION = new RegExp(
  `^[ \\t]{0,200}(?:(?:${MODIFIERS})[ \\t]{1,9}){0,5}(?:func[ \\t]+(?:\\([^()\\n]{0,200}\\)[ \\t]*)?|(?:def|class|type|interface|struct|enum|trait|fn|function|module|record)[ \\t]+)[A-Za-z_]\\w{3,}\\b(?!\\s{0,200}[,}])`,
  'gm',
);

export function findPaths(text: string): string[] {
  if (!text.includes('.')) return [];
  return findAll(PATH, text).filter((path) => !path.startsWith('//'));
}

export function findBackticked(text: string): string[] {
  if (!text.includes('`')) return [];
  return [...new Set(findAll(BACKTICKED, text).map((quoted) => quoted.slice(1, -1).trim()))];
}

export function findDefinitions(text: string): string[] {
  return [...new Set(findAll(DEFINITION, text).map(lastWord))];
}

function lastWord(text: string): string {
  let start = text.length;
  while (start > 0 && /\w/.test(text.charAt(start - 1))) start--;
  return text.slice(start);
}

/** Every match, each once. Unlike `exec` and `test`, `match` leaves no state in a global pattern. */
function findAll(pattern: RegExp, text: string): string[] {
  const matches = text.match(pattern) ?? [];
  return matches.length < 2 ? matches : [...new Set(matches)];
}

const TODO = /\b(?:TODO|FIXME)\b[^\n]{1,200}/g;
const MAX_TODOS = 20;

/** What the marks of unfinished code say. */
export function findTodos(text: string): string[] {
  if (!text.includes('TODO') && !text.includes('FIXME')) return [];
  return [...text.matchAll(TODO)]
    .slice(0, MAX_TODOS)
    .map(([line]) => cutToBytes(line.trimEnd().replace(CLOSER, '').trimEnd(), MAX_TODO_BYTES));
}

/** The end of a comment, which is no part of what it says. */
const CLOSER = /(?:\*+\/\}?|--+>|(?:--|#|%)\}\}?|%>|\*\)|"""|''')$/;

const MAX_TODO_BYTES = 120;

/* What structures a file that is no code: the headings of Markdown, the keys of JSON, YAML, TOML and INI. Found line by line. */

const KEYED_FILE = /\.(?:jsonc?|json5|ya?ml|toml|ini|cfg|conf|properties)$/i;
const JSON_FILE = /\.json[c5]?$/i;
const MARKDOWN_FILE = /\.(?:mdx?|markdown)$/i;

const MAX_FOUND = 200;
const MAX_PART_BYTES = 100;

/** Whether a file has headings or keys instead of declarations. */
export function isStructured(path: string): boolean {
  return MARKDOWN_FILE.test(path) || KEYED_FILE.test(path);
}

/** The headings or keys of a text, in their order, as often as they stand there; none of a file of another kind. */
export function findParts(path: string, text: string): string[] {
  const found = MARKDOWN_FILE.test(path) ? findHeadings(text) : KEYED_FILE.test(path) ? findKeys(path, text) : [];
  return found.filter((part) => part.length >= 3 && countUtf8Bytes(part) <= MAX_PART_BYTES);
}

/** Whether a file still has a heading, at whatever level, or a key, whatever it belongs to. */
export function hasPart(path: string, text: string, part: string): boolean {
  if (MARKDOWN_FILE.test(path)) return text.split('\n').some((line) => readHeading(line) === part);
  const lines = text.split('\n').filter((line) => !COMMENT.test(line));
  const name = `(?<![\\w$@/+-])${part.replace(/\W/g, '\\$&')}`;
  const key = new RegExp(`${name}["']?(?:\\.[\\w."'-]{1,200})?\\s*[:=]|^[ \\t]*\\[[^\\]\\n]*${name}(?![\\w-])`, 'm');
  if (key.test(lines.join('\n'))) return true;
  // A dotted key may have become a section with a key in it.
  const dot = part.lastIndexOf('.');
  return (
    dot > 0 &&
    dot < part.length - 1 &&
    [part.slice(0, dot), part.slice(dot + 1)].every((one) => hasPart(path, text, one))
  );
}

/** How a part is called in a file of this kind. */
export function describePart(path: string, part: string): string {
  return MARKDOWN_FILE.test(path) ? `the heading "${part.replaceAll('"', "'")}"` : `the key ${part}`;
}

const COMMENT = /^\s*(?:#|;|\/\/|\/?\*)/;
const FENCE = /^ {0,3}(?:```|~~~)/;
const HEADING = /^ {0,3}#{1,6}[ \t]/;

function findHeadings(text: string): string[] {
  const found: string[] = [];
  let isCode = false;
  for (const line of text.split('\n')) {
    if (FENCE.test(line)) isCode = !isCode;
    else if (!isCode && HEADING.test(line) && found.length < MAX_FOUND) found.push(readHeading(line));
  }
  return found;
}

/** A line without the signs that make it a heading. */
function readHeading(line: string): string {
  const words = cleanLine(line.trim().replace(/^#+/, ''));
  let end = words.length;
  while (words.charAt(end - 1) === '#') end--;
  return words.charAt(end - 1) === ' ' ? words.slice(0, end).trimEnd() : words;
}

const KEY = '[\\w.$@/+-]{1,80}';
const JSON_KEY = new RegExp(`"(${KEY})"[ \\t]*:`, 'g');
const LINE_KEY = new RegExp(`^[ \\t]*(?:- +){0,4}["']?(${KEY})["']?[ \\t]*(?:=|:(?:[ \\t]|$))`);
const SECTION = new RegExp(`^[ \\t]*\\[{1,2}(${KEY})\\]{1,2}[ \\t]*$`);

function findKeys(path: string, text: string): string[] {
  if (JSON_FILE.test(path)) return [...text.matchAll(JSON_KEY)].slice(0, MAX_FOUND).map(([, key = '']) => key);
  const found: string[] = [];
  for (const line of text.split('\n')) {
    const key = COMMENT.test(line) ? undefined : (LINE_KEY.exec(line) ?? SECTION.exec(line))?.[1];
    if (key !== undefined && found.length < MAX_FOUND) found.push(key);
  }
  return found;
}
