import { Assignments } from './assignments.ts';
import { findEncoded, listRuns, MIN_RUN, surroundEscapes, unescapeText, unwrapToken } from './encodings.ts';
import {
  APOSTROPHE,
  ASCII,
  BACKSLASH,
  COLON,
  DASH,
  getPrefilter,
  isBase64,
  isUnseen,
  isWord,
  PERCENT,
  QUOTE,
  type Trigger,
  UNDERSCORE,
} from './prefilter.ts';
import { Lookahead, MAX_LOOKAHEAD, type Rule, type Span, type TextRange } from './rule.ts';
import { pickRules, RULES } from './rules/vendors.ts';
import { isMixed, isStandIn, looksLikePassword, looksLikeWords, looksRandom } from './values.ts';

const MIN_SECRET_LENGTH = 8;

interface Found {
  spans: Span[];
  /** Whether there may be characters that are not seen, which may split a secret. */
  mayHide: boolean;
}

/** Every secret in a text, in order and without overlaps. One pass over the text, and closer looks at few places. */
export function findSecrets(written: string): Found {
  if (written.length < MIN_SECRET_LENGTH) return { spans: [], mayHide: false };
  const text = WIDE_LETTER.test(written) ? written.replace(WIDE_LETTERS, narrow) : written;
  const { spans, escapes, mayHide } = scanWithEncoded(text);
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
  return { spans: joinSpans(spans), mayHide };
}

/** Letters, digits, `_` and `-` of Chinese and Japanese keyboards, which names are written in too. */
const WIDE_LETTER = /[\uff0d\uff10-\uff19\uff21-\uff3a\uff3f\uff41-\uff5a]/;
const WIDE_LETTERS = new RegExp(WIDE_LETTER, 'g');
const narrow = (sign: string): string => String.fromCharCode(sign.charCodeAt(0) - 0xfee0);

function scanWithEncoded(text: string): Scan {
  return new Scan(text, findDecoded);
}

function findDecoded(decoded: string): readonly Span[] {
  return new Scan(decoded).spans;
}

/** Joins overlapping spans. The one that begins first and reaches furthest gives the kind; a shape comes before a context, and a known kind before any. */
export function joinSpans(spans: Span[]): Span[] {
  if (spans.length < 2) return spans;
  const isLoose = ({ byContext, kind }: Span): number => Number(byContext ?? 0) + Number(kind === 'assigned-secret');
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

/**
 * Whether a word begins at a place, with nothing before `begin` counted. Words joined by dashes are one; an escape such as
 * `\n` or `%20` is no part of a word.
 */
function isWordStart(text: string, at: number, begin: number): boolean {
  if (at <= begin) return true;
  const before = text.charCodeAt(at - 1);
  if (text.charCodeAt(at) === DASH) return true;
  if (before === DASH) return at - 2 < begin || !isBase64(text.charCodeAt(at - 2));
  if (!isWord(before)) return true;
  const code = text.charCodeAt(at);
  if (code <= ASCII && !isWord(code)) return true;
  if (at - 2 < begin) return false;
  const second = text.charCodeAt(at - 2);
  if (second === BACKSLASH) return before === 0x6e || before === 0x72 || before === 0x74;
  return at - 3 >= begin && text.charCodeAt(at - 3) === PERCENT;
}

/** Some agents write a blank before the `@`. Behind a colon, which is not that of a port, people write any sign. */
const USER_INFO =
  /:\/\/((?:[^\s/?#"'`<>\\@:]{0,100}:(?!\d{1,5}[?#])[^\s/"'`<>\\@]{1,300}|[^\s/?#"'`<>\\@]{1,300})(?:@[^\s/?#"'`<>\\@]{1,200})?)( ?)@(?=([\w.[$-]{1,253}))/y;
const DUMMY_PASSWORD = /^(?:pass|passwd|pw|pwd|x-oauth-basic|PASS|PASSWORD)$/;

/** With a slash in the password, which belongs encoded there: then it has to look like one. */
const SLASHED = /:\/\/[^\s/?#"'`<>\\@:]{0,100}:(?!\d{1,5}[/?#])([^\s"'`<>\\@{}$]{8,60}) ?@(?=[\w-]{1,60}(?:[.:/]|$))/y;

/** The password in a URL, or a token in place of the user; `at` is the place of its `://`. */
function findUrlSecret(text: string, at: number): Span | null {
  USER_INFO.lastIndex = at;
  const [, info, blank, host = ''] = USER_INFO.exec(text) ?? [];
  if (info === undefined) return findSlashed(text, at);
  const colon = info.indexOf(':');
  const start = at + 3 + (colon + 1);
  const secret = info.slice(colon + 1);
  const span = { start, end: start + secret.length, byContext: true } as const;
  if (blank === ' ' && (colon === -1 || /^\d{1,5}$/.test(secret))) return null;
  if (colon === -1) {
    if (/sentry|ingest/.test(host) && /^[a-f0-9]{32}$/.test(secret)) return { kind: 'sentry-dsn', ...span };
    const isToken = looksRandom(secret) || (secret.length >= 16 && isMixed(secret) && !looksLikeWords(secret));
    return isToken && !isStandIn(secret) ? { kind: 'url-token', ...span } : null;
  }
  if (secret.length < 3 || DUMMY_PASSWORD.test(secret) || isStandIn(secret)) return null;
  return { kind: 'url-password', ...span };
}

function findSlashed(text: string, at: number): Span | null {
  SLASHED.lastIndex = at;
  const [all = '', secret = ''] = SLASHED.exec(text) ?? [];
  if (secret === '' || !looksLikePassword(secret) || looksLikeWords(secret) || isStandIn(secret)) return null;
  const start = at + all.lastIndexOf(secret);
  return { kind: 'url-password', start, end: start + secret.length, byContext: true };
}

const TOKEN_END = /[^\w.~+/=%:$!-]/g;
const LINE_END = /^["'`]?[ \t,+\\]{0,4}\r?\n/;

function isWholeToken({ pattern, check, reach, list }: Rule, token: string): boolean {
  if (reach !== undefined || list !== undefined) return false;
  pattern.lastIndex = 0;
  const [found, group] = pattern.exec(token) ?? [];
  return found === token && group === undefined && check?.(token) !== false && !looksLikeWords(token);
}

/** Where a name that secrets are given to ends, if the characters at a place are of its last ones; -1 where there is none. */
function findNameEnd(text: string, at: number, { nameEndings }: Trigger): number {
  for (const { ending, offset } of nameEndings)
    if (hasLetters(text, at - offset, ending)) return at - offset + ending.length;
  return -1;
}

function hasLetters(text: string, start: number, letters: string): boolean {
  for (let i = 0; i < letters.length; i++) {
    const code = text.charCodeAt(start + i);
    const wanted = letters.charCodeAt(i);
    if (code !== wanted && (code | 32) !== wanted) return false;
  }
  return true;
}

/** A token that was cut off, behind its known beginning. */
const CUT = /[\w-]{4,250}(?=…)/y;
const MIN_HEAD = 3;
const MAX_JOINTS = 4;
const isJointMark = (code: number): boolean => code === DASH || code === UNDERSCORE;

/**
 * Texts are scanned as Latin-1 bytes, a window at a time: what non-ASCII characters turn into does not matter, as each hit is
 * checked in the text. Windows overlap, so that everything is whole in one of them.
 */
const WINDOW = 1 << 16;
const STEP = WINDOW - MIN_RUN;
/** How many bytes are read behind the last. */
const MARGIN = 4;
const BYTES = new Uint8Array(WINDOW + MARGIN);
const BUFFER = Buffer.from(BYTES.buffer, 0, WINDOW);

/** Finds nothing at once in a text of narrow characters. */
const WIDE = /[\u0100-\uffff]/;
const SOFT_HYPHEN = '\u00ad';
/** In a text with wide characters, everything but what is seen, most of it certainly. V8 tests up to 16 ranges fast, and more slowly. */
const SUSPECT =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each character is meant by itself
  /[^\t\n\r\x20-\x7e\u00a0-\u00ac\u00ae-\u02ff\u0370-\u05ff\u2010-\u2027\u2030-\u205e\u2070-\u27ff\u2900-\u2bff\u3000-\u3163\u3165-\ud7ff\ud83c-\ud83e\udc00-\udfff\ufe0f\uff01-\uff9f]/;
const ESCAPE = '\u241b';
/** Makes a sign an emoji, behind one. */
const SELECTOR = '\ufe0f';
const STRAY_SELECTOR = /(?<![\u2190-\u2bff\udc00-\udfff])\ufe0f/;

/** Whether a text with wide characters may have some that are not seen. */
function mayHideWide(text: string): boolean {
  return SUSPECT.test(text) || text.includes(ESCAPE) || (text.includes(SELECTOR) && STRAY_SELECTOR.test(text));
}

type FindDecoded = (decoded: string) => readonly Span[];

/** One pass over a text. Base64 in it is searched only with `find`. */
class Scan {
  readonly spans: Span[] = [];
  /** The places of escaped characters, continued lines and joined strings. */
  readonly escapes: number[] = [];
  mayHide: boolean;
  readonly #text: string;
  readonly #prefilter = getPrefilter();
  /** The end of the last match of a rule: a word begins there, as it will once the match is replaced. */
  #end = 0;
  /** How far secrets were listed. */
  #listed = 0;
  #lastJoint = -1;
  #joints = 0;
  /** The end of the last word of which enough places were tried. */
  #jointsEnd = 0;
  /** Made on demand, as most texts are short. */
  #lookaheads: Map<RegExp, Lookahead> | null = null;
  #assignments: Assignments | null = null;

  constructor(text: string, find?: FindDecoded) {
    this.#text = text;
    const isWide = WIDE.test(text);
    this.mayHide = isWide ? mayHideWide(text) : text.includes(SOFT_HYPHEN);
    const table = this.#prefilter.chooseTable(isWide);
    // The one name that is too short to be found by three characters.
    if ((text.charCodeAt(0) | 32) === 0x70 && /^pw\b/i.test(text))
      this.spans.push(...this.#getAssignments().findAssigned(2));
    let nextRun = 0;
    for (let from = 0; from < text.length; from += STEP) {
      const window = text.length <= WINDOW ? text : text.slice(from, from + WINDOW);
      const size = BUFFER.write(window, 'latin1');
      for (let i = size; i < size + MARGIN; i++) BYTES[i] = 0;
      const to = Math.min(STEP, size - 2);
      for (let i = Math.max(0, this.#end - from); i < to; i = Math.max(i + 1, this.#end - from)) {
        i = table.findNext(BYTES, i, to);
        if (i < to) this.#examine(from + i);
      }
      // All runs are listed first: scanning a decoded one overwrites the bytes.
      if (find !== undefined) nextRun = this.#decodeRuns(listRuns(BYTES, size, from), nextRun, find);
    }
  }

  /** Searches runs of base64 from `from` on, and returns where to continue. */
  #decodeRuns(runs: readonly TextRange[], from: number, find: FindDecoded): number {
    let next = from;
    for (const { start, end } of runs) {
      // A non-ASCII character may look like base64 as a byte: the run is then shorter, and another one may follow.
      for (let at = Math.max(start, next); end - at >= MIN_RUN; at = next) {
        const found = findEncoded(this.#text, at, find);
        this.#add(found.span);
        next = found.end;
      }
    }
    return next;
  }

  #examine(at: number): void {
    const text = this.#text;
    const code = text.charCodeAt(at);
    if (isUnseen(code)) {
      this.mayHide = true;
      return;
    }
    const trigger = this.#prefilter.find(text, at);
    const nameEnd = findNameEnd(text, at, trigger);
    if (nameEnd !== -1) for (const span of this.#getAssignments().findAssigned(nameEnd)) this.spans.push(span);
    if (this.#tryTrigger(at, trigger) || this.#tryTrigger(at, this.#prefilter.findShort(text, at))) return;
    switch (code) {
      case COLON:
        this.#add(findUrlSecret(text, at));
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
    for (const { literal, offset, rules: numbers, mayWrap } of starts) {
      const start = at - offset;
      if (start < this.#end) continue;
      const isStart = isWordStart(text, start, this.#end);
      // What is cheap to tell comes first.
      if (!isStart && (start < this.#jointsEnd || !isJointMark(text.charCodeAt(start - 1)))) continue;
      if (!text.startsWith(literal, start) || (!isStart && !this.#isJoint(start))) continue;
      const rules = pickRules(numbers);
      let isFound = false;
      for (const rule of rules) isFound ||= this.#tryRule(rule, start, isStart);
      if (isStart && mayWrap && this.#tryWrapped(rules, start, literal)) return true;
      if (isFound || (isStart && this.#tryCut(literal, start))) return true;
    }
    for (const { literal, rule: number } of pivots) {
      if (!text.startsWith(literal, at)) continue;
      const rule = RULES[number];
      const start = rule === undefined ? -1 : this.#findWordBefore(at, rule);
      if (rule !== undefined && start !== -1 && this.#tryRule(rule, start)) return true;
    }
    return false;
  }

  /** Whether a token may begin behind a mark in a word. Of each word a few places are tried only, to take linear time. */
  #isJoint(at: number): boolean {
    const text = this.#text;
    let last = at - 1;
    while (last > this.#lastJoint && isBase64(text.charCodeAt(last))) last--;
    this.#joints = last > this.#lastJoint ? 1 : this.#joints + 1;
    this.#lastJoint = at;
    if (this.#joints <= MAX_JOINTS) return true;
    this.#jointsEnd = at;
    while (isBase64(text.charCodeAt(this.#jointsEnd))) this.#jointsEnd++;
    return false;
  }

  /** A token that goes on in the next line, where nothing else is. */
  #tryWrapped(rules: readonly Rule[], at: number, literal: string): boolean {
    const end = this.#lookAhead(TOKEN_END, at);
    if (end === this.#text.length || !LINE_END.test(this.#text.slice(end, end + 8))) return false;
    const find = (token: string): Rule | undefined => rules.find((rule) => isWholeToken(rule, token));
    const wrapped = unwrapToken(this.#text, at, { literal, fits: (token) => find(token) !== undefined });
    const kind = wrapped === null ? undefined : find(wrapped.token)?.kind;
    if (wrapped === null || kind === undefined) return false;
    this.#end = wrapped.end;
    this.spans.push({ kind, start: at, end: wrapped.end, value: wrapped.token });
    return true;
  }

  #tryCut(literal: string, at: number): boolean {
    if (literal.includes(' ') || literal.includes('=')) return false;
    CUT.lastIndex = at + Math.max(literal.length, MIN_HEAD);
    if (!CUT.test(this.#text)) return false;
    this.#end = CUT.lastIndex;
    this.spans.push({ kind: 'cut-token', start: at, end: this.#end });
    return true;
  }

  /** A token that is joined to a word has to look random: `task-runner` is none. */
  #tryRule({ kind, pattern, check, ahead, reach, list, more }: Rule, at: number, isStart = true): boolean {
    const text = this.#text;
    if (ahead !== undefined && this.#lookAhead(ahead, at) > at + MAX_LOOKAHEAD) return false;
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null) return false;
    const [all, group] = match;
    const secret = group ?? all;
    if (check !== undefined && !check(secret)) return false;
    if (!isStart && looksLikeWords(secret)) return false;
    const end = at + all.length;
    if (list !== undefined) {
      if (at < this.#listed) return false;
      const { ranges, end: listed } = list(text, at);
      for (const range of ranges) this.spans.push({ kind, ...range, byContext: true });
      this.#listed = listed;
      return false;
    }
    if (reach !== undefined) {
      const whole = reach(text, { start: at, end });
      if (whole === null) return false;
      this.spans.push({ kind, ...whole });
      this.#end = whole.end;
      return true;
    }
    this.#end = end;
    const span = { kind, start: this.#end - secret.length, end: this.#end };
    this.spans.push(group === undefined ? span : { ...span, byContext: true });
    if (more !== undefined) this.#addMore(kind, more);
    return true;
  }

  #addMore(kind: string, more: RegExp): void {
    more.lastIndex = this.#end;
    for (let match = more.exec(this.#text); match !== null; match = more.exec(this.#text)) {
      const [, secret = ''] = match;
      this.#end = more.lastIndex;
      if (!looksLikeWords(secret) && !isStandIn(secret))
        this.spans.push({ kind, start: this.#end - secret.length, end: this.#end, byContext: true });
    }
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

  /** Where the word before a pivot begins; -1 if its length is not what the rule asks for. Other words may be joined to it. */
  #findWordBefore(at: number, { before: [least, most] = [1, 64] }: Rule): number {
    for (let start = at - least; start >= Math.max(this.#end, at - most); start--)
      if (isWordStart(this.#text, start, this.#end) || '-_'.includes(this.#text.charAt(start - 1))) return start;
    return -1;
  }
}
