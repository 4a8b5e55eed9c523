import { buildCommand, type Command } from '@stricli/core';
import { countFiles, type HandedFile } from '../../../app/ask/files.ts';
import { describeAge } from '../../../model/time.ts';
import type { CliContext } from '../context.ts';
import { toLimit } from '../filters.ts';
import { bold, dim, type Output } from '../output.ts';
import { type QuestionFlags, questionFlags, widen, withFactSource } from '../question-flags.ts';

const ROWS_FOR_A_PERSON = 20;

export async function runFiles(this: CliContext, flags: QuestionFlags): Promise<void> {
  const { machine, out, err } = this;
  const files = await withFactSource(this, flags, (source) =>
    countFiles(source.facts({ kinds: ['file'] }), machine.home),
  );
  const limit = toLimit(flags, flags.json ? null : ROWS_FOR_A_PERSON);
  const shown = limit === null ? files : files.slice(0, limit);
  if (flags.json) {
    await out.jsonArray(shown);
    return;
  }
  for (const file of shown) printFile(out, file, { now: machine.clock.now(), all: flags.all });
  if (files.length === 0) {
    out.line('nothing that was handed over tells of files');
    err.line(dim('next: '), widen(flags, 'files'));
  }
  if (shown.length < files.length)
    err.line(dim(`${files.length - shown.length} more; all of them: handover files --limit 0`));
}

function printFile(out: Output, file: HandedFile, { now, all }: { now: number; all: boolean }): void {
  const counts = (['created', 'edited', 'deleted', 'read', 'named'] as const)
    .filter((touch) => file[touch] > 0)
    .map((touch) => `${touch} ${file[touch]}`);
  const age = describeAge(now - Date.parse(file.last_at));
  const project = all ? `${file.project.name}, ` : '';
  out.line(bold(file.path));
  out.line(
    dim(
      `  ${project}${file.sessions} ${file.sessions === 1 ? 'session' : 'sessions'}: ${counts.join(', ')}; by ${file.agents.join(', ')}; last ${age}, ${file.handover}`,
    ),
  );
}

export const files: Command<CliContext> = buildCommand<QuestionFlags, [], CliContext>({
  func: runFiles,
  parameters: {
    flags: questionFlags,
  },
  docs: { brief: 'The files that sessions worked on, those first that most of them changed' },
});
