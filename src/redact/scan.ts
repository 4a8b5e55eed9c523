import { Assignments } from './assignments.ts';
import { findEncoded, listRuns, MIN_RUN, surroundEscapes, type TextRange, unescapeText } from './encodings.ts';
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
import { MAX_LOOKAHEAD, type Rule, type Span } from './rule.ts';

const MIN_SECRET_LENGTH = 8;

/** Every secret in a text, in order and without overlaps. One pass over the text, and closer looks at few places. */
export function findSecrets(text: string): Span[] {
  if (text.length < MIN_SECRET_LENGTH) return [];
  const { spans, escapes } = scanWithEncoded(text);
  for (const range of surroundEscapes(text, escapes)) {
    const { text: plain, locate } = unescapeText(text.slice(range.start, range.end));
    for (const { start, end, ...span } of scanWithEncoded(plain).spans)
      spans.push({
        ...span,
        start: range.start + locate(start),
        end: range.start + locate(end),
        value: plain.slice(start, end),
      });
  }
  return joinSpans(spans);
}

function scanWithEncoded(text: string): Scan {
  return new Scan(text, (decoded) => new Scan(decoded).spans);
}

/** Joins overlapping spans. The one that begins first and reaches furthest gives the kind; a shape comes before a context. */
export function joinSpans(spans: Span[]): Span[] {
  if (spans.length < 2) return spans;
  const isLoose = ({ byContext }: Span): number => Number(byContext ?? 0);
  spans.sort((a, b) => a.start - b.start || b.end - a.end || isLoose(a) - isLoose(b));
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
const DUMMY_PASSWORD = /^(?:pass|passwd|pw|pwd|x-oauth-basic|PASS|PASSWORD)$/;

/** The password in a URL, or a token in place of the user; `at` is the place of its `://`. */
function findUrlSecret(text: string, at: number): Span | null {
  USER_INFO.lastIndex = at;
  const [, info, host = ''] = USER_INFO.exec(text) ?? [];
  if (info === undefined) return null;
  const colon = info.indexOf(':');
  const start = at + 3 + (colon + 1);
  const secret = info.slice(colon + 1);
  const span = { start, end: start + secret.length, byContext: true } as const;
  if (colon === -1) {
    if (/sentry|ingest/.test(host) && /^[a-f0-9]{32}$/.test(secret)) return { kind: 'sentry-dsn', ...span };
    return looksRandom(secret) && !isDummy(secret) ? { kind: 'url-token', ...span } : null;
  }
  if (secret.length < 3 || DUMMY_PASSWORD.test(secret) || isDummy(secret)) return null;
  return { kind: 'url-password', ...span };
}

/** A token that was cut off, behind its known beginning. */
const CUT = /[\w-]{4,250}(?=…)/y;
const MIN_HEAD = 3;

/**
 * Texts are scanned as Latin-1 bytes, a window at a time: what non-ASCII characters turn into does not matter, as each hit is
 * checked in the text. Windows overlap, so that everything is whole in one of them.
 */
const WINDOW = 1 << 16;
const STEP = WINDOW - MIN_RUN;
const BYTES = new Uint8Array(WINDOW + MIN_RUN);
const BUFFER = Buffer.from(BYTES.buffer, 0, WINDOW);

type FindDecoded = (decoded: string) => readonly Span[];

/** One pass over a text. Base64 in it is searched only with `findDecoded`. */
class Scan {
  readonly spans: Span[] = [];
  /** The places of escaped characters, continued lines and joined strings. */
  readonly escapes: number[] = [];
  readonly #text: string;
  readonly #prefilter = getPrefilter();
  /** The end of the last match of a rule: a word begins there, as it will once the match is replaced. */
  #end = 0;
  /** Made on demand, as most texts are short. */
  #lookaheads: Map<RegExp, Lookahead> | null = null;
  #assignments: Assignments | null = null;

  constructor(text: string, findDecoded?: FindDecoded) {
    this.#text = text;
    let nextRun = 0;
    for (let from = 0; from < text.length; from += STEP) {
      const window = text.length <= WINDOW ? text : text.slice(from, from + WINDOW);
      const size = BUFFER.write(window, 'latin1');
      BYTES.fill(0, size, size + MIN_RUN);
      const to = Math.min(STEP, size - 2);
      for (let i = Math.max(0, this.#end - from); i < to; i = Math.max(i + 1, this.#end - from)) {
        i = this.#prefilter.findNext(BYTES, i, to);
        if (i < to) this.#examine(from + i);
      }
      // All runs are listed first: scanning a decoded one overwrites the bytes.
      if (findDecoded !== undefined)
        nextRun = this.#decodeRuns(listRuns(BYTES.subarray(0, size), from), nextRun, findDecoded);
    }
  }

  /** Searches runs of base64 from `from` on, and returns where to continue. */
  #decodeRuns(runs: readonly TextRange[], from: number, findDecoded: FindDecoded): number {
    let next = from;
    for (const { start, end } of runs) {
      // A non-ASCII character may look like base64 as a byte: the run is then shorter, and another one may follow.
      for (let at = Math.max(start, next); end - at >= MIN_RUN; at = next) {
        const found = findEncoded(this.#text, at, findDecoded);
        this.#add(found.span);
        next = found.end;
      }
    }
    return next;
  }

  #examine(at: number): void {
    const text = this.#text;
    const trigger = this.#prefilter.find(text, at);
    if (trigger?.isNameEnding === true) this.#add(this.#getAssignments().findAssigned(at + 3));
    if (trigger !== undefined && this.#tryTrigger(at, trigger)) return;
    const short = this.#prefilter.findShort(text, at);
    if (short !== undefined && this.#tryTrigger(at, short)) return;
    switch (text.charCodeAt(at)) {
      case COLON:
        this.#add(findUrlSecret(text, at));
        break;
      case DASH:
        if (text.charCodeAt(at + 1) === DASH && (at === 0 || text.charCodeAt(at - 1) !== DASH))
          this.#add(this.#getAssignments().findFlagValue(at));
        break;
      case BACKSLASH:
      case PERCENT:
      case QUOTE:
      case APOSTROPHE:
        this.escapes.push(at);
        break;
    }
  }

  #tryTrigger(at: number, { starts, pivots }: Trigger): boolean {
    const text = this.#text;
    for (const { literal, rules } of starts) {
      if (!text.startsWith(literal, at)) continue;
      if (!isWordStart(text, at, this.#end)) break;
      if (rules.some((rule) => this.#tryRule(rule, at)) || this.#tryCut(literal, at)) return true;
    }
    for (const { literal, rule } of pivots) {
      if (!text.startsWith(literal, at)) continue;
      const start = this.#findWordBefore(at, rule);
      if (start !== -1 && this.#tryRule(rule, start)) return true;
    }
    return false;
  }

  #tryCut(literal: string, at: number): boolean {
    if (/[ =]/.test(literal)) return false;
    CUT.lastIndex = at + Math.max(literal.length, MIN_HEAD);
    if (!CUT.test(this.#text)) return false;
    this.#end = CUT.lastIndex;
    this.spans.push({ kind: 'cut-token', start: at, end: this.#end });
    return true;
  }

  #tryRule({ kind, pattern, check, ahead }: Rule, at: number): boolean {
    const text = this.#text;
    if (ahead !== undefined && this.#lookAhead(ahead, at) > at + MAX_LOOKAHEAD) return false;
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null) return false;
    const [all, group] = match;
    const secret = group ?? all;
    if (check !== undefined && !check(secret)) return false;
    this.#end = at + all.length;
    const span = { kind, start: this.#end - secret.length, end: this.#end };
    this.spans.push(group === undefined ? span : { ...span, byContext: true });
    return true;
  }

  #lookAhead(pattern: RegExp, at: number): number {
    this.#lookaheads ??= new Map();
    const known = this.#lookaheads.get(pattern) ?? new Lookahead(this.#text, pattern);
    this.#lookaheads.set(pattern, known);
    return known.find(at);
  }

  #getAssignments(): Assignments {
    this.#assignments ??= new Assignments(this.#text);
    return this.#assignments;
  }

  #add(span: Span | null): void {
    if (span !== null) this.spans.push(span);
  }

  /** Where the word before a pivot begins; -1 if its length is not what the rule asks for. */
  #findWordBefore(at: number, { before: [least, most] = [1, 64] }: Rule): number {
    let start = at - 1;
    while (start > this.#end && at - start <= most && !isWordStart(this.#text, start, this.#end)) start--;
    const length = at - start;
    return length >= least && length <= most && start >= this.#end ? start : -1;
  }
}
