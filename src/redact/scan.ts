import { Assignments } from './assignments.ts';
import {
  findEncoded,
  LEAST_RUN,
  listRuns,
  surroundEscapes,
  type TextRange,
  unescapeText,
} from './encodings.ts';
import { isDummy, looksRandom } from './heuristics.ts';
import {
  APOSTROPHE,
  BACKSLASH,
  COLON,
  DASH,
  getPrefilter,
  isWordStart,
  Lookahead,
  PERCENT,
  QUOTE,
  type Trigger,
} from './prefilter.ts';
import { MOST_AHEAD, type Rule, type Span } from './rule.ts';

/** Of spans that meet, the one that begins first and reaches furthest names both; a shape is preferred to a context. */
export function joinSpans(spans: Span[]): Span[] {
  if (spans.length < 2) return spans;
  spans.sort(
    (a, b) => a.start - b.start || b.end - a.end || Number(a.byContext ?? 0) - Number(b.byContext ?? 0),
  );
  const joined: Span[] = [];
  let last: Span | null = null;
  for (const span of spans) {
    if (last === null || span.start >= last.end) {
      last = { ...span };
      joined.push(last);
    } else if (span.end > last.end) {
      last.end = span.end;
      last.value = undefined;
    }
  }
  return joined;
}

const USER_INFO = /:\/\/([^\s/?#"'`<>\\@]{1,300}(?:@[^\s/?#"'`<>\\@]{1,200})?)@(?=([\w.[$-]{1,253}))/y;

/** A password, or a token in the place of a user, in a URL; `at` is where its `://` stands. */
export function findUrlSecret(text: string, at: number): Span | null {
  USER_INFO.lastIndex = at;
  const [, info, host = ''] = USER_INFO.exec(text) ?? [];
  if (info === undefined) return null;
  const colon = info.indexOf(':');
  const start = at + 3 + (colon + 1);
  const secret = info.slice(colon + 1);
  const end = start + secret.length;
  if (colon === -1) {
    if (/sentry|ingest/.test(host) && /^[a-f0-9]{32}$/.test(secret))
      return { kind: 'sentry-dsn', start, end, byContext: true };
    return looksRandom(secret) && !isDummy(secret)
      ? { kind: 'url-token', start, end, byContext: true }
      : null;
  }
  if (
    secret.length < 3 ||
    /^(?:pass|passwd|pw|pwd|x-oauth-basic|PASS|PASSWORD)$/.test(secret) ||
    isDummy(secret)
  )
    return null;
  return { kind: 'url-password', start, end, byContext: true };
}

const SHORTEST = 8;

/** Every secret in a text, in order, none within another. One pass; only what looks like one is looked at closer. */
export function findSecrets(text: string): Span[] {
  if (text.length < SHORTEST) return [];
  const { spans, wraps } = scanWithEncoded(text);
  for (const part of surroundEscapes(text, wraps))
    for (const span of findUnwrapped(text, part)) spans.push(span);
  return joinSpans(spans);
}

function findUnwrapped(text: string, part: TextRange): Span[] {
  const { text: plain, locate } = unescapeText(text.slice(part.start, part.end));
  return scanWithEncoded(plain).spans.map(({ start, end, ...span }) => ({
    ...span,
    start: part.start + locate(start),
    end: part.start + locate(end),
    value: plain.slice(start, end),
  }));
}

function scanWithEncoded(text: string): Scan {
  return new Scan(text, (decoded) => new Scan(decoded).spans);
}

/** As much of a token has to be known by name. */
const LEAST_HEAD = 3;
const CUT = /[\w-]{4,250}(?=…)/y;

/**
 * A text is looked at as bytes, a window at a time: of what is no ASCII anything may be taken, as nothing is known by it
 * alone. Windows overlap, so that what is looked for is whole in one of them.
 */
const WINDOW = 1 << 16;
const STEP = WINDOW - LEAST_RUN;
const BYTES = new Uint8Array(WINDOW + LEAST_RUN);
const BUFFER = Buffer.from(BYTES.buffer, 0, WINDOW);

type FindDecoded = (decoded: string) => readonly Span[];

/** One pass over one text; what is encoded in it is looked through with `findDecoded`. */
class Scan {
  readonly spans: Span[] = [];
  /** Where something is written by its number, goes on in the next line or is put together. */
  readonly wraps: number[] = [];
  readonly #text: string;
  readonly #signs = getPrefilter();
  /** The end of what a rule found last: what follows is looked at as if a text began there, as it will in the end. */
  #end = 0;
  /** Made when they are needed: most texts are short. */
  #ahead: Map<RegExp, Lookahead> | null = null;
  #assignments: Assignments | null = null;

  constructor(text: string, findDecoded?: FindDecoded) {
    this.#text = text;
    let nextRun = 0;
    for (let from = 0; from < text.length; from += STEP) {
      const window = text.length <= WINDOW ? text : text.slice(from, from + WINDOW);
      const size = BUFFER.write(window, 'latin1');
      // What stood in the window before is not what follows the end of the text.
      BYTES.fill(0, size, size + LEAST_RUN);
      this.#findSigns(from, Math.min(STEP, size - 2));
      // All runs are listed first: the bytes are gone when one is decoded and looked through.
      if (findDecoded !== undefined)
        nextRun = this.#decodeRuns(listRuns(BYTES.subarray(0, size), from), nextRun, findDecoded);
    }
  }

  #findSigns(from: number, to: number): void {
    for (let i = Math.max(0, this.#end - from); i < to; i = Math.max(i + 1, this.#end - from)) {
      i = this.#signs.findNext(BYTES, i, to);
      if (i < to) this.#meet(from + i);
    }
  }

  /** Where to go on: behind what was looked at as one. */
  #decodeRuns(runs: readonly TextRange[], from: number, findDecoded: FindDecoded): number {
    let next = from;
    for (const { start, end } of runs) {
      // What is no ASCII may look like a part of the run: the run is then shorter, and another one may follow.
      for (let at = Math.max(start, next); end - at >= LEAST_RUN; at = next) {
        const found = findEncoded(this.#text, at, findDecoded);
        this.#keep(found.span);
        next = found.end;
      }
    }
    return next;
  }

  #meet(at: number): void {
    const text = this.#text;
    const sign = this.#signs.find(text, at);
    if (sign?.isNameEnding === true) this.#keep(this.#assign().findAssigned(at + 3));
    if (sign !== undefined && this.#trySign(at, sign)) return;
    const short = this.#signs.findShort(text, at);
    if (short !== undefined && this.#trySign(at, short)) return;
    switch (text.charCodeAt(at)) {
      case COLON:
        this.#keep(findUrlSecret(text, at));
        break;
      case DASH:
        if (text.charCodeAt(at + 1) === DASH && (at === 0 || text.charCodeAt(at - 1) !== DASH))
          this.#keep(this.#assign().findFlagValue(at));
        break;
      case BACKSLASH:
      case PERCENT:
      case QUOTE:
      case APOSTROPHE:
        this.wraps.push(at);
        break;
    }
  }

  #trySign(at: number, { starts, pivots }: Trigger): boolean {
    const text = this.#text;
    for (const { literal, rules } of starts) {
      if (!text.startsWith(literal, at)) continue;
      if (!isWordStart(text, at, this.#end)) break;
      if (rules.some((rule) => this.#tryRule(rule, at))) return true;
      if (this.#tryCut(literal, at)) return true;
    }
    for (const { literal, rule } of pivots) {
      if (!text.startsWith(literal, at)) continue;
      const start = this.#findRunStart(at, rule);
      if (start !== -1 && this.#tryRule(rule, start)) return true;
    }
    return false;
  }

  /** A token that was cut off is known by its beginning. */
  #tryCut(literal: string, at: number): boolean {
    if (/[ =]/.test(literal)) return false;
    CUT.lastIndex = at + Math.max(literal.length, LEAST_HEAD);
    if (!CUT.test(this.#text)) return false;
    this.#end = CUT.lastIndex;
    this.spans.push({ kind: 'cut-token', start: at, end: this.#end });
    return true;
  }

  #tryRule({ kind, pattern, check, ahead }: Rule, at: number): boolean {
    const text = this.#text;
    if (ahead !== undefined && this.#findAhead(ahead, at) > at + MOST_AHEAD) return false;
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null) return false;
    const [all, group] = match;
    const secret = group ?? all;
    const end = at + all.length;
    if (check !== undefined && !check(secret)) return false;
    const context = group === undefined ? {} : { byContext: true as const };
    this.spans.push({ kind, start: end - secret.length, end, ...context });
    this.#end = end;
    return true;
  }

  #findAhead(pattern: RegExp, at: number): number {
    this.#ahead ??= new Map();
    const known = this.#ahead.get(pattern) ?? new Lookahead(this.#text, pattern);
    this.#ahead.set(pattern, known);
    return known.find(at);
  }

  #assign(): Assignments {
    this.#assignments ??= new Assignments(this.#text);
    return this.#assignments;
  }

  #keep(span: Span | null): void {
    if (span !== null) this.spans.push(span);
  }

  /** Where the word before a pivot begins, or -1 if it is not as long as the rule has it. */
  #findRunStart(at: number, { before: [least, most] = [1, 64] }: Rule): number {
    let start = at - 1;
    while (start > this.#end && at - start <= most && !isWordStart(this.#text, start, this.#end)) start--;
    const length = at - start;
    return length >= least && length <= most && start >= this.#end ? start : -1;
  }
}
