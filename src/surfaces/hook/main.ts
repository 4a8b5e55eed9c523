import { join } from 'node:path';
import { findHook } from '../../agents/hook-dialects.ts';
import { parseAny, parseRow } from '../../agents/shared/json.ts';
import { type HookResult, handleHook } from '../../app/automation/handle-hook.ts';
import { describeFailure, logFailure } from '../../app/automation/records.ts';
import type { CachedProgram } from '../../platform/code-cache.ts';
import { describeMachine, type Machine } from '../../platform/machine.ts';
import { findDataFolder } from '../../platform/paths.ts';
import { saveCompiledCode } from '../../platform/save-code-cache.ts';
import { printAtOnce } from '../../platform/streams.ts';
import { readTimedInput } from '../../platform/timed-input.ts';

const INPUT = {
  maxBytes: 4 * 1024 * 1024,
  waitMs: 1000,
  // Looking at the last character first saves parsing most incomplete texts.
  isWhole: (text: string) => text.trimEnd().endsWith('}') && parseAny(text) !== undefined,
};

/** The entry of every hook: `hook.cjs <agent> <Event>`. Always exits with 0: no agent may suffer from its hook. */
export async function main(program: CachedProgram, bin: string): Promise<void> {
  // Nobody reads stack traces of a hook, and they are costly.
  Error.stackTraceLimit = 0;
  const [agent = '', event = ''] = process.argv.slice(2);
  try {
    const machine = describeMachine(process.env, '/');
    const result = await readAndHandle({ agent, event, bin }, machine);
    if (result !== null) {
      await applyResult(result, bin, machine);
      // The more a hook did, the more code was compiled.
      const warmth = result.output !== null ? 2 : Math.min(result.workers.length, 1);
      saveCompiledCode(program, { warmth, machine });
    }
  } catch (error) {
    await report(error, `${agent} ${event}`);
  }
  // Saves a millisecond of cleaning up, which the system does anyway.
  process.exit(0);
}

async function readAndHandle(
  { agent, event, bin }: Record<'agent' | 'event' | 'bin', string>,
  machine: Machine,
): Promise<HookResult | null> {
  const kind = findHook(agent, event);
  if (kind === null) return null;
  const read = await readTimedInput(INPUT);
  const row = 'text' in read ? parseRow(read.text) : null;
  const input = row === null ? null : kind.dialect.read(row, event);
  if (input !== null)
    return await handleHook(kind, input, { machine, program: [process.execPath, join(bin, 'handover.cjs')] });
  const where = `${agent} ${event}`;
  const message = `its input was ${'problem' in read ? read.problem : 'not understood'}`;
  logFailure(findDataFolder(machine), { atMs: machine.clock.now(), where, code: 'HOOK_INPUT', message });
  return null;
}

async function applyResult({ output, workers }: HookResult, bin: string, machine: Machine): Promise<void> {
  if (output !== null) printAtOnce(`${output}\n`);
  if (workers.length === 0) return;
  const { startDetached } = await import('../../platform/detached.ts');
  for (const { key, piped } of workers) {
    const input = piped === null ? null : JSON.stringify(piped);
    await startDetached([join(bin, 'hook.cjs'), '--work', key], { env: machine.env, input });
  }
}

async function report(error: unknown, where: string): Promise<void> {
  try {
    const machine = describeMachine(process.env, '/');
    logFailure(findDataFolder(machine), await describeFailure(error, where, machine.clock.now()));
  } catch {
    // There is nobody left to report to.
    process.exitCode = 0;
  }
}
