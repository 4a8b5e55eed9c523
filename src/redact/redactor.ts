import { createHmac } from 'node:crypto';
import { computeFactId, type Fact, MAX_FACT_TEXT_BYTES } from '../model/fact.ts';
import type { HandoverDraft } from '../model/handover.ts';
import { encodeBase32 } from '../model/hash.ts';
import { cutToBytes } from '../model/text.ts';
import { findKindByName } from './assignments.ts';
import { looksLikePassword } from './heuristics.ts';
import type { Span } from './rule.ts';
import { findSecrets, joinSpans } from './scan.ts';
import { NO_SETTINGS, type RedactSettings } from './settings.ts';

const OPENING = '[redacted:';
const PLACEHOLDER = /(\[redacted:[a-z0-9-]{1,40}:[0-9a-z]{8}\])/;
const MARK_LENGTH = 8;

/** The same for the same secret, and meaningless without the key. Hex first: asking for bytes makes V8 drop optimized code. */
function computeMark(secret: string, key: Uint8Array): string {
  const digest = createHmac('sha256', key).update(secret).digest('hex');
  return encodeBase32(Buffer.from(digest, 'hex'), MARK_LENGTH);
}

export function hasPlaceholders(text: string): boolean {
  return text.includes(OPENING);
}

/** The text between placeholders at even positions, the placeholders at odd ones. */
export function splitAtPlaceholders(text: string): string[] {
  return hasPlaceholders(text) ? text.split(PLACEHOLDER) : [text];
}

const OPEN = '<private>';
const CLOSE = '</private>';

/** From `<private>` to `</private>`. A tag that a human did not close reaches to the end. A tag in quotes is only mentioned. */
function findPrivateParts(text: string, byHuman = false): Span[] {
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
const MAX_LEARNT = 500;
const MAX_LEARNT_LENGTH = 4096;
const MAX_MARKS = 1000;
const MIN_SECRET_LENGTH = 8;

/**
 * Replaces secrets in texts by placeholders, and counts the different ones by kind. Redacting twice changes nothing. A value
 * found once by its context is found everywhere from then on.
 */
export class Redactor {
  readonly #loadKey: () => Uint8Array;
  readonly #settings: RedactSettings;
  readonly #learnt = new Map<string, string>();
  #found: FoundMarks = new Map();
  #learntPattern: RegExp | null = null;
  #key: Uint8Array | null = null;
  readonly #marks = new Map<string, string>();

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

  get hasLearnt(): boolean {
    return this.#learnt.size > 0;
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
    if (text.length < MIN_SECRET_LENGTH) return text;
    const pieces = splitAtPlaceholders(text);
    for (let i = 0; i < pieces.length; i += 2) {
      const piece = pieces[i] ?? '';
      pieces[i] = this.#redactPiece(this.#replaceAll(piece, findPrivateParts(piece, byHuman)), 0);
    }
    return pieces.join('');
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
    return plain.some((piece) => this.#find(piece).length > 0 || findPrivateParts(piece).length > 0);
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
      ...(probe === undefined ? {} : { probe: { ...probe, path: this.redactText(probe.path) } }),
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
    const spans = this.#find(text);
    if (depth > MAX_DEPTH) return text;
    return this.#replaceAll(text, spans, (rest) => this.#redactPiece(rest, depth + 1));
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
    const found = findSecrets(text);
    const { rules, allow } = this.#settings;
    const isBare = this.#learntPattern === null && rules.length === 0;
    const more = isBare ? [] : [...this.#findLearnt(text), ...this.#findByUserRules(text)];
    const all = isBare ? found : joinSpans([...found, ...more]);
    if (allow.size === 0) return all;
    return all.filter(({ start, end, value }) => !allow.has(value ?? text.slice(start, end)));
  }

  #findLearnt(text: string): Span[] {
    if (this.#learntPattern === null || text.search(this.#learntPattern) === -1) return [];
    return [...text.matchAll(this.#learntPattern)].map(({ 0: value, index }) => ({
      kind: this.#learnt.get(value) ?? 'assigned-secret',
      start: index,
      end: index + value.length,
    }));
  }

  #findByUserRules(text: string): Span[] {
    return this.#settings.rules.flatMap(({ kind, pattern }) =>
      [...text.matchAll(pattern)].flatMap(({ 0: match, index }) =>
        match === '' ? [] : [{ kind, start: index, end: index + match.length }],
      ),
    );
  }

  /** Only unusual values: words and short values are too common to look for everywhere. */
  #learn(secret: string, kind: string): void {
    if (secret.length > MAX_LEARNT_LENGTH || this.#learnt.has(secret) || this.#learnt.size >= MAX_LEARNT) return;
    if (!looksLikePassword(secret) || !/\d/.test(secret) || /\s/.test(secret)) return;
    this.#learnt.set(secret, kind);
    const values = [...this.#learnt.keys()].sort((a, b) => b.length - a.length);
    const escaped = values.map((value) => value.replace(/[$.*+?()[\]{}|\\/^-]/g, '\\$&'));
    this.#learntPattern = new RegExp(escaped.join('|'), 'g');
  }

  #getKey(): Uint8Array {
    this.#key ??= this.#loadKey();
    return this.#key;
  }
}
