import { countCharacters, isDummy, looksLikePassword, looksRandom } from './heuristics.ts';
import { isNamePart, Lookahead } from './prefilter.ts';
import type { NamedRule, Span } from './rule.ts';
import { NAME_ENDINGS, NAMED_RULES, OPEN_NAME, SECRET_NAME } from './rules/names.ts';

/** What a name says of the value that it is given. */
export interface SecretName {
  name: string;
  rules: readonly NamedRule[];
  isSecret: boolean;
  /** What a person chooses, rather than a program. */
  isPersonal: boolean;
  header: 'authorization' | 'cookie' | null;
}

/** What a name is given. */
export interface Value {
  text: string;
  start: number;
  isQuoted: boolean;
  /** With white space before the `=`, as code has it and settings have not. */
  isSpaced: boolean;
}

const HEADERS = ['authorization', 'cookie'] as const;
const PERSONAL = /pass|pwd|secret|contrasena|cred/;

/** Names come again and again. */
const NAMINGS = new Map<string, SecretName | null>();
const MOST_NAMINGS = 4096;

/** Null for a name that is given anything. */
export function classifyName(written: string): SecretName | null {
  const known = NAMINGS.get(written);
  if (known !== undefined) return known;
  const name = written.toLowerCase().replace(/[^a-z0-9]/g, '');
  const rules = NAMED_RULES.filter((rule) => rule.name.test(name));
  const isSecret = SECRET_NAME.test(name) && !OPEN_NAME.test(name);
  const header = HEADERS.find((ending) => name.endsWith(ending)) ?? null;
  const isPersonal = PERSONAL.test(name);
  const naming =
    rules.length > 0 || isSecret || header !== null ? { name, rules, isSecret, isPersonal, header } : null;
  if (NAMINGS.size >= MOST_NAMINGS) NAMINGS.clear();
  NAMINGS.set(written, naming);
  return naming;
}

/** The kind of secret that a value is for the name that it has, if any. */
export function judgeValue(naming: SecretName, value: Value): string | null {
  const { text } = value;
  const rule = naming.rules.find(({ value: shape, check }) => shape.test(text) && check?.(text) !== false);
  const kind = rule?.kind ?? (naming.isSecret && isSecretValue(naming, value) ? 'assigned-secret' : null);
  return kind === null || isDummy(text) || isReference(text) ? null : kind;
}

/** A path, a URL, a pattern, a template, a member of something: where a value is, not what it is. */
function isReference(text: string): boolean {
  return (
    /^(?:\.{0,2}\/|~|https?:|[a-z]+:\/\/|\^|arn:|@)/.test(text) ||
    /\$\{|\{\{|\{\}|%s|\\[dws]|\[a-z/i.test(text) ||
    (text.includes('.') &&
      /^[A-Za-z_][A-Za-z0-9_]*(?:\??\.[A-Za-z_][A-Za-z0-9_]*)+$/.test(text) &&
      !looksRandom(text))
  );
}

function isSecretValue({ name, isPersonal }: SecretName, { text, isQuoted, isSpaced }: Value): boolean {
  if (text.startsWith('-') || (isQuoted && /\s/.test(text))) return false;
  // The verdict of a test, as in `PASS: TestA`.
  if (name === 'pass' && !isQuoted) return false;
  const kinds = countCharacters(text);
  if (looksRandom(text, kinds)) return true;
  if (!isQuoted && isSpaced) return false;
  return (isPersonal || (text.length >= 12 && kinds.turns >= 2)) && looksLikePassword(text, kinds);
}

/** What a header of HTTP is given: the rest of a line. */
export interface HeaderLine {
  text: string;
  start: number;
}

/** The secret in the rest of a line, for the header that it is given to. */
export function judgeHeader(header: 'authorization' | 'cookie', line: HeaderLine): Span | null {
  return header === 'cookie' ? findCookie(line) : findAuthorization(line);
}

const AUTHORIZATION =
  /^(?:([A-Za-z][\w-]{2,20}) {1,3})?(?:(?:token|key|api_key)=)?["']?([\w.~+/=:-]{16,2000})/;
const SCHEMES: ReadonlyMap<string, string> = new Map([
  ['bearer', 'bearer-token'],
  ['basic', 'basic-auth'],
]);

function findAuthorization({ text, start }: HeaderLine): Span | null {
  const [all = '', scheme = '', secret = ''] = AUTHORIZATION.exec(text) ?? [];
  if (!/\d/.test(secret) || !/[A-Za-z]/.test(secret) || isDummy(secret)) return null;
  const end = start + all.length;
  const kind = SCHEMES.get(scheme.toLowerCase()) ?? 'authorization';
  return { kind, start: end - secret.length, end, byContext: true };
}

/** All of the header, as long as one of its cookies is more than a setting. */
function findCookie({ text, start }: HeaderLine): Span | null {
  const isTelling = text.split(';').some((pair) => {
    const [, value = ''] = /^\s{0,4}[\w.-]{1,100}=(.{16,4000})$/.exec(pair) ?? [];
    return /\d/.test(value) && /[A-Za-z]/.test(value) && !isDummy(value);
  });
  return isTelling ? { kind: 'cookie', start, end: start + text.length, byContext: true } : null;
}

const MAX_NAME = 64;
const MAX_GAP = 8;

const TAILS: ReadonlySet<string> = new Set(NAME_ENDINGS);

function hasTail(name: string): boolean {
  return TAILS.has(name.slice(-3).toLowerCase());
}

/** The kind of secret that a value is for the name that it has, if any: for what is parsed already. */
export function findKindByName(name: string, text: string): string | null {
  if (name.length < 3 || text.length > MAX_VALUE || !hasTail(name)) return null;
  const naming = classifyName(name);
  if (naming === null) return null;
  return naming.header === null
    ? judgeValue(naming, { text, start: 0, isQuoted: true, isSpaced: false })
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
  readonly #lineEnds: Lookahead;
  readonly #tagEnds: Lookahead;
  readonly #digits: Lookahead;
  #judged: { naming: SecretName | null; last: Value | null; kind: string | null } = NOTHING_JUDGED;

  constructor(text: string) {
    this.#text = text;
    this.#lineEnds = new Lookahead(text, LINE_END);
    this.#tagEnds = new Lookahead(text, TAG_END);
    this.#digits = new Lookahead(text, DIGIT);
  }

  /** The value that a name which ends at `end` is given by `:`, `=` or as the content of a tag, if it is a secret. */
  findAssigned(end: number): Span | null {
    const text = this.#text;
    const last = Math.min(end + MAX_GAP, text.length - 1);
    let at = end;
    while (at < last && isGap(text.charCodeAt(at))) at++;
    if (at >= text.length) return null;
    const mark = text.charAt(at);
    if (mark !== ':' && mark !== '=' && mark !== '>') return null;
    const start = findNameStart(text, end);
    const name = classifyName(text.slice(start, end));
    if (name === null) return null;
    const before = start === 0 ? '' : text.charAt(start - 1);
    if (mark === '>') return before === '<' ? this.#judge(name, this.#readTagged(at + 1)) : null;
    const isQuery = before === '?' || before === '&';
    return this.#judge(name, this.#readValue(at, { isSpaced: end < at && mark === '=', isQuery }));
  }

  /** The value that stands behind a flag such as `--password`; `at` is where the flag begins. */
  findFlagValue(at: number): Span | null {
    FLAG.lastIndex = at;
    const [all, name] = FLAG.exec(this.#text) ?? [];
    if (all === undefined || name === undefined || !hasTail(name)) return null;
    const naming = classifyName(name);
    if (naming === null) return null;
    const value = this.#readValue(at + all.length - 1, { isSpaced: false, isQuery: false });
    return value?.text.startsWith('-') ? null : this.#judge(naming, value);
  }

  #judge(naming: SecretName, value: Value | null): Span | null {
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
  #judgeOnce(naming: SecretName, value: Value): string | null {
    const { last } = this.#judged;
    if (
      this.#judged.naming !== naming ||
      last?.text !== value.text ||
      last.isQuoted !== value.isQuoted ||
      last.isSpaced !== value.isSpaced
    )
      this.#judged = { naming, last: value, kind: judgeValue(naming, value) };
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
