import { WORD } from '../names/characters.ts';

const TICK = '\x60?';
const NAME: string = `${TICK}[A-Za-z_$][${WORD}$.:#<>\\-]*(?:\\(\\))?${TICK}`;
/** Four or more bare names with commas between them. */
const NAME_LIST = new RegExp(String.raw`(?:${NAME},\s+){3,}${NAME}`, 'gu');

export function removeNameLists(text: string): string {
  return text.replace(NAME_LIST, '');
}

export interface NameLists {
  /** Of the text. */
  share: number;
  names: ReadonlySet<string>;
}

export function findNameLists(text: string): NameLists {
  const lists = text.match(NAME_LIST) ?? [];
  const names = lists.flatMap((list) => list.split(/,\s+/)).map((name) => name.replace(/`|\(\)/g, ''));
  return {
    share: Buffer.byteLength(lists.join('')) / Math.max(1, Buffer.byteLength(text)),
    names: new Set(names),
  };
}
