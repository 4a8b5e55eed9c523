import { type Application, proposeCompletions } from '@stricli/core';
import { findStore, withCatalog } from '../../../app/context.ts';
import { usageError } from '../../../errors.ts';
import { isHandoverId } from '../../../model/id.ts';
import { cleanLine, cutAtWord } from '../../../model/text.ts';
import { COMMAND_SUMMARIES, type CommandName, isCommandName } from '../command-summaries.ts';
import type { CliContext } from '../context.ts';
import { argument, command, MAX_PROPOSED, tuple } from '../flags.ts';

/** Each asks this program: what is proposed depends on the store, and is never older than the program. */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `# bash completion for handover. Made by: handover completions bash
_handover() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(handover __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o bashdefault -o default -F _handover handover agent-handover
`,
  zsh: `#compdef handover agent-handover
# zsh completion for handover. Made by: handover completions zsh
_handover() {
  local line
  local -a found
  while IFS= read -r line; do
    found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done < <(handover __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#found} )); then _describe handover found; else _files; fi
}
if [ "\${funcstack[1]}" = _handover ]; then _handover "$@"; else compdef _handover handover agent-handover; fi
`,
  fish: `# fish completion for handover. Made by: handover completions fish
function __handover_complete
  set -l words (commandline -opc)
  set -e words[1]
  set -l partial (commandline -ct)
  set -l found (handover __complete $words "$partial" 2>/dev/null)
  if set -q found[1]
    printf '%s\\n' $found
  else
    __fish_complete_path "$partial"
  end
end
for name in handover agent-handover
  complete -c $name -f -a '(__handover_complete)'
end
`,
  powershell: `# PowerShell completion for handover. Made by: handover completions powershell
Register-ArgumentCompleter -Native -CommandName handover, agent-handover -ScriptBlock {
  param($word, $line, $cursor)
  $words = @($line.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
  # Older versions drop an empty argument.
  if ($word -eq '') { $words += '--new-word' }
  handover __complete @words 2>$null | ForEach-Object {
    $value, $brief = $_ -split "\`t", 2
    [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $brief)
  }
}
`,
};

export const completions = command('completions', runCompletions, {
  positional: tuple({
    ...argument(`The shell: ${Object.keys(SCRIPTS).join(', ')}`, 'shell'),
    proposeCompletions: (): string[] => Object.keys(SCRIPTS),
  }),
  flags: {},
});

function runCompletions(this: CliContext, _: unknown, shell: string): void {
  const name = shell.toLowerCase() === 'pwsh' ? 'powershell' : shell.toLowerCase();
  const script = Object.hasOwn(SCRIPTS, name) ? SCRIPTS[name] : undefined;
  if (script === undefined)
    throw usageError(`there are no completions for "${shell}"`, `Use one of: ${Object.keys(SCRIPTS).join(', ')}.`);
  this.out.block(script);
}

const NEW_WORD = '--new-word';
const BEFORE_COMMANDS: ReadonlySet<string | undefined> = new Set([undefined, 'help', '--no-pager']);

/** One proposal a line: the word, a tab, and what it is. Prints nothing where the shell should propose files. */
export async function printCompletions(
  context: CliContext,
  given: readonly string[],
  build: (name: CommandName, context: CliContext) => Promise<Application<CliContext>>,
): Promise<void> {
  const words = given.map((word) => (word === NEW_WORD ? '' : word));
  const partial = words.at(-1) ?? '';
  const known = Object.entries(COMMAND_SUMMARIES);
  const [name] = words;
  if (words.length <= 2 && BEFORE_COMMANDS.has(words.at(-2)))
    return print(
      context,
      [...known, ['help', 'Show the help of a command'] as const].filter(([each]) => each.startsWith(partial)),
    );
  if (name === undefined || !isCommandName(name)) return;
  const found = await proposeCompletions(await build(name, context), words.slice(1), context);
  const values = found.filter(({ kind }) => kind !== 'argument:flag');
  const shown = values.length > 0 && !partial.startsWith('-') ? values : found;
  const titles = shown.some(({ completion }) => isHandoverId(completion)) ? await readTitles(context) : new Map();
  print(
    context,
    shown
      .filter(({ completion }) => completion !== '--')
      .map(({ completion, brief }) => [completion, titles.get(completion) ?? dropList(brief, completion)]),
  );
}

async function readTitles(context: CliContext): Promise<ReadonlyMap<string, string>> {
  const { listByWork, takeRows } = await import('../../../store/catalog.ts');
  return await withCatalog(context, findStore(context), async (catalog) => {
    const rows = await takeRows(listByWork(catalog, {}), MAX_PROPOSED);
    return new Map(rows.map(({ id, title }) => [id, cutAtWord(cleanLine(title), MAX_TITLE_BYTES)]));
  });
}

const MAX_TITLE_BYTES = 80;

/** What an argument is, without the list of its values: a shell shows these anyway. */
function dropList(brief: string, value: string): string {
  const [head = '', list = ''] = brief.split(': ');
  return list.split(', ').includes(value) ? head : brief;
}

function print({ out }: CliContext, rows: readonly (readonly [string, string])[]): void {
  out.block(rows.map(([word, brief]) => `${word}\t${brief}\n`).join(''));
}
