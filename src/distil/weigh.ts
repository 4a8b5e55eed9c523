import { baseName } from '../model/base-name.ts';
import {
  findErrorNames,
  findPaths,
  findQualified,
  findReferences,
  findSymbols,
  findTicked,
} from './names.ts';
import { findStems } from './shell.ts';
import { netFilePoints, type Valuation } from './value.ts';

/** The names in a text that are worth something, with their values. Files by base name, commands by stem. */
export function weighNames(text: string, valuation: Valuation): Record<string, number> {
  const { values } = valuation;
  const weighed = new Map<string, number>();
  const add = (name: string, points: number | undefined): void => {
    if (points !== undefined && points > 0) weighed.set(name, Math.max(points, weighed.get(name) ?? 0));
  };
  for (const name of findSymbols(text)) add(name, values.symbol.get(name));
  for (const name of findQualified(text)) add(name, values.qualified.get(name));
  for (const name of findErrorNames(text)) add(name, values.error.get(name));
  for (const name of findReferences(text)) add(name, values.reference.get(name));
  for (const path of findPaths(text)) {
    const name = baseName(path);
    if (values.file.has(name)) weighed.set(name, netFilePoints(valuation, name));
  }
  for (const ticked of findTicked(text)) {
    add(ticked, values.qualified.get(ticked));
    if (ticked.includes(' ')) for (const stem of findStems(ticked)) add(stem, values.stem.get(stem));
  }
  return Object.fromEntries(weighed);
}
