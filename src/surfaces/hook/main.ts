import { join } from 'node:path';
import { findHook } from '../../agents/hook-dialects.ts';
import { parseAny, parseRow } from '../../agents/json.ts';
import { type Answer, answerHook } from '../../app/automation/answer.ts';
import { describeFailure, logFailure } from '../../app/automation/log.ts';
import type { CachedProgram } from '../../platform/code-cache.ts';
import { describeMachine, type Machine } from '../../platform/machine.ts';
import { findDataFolder } from '../../platform/paths.ts';
import { printAtOnce } from '../../platform/streams.ts';
import { readTimedInput } from '../../platform/timed-input.ts';
import { storeProgram } from '../start/keep-program.ts';

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
export async function main(program: CachedProgram, bin: string): Promise<void> {
  // Nobody reads traces of a hook, and making them costs more than what fails.
  Error.stackTraceLimit = 0;
  const [agent = '', event = ''] = process.argv.slice(2);
  try {
    const machine = describeMachine(process.env, '/');
    const answer = await readAndAnswer({ agent, event, machine });
    if (answer !== null) {
      await carryOut(answer, { bin, machine });
      storeProgram(program, { worth: appraise(answer), machine });
    }
  } catch (error) {
    report(error, `${agent} ${event}`);
  }
  // Without taking down what the system takes down anyway, which takes a millisecond.
  process.exit(0);
}

interface Called {
  agent: string;
  event: string;
  machine: Machine;
}

async function readAndAnswer({ agent, event, machine }: Called): Promise<Answer | null> {
  const kind = findHook(agent, event);
  if (kind === null) return null;
  const read = await readTimedInput(INPUT);
  const row = 'text' in read ? parseRow(read.text) : null;
  const input = row === null ? null : kind.dialect.read(row, event);
  if (input !== null) return await answerHook(kind, input, machine);
  const problem = 'problem' in read ? read.problem : 'not understood';
  note(machine, { where: `${agent} ${event}`, code: 'HOOK_INPUT', message: `its input was ${problem}` });
  return null;
}

async function carryOut(
  { output, work }: Answer,
  { bin, machine }: { bin: string; machine: Machine },
): Promise<void> {
  if (output !== null) printAtOnce(`${output}\n`);
  if (work.length === 0) return;
  const { startDetached } = await import('../../platform/detached.ts');
  for (const { key, handed } of work) {
    const input = handed === null ? null : JSON.stringify(handed);
    await startDetached([join(bin, 'hook.cjs'), '--work', key], { env: machine.env, input });
  }
}

/** The more a hook had to do, the more of it is compiled: what is kept is replaced by what is warmth more, and so twice at most. */
function appraise({ output, work }: Answer): number {
  return output !== null ? 2 : Math.min(work.length, 1);
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
