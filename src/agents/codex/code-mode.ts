/** A tool called from a script, with its first argument: undefined where that is computed. */
type InnerCall = { name: string; input: unknown };

const CALL = /\btools\.([A-Za-z_$][\w$]{0,100})\s{0,10}\(/g;
const MAX_CALLS = 50;

/** The tools that a script of code mode calls, found by parsing it. */
export function findInnerCalls(source: string): InnerCall[] {
  const calls: InnerCall[] = [];
  const pattern = new RegExp(CALL);
  for (let match = pattern.exec(source); match !== null; match = pattern.exec(source)) {
    const literal = new Literal(source, pattern.lastIndex);
    calls.push({ name: match[1] ?? '', input: literal.read(0) });
    pattern.lastIndex = Math.max(pattern.lastIndex, literal.at);
    if (calls.length === MAX_CALLS) break;
  }
  return calls;
}

const ESCAPES = new Map(Object.entries({ n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v', 0: '\0' }));
const HEX_ESCAPE = /^(?:u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|x([0-9a-fA-F]{2}))/;
const WORD = /^(?:true|false|null|-?\d[\d_]{0,20}(?:\.\d{1,20})?)(?![\w$.(])/;
const NAME = /^[A-Za-z_$][\w$]{0,100}/;
/** No pattern matches more characters. */
const MAX_TAKEN = 101;
const MAX_DEPTH = 16;
const CLOSING = ')]}';

/** Parses a JavaScript literal. What is computed in it, such as a variable, becomes undefined. */
class Literal {
  at: number;
  readonly #source: string;

  constructor(source: string, at: number) {
    this.#source = source;
    this.at = at;
  }

  read(depth: number): unknown {
    this.#skipSpace();
    const value = this.#readValue(depth);
    this.#skipSpace();
    if (this.#isAtEnd()) return value;
    this.#skipExpression();
    return undefined;
  }

  #readValue(depth: number): unknown {
    const char = this.#source.charAt(this.at);
    if (char === '"' || char === "'" || char === '`') return this.#readString(false);
    if (this.#source.startsWith('String.raw`', this.at)) {
      this.at += 'String.raw'.length;
      return this.#readString(true);
    }
    if (char === '{' && depth < MAX_DEPTH) return this.#readObject(depth);
    if (char === '[' && depth < MAX_DEPTH) return this.#readList(depth);
    return this.#readWord();
  }

  #readWord(): unknown {
    const word = this.#take(WORD)?.[0];
    if (word === undefined) return undefined;
    if (word === 'null') return null;
    return word === 'true' || word === 'false' ? word === 'true' : Number(word.replaceAll('_', ''));
  }

  #readString(raw: boolean): string | undefined {
    const quote = this.#source.charAt(this.at++);
    let text = '';
    let computed = false;
    for (;;) {
      const char = this.#source.charAt(this.at++);
      if (char === quote || char === '') return computed ? undefined : text;
      if (quote === '`' && char === '$' && this.#source.charAt(this.at) === '{') computed = true;
      text += char === '\\' ? this.#readEscape(raw) : char;
    }
  }

  #readEscape(raw: boolean): string {
    const hex = raw ? null : this.#take(HEX_ESCAPE);
    if (hex !== null) {
      const code = Number.parseInt(hex[1] ?? hex[2] ?? hex[3] ?? '0', 16);
      return code > 0x10ffff ? '' : String.fromCodePoint(code);
    }
    const char = this.#source.charAt(this.at++);
    if (raw) return `\\${char}`;
    if (char === '\n') return '';
    return ESCAPES.get(char) ?? char;
  }

  #readObject(depth: number): Record<string, unknown> {
    const entries: [string, unknown][] = [];
    this.at++;
    while (this.#skipTo('}')) {
      const key = this.#readKey();
      this.#skipSpace();
      if (key === null || this.#source.charAt(this.at) !== ':') this.#skipExpression();
      else {
        this.at++;
        entries.push([key, this.read(depth + 1)]);
      }
    }
    return Object.fromEntries(entries);
  }

  #readList(depth: number): unknown[] {
    const items: unknown[] = [];
    this.at++;
    while (this.#skipTo(']')) items.push(this.read(depth + 1));
    return items;
  }

  #readKey(): string | null {
    const char = this.#source.charAt(this.at);
    if (char === '"' || char === "'") return this.#readString(false) ?? null;
    return this.#take(NAME)?.[0] ?? null;
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    const match = pattern.exec(this.#source.slice(this.at, this.at + MAX_TAKEN));
    this.at += match?.[0].length ?? 0;
    return match;
  }

  /** Skips to the next entry; false at the end of the list or object, or of the source. */
  #skipTo(close: string): boolean {
    for (;;) {
      this.#skipSpace();
      const char = this.#source.charAt(this.at);
      if (char === '') return false;
      if (CLOSING.includes(char)) {
        if (char === close) this.at++;
        return false;
      }
      if (char !== ',') return true;
      this.at++;
    }
  }

  #isAtEnd(): boolean {
    const char = this.#source.charAt(this.at);
    return char === '' || char === ',' || CLOSING.includes(char);
  }

  /** Skips an expression, with all brackets and strings in it, up to the comma or bracket that ends it. */
  #skipExpression(): void {
    for (let open = 0; this.at < this.#source.length; ) {
      const char = this.#source.charAt(this.at);
      if (char === '"' || char === "'" || char === '`') {
        this.#readString(false);
        continue;
      }
      if (open === 0 && (char === ',' || CLOSING.includes(char))) return;
      if ('([{'.includes(char)) open++;
      else if (CLOSING.includes(char)) open--;
      this.at++;
    }
  }

  #skipSpace(): void {
    while (/\s/.test(this.#source.charAt(this.at))) this.at++;
  }
}
