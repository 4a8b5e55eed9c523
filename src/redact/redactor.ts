import { createHmac } from 'node:crypto';
import { computeFactId, type Fact, MAX_FACT_TEXT_BYTES } from '../model/fact.ts';
import type { HandoverDraft } from '../model/handover.ts';
import { encodeBase32 } from '../model/hash.ts';
import { cutToBytes } from '../model/text.ts';
import { findKindByName } from './assignments.ts';
import { locateSeen, readSeen } from './encodings.ts';
import { TrigramTable } from './prefilter.ts';
import type { Span } from './rule.ts';
import { findSecrets, joinSpans } from './scan.ts';
import { NO_SETTINGS, type RedactSettings } from './settings.ts';
import { decodeBase64, hasDifferent, isStandIn, looksLikeWords } from './values.ts';

const OPENING = '[redacted:';
const PLACEHOLDER = /(\[redacted:[a-z0-9-]{1,40}:[0-9a-z]{8}\])/;
const MARK_LENGTH = 8;

/** The same for the same secret, and meaningless without the key. Hex first: asking for bytes makes V8 drop optimized code. */
function computeMark(secret: string, key: Uint8Array): string {
  const digest = createHmac('sha256', key).update(secret).digest('hex');
  return encodeBase32(Buffer.from(digest, 'hex'), MARK_LENGTH);
}

/** Stand in names of files for what is not seen, which may split a secret. */
const UNSEEN_SIGN = /[\ufffd\u2400-\u2421]/;
const UNSEEN_SIGNS: RegExp = new RegExp(UNSEEN_SIGN, 'g');

export function hasPlaceholders(text: string): boolean {
  return text.includes(OPENING);
}

/** The text between placeholders at even positions, the placeholders at odd ones. */
export function splitAtPlaceholders(text: string): string[] {
  return hasPlaceholders(text) ? text.split(PLACEHOLDER) : [text];
}

const OPEN = '<private>';
const CLOSE = '</private>';
/** With what is not seen between its letters: colours, and anything that is not ASCII. */
const MAY_OPEN = new RegExp([...OPEN].join('(?:[^ -~]|\\[[\\d;]{0,20}m){0,40}'));

/** From `<private>` to `</private>`, as they will be read. */
function findPrivateParts(text: string, byHuman = false): Span[] {
  if (!MAY_OPEN.test(text)) return [];
  const seen = readSeen(text);
  if (seen === null) return findTagged(text, byHuman);
  return joinSpans([...findTagged(text, byHuman), ...locateSeen(findTagged(seen, byHuman), { text, seen })]);
}

/** A tag that a human did not close reaches to the end. A tag in quotes is only mentioned. */
function findTagged(text: string, byHuman: boolean): Span[] {
  const parts: Span[] = [];
  for (let start = text.indexOf(OPEN); start !== -1; ) {
    const before = text.charAt(start - 1);
    const isQuoted = /["'`]/.test(before) && text.charAt(start + OPEN.length) === before;
    const close = isQuoted ? -1 : text.indexOf(CLOSE, start);
    if (!isQuoted && close === -1) return byHuman ? [...parts, { kind: 'private', start, end: text.length }] : parts;
    const end = isQuoted ? start + OPEN.length : close + CLOSE.length;
    if (!isQuoted) parts.push({ kind: 'private', start, end });
    start = text.indexOf(OPEN, end);
  }
  return parts;
}

export type Redactions = HandoverDraft['redactions'];
export type FoundMarks = Map<string, Set<string>>;

/** How deep secrets may hide beside other secrets: deeper only on purpose. */
const MAX_DEPTH = 8;
/** How often all of the rest is looked at again. */
const WHOLE_DEPTH = 2;
/** As long as the longest value. */
const BESIDE = 4096;
const MAX_MARKS = 1000;
const MIN_SECRET_LENGTH = 8;

const MAX_CLEAN = 2000;
const MAX_CLEAN_LENGTH = 128;

const MAX_LEARNT = 500;
const MAX_LEARNT_LENGTH = 4096;
const HEAD = 4;
const FEW = 8;

const DATE = /^(?:19|20)\d\d(?:0\d|1[0-2])[0-3]\d/;
const RISING = '01234567890123456789';

/** Whether a value means nothing else: words, short values, dates and the simplest numbers are too common to look for everywhere. */
function isUnusual(value: string): boolean {
  if (value.length < MIN_SECRET_LENGTH || /\s/.test(value) || isStandIn(value)) return false;
  if (/^\d+$/.test(value)) return hasDifferent(value, 4) && !DATE.test(value) && !RISING.includes(value);
  return hasDifferent(value, 5) && (/\d/.test(value) || !looksLikeWords(value));
}

/** Whether a value may be a part of a longer word or number that has nothing to do with it. */
function mayBePart(value: string): boolean {
  return /^(?:\d+|[A-Za-z]+)$/.test(value) || looksLikeWords(value);
}

/** Values that were recognised as secrets once and are looked for everywhere from then on. A new one costs no more than it is long. */
class LearntValues {
  #table: TrigramTable | null = null;
  readonly #kinds = new Map<string, string>();
  /** Those that count only as a whole word. */
  readonly #whole = new Set<string>();
  /** The longest first. */
  readonly #byHead = new Map<string, string[]>();

  get size(): number {
    return this.#kinds.size;
  }

  has(value: string): boolean {
    return this.#kinds.has(value);
  }

  add(value: string, kind: string): void {
    if (value.length > MAX_LEARNT_LENGTH || this.#kinds.has(value) || this.#kinds.size >= MAX_LEARNT) return;
    this.#kinds.set(value, kind);
    if (mayBePart(value)) this.#whole.add(value);
    const head = value.slice(0, HEAD);
    this.#table ??= new TrigramTable();
    this.#table.addTrigram(head.slice(0, HEAD - 1), head.charAt(HEAD - 1));
    this.#byHead.set(
      head,
      [...(this.#byHead.get(head) ?? []), value].sort((a, b) => b.length - a.length),
    );
  }

  find(text: string): Span[] {
    const table = this.#table;
    if (table === null) return [];
    const spans: Span[] = [];
    // A few are faster looked for one by one.
    if (this.#kinds.size <= FEW && [...this.#kinds.keys()].every((value) => !text.includes(value))) return spans;
    const bytes = Buffer.allocUnsafe(text.length + HEAD);
    bytes.fill(0, bytes.write(text, 'latin1'));
    for (let at = 0; at < text.length; at++) {
      at = table.findNext(bytes, at, text.length);
      const value = this.#byHead
        .get(text.slice(at, at + HEAD))
        ?.find((each) => text.startsWith(each, at) && (!this.#whole.has(each) || isWhole(text, at, each)));
      if (value === undefined) continue;
      spans.push({ kind: this.#kinds.get(value) ?? 'assigned-secret', start: at, end: at + value.length });
      at += value.length - 1;
    }
    return spans;
  }
}

function isWhole(text: string, at: number, value: string): boolean {
  return !/[A-Za-z0-9]/.test(text.charAt(at - 1)) && !/[A-Za-z0-9]/.test(text.charAt(at + value.length));
}

/** What all rules of the settings may take for a text: a project may have written both. */
const STEPS_PER_CHARACTER = 64;
const MIN_STEPS = 100_000;

function countStarts(text: string, pattern: string): number {
  const literal = pattern.slice(0, 3);
  let count = 0;
  for (let at = text.indexOf(literal); at !== -1; at = text.indexOf(literal, at + 1)) count++;
  return count;
}

/**
 * Replaces secrets in texts by placeholders, and counts the different ones by kind. Redacting twice changes nothing. A value
 * found once by its context is found everywhere from then on.
 */
export class Redactor {
  readonly #loadKey: () => Uint8Array;
  readonly #settings: RedactSettings;
  readonly #learnt = new LearntValues();
  #found: FoundMarks = new Map();
  #key: Uint8Array | null = null;
  /** Calls that print a secret, until their results. */
  readonly #expected = new Map<string, number>();
  readonly #marks = new Map<string, string>();
  /** Short texts without secrets: names and paths come again and again. */
  readonly #clean = new Set<string>();

  /** The key of the marks is loaded when the first secret is found. */
  constructor({ key, settings = NO_SETTINGS }: { key: () => Uint8Array; settings?: RedactSettings }) {
    this.#loadKey = key;
    this.#settings = settings;
  }

  get redactions(): Redactions {
    return [...this.#found]
      .map(([kind, marks]) => ({ kind, count: marks.size }))
      .sort((a, b) => (a.kind < b.kind ? -1 : 1));
  }

  get found(): FoundMarks {
    return this.#found;
  }

  resume(found: FoundMarks): void {
    this.#found = found;
  }

  /** Whether what comes later cannot be redacted without what was seen before. */
  get hasLearnt(): boolean {
    return this.#learnt.size > 0 || this.#expected.size > 0;
  }

  /** Whether any text of a value has one that was recognised by its context. */
  holdsLearnt(value: unknown): boolean {
    if (typeof value === 'string') return this.#learnt.find(value).length > 0;
    return typeof value === 'object' && value !== null && Object.values(value).some((part) => this.holdsLearnt(part));
  }

  /** Notes that the result of a call is a secret of at least that length. */
  expect(call: string, least: number | null): void {
    if (least !== null) this.#expected.set(call, least);
  }

  takeExpected(call: string): number | null {
    const least = this.#expected.get(call) ?? null;
    this.#expected.delete(call);
    return least;
  }

  get settingsIdentity(): string {
    return this.#settings.identity;
  }

  /** Changes when the same text would get other placeholders. */
  get identity(): string {
    return computeMark(this.#settings.identity, this.#getKey());
  }

  /** `byHuman`: typed by a human, who may have forgotten to close a private part. */
  redactText(text: string, { byHuman = false } = {}): string {
    if (text.length < MIN_SECRET_LENGTH || this.#clean.has(text)) return text;
    const pieces = splitAtPlaceholders(this.#replaceAll(text, findPrivateParts(text, byHuman)));
    for (let i = 0; i < pieces.length; i += 2) pieces[i] = this.#redactPiece(pieces[i] ?? '', 0);
    const redacted = pieces.length === 1 ? (pieces[0] ?? '') : pieces.join('');
    if (UNSEEN_SIGN.test(redacted)) {
      const bare = redacted.replace(UNSEEN_SIGNS, '');
      if (this.holdsSecret(bare)) return this.redactText(bare, { byHuman });
    }
    if (text.length <= MAX_CLEAN_LENGTH && redacted === text && !MAY_OPEN.test(text)) this.#noteClean(text);
    return redacted;
  }

  /** Replaces spans found elsewhere, unless they contain an allowed value. */
  replaceSpans(text: string, spans: readonly Span[]): string {
    const allowed = [...this.#settings.allow];
    const isAllowed = (found: string): boolean => allowed.some((value) => found.includes(value));
    const wanted = spans.filter(({ start, end }) => !isAllowed(text.slice(start, end)));
    return this.#replaceAll(text, joinSpans(wanted));
  }

  holdsSecret(text: string): boolean {
    const plain = splitAtPlaceholders(text).filter((_, index) => index % 2 === 0);
    return findPrivateParts(text).length > 0 || plain.some((piece) => this.#find(piece).length > 0);
  }

  /** Redacts all texts of a fact. If its text changes, so does its id, which is computed from it. */
  redactFact(fact: Fact): Fact {
    const redacted = this.redactText(fact.text, { byHuman: fact.origin === 'human' });
    const text = cutToBytes(redacted, MAX_FACT_TEXT_BYTES);
    const id = text === fact.text ? fact.id : computeFactId(fact.kind, text);
    const { probe, detail } = fact;
    return {
      ...fact,
      id,
      text,
      ...(probe !== undefined && 'path' in probe ? { probe: { ...probe, path: this.redactText(probe.path) } } : {}),
      ...(detail === undefined ? {} : { detail: this.redactRecord(detail) }),
    };
  }

  /** Redacts all texts of a JSON value, the names of members included. */
  redactValue(value: unknown): unknown {
    if (typeof value === 'string') return this.redactText(value);
    if (Array.isArray(value)) return value.map((item) => this.redactValue(item));
    return typeof value === 'object' && value !== null ? this.redactRecord(value) : value;
  }

  redactRecord(record: object): Record<string, unknown> {
    const members = Object.entries(record).map(([name, value]) => [
      this.redactText(name),
      typeof value === 'string' ? this.#redactMember(name, value) : this.redactValue(value),
    ]);
    return Object.fromEntries(members);
  }

  /** The name of a member may show that its value is a secret. */
  #redactMember(name: string, value: string): string {
    const kind = splitAtPlaceholders(value).length === 1 ? findKindByName(name, value) : null;
    if (kind === null || this.#settings.allow.has(value)) return this.redactText(value);
    return this.#replace({ kind, start: 0, end: value.length, byContext: true }, value);
  }

  #redactPiece(text: string, depth: number): string {
    if (depth > MAX_DEPTH) return text;
    return this.#replaceAll(text, this.#find(text), (rest) => this.#redactRest(rest, depth + 1));
  }

  /** What is beside a secret is looked at again, as it stands without it. After some times, what is far from any was seen as it is. */
  #redactRest(rest: string, depth: number): string {
    if (depth <= WHOLE_DEPTH || rest.length <= 2 * BESIDE) return this.#redactPiece(rest, depth);
    const line = rest.lastIndexOf('\n', BESIDE) + 1;
    const head = line > BESIDE / 2 ? line : BESIDE;
    const next = rest.indexOf('\n', rest.length - BESIDE) + 1;
    const tail = next > 0 && next < rest.length - BESIDE / 2 ? next : rest.length - BESIDE;
    return (
      this.#redactPiece(rest.slice(0, head), depth) +
      rest.slice(head, tail) +
      this.#redactPiece(rest.slice(tail), depth)
    );
  }

  #replaceAll(text: string, spans: readonly Span[], redactRest = (rest: string) => rest): string {
    if (spans.length === 0) return text;
    const parts: string[] = [];
    let last = 0;
    for (const span of spans) {
      parts.push(redactRest(text.slice(last, span.start)));
      parts.push(this.#replace(span, text.slice(span.start, span.end)));
      last = span.end;
    }
    parts.push(redactRest(text.slice(last)));
    return parts.join('');
  }

  #replace({ kind, byContext, value }: Span, written: string): string {
    const secret = value ?? written;
    const mark = this.#markOf(secret);
    this.#found.set(kind, (this.#found.get(kind) ?? new Set()).add(mark));
    if (byContext === true) this.#learn(secret, kind);
    return `${OPENING}${kind}:${mark}]`;
  }

  #markOf(secret: string): string {
    const known = this.#marks.get(secret);
    if (known !== undefined) return known;
    const mark = computeMark(secret, this.#getKey());
    if (this.#marks.size >= MAX_MARKS) this.#marks.clear();
    this.#marks.set(secret, mark);
    return mark;
  }

  #find(text: string): Span[] {
    if (text.length < MIN_SECRET_LENGTH) return [];
    const { spans, mayHide } = findSecrets(text);
    const found = this.#addKnown(text, spans);
    const seen = mayHide ? readSeen(text) : null;
    const all =
      seen === null
        ? found
        : joinSpans([...found, ...locateSeen(this.#addKnown(seen, findSecrets(seen).spans), { text, seen })]);
    const { allow } = this.#settings;
    if (allow.size === 0) return all;
    return all.filter(({ start, end, value }) => !allow.has(value ?? text.slice(start, end)));
  }

  /** With the values that were learnt, and what the user's rules find. */
  #addKnown(text: string, found: Span[]): Span[] {
    if (this.#learnt.size === 0 && this.#settings.rules.length === 0) return found;
    return joinSpans([...found, ...this.#learnt.find(text), ...this.#findByUserRules(text)]);
  }

  #findByUserRules(text: string): Span[] {
    let steps = text.length * STEPS_PER_CHARACTER + MIN_STEPS;
    return this.#settings.rules.flatMap(({ kind, pattern: { pattern, ways, crowded } }) => {
      const cost = ways * countStarts(text, pattern.source);
      const isCrowded = cost > steps;
      steps -= isCrowded ? 0 : cost;
      return [...text.matchAll(isCrowded ? crowded : pattern)].flatMap(({ 0: match, index }) =>
        match === '' ? [] : [{ kind, start: index, end: index + match.length }],
      );
    });
  }

  #noteClean(text: string): void {
    if (this.#clean.size >= MAX_CLEAN) this.#clean.clear();
    this.#clean.add(text);
  }

  #learn(secret: string, kind: string): void {
    if (this.#learnt.has(secret)) return;
    this.#clean.clear();
    const decoded = kind === 'kubernetes-secret' ? decodeBase64(secret) : null;
    for (const value of [secret, decoded ?? '']) if (isUnusual(value)) this.#learnt.add(value, kind);
  }

  #getKey(): Uint8Array {
    this.#key ??= this.#loadKey();
    return this.#key;
  }
}
