import { baseName } from '../model/paths.ts';
import { findNames } from './find-names.ts';
import { findTicked } from './names.ts';
import { findStems } from './shell.ts';
import { netFilePoints, type Valuation } from './value.ts';

/** The names in a text that are worth something, with their values. Files by base name, commands by stem. */
export function weighNames(text: string, valuation: Valuation): Record<string, number> {
  const { values } = valuation;
  const weighed = new Map<string, number>();
  const add = (name: string, points: number | undefined): void => {
    if (points !== undefined && points > 0) weighed.set(name, Math.max(points, weighed.get(name) ?? 0));
  };
  const { paths, symbols, qualified, errors, references } = findNames(text);
  for (const name of symbols) add(name, values.symbol.get(name));
  for (const name of qualified) add(name, values.qualified.get(name));
  for (const name of errors) add(name, values.error.get(name));
  for (const name of references) add(name, values.reference.get(name));
  for (const path of paths) {
    const name = baseName(path);
    if (values.file.has(name)) weighed.set(name, netFilePoints(valuation, name));
  }
  for (const ticked of findTicked(text)) {
    add(ticked, values.qualified.get(ticked));
    if (ticked.includes(' ')) for (const stem of findStems(ticked)) add(stem, values.stem.get(stem));
  }
  return Object.fromEntries(weighed);
}
