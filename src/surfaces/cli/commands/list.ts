import { join } from 'node:path';
import { findStore, withCatalog } from '../../../app/context.ts';
import { dim, yellow } from '../../../app/describe/styled-text.ts';
import { NO_AGENT } from '../../../model/fact-roles.ts';
import { cleanLine } from '../../../model/text.ts';
import { isSavedByHand } from '../../../model/time.ts';
import { pathExists } from '../../../platform/folders.ts';
import { type CatalogRow, listByWork, takeRows } from '../../../store/catalog.ts';
import type { StatusEntry } from '../../../store/status.ts';
import { REMOTES, type Store } from '../../../store/store.ts';
import type { CliContext } from '../context.ts';
import { filterFlags, suggestAll, toFilter, toLimit, withOpenSteps } from '../filters.ts';
import { command, conflictError, type FlagValues, json, remoteFlag, terminalFlag, toggle } from '../flags.ts';
import { describeRowAge, type Output, showItem } from '../output.ts';

const flags = {
  ...filterFlags,
  latest: toggle('The newest only'),
  terminal: terminalFlag,
  status: toggle('Show the status of each; --terminal shows it too'),
  remote: remoteFlag,
  json,
};

export const list = command('list', runList, { flags });

const ROWS_FOR_A_PERSON = 20;

type ListRow = CatalogRow & { status?: StatusEntry['status']; late?: string };

async function runList(this: CliContext, values: FlagValues<typeof flags>): Promise<void> {
  const { latest, terminal, status } = values;
  const limit = latest ? 1 : toLimit(values, values.json ? null : ROWS_FOR_A_PERSON);
  if (latest && values.limit !== undefined && values.limit !== '0') throw conflictError('--latest', '--limit');
  const filter = await toFilter(values, this);
  if (values.remote !== undefined) {
    const { listTeam } = await import('../../../app/team.ts');
    const rows = await listTeam(this, values.remote, { ...filter, limit });
    if (values.json) await this.out.jsonArray(rows);
    else await printRows(this, rows, { limit: null, all: null });
    return;
  }
  const store = findStore(this);
  const isNothing = await withCatalog(this, store, async (catalog) => {
    const found = withOpenSteps(store, listByWork(catalog, filter));
    const isPlain = terminal === undefined && !status;
    const rows = await addLate(store, isPlain ? found : await addStatus(store, found, terminal));
    if (!values.json) return !(await printRows(this, rows, { limit, all: latest ? null : suggestAll('list', values) }));
    await this.out.jsonArray(limit === null ? rows : await takeRows(rows, limit));
    return false;
  });
  if (!isNothing) return;
  const { suggestNext } = await import('../../../app/find-handover.ts');
  this.err.line(dim('next: '), await suggestNext(store, { folder: values.project }));
}

async function addStatus(
  store: Store,
  rows: AsyncIterable<CatalogRow>,
  terminal: string | undefined,
): Promise<AsyncIterable<ListRow>> {
  const { isFromTerminal } = await import('../../../app/find-handover.ts');
  const { readStatuses } = await import('../../../store/status.ts');
  const statuses = readStatuses(store);
  return (async function* () {
    for await (const row of rows)
      if (terminal === undefined || isFromTerminal(row, terminal))
        yield { ...row, status: statuses.get(row.id)?.status ?? 'pending' };
  })();
}

/** Who held the task of a handover that was saved late. Journals are read only where there are remotes. */
async function addLate(store: Store, rows: AsyncIterable<ListRow>): Promise<AsyncIterable<ListRow>> {
  if (!pathExists(join(store.root, REMOTES))) return rows;
  const { readLate } = await import('../../../store/held-tasks.ts');
  const late = readLate(store);
  return (async function* () {
    for await (const row of rows) {
      const holder = late.get(row.id);
      yield holder === undefined ? row : { ...row, late: holder };
    }
  })();
}

/** False where there was none. */
async function printRows(
  context: CliContext,
  rows: AsyncIterable<ListRow> | Iterable<ListRow>,
  { limit, all }: { limit: number | null; all: string | null },
): Promise<boolean> {
  const now = context.machine.clock.now();
  let shown = 0;
  for await (const row of rows) {
    if (limit !== null && shown === limit) {
      if (all !== null) context.err.line(dim(`there are more; list all: ${all}`));
      return true;
    }
    printRow(context.out, row, now);
    shown++;
  }
  if (shown === 0) context.out.line('no handovers found');
  return shown > 0;
}

function describeSigner(signer: string | null): string {
  return signer === null ? 'not signed' : `signed by ${cleanLine(signer)}`;
}

/** One write a row: most of the time of a list is its writes. */
function printRow(out: Output, row: ListRow, now: number): void {
  const isByHand = isSavedByHand(row);
  const steps = row.next.map((step) => step.split('\n')[0]).join(' | ');
  const terminal = row.terminal === null ? '' : `, terminal ${row.terminal}`;
  const origin = row.imported === undefined ? '' : `, imported, ${describeSigner(row.imported.signer)}`;
  const status = row.status === undefined ? '' : `, ${row.status}${terminal}`;
  out.line(
    ...showItem(out, isByHand ? { ...row, agent: NO_AGENT } : row),
    dim(`  ${row.project.name}, ${describeRowAge(row, now)}${origin}${status}`),
    ...(row.late === undefined ? [] : [yellow(`  late: ${row.late} took the task over`)]),
    ...(row.next.length === 0 ? [] : ['\n', dim(`  next: ${out.fit(steps, 8)}`)]),
  );
}
