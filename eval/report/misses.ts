import { compareCodeUnits } from '../../src/model/hash.ts';
import { cleanLine, cutToBytes } from '../../src/model/text.ts';
import { nameCut, type Result } from '../evaluate.ts';
import { METRICS, type Metric } from '../score/metrics.ts';
import { groupBy } from './aggregate.ts';
import { countOf } from './table.ts';

/** Something that a metric missed, and where. */
export interface Miss {
  item: string;
  /** As `session:cut`. */
  cuts: string[];
}

/** For each metric what was missed, most often first. */
export function gatherMisses(results: readonly Result[]): Map<Metric, Miss[]> {
  const gathered = new Map<Metric, Miss[]>();
  for (const metric of METRICS) {
    const missed = results.flatMap((result) =>
      (result.misses.get(metric) ?? []).map((item) => ({ item, cut: nameCut(result) })),
    );
    const misses = [...groupBy(missed, ({ item }) => item)]
      .map(([item, places]) => ({ item, cuts: places.map(({ cut }) => cut) }))
      .sort((a, b) => b.cuts.length - a.cuts.length || compareCodeUnits(a.item, b.item));
    if (misses.length > 0) gathered.set(metric, misses);
  }
  return gathered;
}

function describeMisses(metric: Metric): string {
  if (metric.startsWith('told.')) return 'not told';
  if (metric.startsWith('claims.')) return 'claimed and not labelled';
  if (metric === 'stale') return 'told and no longer true';
  if (metric === 'namesUsed') return 'listed and not used';
  return metric === 'useful' ? 'lines without anything that mattered' : 'missed';
}

const ITEM_BYTES = 160;
const MOST_CUTS = 4;

export function printMisses(results: readonly Result[], top: number): string[] {
  return [...gatherMisses(results)].flatMap(([metric, misses]) => {
    const count = misses.reduce((sum, { cuts }) => sum + cuts.length, 0);
    const cuts = new Set(misses.flatMap(({ cuts }) => cuts)).size;
    return [
      '',
      `${metric}: ${count} ${describeMisses(metric)}, in ${countOf(cuts, 'cut')}`,
      ...misses.slice(0, top).map(printMiss),
      ...(misses.length > top ? [`      … ${misses.length - top} more`] : []),
    ];
  });
}

function printMiss({ item, cuts }: Miss): string {
  const places = cuts.length > MOST_CUTS ? [...cuts.slice(0, MOST_CUTS), '…'] : cuts;
  return `${String(cuts.length).padStart(5)} ${cutToBytes(cleanLine(item), ITEM_BYTES)}  (${places.join(' ')})`;
}
