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
const MARK_LENGTH = 8;
const PLACEHOLDER = /(\[redacted:[a-z0-9-]{1,40}:[0-9a-z]{8}\])/;

/** What stands for a secret: its kind, and a mark that is the same for the same secret and tells nothing without the key. */
export function formatPlaceholder(kind: string, mark: string): string {
  return `${OPENING}${kind}:${mark}]`;
}

/** The digest is asked for as text: as bytes, V8 throws away all machine code that works on bytes. */
export function computeMark(secret: string, key: Uint8Array): string {
  const digest = createHmac('sha256', key).update(secret).digest('hex');
  return encodeBase32(Buffer.from(digest, 'hex'), MARK_LENGTH);
}

export function hasPlaceholders(text: string): boolean {
  return text.includes(OPENING);
}

/** The text between placeholders at even places, the placeholders themselves at odd ones. */
export function splitAtPlaceholders(text: string): string[] {
  return hasPlaceholders(text) ? text.split(PLACEHOLDER) : [text];
}

const OPEN = '<private>';
const CLOSE = '</private>';

/** A part of a text that its writer does not want to be kept, tags included. */
export interface PrivatePart {
  start: number;
  end: number;
}

/**
 * What stands between `<private>` and `</private>`. Where a human did not close the tag, all that follows: rather too much
 * than what was not to be kept.
 */
export function findPrivateParts(text: string, { byHuman = false } = {}): PrivatePart[] {
  const parts: PrivatePart[] = [];
  for (let start = text.indexOf(OPEN); start !== -1; ) {
    const close = isSpokenOf(text, start) ? start : text.indexOf(CLOSE, start);
    if (close === -1) return byHuman ? [...parts, { start, end: text.length }] : parts;
    const end = close === start ? start + OPEN.length : close + CLOSE.length;
    if (close !== start) parts.push({ start, end });
    start = text.indexOf(OPEN, end);
  }
  return parts;
}

/** A tag in quotes is a word of the text. */
function isSpokenOf(text: string, start: number): boolean {
  const before = text.charAt(start - 1);
  return /["'`]/.test(before) && text.charAt(start + OPEN.length) === before;
}

export type Redactions = HandoverDraft['redactions'];
/** By kind, the marks of what was taken out. */
export type FoundMarks = Map<string, Set<string>>;

export interface RedactorOptions {
  /** The key of the marks; asked for when the first secret is found. */
  key: () => Uint8Array;
  settings?: RedactSettings;
}

export interface TextOptions {
  /** Typed by a human, who may have forgotten to close a private part. */
  byHuman?: boolean;
}

/** What stands beside a secret may have hidden another one; so deep it is never nested but on purpose. */
const MAX_DEPTH = 8;
const MOST_LEARNT = 500;
const LONGEST_LEARNT = 4096;
const MOST_MARKS = 1000;
const SHORTEST = 8;

/**
 * Takes secrets out of texts, and counts by kind how many different ones there were. Redacting twice changes nothing. A
 * value that was known by its surroundings once is known everywhere from then on.
 */
export class Redactor {
  readonly #options: RedactorOptions;
  readonly #settings: RedactSettings;
  readonly #learnt = new Map<string, string>();
  #found: FoundMarks = new Map();
  #learntPattern: RegExp | null = null;
  #key: Uint8Array | null = null;
  readonly #marks = new Map<string, string>();

  constructor(options: RedactorOptions) {
    this.#options = options;
    this.#settings = options.settings ?? NO_SETTINGS;
  }

  get redactions(): Redactions {
    return [...this.#found]
      .map(([kind, marks]) => ({ kind, count: marks.size }))
      .sort((a, b) => (a.kind < b.kind ? -1 : 1));
  }

  get found(): FoundMarks {
    return this.#found;
  }

  /** Goes on counting from what was found before. */
  resume(found: FoundMarks): void {
    this.#found = found;
  }

  /** Whether it knows values that it would not know again by themselves. */
  get hasLearnt(): boolean {
    return this.#learnt.size > 0;
  }

  get settingsIdentity(): string {
    return this.#settings.identity;
  }

  /** The same as long as placeholders are the same for the same text. */
  get identity(): string {
    return computeMark(this.#settings.identity, this.#getKey());
  }

  redactText(text: string, { byHuman = false }: TextOptions = {}): string {
    if (text.length < SHORTEST) return text;
    const redact = (piece: string): string => this.#redactPiece(this.#hidePrivate(piece, byHuman), 0);
    if (!hasPlaceholders(text)) return redact(text);
    return splitAtPlaceholders(text)
      .map((piece, index) => (index % 2 === 0 ? redact(piece) : piece))
      .join('');
  }

  /** Takes out what somebody else found, unless it holds what is allowed. */
  replaceSpans(text: string, spans: readonly Span[]): string {
    const allowed = [...this.#settings.allow];
    const wanted = spans.filter(
      ({ start, end }) => !allowed.some((value) => text.slice(start, end).includes(value)),
    );
    return this.#replaceAll(text, joinSpans(wanted), (rest) => rest);
  }

  holdsSecret(text: string): boolean {
    return splitAtPlaceholders(text).some(
      (piece, index) =>
        index % 2 === 0 && (this.#find(piece).length > 0 || findPrivateParts(piece).length > 0),
    );
  }

  /** The texts in a fact, wherever they stand. Its id tells nothing of what was taken out. */
  redactFact(fact: Fact): Fact {
    const text = cutToBytes(
      this.redactText(fact.text, { byHuman: fact.origin === 'human' }),
      MAX_FACT_TEXT_BYTES,
    );
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

  /** A value of JSON with all its texts, also those that are names of members. */
  redactValue(value: unknown): unknown {
    if (typeof value === 'string') return this.redactText(value);
    if (Array.isArray(value)) return value.map((item) => this.redactValue(item));
    return typeof value === 'object' && value !== null ? this.redactRecord(value) : value;
  }

  redactRecord(record: object): Record<string, unknown> {
    return Object.fromEntries(
      Object.entries(record).map(([name, value]) => [
        this.redactText(name),
        typeof value === 'string' ? this.#redactMember(name, value) : this.redactValue(value),
      ]),
    );
  }

  /** A text that is known by the name of the member that holds it. */
  #redactMember(name: string, value: string): string {
    const kind = splitAtPlaceholders(value).length === 1 ? findKindByName(name, value) : null;
    if (kind === null || this.#settings.allow.has(value)) return this.redactText(value);
    return this.#replace({ kind, start: 0, end: value.length, byContext: true }, value);
  }

  #hidePrivate(text: string, byHuman: boolean): string {
    const parts = findPrivateParts(text, { byHuman });
    return parts.length === 0
      ? text
      : this.#replaceAll(
          text,
          parts.map((part) => ({ kind: 'private', ...part })),
          (rest) => rest,
        );
  }

  #redactPiece(text: string, depth: number): string {
    const spans = this.#find(text);
    if (spans.length === 0 || depth > MAX_DEPTH) return text;
    return this.#replaceAll(text, spans, (rest) => this.#redactPiece(rest, depth + 1));
  }

  #replaceAll(text: string, spans: readonly Span[], redactRest: (rest: string) => string): string {
    const parts: string[] = [];
    let last = 0;
    for (const span of spans) {
      parts.push(
        redactRest(text.slice(last, span.start)),
        this.#replace(span, text.slice(span.start, span.end)),
      );
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
    return formatPlaceholder(kind, mark);
  }

  /** The same secret comes again and again. */
  #markOf(secret: string): string {
    const known = this.#marks.get(secret);
    if (known !== undefined) return known;
    const mark = computeMark(secret, this.#getKey());
    if (this.#marks.size >= MOST_MARKS) this.#marks.clear();
    this.#marks.set(secret, mark);
    return mark;
  }

  #find(text: string): Span[] {
    if (text.length < SHORTEST) return [];
    const found = findSecrets(text);
    const { rules, allow } = this.#settings;
    const isKnownAll = this.#learntPattern === null && rules.length === 0;
    const all = isKnownAll ? found : joinSpans([...found, ...this.#findLearnt(text), ...this.#findOwn(text)]);
    return allow.size === 0
      ? all
      : all.filter(({ start, end, value }) => !allow.has(value ?? text.slice(start, end)));
  }

  #findLearnt(text: string): Span[] {
    if (this.#learntPattern === null || text.search(this.#learntPattern) === -1) return [];
    return [...text.matchAll(this.#learntPattern)].map(({ 0: value, index }) => ({
      kind: this.#learnt.get(value) ?? 'assigned-secret',
      start: index,
      end: index + value.length,
    }));
  }

  #findOwn(text: string): Span[] {
    return this.#settings.rules.flatMap(({ kind, pattern }) =>
      [...text.matchAll(pattern)].flatMap(({ 0: match, index }) =>
        match === '' ? [] : [{ kind, start: index, end: index + match.length }],
      ),
    );
  }

  /** Words and short values are too common to be looked for everywhere. */
  #learn(secret: string, kind: string): void {
    if (secret.length > LONGEST_LEARNT || this.#learnt.has(secret) || this.#learnt.size >= MOST_LEARNT)
      return;
    if (!looksLikePassword(secret) || !/\d/.test(secret) || /\s/.test(secret)) return;
    this.#learnt.set(secret, kind);
    const values = [...this.#learnt.keys()].sort((a, b) => b.length - a.length);
    this.#learntPattern = new RegExp(values.map(escapePattern).join('|'), 'g');
  }

  #getKey(): Uint8Array {
    this.#key ??= this.#options.key();
    return this.#key;
  }
}

function escapePattern(text: string): string {
  return text.replace(/[$.*+?()[\]{}|\\/^-]/g, '\\$&');
}
