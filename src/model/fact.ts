import * as v from 'valibot';
import { FACT_KINDS } from './fact-kinds.ts';
import { shortHash } from './hash.ts';

export { FACT_KINDS };

export const FactKind = v.picklist(FACT_KINDS);
export type FactKind = v.InferOutput<typeof FactKind>;

/**
 * How far a fact can be relied on, from most to least: `observed` in a tool's result or in git; `quoted` word for word from
 * the session; `declared` on purpose by a human or an agent; `inferred` from what was said or done; `imported` from another
 * machine or tool.
 */
export const Trust = v.picklist(['observed', 'quoted', 'declared', 'inferred', 'imported']);
export type Trust = v.InferOutput<typeof Trust>;

export const Origin = v.picklist(['human', 'agent', 'tool', 'git', 'import']);
export type Origin = v.InferOutput<typeof Origin>;

/** Where a fact was seen: a line or an entry of a transcript, a file, a commit. */
export const Source = v.strictObject({
  session: v.exactOptional(v.string()),
  line: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(0))),
  ref: v.exactOptional(v.string()),
});
export type Source = v.InferOutput<typeof Source>;

/** A file whose content a fact depends on: the fact may be out of date once its digest differs. Null: there was no file. */
export const Probe = v.strictObject({
  path: v.string(),
  sha256: v.nullable(v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))),
});
export type Probe = v.InferOutput<typeof Probe>;

export const MAX_FACT_TEXT_BYTES: number = 64 * 1024;
export const MAX_FACTS = 10_000;

export const FACT_ID: RegExp = /^f-[0-9a-hjkmnp-tv-z]{10}$/;

export const FactId = v.pipe(v.string(), v.regex(FACT_ID));

export const Fact = v.strictObject({
  id: FactId,
  kind: FactKind,
  text: v.pipe(v.string(), v.minLength(1), v.maxBytes(MAX_FACT_TEXT_BYTES)),
  status: v.exactOptional(v.string()),
  trust: Trust,
  origin: Origin,
  sources: v.array(Source),
  pinned: v.exactOptional(v.boolean()),
  probe: v.exactOptional(Probe),
  detail: v.exactOptional(v.record(v.string(), v.unknown())),
});
export type Fact = v.InferOutput<typeof Fact>;

const EXACT_SUBJECT: ReadonlySet<FactKind> = new Set(['file', 'command', 'reference']);

/** The same fact has the same id in every handover: white space, case and final punctuation do not count. */
export function computeFactId(kind: FactKind, subject: string): string {
  return `f-${shortHash(`${kind}\n${normaliseSubject(kind, subject)}`, 10)}`;
}

function normaliseSubject(kind: FactKind, subject: string): string {
  const text = subject.normalize('NFC').trim();
  if (EXACT_SUBJECT.has(kind)) return text;
  return dropEndMarks(text.toLowerCase().replace(/\s+/g, ' '));
}

const END_MARKS = ' .!,;:。！';

/** A loop, because a pattern anchored at the end would backtrack at every run of marks: quadratic time. */
function dropEndMarks(text: string): string {
  let end = text.length;
  while (end > 0 && END_MARKS.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
