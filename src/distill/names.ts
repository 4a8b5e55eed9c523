/** Finds names by their form alone. Every pattern takes linear time: no part of it can match a text in two ways. */

const EXTENSIONS =
  'tsx?|jsx?|mjs|cjs|mts|cts|py|pyi|go|rs|java|kt|kts|swift|rb|erb|rake|gemspec|php|c|h|cc|cpp|hpp|cs|fs|m|mm|scala|clj|ex|exs|erl|hs|ml|sh|bash|zsh|fish|ps1|bat|sql|md|mdx|rst|txt|json|jsonl|json5|ya?ml|toml|ini|cfg|conf|env|lock|xml|html?|css|scss|sass|less|vue|svelte|astro|dart|lua|zig|proto|graphql|prisma|sol|jl|pl|pm|groovy|jsonnet|tf|tfvars|hcl|gradle|mod|sum|work|Dockerfile|ipynb|csv|arb|plist|service|nix|cmake|mk|snap|tmpl|template';
const EXTENSION = new RegExp(`^(?:${EXTENSIONS})$`);
const PATH = new RegExp(
  `(?<![\\w@:/.\\-])(?:~|\\.{1,2})?/?(?:[\\w.@+\\-[\\]()]+/)*[\\w.@+\\-[\\]]+\\.(?:${EXTENSIONS})(?![\\w/])`,
  'g',
);

const WORD = /\\?[A-Za-z_]\w{4,79}/g;
/** A backslash before a name, or an escape stuck to it: `\\nOutput` is a line end and a word. */
const ESCAPE = /^\\(?:[nrt](?=[A-Z]))?/;
const INNER_HUMP = /[a-z][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]|[A-Z][a-z0-9]+[A-Z]/;
const CALL = /\b[A-Za-z_]\w{4,40}\(\)/g;
const QUALIFIED = /(?<![\w./:])[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*){1,3}(?![\w/])/g;
const ERRNO = [
  'EACCES|EADDRINUSE|EADDRNOTAVAIL|EAGAIN|EBADF|EBUSY|ECONNABORTED|ECONNREFUSED|ECONNRESET|EEXIST|EFAULT|EFBIG',
  'EHOSTUNREACH|EINTR|EINVAL|EISDIR|ELOOP|EMFILE|EMSGSIZE|ENAMETOOLONG|ENETUNREACH|ENFILE|ENODEV|ENOENT|ENOEXEC',
  'ENOMEM|ENOSPC|ENOSYS|ENOTCONN|ENOTDIR|ENOTEMPTY|ENOTSUP|ENXIO|EPERM|EPIPE|EPROTO|ERANGE|EROFS|ESRCH|ETIMEDOUT|EXDEV',
].join('|');
const ERROR_NAME = new RegExp(
  `\\b(?:[A-Z][A-Za-z]*(?:Error|Exception|Warning|Panic)|${ERRNO}|exit (?:code|status) \\d+|TS\\d{4}|[45]\\d\\d (?:Unauthorized|Forbidden|Not Found|Internal)|SIG[A-Z]{3,5}|ERR_[A-Z_]+)\\b`,
  'g',
);
const REFERENCE = /(?<!\w)(?:#\d{1,6}|[A-Z]{2,6}-\d{1,5}|v\d+\.\d+(?:\.\d+)?)\b/g;
/** Standards look like tickets. */
const STANDARD = /^(?:UTF|SHA|ISO|AES|RSA|RFC|MD|GPT|ES|HTTP|TLS|BASE|CRC|IEEE|ECMA)-\d+$/;
const BACKTICKED = /`[^`\n]{2,120}`/g;
const DEFINITION =
  /(?:\bfunc\s+(?:\([^()\n]{0,200}\)\s*)?|\b(?:def|class|type|interface|struct|enum|trait|impl|fn|const|let|var|val|function|module|record|export (?:default )?(?:async )?(?:function|const|class))\s+)[A-Za-z_]\w{3,}/g;

export function findPaths(text: string): string[] {
  if (!text.includes('.')) return [];
  return findAll(PATH, text).filter((path) => !path.startsWith('//'));
}

/** Words as only code has them: with an inner capital, an underscore, or called. */
export function findSymbols(text: string): string[] {
  const words = findAll(WORD, text).map((word) => (word.startsWith('\\') ? word.replace(ESCAPE, '') : word));
  const humped = words.filter((word) => INNER_HUMP.test(word) && !word.endsWith('_') && !isOdd(word));
  const called = findAll(CALL, text).map((call) => call.slice(0, -2));
  return [...new Set([...humped, ...called])].filter((word) => word !== '__proto__');
}

const LONGEST_WITH_DIGITS = 30;
const SHORTEST_ENCODED = 12;
const LETTERS_PER_HUMP = 2.5;

/**
 * With inner capitals and underscores, as the long names of test cases; or a hash, key or other encoded data: too long for
 * a name with digits, or with too many capitals.
 */
function isOdd(word: string): boolean {
  if (word.includes('_') && /[a-z][A-Z]|[A-Z][a-z]/.test(word)) return true;
  if (!/\d/.test(word)) return false;
  const humps = word.match(/[A-Z]+[a-z]*|[a-z]+/g)?.length ?? 0;
  return (
    word.length > LONGEST_WITH_DIGITS ||
    (word.length >= SHORTEST_ENCODED && !word.includes('_') && word.length / humps < LETTERS_PER_HUMP)
  );
}

export function findQualified(text: string): string[] {
  if (!text.includes('.') && !text.includes('::')) return [];
  return findAll(QUALIFIED, text).filter((name) => !endsAsFile(name));
}

function endsAsFile(name: string): boolean {
  return !name.includes(':') && EXTENSION.test(name.slice(name.lastIndexOf('.') + 1));
}

export function findErrorNames(text: string): string[] {
  return findAll(ERROR_NAME, text);
}

export function findReferences(text: string): string[] {
  return findAll(REFERENCE, text).filter((name) => !STANDARD.test(name));
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

const COMMON = new Set('true false null none main src test tests json string number'.split(' '));

/** Whether a back-ticked token is a name: no path, no sentence, no common word. */
export function isTerm(token: string): boolean {
  if (token.length < 4 || COMMON.has(token.toLowerCase()) || !/^[\w./:@#-]+$/.test(token)) return false;
  return /[_./:-]|[a-z][A-Z]/.test(token) && token.match(PATH)?.[0] !== token;
}

export function isSymbol(word: string): boolean {
  return /^[A-Za-z_]\w{4,79}$/.test(word) && INNER_HUMP.test(word);
}

/** Every match, each once. Unlike `exec` and `test`, `match` leaves no state in a global pattern. */
function findAll(pattern: RegExp, text: string): string[] {
  const matches = text.match(pattern) ?? [];
  return matches.length < 2 ? matches : [...new Set(matches)];
}

export interface Names {
  paths: readonly string[];
  symbols: readonly string[];
  qualified: readonly string[];
  errors: readonly string[];
  references: readonly string[];
}

/** The characters that names consist of or that the finders look at beside a name. All others split a text into chunks. */
const PART = String.raw`\w.@+\-[\]()/~:#\\`;
/** Every name has one: an inner capital, two capitals, an underscore, a dot or colons before a letter, a call, a number. */
const SIGN = String.raw`[a-z\d][A-Z]|[A-Z]{2}|_|(?:\.|::)[A-Za-z_]|\(\)|[^\W\dA-Z]\d|[^\w.]\d`;
const CHUNK_WITH_SIGN = new RegExp(`(?<![${PART}])[${PART}]*?(?:${SIGN})[${PART}]*`, 'g');
/** Errors of several words, and so of several chunks. */
const SPACED_ERROR = /\bexit (?:code|status) \d|\b[45]\d\d [FINU]/;

/** The chunks that can hold a name, each once. Saves time, and memory: a name keeps alive the text it was cut from. */
export function keepNameChunks(text: string): string {
  return [...new Set(text.match(CHUNK_WITH_SIGN))].join('\n');
}

const NO_NAMES: Names = { paths: [], symbols: [], qualified: [], errors: [], references: [] };

/** The same as each finder on the whole text, in less time. */
export function findNames(text: string): Names {
  const chunks = keepNameChunks(text);
  const hasSpacedError = SPACED_ERROR.test(text);
  if (chunks === '' && !hasSpacedError) return NO_NAMES;
  return {
    paths: findPaths(chunks),
    symbols: findSymbols(chunks),
    qualified: findQualified(chunks),
    errors: findErrorNames(hasSpacedError ? text : chunks),
    references: findReferences(chunks),
  };
}
