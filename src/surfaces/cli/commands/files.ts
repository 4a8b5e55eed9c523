import { countFiles, type FileActivity } from '../../../app/ask/files.ts';
import { bold, dim } from '../../../app/describe/styled-text.ts';
import { withFactSource } from '../../../app/search.ts';
import { describeAge } from '../../../model/time.ts';
import type { CliContext } from '../context.ts';
import { suggestAll, toLimit } from '../filters.ts';
import { command } from '../flags.ts';
import type { Output } from '../output.ts';
import { type QuestionFlags, questionFlags, suggestWider, toScope } from '../questions.ts';

export const files = command('files', runFiles, { flags: questionFlags });

const ROWS_FOR_A_PERSON = 20;

async function runFiles(this: CliContext, flags: QuestionFlags): Promise<void> {
  const { machine, out, err } = this;
  const found = await withFactSource(this, await toScope(flags, this), (source) =>
    countFiles(source.facts({ kinds: ['file'] }), machine.home),
  );
  const limit = toLimit(flags, flags.json ? null : ROWS_FOR_A_PERSON);
  const shown = limit === null ? found : found.slice(0, limit);
  if (flags.json) return await out.jsonArray(shown);
  for (const file of shown) printFile(out, file, { now: machine.clock.now(), all: flags.all });
  if (found.length === 0) {
    out.line('no handover mentions a file');
    err.line(dim('next: '), suggestWider(flags, 'files'));
  }
  if (shown.length < found.length)
    err.line(dim(`${found.length - shown.length} more; show all: ${suggestAll('files', flags)}`));
}

function printFile(out: Output, file: FileActivity, { now, all }: { now: number; all: boolean }): void {
  const counts = (['created', 'edited', 'deleted', 'read', 'named'] as const)
    .filter((touch) => file[touch] > 0)
    .map((touch) => `${touch} ${file[touch]}`);
  const age = describeAge(now - Date.parse(file.last_at));
  const project = all ? `${file.project.name}, ` : '';
  const sessions = file.sessions === 1 ? '1 session' : `${file.sessions} sessions`;
  const agents = file.agents.join(', ');
  out.line(bold(file.path));
  out.line(dim(`  ${project}${sessions}: ${counts.join(', ')}; by ${agents}; last ${age}, ${file.handover}`));
}
