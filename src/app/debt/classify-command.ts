import { splitCommands } from '../../distill/command-line.ts';
import { findCheckKind } from '../../distill/outcome.ts';
import { splitSegments } from '../../distill/shell.ts';
import { isFileName, isOutsideWork, mayWrite } from '../../distill/touched-files.ts';
import { baseName } from '../../model/paths.ts';

const LOOKING: ReadonlySet<string> = new Set(
  'ls cat bat head tail sed awk grep egrep rg find fd wc tree nl jq yq file stat which type du sort uniq cut tr column echo printf cd pwd diff cmp basename dirname realpath readlink Get-ChildItem Get-Content Select-String Measure-Object'.split(
    ' ',
  ),
);
const LOOKING_GIT =
  /^git (?:-\S+ \S+ )*(?:show|log|diff|status|blame|ls-files|ls-tree|grep|rev-parse|describe|cat-file)\b/;
const TELLING: ReadonlySet<string> = new Set(['--help', '--version']);
/** Programs that run what is in the project. */
const STARTING =
  /[\\/]|^(?:npm|npx|pnpm|yarn|bun|bunx|node|deno|python[\d.]*|uv|poetry|go|cargo|make|mise|just|php|ruby|bundle|java|mvn|gradle|dotnet)$/;
const ACTING: ReadonlySet<string> = new Set(['-delete', '-exec', '-execdir', '-ok']);

/**
 * What a read-only command line looks at: files, the state of the repository, or the help and version of an installed tool.
 * Null for all others: their output may differ each time.
 */
export function findLook(command: string): 'files' | 'git' | 'tool' | null {
  const parts = splitCommands(command);
  if (parts.length === 0 || mayWrite(command)) return null;
  const looks = parts.map(({ words }) => {
    const [program = ''] = words;
    if (words.some((word) => TELLING.has(word))) return STARTING.test(program) ? 'files' : 'tool';
    if (LOOKING_GIT.test(words.join(' '))) return 'git';
    return LOOKING.has(baseName(program)) && !words.some((word) => ACTING.has(word)) ? 'files' : null;
  });
  if (looks.includes(null)) return null;
  if (looks.includes('git')) return 'git';
  return looks[0] === 'tool' && parts.every(({ piped }, at) => at === 0 || piped) ? 'tool' : 'files';
}

/** Whether a command line has a check in it, which is run repeatedly on purpose. */
export function hasCheck(command: string): boolean {
  return splitSegments(command).some(({ use, words }) => findCheckKind(use, words) !== null);
}

/** What a command line does, without what it is done to. */
export function nameUse(command: string): string {
  const uses = splitSegments(command).map(({ use }) => use);
  return (uses.length > 0 ? uses : splitCommands(command).map(({ words }) => words[0])).join(' && ');
}

/** Tasks that rewrite files, by the names that projects give them. */
const REWRITING = /^(?:[\w:-]+[:-])?(?:fmt|format|fix|generate|codegen)$/;
/** Targets of redirections that are no files. */
const NOWHERE = /^(?:\/dev\/|\$null$|nul$|&)/i;
/** Counts as writing for `mayWrite`, but changes no file: the index, the stash, a new branch at the same commit. */
const HARMLESS_GIT =
  /^git (?:-\S+ \S+ )*(?:stash drop\b|reset\b(?!.* --(?:hard|merge|keep)\b)|(?:checkout -b|switch -c) \S+$)/;

/** The names of the files that a command line may change; `all` when they are unknown. */
export function findWrites(command: string): 'all' | string[] {
  const names: string[] = [];
  for (const { words, into } of splitCommands(command)) {
    const line = words.join(' ');
    const isRewriting = words.slice(0, 3).some((word) => REWRITING.test(word) && !word.startsWith('-'));
    names.push(...into.filter((path) => !NOWHERE.test(path) && !isOutsideWork(path, null)).map(baseName));
    if ((!isRewriting && !mayWrite(line)) || HARMLESS_GIT.test(line)) continue;
    const named = words.slice(1).map(baseName).filter(isFileName);
    if ((words[0] === 'git' && !words.includes('--')) || named.length === 0) return 'all';
    names.push(...named);
  }
  return names;
}
