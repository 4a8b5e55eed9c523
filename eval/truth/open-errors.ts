import { asRow, getText, type Row } from '../../src/agents/shared/json.ts';
import { readBlocks, readBlockText } from '../corpus/transcript.ts';
import { findStems } from '../names/commands.ts';

const FAILING =
  /\berror\b|\bfail(?:ed|ure|s)?\b|exception|panic|traceback|cannot |can't |not found|undefined|denied|refused/i;
const BARE_STATUS = /^(?:Error: )?Exit code \d+$/;

/** The human did not let the command run: it has neither failed nor succeeded. */
const REFUSED = "The user doesn't want to";

/** For each command whose last run failed, the line of its result that says why. */
export function findOpenErrors(rows: readonly Row[]): Set<string> {
  const commands = new Map<string, string>();
  const open = new Map<string, string>();
  for (const block of rows.filter((row) => row.isSidechain !== true).flatMap(readBlocks)) {
    const command = block.name === 'Bash' ? getText(asRow(block.input) ?? {}, 'command') : null;
    const id = getText(block, block.type === 'tool_use' ? 'id' : 'tool_use_id') ?? '';
    if (block.type === 'tool_use' && command !== null) commands.set(id, command);
    else if (block.type === 'tool_result') {
      const output = readBlockText(block);
      if (output.startsWith(REFUSED)) continue;
      const why = block.is_error === true ? findReason(output) : null;
      for (const stem of findStems(commands.get(id) ?? '')) {
        if (why === null) open.delete(stem);
        else open.set(stem, why);
      }
    }
  }
  return new Set(open.values());
}

function findReason(output: string): string | null {
  const lines = output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !BARE_STATUS.test(line));
  return lines.find((line) => FAILING.test(line)) ?? lines[0] ?? null;
}
