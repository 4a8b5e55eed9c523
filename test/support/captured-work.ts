import { join } from 'node:path';
import type { Handover } from '../../src/model/handover.ts';
import { Transcript } from '../fixtures/agents/claude-code.ts';
import type { Sandbox } from './cli.ts';
import { writeText } from './transcripts.ts';

/** Something that happens in a session. */
export type Step =
  | { ask: string }
  | { say: string }
  | { edit: string; text?: string }
  | { read: string }
  | { plan: readonly string[] }
  | { choose: string; answer: string }
  | { run: string; output?: string; fails?: true };

export interface Work {
  /** From 1 on: the day of the month, and what the session's id ends in. */
  day: number;
  steps: readonly Step[];
  /** The day of the last step, if it is another one. */
  until?: number;
  /** The folder worked in, if not the project's. */
  cwd?: string;
}

/** Writes what Claude Code would have written in a session, and captures it. */
export async function captureWork(sandbox: Sandbox, work: Work): Promise<Handover> {
  return await sandbox.json(['capture', '--transcript', writeSessionOf(sandbox, work).path]);
}

/** The same without capturing it. */
export function writeSessionOf(sandbox: Sandbox, work: Work): { id: string; path: string } {
  const { day, until = day, steps, cwd = sandbox.project } = work;
  const id = `5b0c7f0e-4b5e-4f0a-9d57-${String(day).padStart(12, '0')}`;
  const timeOn = (date: number): string => `2026-02-${String(date).padStart(2, '0')}T09:00:00.000Z`;
  const t = new Transcript({ cwd, sessionId: id, timestamp: timeOn(day) });
  for (const [index, step] of steps.entries()) enterStep(t, step, { call: `toolu_${index}`, cwd });
  const last = t.rows.at(-1);
  if (last !== undefined) last.timestamp = timeOn(until);
  return { id, path: writeText(join(sandbox.home, '.claude/projects/-p', `${id}.jsonl`), t.text) };
}

function enterStep(t: Transcript, step: Step, { call, cwd }: { call: string; cwd: string }): void {
  if ('ask' in step) t.human(step.ask);
  else if ('say' in step) t.say(step.say);
  else if ('edit' in step) {
    const text = step.text ?? 'const done = true;';
    t.call(call, 'Edit', { file_path: join(cwd, step.edit), old_string: 'x', new_string: text });
    t.result(call, 'The file has been updated successfully.');
  } else if ('read' in step) {
    t.call(call, 'Read', { file_path: join(cwd, step.read) });
    t.result(call, '     1→const x = 1;');
  } else if ('plan' in step) {
    t.call(call, 'TodoWrite', {
      todos: step.plan.map((content) => ({ content, status: 'pending', activeForm: content })),
    });
    t.result(call, 'Todos have been modified successfully.');
  } else if ('choose' in step) {
    t.call(call, 'AskUserQuestion', { questions: [{ question: step.choose, options: [] }] });
    t.result(call, `User has answered your questions: "${step.choose}"="${step.answer}".`);
  } else {
    const { run: command, output = 'done', fails } = step;
    t.call(call, 'Bash', { command });
    t.result(call, fails ? `Exit code 1\n${output}` : output, fails ? { isError: true } : {});
  }
}
