import { autocomplete } from '@clack/prompts';
import { cutToBytes, revealControls } from '../../model/text.ts';
import { describeAge } from '../../model/time.ts';
import type { CatalogRow } from '../../store/catalog.ts';
import { rankFuzzy } from './fuzzy.ts';

const MAX_TITLE_BYTES = 60;
const ROWS_SHOWN = 10;

/** Null when the person gave up. The picker is drawn on standard error, so that the id alone is on standard output. */
export async function pickFromRows(rows: readonly CatalogRow[], now: number): Promise<CatalogRow | null> {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const picked = await autocomplete({
    message: 'Which handover? Type parts of its title, project, agent or id',
    output: process.stderr,
    maxItems: ROWS_SHOWN,
    filter: () => true,
    options() {
      return rankFuzzy(this.userInput, rows, searchTextOf).map((row) => describeOption(row, now));
    },
  });
  return typeof picked === 'string' ? (byId.get(picked) ?? null) : null;
}

function searchTextOf(row: CatalogRow): string {
  return [row.title, row.project.name, row.agent, row.id, ...row.next].join(' ');
}

function describeOption(row: CatalogRow, now: number): { value: string; label: string; hint: string } {
  const title = cutToBytes(row.title, MAX_TITLE_BYTES);
  const age = describeAge(now - Date.parse(row.created_at));
  return {
    value: row.id,
    label: revealControls(title),
    hint: revealControls(`${row.project.name}, ${row.agent}, ${age}`),
  };
}
