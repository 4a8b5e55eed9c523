import { NAME_TAILS } from './assigned.ts';
import { listCases } from './cases.ts';
import { ASCII, NAME_ENDS } from './characters.ts';
import type { Rule } from './rule.ts';
import { RULES } from './rules/table.ts';
import { packThree, ThreeTable } from './three-table.ts';

/** What three characters may be the beginning of. */
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
  /** Whether a token that begins so is known though its end was cut off. */
  isTelling: boolean;
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

/** All signs: where one may stand, and what it is then. */
export class Signs {
  readonly #table = new ThreeTable();
  readonly #signs = new Map<number, Sign>();

  constructor() {
    for (const rule of RULES) {
      for (const literal of rule.pivots ?? []) this.#add(literal).pivots.push({ literal, rule });
      for (const literal of rule.starts ?? []) addStart(this.#add(literal), { literal, rule });
    }
    for (const { starts } of this.#signs.values()) starts.sort((a, b) => b.literal.length - a.literal.length);
    for (const tail of NAME_TAILS.flatMap(listCases)) this.#add(tail, NAME_ENDS).isTail = true;
    for (const [pair, thirds] of OTHERS) this.#table.add(pair, thirds);
  }

  /** The first place in `bytes` from `from` to before `to` where a sign stands; `to` where there is none. */
  findNext(bytes: Uint8Array, from: number, to: number): number {
    return this.#table.findNext(bytes, from, to);
  }

  find(text: string, at: number): Sign | undefined {
    return this.#signs.get(packThree(text, at));
  }

  #add(literal: string, fourths = literal.charAt(3) || ANY): Sign {
    this.#table.addLong(literal.slice(0, 3), fourths);
    const key = packThree(literal, 0);
    const known = this.#signs.get(key);
    if (known !== undefined) return known;
    const sign: Sign = { starts: [], pivots: [], isTail: false };
    this.#signs.set(key, sign);
    return sign;
  }
}

let built: Signs | null = null;

/** Built when the first text is looked at. */
export function getSigns(): Signs {
  built ??= new Signs();
  return built;
}

function addStart({ starts }: Sign, { literal, rule }: { literal: string; rule: Rule }): void {
  const known = starts.find((start) => start.literal === literal);
  if (known === undefined) starts.push({ literal, rules: [rule], isTelling: !/[ =]/.test(literal) });
  else known.rules.push(rule);
}
