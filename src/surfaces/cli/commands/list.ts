import { buildCommand, type Command } from '@stricli/core';
import { describeAge } from '../../../model/time.ts';
import { type CatalogRow, takeRows } from '../../../store/catalog.ts';
import type { StatusEntry } from '../../../store/status.ts';
import type { Store } from '../../../store/store.ts';
import { type CliContext, findStore, refuseBoth, withCatalog } from '../context.ts';
import { type FilterFlags, filterFlags, toFilter, toLimit } from '../filters.ts';
import { bold, dim, type Output } from '../output.ts';
import { isOfTerminal, terminalFlag } from '../terminal-flag.ts';

export interface ListFlags extends FilterFlags {
  latest: boolean;
  terminal?: string;
  status: boolean;
  json: boolean;
}

export const list: Command<CliContext> = buildCommand<ListFlags, [], CliContext>({
  func: runList,
  parameters: {
    flags: {
      ...filterFlags,
      latest: { kind: 'boolean', default: false, withNegated: false, brief: 'Only the newest' },
      terminal: terminalFlag,
      status: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Tell whether each still waits to be restored; --terminal tells it too',
      },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'List handovers, newest first' },
});

const ROWS_FOR_A_PERSON = 20;

/** A row of the list; with its status where that was asked for. */
type ListRow = CatalogRow & { status?: StatusEntry['status'] };

export async function runList(this: CliContext, flags: ListFlags): Promise<void> {
  const limit = flags.latest ? 1 : toLimit(flags, flags.json ? null : ROWS_FOR_A_PERSON);
  if (flags.latest && flags.limit !== undefined && flags.limit !== '0')
    throw refuseBoth('--latest', '--limit');
  const filter = await toFilter(flags, this.machine);
  const store = findStore(this);
  await withCatalog(this, store, async (catalog) => {
    const found = catalog.rows(filter);
    const isPlain = flags.terminal === undefined && !flags.status;
    const rows: AsyncIterable<ListRow> = isPlain ? found : await addStatus(store, found, flags.terminal);
    if (flags.json) await this.out.jsonArray(limit === null ? rows : await takeRows(rows, limit));
    else await printRows(this, rows, { limit, latest: flags.latest });
  });
}

async function addStatus(
  store: Store,
  rows: AsyncIterable<CatalogRow>,
  terminal: string | undefined,
): Promise<AsyncIterable<ListRow>> {
  const { readStatuses } = await import('../../../store/status.ts');
  const statuses = readStatuses(store);
  return (async function* () {
    for await (const row of rows)
      if (terminal === undefined || isOfTerminal(row, terminal))
        yield { ...row, status: statuses.get(row.id)?.status ?? 'pending' };
  })();
}

async function printRows(
  context: CliContext,
  rows: AsyncIterable<ListRow>,
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
function printRow(out: Output, row: ListRow, now: number): void {
  const age = describeAge(now - Date.parse(row.created_at));
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
