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
const DEFINITION =
  /(?:\bfunc\s+(?:\([^()\n]{0,200}\)\s*)?|\b(?:def|class|type|interface|struct|enum|trait|fn|function|module|record)\s+)[A-Za-z_]\w{3,}/g;

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
