import { Ahead } from './ahead.ts';
import { isNamePart } from './characters.ts';
import { judge, judgeHeader, type Naming, readName, type Value } from './naming.ts';
import type { Span } from './rule.ts';

const MAX_NAME = 64;
const MAX_GAP = 8;

/** The last three letters of every name that is given a secret: most names are let pass by them alone. */
export const NAME_TAILS: readonly string[] =
  'ord swd ase ode pwd ort ena ret ken ial als eds key ass uth kie ion yid _id ata'.split(' ');
const TAILS: ReadonlySet<string> = new Set(NAME_TAILS);

function hasTail(name: string): boolean {
  return TAILS.has(name.slice(-3).toLowerCase());
}

/** The kind of secret that a value is for the name that it has, if any: for what is parsed already. */
export function findNamed(name: string, text: string): string | null {
  if (name.length < 3 || text.length > MAX_VALUE || !hasTail(name)) return null;
  const naming = readName(name);
  if (naming === null) return null;
  return naming.header === null
    ? judge(naming, { text, start: 0, isQuoted: true, isSpaced: false })
    : (judgeHeader(naming.header, { text, start: 0 })?.kind ?? null);
}

const FLAG = /--([A-Za-z][\w-]{2,40})[ \t]{1,8}/y;
const MAX_VALUE = 4096;
const MAX_LINE = 1024;
const LEAD = /[:=]?[=>]?[ \t]{0,8}(?:[brfu@](?=["']))?(?:(\\{0,3})(["'`]))?/y;
/** With few `=` in it, so that in a long row of assignments each is looked at a few times only. */
const BARE = /[^\s"'`,;<>(){}[\]|\\=]{1,4096}(?:=[^\s"'`,;<>(){}[\]|\\=]{1,256}){0,2}={0,2}/y;
const BARE_QUERY = /[^\s"'`,;<>(){}[\]|\\&#=]{1,4096}={0,2}/y;

const LINE_END = /[\n\r"'\\]/g;
const TAG_END = /<\//g;
const DIGIT = /\d/g;

const NOTHING_JUDGED = { naming: null, last: null, kind: null };

/** What the names in one text are given. */
export class Assignments {
  readonly #text: string;
  readonly #lineEnds: Ahead;
  readonly #tagEnds: Ahead;
  readonly #digits: Ahead;
  #judged: { naming: Naming | null; last: Value | null; kind: string | null } = NOTHING_JUDGED;

  constructor(text: string) {
    this.#text = text;
    this.#lineEnds = new Ahead(text, LINE_END);
    this.#tagEnds = new Ahead(text, TAG_END);
    this.#digits = new Ahead(text, DIGIT);
  }

  /** The value that a name which ends at `end` is given by `:`, `=` or as the content of a tag, if it is a secret. */
  findGiven(end: number): Span | null {
    const text = this.#text;
    const last = Math.min(end + MAX_GAP, text.length - 1);
    let at = end;
    while (at < last && isGap(text.charCodeAt(at))) at++;
    if (at >= text.length) return null;
    const mark = text.charAt(at);
    if (mark !== ':' && mark !== '=' && mark !== '>') return null;
    const start = findNameStart(text, end);
    const name = readName(text.slice(start, end));
    if (name === null) return null;
    const before = start === 0 ? '' : text.charAt(start - 1);
    if (mark === '>') return before === '<' ? this.#judge(name, this.#readTagged(at + 1)) : null;
    const isQuery = before === '?' || before === '&';
    return this.#judge(name, this.#readValue(at, { isSpaced: end < at && mark === '=', isQuery }));
  }

  /** The value that stands behind a flag such as `--password`; `at` is where the flag begins. */
  findFlagged(at: number): Span | null {
    FLAG.lastIndex = at;
    const [all, name] = FLAG.exec(this.#text) ?? [];
    if (all === undefined || name === undefined || !hasTail(name)) return null;
    const naming = readName(name);
    if (naming === null) return null;
    const value = this.#readValue(at + all.length - 1, { isSpaced: false, isQuery: false });
    return value?.text.startsWith('-') ? null : this.#judge(naming, value);
  }

  #judge(naming: Naming, value: Value | null): Span | null {
    if (value === null) return null;
    const { text, start } = value;
    if (naming.header === null) {
      const kind = this.#judgeOnce(naming, value);
      return kind === null ? null : { kind, start, end: start + text.length, byContext: true };
    }
    const end = Math.min(this.#lineEnds.find(start), start + MAX_LINE);
    // A header without a digit has no secret.
    if (this.#digits.find(start) >= end) return null;
    return judgeHeader(naming.header, { text: this.#text.slice(start, end), start });
  }

  /** The same assignment often comes many times in a row. */
  #judgeOnce(naming: Naming, value: Value): string | null {
    const { last } = this.#judged;
    if (
      this.#judged.naming !== naming ||
      last?.text !== value.text ||
      last.isQuoted !== value.isQuoted ||
      last.isSpaced !== value.isSpaced
    )
      this.#judged = { naming, last: value, kind: judge(naming, value) };
    return this.#judged.kind;
  }

  #readValue(at: number, { isSpaced, isQuery }: { isSpaced: boolean; isQuery: boolean }): Value | null {
    const text = this.#text;
    LEAD.lastIndex = at;
    const lead = LEAD.exec(text);
    if (lead === null) return null;
    const [all, slashes = '', quote] = lead;
    const start = at + all.length;
    if (quote !== undefined) {
      const value = readUntil(text, start, `${slashes}${quote}`);
      return value === null || value.includes('\n') ? null : { text: value, start, isQuoted: true, isSpaced };
    }
    const bare = isQuery ? BARE_QUERY : BARE;
    bare.lastIndex = start;
    if (!bare.test(text)) return null;
    const end = bare.lastIndex;
    if (end < text.length && '([{'.includes(text.charAt(end))) return null;
    const isPointed = '.:'.includes(text.charAt(end - 1));
    return { text: text.slice(start, isPointed ? end - 1 : end), start, isQuoted: false, isSpaced };
  }

  #readTagged(start: number): Value | null {
    const end = this.#tagEnds.find(start);
    if (end === this.#text.length || end + 2 > start + MAX_VALUE) return null;
    const text = this.#text.slice(start, end);
    return { text, start, isQuoted: true, isSpaced: false };
  }
}

function readUntil(text: string, start: number, close: string): string | null {
  const rest = text.slice(start, start + MAX_VALUE);
  const end = rest.indexOf(close);
  return end === -1 ? null : rest.slice(0, end);
}

function isGap(code: number): boolean {
  return (
    code === 0x20 ||
    code === 0x22 ||
    code === 0x27 ||
    code === 0x5c ||
    code === 0x5d ||
    code === 0x3f ||
    code === 0x60
  );
}

function findNameStart(text: string, end: number): number {
  let start = end;
  while (start > 0 && end - start < MAX_NAME && isNamePart(text.charCodeAt(start - 1))) start--;
  return start;
}
