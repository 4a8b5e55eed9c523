import { NAME_TAILS } from './assigned.ts';
import { listCases } from './cases.ts';
import { ASCII, NAME_ENDS } from './characters.ts';
import type { Rule } from './rule.ts';
import { RULES } from './rules/table.ts';
import { packPair, packThree, ThreeTable } from './three-table.ts';

/** What three characters, or two, may be the beginning of. */
export interface Sign {
  /** The longest first: it says more. */
  readonly starts: Start[];
  readonly pivots: { literal: string; rule: Rule }[];
  /** Whether a name that is given a secret may end so. */
  isTail: boolean;
}

export interface Start {
  literal: string;
  rules: Rule[];
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const HEX = '0123456789abcdefABCDEF';
const ANY = Array.from({ length: ASCII + 1 }, (_, code) => String.fromCharCode(code)).join('');

/** By two characters those that may follow: a URL, a flag, and what escapes are undone for. */
const OTHERS: readonly (readonly [pair: string, thirds: string])[] = [
  [':/', '/'],
  ['--', LETTERS],
  ['\\u', HEX],
  ['\\x', HEX],
  ...[...HEX].map((digit) => [`%${digit}`, HEX] as const),
  ['\\\n', ANY],
  ['\\\r', ANY],
  ['"+', ANY],
  ["'+", ANY],
  ['" ', '+'],
  ["' ", '+'],
];

/** The sign of most ends of names. */
const TAIL: Sign = { starts: [], pivots: [], isTail: true };

/** All signs: where one may stand, and what it is then. */
export class Signs {
  readonly #table = new ThreeTable();
  /** By three characters, or by two where the third one may be one of many. */
  readonly #signs = new Map<number, Sign>();

  constructor() {
    const pairs = [...OTHERS];
    for (const rule of RULES) {
      const { starts = [], pivots = [], thirds } = rule;
      for (const literal of starts) addStart(this.#add(literal), { literal, rule });
      for (const literal of pivots) this.#add(literal).pivots.push({ literal, rule });
      if (thirds !== undefined) for (const pair of [...starts, ...pivots]) pairs.push([pair, thirds]);
    }
    for (const tail of NAME_TAILS.flatMap(listCases)) this.#addTail(tail);
    for (const [pair, thirds] of pairs) this.#table.addPair(pair, thirds);
  }

  /** The first place in `bytes` from `from` to before `to` where a sign stands; `to` where there is none. */
  findNext(bytes: Uint8Array, from: number, to: number): number {
    return this.#table.findNext(bytes, from, to);
  }

  find(text: string, at: number): Sign | undefined {
    return this.#signs.get(packThree(text, at));
  }

  /** What is known by two characters already. */
  findShort(text: string, at: number): Sign | undefined {
    return this.#signs.get(markPair(packPair(text.charCodeAt(at), text.charCodeAt(at + 1))));
  }

  #add(literal: string): Sign {
    const isShort = literal.length === 2;
    const key = isShort
      ? markPair(packPair(literal.charCodeAt(0), literal.charCodeAt(1)))
      : packThree(literal, 0);
    if (!isShort) this.#table.addThree(literal, literal.charAt(3));
    const known = this.#signs.get(key);
    if (known !== undefined) return known;
    const sign: Sign = { starts: [], pivots: [], isTail: false };
    this.#signs.set(key, sign);
    return sign;
  }

  #addTail(tail: string): void {
    this.#table.addThree(tail, NAME_ENDS);
    const key = packThree(tail, 0);
    const known = this.#signs.get(key);
    if (known === undefined) this.#signs.set(key, TAIL);
    else known.isTail = true;
  }
}

/** No three characters have this number. */
function markPair(pair: number): number {
  return -1 - pair;
}

let built: Signs | null = null;

/** Built when the first text is looked at. */
export function getSigns(): Signs {
  built ??= new Signs();
  return built;
}

function addStart({ starts }: Sign, { literal, rule }: { literal: string; rule: Rule }): void {
  const known = starts.find((start) => start.literal === literal);
  if (known !== undefined) known.rules.push(rule);
  else {
    starts.push({ literal, rules: [rule] });
    if (starts.length > 1) starts.sort((a, b) => b.literal.length - a.literal.length);
  }
}
