import { buildCommand, type Command } from '@stricli/core';
import { HandoverError } from '../../../errors.ts';
import { type CatalogRow, takeRows } from '../../../store/catalog.ts';
import { type CliContext, findStore, withCatalog } from '../context.ts';
import { type FilterFlags, filterFlags, toFilter, toLimit } from '../filters.ts';

export interface SelectFlags extends FilterFlags {
  printId: boolean;
  json: boolean;
}

export const select: Command<CliContext> = buildCommand<SelectFlags, [], CliContext>({
  func: runSelect,
  parameters: {
    flags: {
      ...filterFlags,
      printId: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Do not ask: print the newest match',
      },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Pick a handover by typing parts of it, and print its id' },
});

/** More than anybody scrolls through; typing narrows what was loaded. */
const ROWS_TO_PICK_FROM = 5000;

export async function runSelect(this: CliContext, flags: SelectFlags): Promise<void> {
  const filter = await toFilter(flags, this.machine);
  const limit = flags.printId ? 1 : (toLimit(flags, ROWS_TO_PICK_FROM) ?? ROWS_TO_PICK_FROM);
  const rows = await withCatalog(this, findStore(this), (catalog) => takeRows(catalog.rows(filter), limit));
  const [newest] = rows;
  if (newest === undefined) {
    throw new HandoverError('HANDOVER_NOT_FOUND', 'no handover matches', {
      hint: 'See what is kept: handover list',
    });
  }
  const row = flags.printId ? newest : await pickRow(this, rows);
  if (flags.json) this.out.json(row);
  else this.out.line(row.id);
}

async function pickRow(context: CliContext, rows: readonly CatalogRow[]): Promise<CatalogRow> {
  if (!context.interactive) {
    throw new HandoverError('HANDOVER_USAGE', 'there is no terminal to pick in', {
      hint: 'In a script, take the newest match: handover select --print-id',
    });
  }
  const { pickFromRows } = await import('../picker.ts');
  const row = await pickFromRows(rows, context.machine.clock.now());
  if (row !== null) return row;
  throw new HandoverError('HANDOVER_CANCELLED', 'nothing was picked');
}
