import { countFiles, countFirstFiles, type FileActivity } from '../../../app/ask/files.ts';
import { bold, dim } from '../../../app/describe/styled-text.ts';
import { withFactSource } from '../../../app/search.ts';
import { countNouns } from '../../../model/text.ts';
import { describeAge } from '../../../model/time.ts';
import type { CliContext } from '../context.ts';
import { suggestAll, toLimit } from '../filters.ts';
import { command } from '../flags.ts';
import type { Output } from '../output.ts';
import { type AskFlags, askFlags, printNext, toScope } from '../questions.ts';

export const files = command('files', runFiles, { flags: askFlags });

const ROWS_FOR_A_PERSON = 20;

async function runFiles(this: CliContext, flags: AskFlags): Promise<void> {
  const { machine, out, err } = this;
  const limit = toLimit(flags, flags.json ? null : ROWS_FOR_A_PERSON);
  const { files: shown, more } = await withFactSource(this, await toScope(flags, this), async (source) => {
    const ranked = limit === null ? null : await source.files();
    if (limit !== null && ranked !== null) return await countFirstFiles(ranked, limit, machine);
    const all = await countFiles(source.facts({ kinds: ['file'] }), machine);
    return { files: all.slice(0, limit ?? all.length), more: all.length - (limit ?? all.length) };
  });
  if (flags.json) return await out.jsonArray(shown);
  for (const file of shown) printFile(out, file, { now: machine.clock.now(), all: flags.all });
  if (shown.length === 0) {
    out.line('no handover mentions a file');
    await printNext(this, flags, 'files');
  }
  if (more === null || more > 0) err.line(dim(`${more ?? 'there are'} more; show all: ${suggestAll('files', flags)}`));
}

function printFile(out: Output, file: FileActivity, { now, all }: { now: number; all: boolean }): void {
  const counts = (['created', 'edited', 'committed', 'deleted', 'read', 'named'] as const)
    .filter((touch) => file[touch] > 0)
    .map((touch, at) => `${touch} in ${at === 0 ? countNouns(file[touch], 'session') : file[touch]}`);
  const age = describeAge(now - Date.parse(file.last_at));
  const project = all ? `${file.project.name}, ` : '';
  const agents = file.agents.join(', ');
  out.line(bold(file.path));
  out.line(dim(`  ${project}${counts.join(', ')}, last ${age}, by ${agents}, ${file.handover}`));
}
