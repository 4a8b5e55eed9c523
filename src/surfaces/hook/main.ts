import { join } from 'node:path';
import { findHook } from '../../agents/hook-dialects.ts';
import { parseAny, parseRow } from '../../agents/row.ts';
import { describeMachine, type Machine } from '../../platform/machine.ts';
import { findDataFolder } from '../../platform/paths.ts';
import { printAtOnce } from '../../platform/print.ts';
import { readTimedInput } from '../../platform/timed-input.ts';
import { answerHook } from '../../relay/answer.ts';
import { describeFailure, logFailure } from '../../relay/log.ts';

const INPUT = {
  maxBytes: 4 * 1024 * 1024,
  waitMs: 1000,
  // The last character spares trying most of what is not whole.
  isWhole: (text: string) => text.trimEnd().endsWith('}') && parseAny(text) !== undefined,
};

/**
 * The entry of every hook: `hook.cjs <agent> <Event>`. It prints what that agent accepts, or nothing, and always ends well:
 * an agent must never suffer from its hook.
 */
export async function main(folder: string): Promise<void> {
  // Nobody reads traces of a hook, and making them costs more than what fails.
  Error.stackTraceLimit = 0;
  const [agent = '', event = ''] = process.argv.slice(2);
  const where = `${agent} ${event}`;
  try {
    await run({ agent, event, folder });
  } catch (error) {
    report(error, where);
  }
  // Without taking down what the system takes down anyway, which takes a millisecond.
  process.exit(0);
}

async function run({
  agent,
  event,
  folder,
}: {
  agent: string;
  event: string;
  folder: string;
}): Promise<void> {
  const kind = findHook(agent, event);
  if (kind === null) return;
  const read = await readTimedInput(INPUT);
  const machine = describeMachine(process.env, '/');
  const row = 'text' in read ? parseRow(read.text) : null;
  const input = row === null ? null : kind.dialect.read(row, event);
  if (input === null) {
    const problem = 'problem' in read ? read.problem : 'not understood';
    note(machine, { where: `${agent} ${event}`, code: 'HOOK_INPUT', message: `its input was ${problem}` });
    return;
  }
  const { output, work } = await answerHook(kind, input, machine);
  if (output !== null) printAtOnce(`${output}\n`);
  if (work.length === 0) return;
  const { startDetached } = await import('../../platform/detached.ts');
  const script = join(folder, 'hook.cjs');
  for (const { key, handed } of work) {
    const input = handed === null ? null : JSON.stringify(handed);
    await startDetached([script, '--work', key], { env: machine.env, input });
  }
}

function report(error: unknown, where: string): void {
  try {
    const machine = describeMachine(process.env, '/');
    logFailure(findDataFolder(machine), describeFailure(error, where, machine.clock.now()));
  } catch {
    // There is nobody left to tell.
    process.exitCode = 0;
  }
}

function note(machine: Machine, failure: { where: string; code: string; message: string }): void {
  logFailure(findDataFolder(machine), { ...failure, atMs: machine.clock.now() });
}
