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

const ShortTexts = v.pipe(v.array(v.pipe(v.string(), v.minLength(1), v.maxBytes(200))), v.maxLength(10));

/**
 * A file that a fact is about: it may be out of date once the digest differs. Null: there was no file, or what it held was
 * not looked at. `names` and `todos` are what it held besides: names that it declares, lines that say what is left to do.
 */
const FileProbe = v.strictObject({
  path: v.string(),
  sha256: v.nullable(v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))),
  names: v.exactOptional(ShortTexts),
  todos: v.exactOptional(ShortTexts),
});
export type FileProbe = v.InferOutput<typeof FileProbe>;

const Version = { dependency: v.string(), version: v.string() };

/** The version of a dependency that a lock file names, and of others that were installed with it. */
const VersionProbe = v.strictObject({
  lock: v.string(),
  ...Version,
  others: v.exactOptional(v.pipe(v.array(v.strictObject(Version)), v.maxLength(20))),
});
export type VersionProbe = v.InferOutput<typeof VersionProbe>;

/** A process that the session started, as a pid with the time of its start, and the port that it listens on. */
const ProcessProbe = v.strictObject({
  process: v.nullable(v.string()),
  port: v.nullable(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535))),
});
export type ProcessProbe = v.InferOutput<typeof ProcessProbe>;

/** What can be checked, cheaply and without side effects, to see whether a fact still holds. */
export const Probe = v.union([FileProbe, VersionProbe, ProcessProbe]);
export type Probe = v.InferOutput<typeof Probe>;

export function getFileProbe({ probe }: Pick<Fact, 'probe'>): FileProbe | null {
  return probe !== undefined && 'path' in probe ? probe : null;
}

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

/** The trust and origin that an imported fact had at its sender, and the name of the sender's key here. */
const Told = v.object({ trust: Trust, origin: Origin, by: v.optional(v.nullable(v.string()), null) });
export type Told = v.InferOutput<typeof Told>;

export function readTold({ trust, detail }: Pick<Fact, 'trust' | 'detail'>): Told | null {
  const { success, output } = v.safeParse(Told, detail?.told);
  return trust === 'imported' && success ? output : null;
}

const EXACT_SUBJECT: ReadonlySet<FactKind> = new Set(['file', 'command', 'reference']);

/** The line of its session's transcript that a fact is from. */
export function lineOf({ sources: [source] }: Fact): number {
  return source?.line ?? 0;
}

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
