import { countCharacters, isDummy, looksLikePassword, looksRandom } from './heuristics.ts';
import { isNamePart, Lookahead } from './prefilter.ts';
import type { NamedRule, Span } from './rule.ts';
import { NAME_ENDINGS, NAMED_RULES, OPEN_NAME, SECRET_NAME } from './rules/names.ts';

/** A name that secrets are assigned to. */
interface SecretName {
  name: string;
  rules: readonly NamedRule[];
  isSecret: boolean;
  /** Whether a person chooses the value, rather than a program. */
  isPersonal: boolean;
  header: 'authorization' | 'cookie' | null;
}

interface Value {
  text: string;
  start: number;
  isQuoted: boolean;
  /** With white space before the `=`, as in code and not in settings. */
  isSpaced: boolean;
}

const ENDINGS: ReadonlySet<string> = new Set(NAME_ENDINGS);
const HEADERS = ['authorization', 'cookie'] as const;
const PERSONAL = /pass|pwd|secret|contrasena|cred/;
const CACHE = new Map<string, SecretName | null>();
const MAX_CACHED = 4096;

/** Null for a name whose value is no secret. */
function classifyName(written: string): SecretName | null {
  const known = CACHE.get(written);
  if (known !== undefined) return known;
  const name = written.toLowerCase().replace(/[^a-z0-9]/g, '');
  const rules = NAMED_RULES.filter((rule) => rule.name.test(name));
  const isSecret = SECRET_NAME.test(name) && !OPEN_NAME.test(name);
  const header = HEADERS.find((ending) => name.endsWith(ending)) ?? null;
  const isAny = rules.length > 0 || isSecret || header !== null;
  const found = isAny ? { name, rules, isSecret, isPersonal: PERSONAL.test(name), header } : null;
  if (CACHE.size >= MAX_CACHED) CACHE.clear();
  CACHE.set(written, found);
  return found;
}

/** The same for a name of any length, without looking closer at most of them. */
function classifyByEnding(name: string): SecretName | null {
  return ENDINGS.has(name.slice(-3).toLowerCase()) ? classifyName(name) : null;
}

/** The kind of secret that a value is under its name; null where it is none. */
function judgeValue(secretName: SecretName, value: Value): string | null {
  const { text } = value;
  const rule = secretName.rules.find((each) => each.value.test(text) && each.check?.(text) !== false);
  const isSecret = rule === undefined && secretName.isSecret && isSecretValue(secretName, value);
  const kind = rule?.kind ?? (isSecret ? 'assigned-secret' : null);
  return kind === null || isDummy(text) || isReference(text) ? null : kind;
}

/** A path, URL, pattern, template or member: where a value is, not what it is. */
function isReference(text: string): boolean {
  return (
    /^(?:\.{0,2}\/|~|https?:|[a-z]+:\/\/|\^|arn:|@)/.test(text) ||
    /\$\{|\{\{|\{\}|%s|\\[dws]|\[a-z/i.test(text) ||
    (text.includes('.') && /^[A-Za-z_][A-Za-z0-9_]*(?:\??\.[A-Za-z_][A-Za-z0-9_]*)+$/.test(text) && !looksRandom(text))
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

/** The rest of a line behind the name of an HTTP header. */
type HeaderLine = Pick<Value, 'text' | 'start'>;

const KIND_OF_SCHEME = new Map(Object.entries({ bearer: 'bearer-token', basic: 'basic-auth' }));
const AUTHORIZATION = /^(?:([A-Za-z][\w-]{2,20}) {1,3})?(?:(?:token|key|api_key)=)?["']?([\w.~+/=:-]{16,2000})/;
function findAuthorization({ text, start }: HeaderLine): Span | null {
  const [all = '', scheme = '', secret = ''] = AUTHORIZATION.exec(text) ?? [];
  if (!/\d/.test(secret) || !/[A-Za-z]/.test(secret) || isDummy(secret)) return null;
  const end = start + all.length;
  const kind = KIND_OF_SCHEME.get(scheme.toLowerCase()) ?? 'authorization';
  return { kind, start: end - secret.length, end, byContext: true };
}

/** The whole header, if one of its cookies is more than a setting. */
function findCookie({ text, start }: HeaderLine): Span | null {
  const isSecret = text.split(';').some((pair) => {
    const [, value = ''] = /^\s{0,4}[\w.-]{1,100}=(.{16,4000})$/.exec(pair) ?? [];
    return /\d/.test(value) && /[A-Za-z]/.test(value) && !isDummy(value);
  });
  return isSecret ? { kind: 'cookie', start, end: start + text.length, byContext: true } : null;
}

function judgeHeader(header: 'authorization' | 'cookie', line: HeaderLine): Span | null {
  return header === 'cookie' ? findCookie(line) : findAuthorization(line);
}

/** The kind of secret that a member of JSON is under its name; null where it is none. */
export function findKindByName(name: string, text: string): string | null {
  const secretName = name.length < 3 || text.length > MAX_VALUE ? null : classifyByEnding(name);
  if (secretName === null) return null;
  return secretName.header === null
    ? judgeValue(secretName, { text, start: 0, isQuoted: true, isSpaced: false })
    : (judgeHeader(secretName.header, { text, start: 0 })?.kind ?? null);
}

const MAX_NAME = 64;
const MAX_GAP = 8;
const GAP = ' "\'\\]?`';
const FLAG = /--([A-Za-z][\w-]{2,40})[ \t]{1,8}/y;
const MAX_VALUE = 4096;
const MAX_LINE = 1024;
const LEAD = /[:=]?[=>]?[ \t]{0,8}(?:[brfu@](?=["']))?(?:(\\{0,3})(["'`]))?/y;
/** With few `=`, so that each of many assignments in a row is read a few times only. */
const BARE = /[^\s"'`,;<>(){}[\]|\\=]{1,4096}(?:=[^\s"'`,;<>(){}[\]|\\=]{1,256}){0,2}={0,2}/y;
const BARE_QUERY = /[^\s"'`,;<>(){}[\]|\\&#=]{1,4096}={0,2}/y;
const LINE_END = /[\n\r"'\\]/g;
const TAG_END = /<\//g;
const DIGIT = /\d/g;

export class Assignments {
  readonly #text: string;
  readonly #lineEnds: Lookahead;
  readonly #tagEnds: Lookahead;
  readonly #digits: Lookahead;
  #last: { secretName: SecretName; value: Value; kind: string | null } | null = null;

  constructor(text: string) {
    this.#text = text;
    this.#lineEnds = new Lookahead(text, LINE_END);
    this.#tagEnds = new Lookahead(text, TAG_END);
    this.#digits = new Lookahead(text, DIGIT);
  }

  /** The secret assigned by `:` or `=`, or as the content of a tag, to the name that ends at `end`. */
  findAssigned(end: number): Span | null {
    const text = this.#text;
    const last = Math.min(end + MAX_GAP, text.length - 1);
    let at = end;
    while (at < last && GAP.includes(text.charAt(at))) at++;
    if (at >= text.length) return null;
    const mark = text.charAt(at);
    if (mark !== ':' && mark !== '=' && mark !== '>') return null;
    let start = end;
    while (start > 0 && end - start < MAX_NAME && isNamePart(text.charCodeAt(start - 1))) start--;
    const name = classifyName(text.slice(start, end));
    if (name === null) return null;
    const before = start === 0 ? '' : text.charAt(start - 1);
    if (mark === '>') return before === '<' ? this.#judge(name, this.#readTagged(at + 1)) : null;
    const isQuery = before === '?' || before === '&';
    return this.#judge(name, this.#readValue(at, { isSpaced: end < at && mark === '=', isQuery }));
  }

  findFlagValue(at: number): Span | null {
    FLAG.lastIndex = at;
    const [all, name] = FLAG.exec(this.#text) ?? [];
    const secretName = name === undefined ? null : classifyByEnding(name);
    if (all === undefined || secretName === null) return null;
    const value = this.#readValue(at + all.length - 1, { isSpaced: false, isQuery: false });
    return value?.text.startsWith('-') ? null : this.#judge(secretName, value);
  }

  #judge(secretName: SecretName, value: Value | null): Span | null {
    if (value === null) return null;
    const { text, start } = value;
    if (secretName.header === null) {
      const kind = this.#judgeOnce(secretName, value);
      return kind === null ? null : { kind, start, end: start + text.length, byContext: true };
    }
    const end = Math.min(this.#lineEnds.find(start), start + MAX_LINE);
    // A header without a digit has no secret.
    if (this.#digits.find(start) >= end) return null;
    return judgeHeader(secretName.header, { text: this.#text.slice(start, end), start });
  }

  /** Remembers the last verdict: the same assignment often comes many times in a row. */
  #judgeOnce(secretName: SecretName, value: Value): string | null {
    const { text, isQuoted, isSpaced } = value;
    const last = this.#last?.secretName === secretName ? this.#last : null;
    if (last?.value.text === text && last.value.isQuoted === isQuoted && last.value.isSpaced === isSpaced)
      return last.kind;
    const kind = judgeValue(secretName, value);
    this.#last = { secretName, value, kind };
    return kind;
  }

  #readValue(at: number, { isSpaced, isQuery }: { isSpaced: boolean; isQuery: boolean }): Value | null {
    const text = this.#text;
    LEAD.lastIndex = at;
    const lead = LEAD.exec(text);
    if (lead === null) return null;
    const [all, slashes = '', quote] = lead;
    const start = at + all.length;
    if (quote !== undefined) {
      const rest = text.slice(start, start + MAX_VALUE);
      const value = rest.slice(0, Math.max(0, rest.indexOf(`${slashes}${quote}`)));
      const isClosed = rest.startsWith(`${slashes}${quote}`, value.length);
      return isClosed && !value.includes('\n') ? { text: value, start, isQuoted: true, isSpaced } : null;
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
    return { text: this.#text.slice(start, end), start, isQuoted: true, isSpaced: false };
  }
}
