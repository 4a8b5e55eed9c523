import { METRICS, type Metric, type Score } from '../score/metrics.ts';
import { groupBy, measureReach, type Standing } from './aggregate.ts';

const LABEL_WIDTH = 14;
const COLUMN_WIDTH = 10;
const NOTHING = '–';

/** A table for each budget, an arm a column, and over several budgets what their size brings. */
export function printTables(standings: readonly Standing[]): string[] {
  const tables = [...groupBy(standings, ({ budget }) => String(budget)).values()].map(printTable);
  return [...tables, printReach(standings)]
    .filter((table) => table.length > 0)
    .flatMap((table, index) => (index === 0 ? table : ['', ...table]));
}

function printReach(standings: readonly Standing[]): string[] {
  const arms = [...new Set(standings.map(({ arm }) => arm))];
  const budgets = [...new Set(standings.map(({ budget }) => budget))].sort((a, b) => a - b);
  if (budgets.length < 2) return [];
  return [
    `area under FUT and SUM from ${budgets[0]} to ${budgets.at(-1)} tokens`,
    printCells('', arms),
    ...(['FUT', 'SUM'] as const).map((metric) =>
      printCells(
        `eff ${metric}`,
        arms.map((arm) => formatValue(metric, measureReach(standings, arm, metric))),
      ),
    ),
  ];
}

function printCells(label: string, cells: readonly string[]): string {
  return `${label.padEnd(LABEL_WIDTH)}${cells.map((cell) => cell.padStart(COLUMN_WIDTH)).join('')}`;
}

function printTable(columns: readonly Standing[]): string[] {
  const [one] = columns;
  if (one === undefined) return [];
  const cells = (label: string, cellOf: (standing: Standing) => string): string =>
    printCells(label, columns.map(cellOf));
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

function formatValue(metric: Metric, value: number | null | undefined): string {
  if (value === undefined || value === null) return NOTHING;
  return metric === 'tokens' ? value.toFixed(0) : value.toFixed(3);
}

export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
