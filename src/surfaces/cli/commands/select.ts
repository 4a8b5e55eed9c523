import { findStore, withCatalog } from '../../../app/context.ts';
import { dim } from '../../../app/describe/styled-text.ts';
import { suggestNext } from '../../../app/find-handover.ts';
import { requireReader } from '../../../app/parse.ts';
import { HandoverError, notFoundError } from '../../../errors.ts';
import { type CatalogRow, listByWork, takeRows } from '../../../store/catalog.ts';
import type { CliContext } from '../context.ts';
import { filterFlags, toFilter, toLimit } from '../filters.ts';
import { command, type FlagValues, json, toggle } from '../flags.ts';

const flags = { ...filterFlags, printId: toggle('Print the newest match without asking'), json };

export const select = command('select', runSelect, { flags });

/** More than anybody scrolls through; typing narrows what was loaded. */
const ROWS_TO_PICK_FROM = 5000;

async function runSelect(this: CliContext, values: FlagValues<typeof flags>): Promise<void> {
  const filter = await toFilter(values, this);
  const limit = values.printId ? 1 : (toLimit(values, ROWS_TO_PICK_FROM) ?? ROWS_TO_PICK_FROM);
  const rows = await withCatalog(this, findStore(this), (catalog) => takeRows(listByWork(catalog, filter), limit));
  const [newest] = rows;
  // An empty output would be taken for an id: `handover show $(handover select)` shows the newest without one.
  if (newest === undefined)
    throw notFoundError('no handover matches', await suggestNext(findStore(this), { folder: values.project }));
  const row = values.printId ? newest : await pickRow(this, rows);
  if (values.json) this.out.json(row);
  else this.out.line(row.id);
  if (Number.isFinite(this.out.columns) && !values.json && !values.printId)
    this.err.line(dim('next: '), `handover resume ${row.id}, or handover to AGENT --from ${row.id}`);
}

async function pickRow(context: CliContext, rows: readonly CatalogRow[]): Promise<CatalogRow> {
  if (!context.interactive)
    throw new HandoverError('HANDOVER_USAGE', 'there is no terminal to select in', {
      hint: 'In a script, take the newest match: handover select --print-id',
    });
  const { pickFromRows } = await import('../prompts.ts');
  const row = await pickFromRows({ rows, now: context.machine.clock.now(), preview: await openPreview(context) });
  if (row !== null) return row;
  throw new HandoverError('HANDOVER_CANCELLED', 'nothing was selected');
}

const LINES_SHOWN = 4;

/** Briefs are compiled when they are shown, once. */
async function openPreview(context: CliContext): Promise<(id: string) => readonly string[]> {
  const { compileBrief, DEFAULT_BUDGET } = await import('../../../handover/brief/compile.ts');
  const { readIntact } = await import('../../../store/handovers.ts');
  const { readMarked } = await import('../../../store/marks.ts');
  const store = findStore(context);
  const reader = requireReader('generic');
  const known = new Map<string, readonly string[]>();
  const read = (id: string): readonly string[] => {
    const handover = readIntact(store, id);
    if (handover === null) return [];
    const { text } = compileBrief(readMarked(store, handover), reader, { budget: DEFAULT_BUDGET });
    // Below its title and where it is from.
    const lines = text.split('\n').filter((line) => line.startsWith('> '));
    const below = lines.slice(lines.findIndex((line) => line.startsWith('> from ')) + 1);
    const asked = handover.facts.find(({ detail }) => detail?.role === 'current')?.text;
    const first = asked === undefined || asked.startsWith(handover.title) ? [] : [`asked: ${asked}`];
    const rest = below.map((line) => line.slice(2)).filter((line) => line !== handover.title);
    return [...first, ...rest].slice(0, LINES_SHOWN);
  };
  return (id) => {
    const lines = known.get(id) ?? read(id);
    known.set(id, lines);
    return lines;
  };
}
