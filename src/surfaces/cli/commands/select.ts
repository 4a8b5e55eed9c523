import { findStore, withCatalog } from '../../../app/context.ts';
import { notFoundError } from '../../../app/failure.ts';
import { HandoverError } from '../../../errors.ts';
import { type CatalogRow, takeRows } from '../../../store/catalog.ts';
import { sortByWork } from '../../../store/newest.ts';
import type { CliContext } from '../context.ts';
import { filterFlags, toFilter, toLimit } from '../filters.ts';
import { command, type FlagValues, json, toggle } from '../flags.ts';

const flags = { ...filterFlags, printId: toggle('Print the newest match without asking'), json };

export const select = command('select', runSelect, { flags });

/** More than anybody scrolls through; typing narrows what was loaded. */
const ROWS_TO_PICK_FROM = 5000;

async function runSelect(this: CliContext, values: FlagValues<typeof flags>): Promise<void> {
  const filter = await toFilter(values, this.machine);
  const limit = values.printId ? 1 : (toLimit(values, ROWS_TO_PICK_FROM) ?? ROWS_TO_PICK_FROM);
  const rows = await withCatalog(this, findStore(this), (catalog) => takeRows(sortByWork(catalog.rows(filter)), limit));
  const [newest] = rows;
  if (newest === undefined) throw notFoundError('no handover matches', 'List handovers: handover list');
  const row = values.printId ? newest : await pickRow(this, rows);
  if (values.json) this.out.json(row);
  else this.out.line(row.id);
}

async function pickRow(context: CliContext, rows: readonly CatalogRow[]): Promise<CatalogRow> {
  if (!context.interactive)
    throw new HandoverError('HANDOVER_USAGE', 'there is no terminal to select in', {
      hint: 'In a script, take the newest match: handover select --print-id',
    });
  const { pickFromRows } = await import('../prompts.ts');
  const row = await pickFromRows(rows, context.machine.clock.now());
  if (row !== null) return row;
  throw new HandoverError('HANDOVER_CANCELLED', 'nothing was selected');
}
