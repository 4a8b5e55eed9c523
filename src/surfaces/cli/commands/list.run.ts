import { describeAge } from '../../../model/time.ts';
import { type CatalogRow, takeRows } from '../../../store/catalog.ts';
import { type CliContext, findStore, refuseBoth, withCatalog } from '../context.ts';
import { toFilter, toLimit } from '../filters.ts';
import { bold, dim, type Output } from '../output.ts';
import type { ListFlags } from './list.ts';

const ROWS_FOR_A_PERSON = 20;

export async function runList(this: CliContext, flags: ListFlags): Promise<void> {
  const limit = flags.latest ? 1 : toLimit(flags, flags.json ? null : ROWS_FOR_A_PERSON);
  if (flags.latest && flags.limit !== undefined && flags.limit !== '0')
    throw refuseBoth('--latest', '--limit');
  const filter = await toFilter(flags, this.machine);
  await withCatalog(this, findStore(this), async (catalog) => {
    const rows = catalog.rows(filter);
    if (flags.json) await this.out.jsonArray(limit === null ? rows : await takeRows(rows, limit));
    else await printRows(this, rows, { limit, latest: flags.latest });
  });
}

async function printRows(
  context: CliContext,
  rows: AsyncIterable<CatalogRow>,
  ask: { limit: number | null; latest: boolean },
): Promise<void> {
  const now = context.machine.clock.now();
  let shown = 0;
  for await (const row of rows) {
    if (ask.limit !== null && shown === ask.limit) {
      if (!ask.latest) context.err.line(dim(`more are kept; all of them: handover list --limit 0`));
      return;
    }
    printRow(context.out, row, now);
    shown++;
  }
  if (shown === 0) context.out.line('no handovers found');
}

/** One write a row: a list is mostly its writes. */
function printRow(out: Output, row: CatalogRow, now: number): void {
  const age = describeAge(now - Date.parse(row.created_at));
  const steps = row.next.map((step) => step.split('\n')[0]).join(' | ');
  out.line(
    bold(row.id),
    `  ${row.agent.padEnd(12)}  ${row.title}\n`,
    dim(`  ${row.project.name}, ${age}`),
    ...(row.next.length === 0 ? [] : ['\n', dim(`  next: ${steps}`)]),
  );
}
