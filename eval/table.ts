import { groupBy, type Standing } from './aggregate.ts';
import { METRICS, type Metric, type Score } from './metrics.ts';

const LABEL_WIDTH = 14;
const COLUMN_WIDTH = 10;
const NOTHING = '–';

/** A table for each budget, an arm a column. */
export function printTables(standings: readonly Standing[]): string[] {
  return [...groupBy(standings, ({ budget }) => String(budget)).values()].flatMap((columns, index) => [
    ...(index === 0 ? [] : ['']),
    ...printTable(columns),
  ]);
}

function printTable(columns: readonly Standing[]): string[] {
  const [one] = columns;
  if (one === undefined) return [];
  const cells = (label: string, cellOf: (standing: Standing) => string): string =>
    `${label.padEnd(LABEL_WIDTH)}${columns.map((column) => cellOf(column).padStart(COLUMN_WIDTH)).join('')}`;
  const numbers = (label: string, metric: Metric, scoreOf: (standing: Standing) => Score): string[] =>
    columns.some((column) => scoreOf(column).has(metric))
      ? [cells(label, (column) => formatValue(metric, scoreOf(column).get(metric)))]
      : [];
  return [
    `${one.budget} tokens, ${countOf(one.cuts, 'cut')} of ${countOf(one.repositories, 'repository', 'repositories')}`,
    cells('', ({ arm }) => arm),
    ...METRICS.flatMap((metric) => numbers(metric, metric, ({ mean }) => mean)),
    ...(['FUT', 'SUM'] as const).flatMap((metric) =>
      one.repositories > 1 ? numbers(`macro ${metric}`, metric, ({ macro }) => macro) : [],
    ),
    ...(one.later.size > 0 ? numbers('FUT, first', 'FUT', ({ first }) => first) : []),
    ...(one.later.size > 0 ? numbers('FUT, later', 'FUT', ({ later }) => later) : []),
    ...(columns.some(({ failures }) => failures.length > 0)
      ? [cells('failed', ({ failures }) => String(failures.length))]
      : []),
  ];
}

function formatValue(metric: Metric, value: number | undefined): string {
  if (value === undefined) return NOTHING;
  return metric === 'tokens' ? value.toFixed(0) : value.toFixed(3);
}

export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
