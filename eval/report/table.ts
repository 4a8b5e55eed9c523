import { METRICS, type Metric, type Tally } from '../score/metrics.ts';
import { groupBy, type Standing } from './aggregate.ts';

const LABEL_WIDTH = 22;
const COLUMN_WIDTH = 10;
const NOTHING = '–';

/** A table for each budget, an arm a column. */
export function printTables(standings: readonly Standing[]): string[] {
  const tables = [...groupBy(standings, ({ budget }) => String(budget)).values()].map(printTable);
  return tables.flatMap((table, index) => (index === 0 ? table : ['', ...table]));
}

function printTable(columns: readonly Standing[]): string[] {
  const cuts = Math.max(...columns.map((column) => column.cuts));
  const repositories = Math.max(...columns.map((column) => column.repositories));
  const row = (label: string, cellOf: (standing: Standing) => string): string =>
    `${label.padEnd(LABEL_WIDTH)}${columns.map((column) => cellOf(column).padStart(COLUMN_WIDTH)).join('')}`;
  return [
    `${columns[0]?.budget} tokens, ${countOf(cuts, 'cut')} of ${countOf(repositories, 'repository', 'repositories')}`,
    row('', ({ arm }) => arm),
    ...(columns.some((column) => column.cuts < cuts) ? [row('cuts', (column) => String(column.cuts))] : []),
    ...METRICS.flatMap((metric) => {
      const labels = Math.max(0, ...columns.map(({ score }) => score.get(metric)?.count ?? 0));
      if (labels === 0) return [];
      const label = metric.startsWith('told') ? `${metric} (${labels})` : metric;
      return [row(label, ({ score }) => formatTally(metric, score.get(metric)))];
    }),
    ...(columns.some(({ failures }) => failures.length > 0)
      ? [row('failed', ({ failures }) => String(failures.length))]
      : []),
  ];
}

/** Claims and stale statements are few, and are counted. */
function formatTally(metric: Metric, tally: Tally | undefined): string {
  if (tally === undefined) return NOTHING;
  if (metric === 'stale' || metric.startsWith('claims')) return `${tally.sum} of ${tally.count}`;
  const value = tally.sum / tally.count;
  return metric === 'tokens' ? value.toFixed(0) : value.toFixed(3);
}

export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
