import { findStore, withCatalog } from '../../../app/context.ts';
import { bold, dim } from '../../../app/describe/styled-text.ts';
import { describeAge } from '../../../model/time.ts';
import { type CatalogRow, takeRows } from '../../../store/catalog.ts';
import { sortByWork, timeOfWork } from '../../../store/newest.ts';
import type { StatusEntry } from '../../../store/status.ts';
import type { Store } from '../../../store/store.ts';
import type { CliContext } from '../context.ts';
import { filterFlags, suggestAll, toFilter, toLimit } from '../filters.ts';
import { command, conflictError, type FlagValues, json, terminalFlag, toggle } from '../flags.ts';
import type { Output } from '../output.ts';

const flags = {
  ...filterFlags,
  latest: toggle('The newest only'),
  terminal: terminalFlag,
  status: toggle('Show the status of each; --terminal shows it too'),
  json,
};

export const list = command('list', runList, { flags });

const ROWS_FOR_A_PERSON = 20;

type ListRow = CatalogRow & { status?: StatusEntry['status'] };

async function runList(this: CliContext, values: FlagValues<typeof flags>): Promise<void> {
  const { latest, terminal, status } = values;
  const limit = latest ? 1 : toLimit(values, values.json ? null : ROWS_FOR_A_PERSON);
  if (latest && values.limit !== undefined && values.limit !== '0') throw conflictError('--latest', '--limit');
  const filter = await toFilter(values, this.machine);
  const store = findStore(this);
  await withCatalog(this, store, async (catalog) => {
    const found = sortByWork(catalog.rows(filter));
    const isPlain = terminal === undefined && !status;
    const rows: AsyncIterable<ListRow> = isPlain ? found : await addStatus(store, found, terminal);
    if (values.json) await this.out.jsonArray(limit === null ? rows : await takeRows(rows, limit));
    else await printRows(this, rows, { limit, all: latest ? null : suggestAll('list', values) });
  });
}

async function addStatus(
  store: Store,
  rows: AsyncIterable<CatalogRow>,
  terminal: string | undefined,
): Promise<AsyncIterable<ListRow>> {
  const { isFromTerminal } = await import('../../../app/restore.ts');
  const { readStatuses } = await import('../../../store/status.ts');
  const statuses = readStatuses(store);
  return (async function* () {
    for await (const row of rows)
      if (terminal === undefined || isFromTerminal(row, terminal))
        yield { ...row, status: statuses.get(row.id)?.status ?? 'pending' };
  })();
}

async function printRows(
  context: CliContext,
  rows: AsyncIterable<ListRow>,
  { limit, all }: { limit: number | null; all: string | null },
): Promise<void> {
  const now = context.machine.clock.now();
  let shown = 0;
  for await (const row of rows) {
    if (limit !== null && shown === limit) {
      if (all !== null) context.err.line(dim(`there are more; list all: ${all}`));
      return;
    }
    printRow(context.out, row, now);
    shown++;
  }
  if (shown === 0) context.out.line('no handovers found');
}

/** One write a row: most of the time of a list is its writes. */
function printRow(out: Output, row: ListRow, now: number): void {
  const age = describeAge(now - Date.parse(timeOfWork(row)));
  const steps = row.next.map((step) => step.split('\n')[0]).join(' | ');
  const terminal = row.terminal === null ? '' : `, terminal ${row.terminal}`;
  const status = row.status === undefined ? '' : `, ${row.status}${terminal}`;
  out.line(
    bold(row.id),
    `  ${row.agent.padEnd(12)}  ${row.title}\n`,
    dim(`  ${row.project.name}, ${age}${status}`),
    ...(row.next.length === 0 ? [] : ['\n', dim(`  next: ${steps}`)]),
  );
}
