import { WORD } from '../names/characters.ts';
import { findEntities } from '../names/entities.ts';

const MOST_NAMES = 8;
const FEWEST_OTHER_WORDS = 4;
const LABEL = new RegExp(String.raw`^\s*[\-*>]?\s*[A-Za-z][${WORD} \/.#\-]{0,80}:`, 'u');

/**
 * The text as far as names in it earn credit. A list of bare names is useless to whoever goes on, so a name counts only
 * on a line with a file, a label or four other words, and only the first eight names of a line do.
 */
export function keepCredited(text: string): string {
  return text.split('\n').map(keepCreditedInLine).join('\n');
}

function keepCreditedInLine(line: string): string {
  const { file, ident, error, ref, sym, url } = findEntities(line);
  const names = [...new Set([...ident, ...error, ...ref, ...sym, ...url])]
    .map((name) => ({ name, at: line.indexOf(name) }))
    .sort((a, b) => a.at - b.at || a.name.length - b.name.length)
    .map(({ name }) => name);
  if (names.length === 0 || line.startsWith('#')) return line;
  const words = line.match(/[A-Za-z]{2,}/g) ?? [];
  const others = words.filter((word) => !names.some((name) => name.includes(word)));
  if (file.size === 0 && others.length < FEWEST_OTHER_WORDS && !LABEL.test(line)) return '';
  const credited = names.slice(0, MOST_NAMES);
  return names
    .slice(MOST_NAMES)
    .filter((name) => !credited.some((other) => other.includes(name)))
    .reduce((rest, name) => rest.replaceAll(name, '_'), line);
}
