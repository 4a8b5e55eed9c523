import { posix } from 'node:path';

const SHELL = /(?:^|[\\/])(?:bash|zsh|sh|dash|fish|ksh|pwsh|powershell)(?:\.exe)?$/i;

/** The command line in what the program was told to start: a line, or words with a shell in front. */
export function readCommandLine(command: unknown): string | null {
  if (typeof command === 'string') return command;
  if (!Array.isArray(command)) return null;
  const words = command.filter((word) => typeof word === 'string');
  const [program = '', flag = '', line] = words;
  if (SHELL.test(program) && /^-(?:l?i?c|Command|NoProfile)$/i.test(flag) && line !== undefined) {
    return words.at(-1) ?? line;
  }
  return words.length === 0 ? null : words.map(quoteWord).join(' ');
}

function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

const WORD = String.raw`(?:'[^'\n]{1,1000}'|"[^"$\x60\\\n]{1,1000}"|[\w@%+=:,./~-]{1,1000})`;
const SHOWING = new RegExp(
  String.raw`^\s{0,8}(?:cat|nl(?: -ba)?|head(?: -n? ?\d{1,6})?|tail(?: -n? ?\d{1,6})?|sed -n ['"]?\d{1,7}(?:,\d{1,7})?p['"]?) (${WORD})\s{0,8}$`,
);

/** The one file that a command shows and does nothing else with; null for any other command. */
export function findShownFile(command: string): string | null {
  const word = SHOWING.exec(command)?.[1];
  if (word === undefined || word.startsWith('-')) return null;
  return /^['"]/.test(word) ? word.slice(1, -1) : word;
}

const PATCHING =
  /^\s{0,8}(?:cd (\S{1,1000}) && )?(?:apply_patch|applypatch)\s{1,8}<<-?\s{0,8}['"]?\w{1,40}['"]?\s{0,8}\n/;

/** A patch that a command applies and nothing else, with the folder it changes to first. */
export function findPatch(command: string): { patch: string; folder: string | null } | null {
  const match = PATCHING.exec(command);
  if (match === null) return null;
  const end = command.indexOf('*** End Patch');
  const after = end === -1 ? '' : command.slice(end + '*** End Patch'.length);
  if (end === -1 || !/^\s*(?:\w{1,40}\s*)?$/.test(after.slice(0, 200))) return null;
  return { patch: command.slice(match[0].length), folder: match[1] ?? null };
}

export function joinFolder(folder: string | null, cwd: string | null): string | null {
  if (folder === null) return cwd;
  return posix.isAbsolute(folder) || cwd === null ? folder : posix.join(cwd, folder);
}
