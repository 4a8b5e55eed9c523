// Writes what is generated from the commands: docs/commands.md, man/handover.1 and completions/. A test compares the files with
// what this writes, so run it when a command changes: npm run build && npm run commands
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = process.argv[2] ?? '.';
const { version, description } = JSON.parse(readFileSync('package.json', 'utf8'));
const commands = JSON.parse(run('help', '--all', '--json'));
const [everyday] = run('help').split('\n\n').slice(1);

write('docs/commands.md', writePage());
write('man/handover.1', writeManual());
for (const [shell, file] of Object.entries({
  bash: 'handover.bash',
  zsh: '_handover',
  fish: 'handover.fish',
  powershell: 'handover.ps1',
}))
  write(join('completions', file), run('completions', shell));

/** @param {string[]} args */
function run(...args) {
  const env = { PATH: process.env.PATH, HOME: '/nonexistent', COLUMNS: '100', NODE_DISABLE_COMPILE_CACHE: '1' };
  return execFileSync(process.execPath, ['bin/handover.cjs', ...args], { encoding: 'utf8', env });
}

/** @param {string} file @param {string} text */
function write(file, text) {
  const path = join(root, file);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
}

function writePage() {
  const rows = commands.map(({ name, summary }) => `| [\`${name}\`](#${name}) | ${summary} |`);
  return `# Commands

<!-- Generated from the commands: npm run build && npm run commands -->

\`handover\` alone shows where things stand in this folder. \`handover help COMMAND\` shows what follows here, in the width of your
terminal. The same as a manual: \`man handover\`.

\`\`\`console
$ handover help
${run('help')}\`\`\`

| command | does |
|---|---|
${rows.join('\n')}

Each takes \`--help\`, and all but \`mcp\` and \`completions\` take \`--json\`. An error names the next command to type.

## Exit statuses

They follow sysexits: 0 done, 64 usage, 65 bad or damaged data, 66 not found, 69 unavailable, 70 our bug, 74 I/O error, 75 try again,
77 refused, 78 configuration, 130 cancelled. \`check\` has its own: 0 no run, 1 interrupted, 2 completed.

## Long output

As with git, what is longer than the screen goes through a pager: \`HANDOVER_PAGER\`, else \`PAGER\`, else \`less\` with \`LESS=FRX\`. Not in a
pipe, not when an agent runs the command, and not with \`--no-pager\`.

## In your shell

\`handover completions SHELL\` prints them for bash, zsh, fish and PowerShell. Commands and flags complete, and so do the ids of
handovers and sessions, agents and projects. For one shell at once: \`source <(handover completions bash)\`.

${commands.map(writeSection).join('\n\n')}
`;
}

function writeSection({ name, summary, details, usage, parameters, flags, examples }) {
  const list = (title, terms) =>
    terms.length === 0
      ? ''
      : `\n\n| ${title} | |\n|---|---|\n${terms.map(({ term, text }) => `| \`${term.replaceAll('|', '\\|')}\` | ${text.replaceAll('|', '\\|')} |`).join('\n')}`;
  const shown = examples.map(({ line, purpose }) => `# ${purpose}\n${line}`).join('\n');
  return `## ${name}

${summary}.${details === '' ? '' : ` ${details}`}

\`\`\`
${usage.join('\n')}
\`\`\`${list(usage.length === 1 ? 'argument' : 'command', parameters)}${list('flag', flags)}

\`\`\`sh
${shown}
\`\`\``;
}

function writeManual() {
  const roff = (text) =>
    text
      .replaceAll('\\', '\\e')
      .replaceAll('-', '\\-')
      .replace(/[^\0-\x7f]/g, (letter) => `\\[u${letter.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`)
      .replace(/^([.'])/gm, '\\&$1');
  const terms = (list) => list.map(({ term, text }) => `.TP\n.B ${roff(term)}\n${roff(text)}`).join('\n');
  const section = ({ name, summary, details, usage, parameters, flags, examples }) =>
    [
      `.SS ${name}`,
      roff(`${summary}.${details === '' ? '' : ` ${details}`}`),
      '.PP',
      '.nf',
      ...usage.map((line) => `.B ${roff(line)}`),
      '.fi',
      ...(parameters.length + flags.length > 0 ? [terms([...parameters, ...flags])] : []),
      '.PP',
      ...examples.map(({ line, purpose }) => `.EX\n${roff(line)}\n.EE\n.RS\n${roff(purpose)}\n.RE`),
    ].join('\n');
  return `.\\" Generated from the commands: npm run build && npm run commands
.TH HANDOVER 1 "" "agent-handover ${version}" "User Commands"
.SH NAME
handover \\- ${roff(description.replace(/\.$/, ''))}
.SH SYNOPSIS
.B handover
.RI [ COMMAND " [" FLAGS ]]
.SH DESCRIPTION
Alone, it shows where things stand in this folder. The commands of every day:
.PP
.EX
${roff(everyday)}
.EE
.SH COMMANDS
${commands.map(section).join('\n')}
.SH ENVIRONMENT
.TP
.B HANDOVER_HOME
The folder with everything that is stored.
.TP
.B HANDOVER_PAGER, PAGER
What shows output that is longer than the screen. Default: less, with LESS=FRX.
.TP
.B NO_COLOR
No colours.
.TP
.B HANDOFF_FRESHNESS_MINUTES, HANDOFF_RETENTION_DAYS
How long a handover is restored automatically (20), and kept by cleanup (90).
.SH EXIT STATUS
0 done, 64 usage, 65 bad or damaged data, 66 not found, 69 unavailable, 70 our bug, 74 I/O error, 75 try again, 77 refused, 78
configuration, 130 cancelled. The command check has its own: 0 no run, 1 interrupted, 2 completed.
`;
}
