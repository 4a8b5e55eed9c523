import { isNamePart } from './characters.ts';
import { isStandIn, looksChosen, looksRandom } from './guess.ts';
import type { NamedRule, Span } from './rule.ts';
import { NAMED_RULES, OPEN_NAME, SECRET_NAME } from './rules/names.ts';

const MAX_NAME = 64;
const MAX_GAP = 8;

/** The last three letters of every name that is given a secret: most names are let pass by them alone. */
export const NAME_TAILS: readonly string[] =
  'ord swd ase ode pwd ort ena ret ken ial als eds key ass uth kie ion yid _id ata'.split(' ');
const TAILS: ReadonlySet<string> = new Set(NAME_TAILS);

function hasTail(name: string): boolean {
  return TAILS.has(name.slice(-3).toLowerCase());
}

/** The value that a name which ends at `end` is given by `:`, `=` or as the content of a tag, if it is a secret. */
export function findGiven(text: string, end: number): Span | null {
  const last = Math.min(end + MAX_GAP, text.length - 1);
  let at = end;
  while (at < last && isGap(text.charCodeAt(at))) at++;
  if (at >= text.length) return null;
  const mark = text.charAt(at);
  if (mark !== ':' && mark !== '=' && mark !== '>') return null;
  const start = findNameStart(text, end);
  const name = readName(text.slice(start, end));
  if (name === null) return null;
  const before = start === 0 ? '' : text.charAt(start - 1);
  if (mark === '>') return before === '<' ? judge(name, readTagged(text, at + 1)) : null;
  const isQuery = before === '?' || before === '&';
  return judge(name, readValue(text, at, { isSpaced: end < at && mark === '=', isQuery }));
}

/** The kind of secret that a value is for the name that it has, if any: for what is parsed already. */
export function findNamed(name: string, text: string): string | null {
  if (name.length < 3 || text.length > MAX_VALUE || !hasTail(name)) return null;
  const naming = readName(name);
  return naming === null
    ? null
    : (judge(naming, { text, start: 0, isQuoted: true, isSpaced: false, line: () => text })?.kind ?? null);
}

const FLAG = /--([A-Za-z][\w-]{2,40})[ \t]{1,8}/y;

/** The value that stands behind a flag such as `--password`; `at` is where the flag begins. */
export function findFlagged(text: string, at: number): Span | null {
  FLAG.lastIndex = at;
  const [all, name] = FLAG.exec(text) ?? [];
  if (all === undefined || name === undefined || !hasTail(name)) return null;
  const value = readValue(text, at + all.length - 1, { isSpaced: false, isQuery: false });
  const naming = readName(name);
  return naming === null || value?.text.startsWith('-') ? null : judge(naming, value);
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

interface Value {
  text: string;
  start: number;
  isQuoted: boolean;
  /** With white space before the `=`, as code has it and settings have not. */
  isSpaced: boolean;
  /** The rest of its line. */
  line: () => string;
}

const MAX_VALUE = 4096;
const LEAD = /[:=]?[=>]?[ \t]{0,8}(?:[brfu@](?=["']))?(?:(\\{0,3})(["'`]))?/y;
/** With few `=` in it, so that in a long row of assignments each is looked at a few times only. */
const BARE = /[^\s"'`,;<>(){}[\]|\\=]{1,4096}(?:=[^\s"'`,;<>(){}[\]|\\=]{1,256}){0,2}={0,2}/y;
const BARE_QUERY = /[^\s"'`,;<>(){}[\]|\\&#=]{1,4096}={0,2}/y;

function readValue(
  text: string,
  at: number,
  { isSpaced, isQuery }: Pick<Value, 'isSpaced'> & { isQuery: boolean },
): Value | null {
  LEAD.lastIndex = at;
  const lead = LEAD.exec(text);
  if (lead === null) return null;
  const [all, slashes = '', quote] = lead;
  const start = at + all.length;
  const line = (): string => readLine(text, start);
  if (quote === undefined) {
    const bare = isQuery ? BARE_QUERY : BARE;
    bare.lastIndex = start;
    const found = bare.exec(text)?.[0] ?? '';
    const isCalled = /[([{]/.test(text.charAt(start + found.length));
    return found === '' || isCalled
      ? null
      : { text: found.replace(/[.:]$/, ''), start, isQuoted: false, isSpaced, line };
  }
  const value = readUntil(text, start, `${slashes}${quote}`);
  return value === null || value.includes('\n')
    ? null
    : { text: value, start, isQuoted: true, isSpaced, line };
}

function readTagged(text: string, start: number): Value | null {
  const value = readUntil(text, start, '</');
  return value === null ? null : { text: value, start, isQuoted: true, isSpaced: false, line: () => '' };
}

function readUntil(text: string, start: number, close: string): string | null {
  const rest = text.slice(start, start + MAX_VALUE);
  const end = rest.indexOf(close);
  return end === -1 ? null : rest.slice(0, end);
}

const MAX_LINE = 1024;

function readLine(text: string, start: number): string {
  const rest = text.slice(start, start + MAX_LINE);
  const end = rest.search(/[\n\r"'\\]/);
  return end === -1 ? rest : rest.slice(0, end);
}

/** What a name says of the value that it is given. */
interface Naming {
  name: string;
  rules: readonly NamedRule[];
  isSecret: boolean;
}

/** Names come again and again. */
const NAMINGS = new Map<string, Naming | null>();
const MOST_NAMINGS = 4096;

/** Null for a name that is given anything. */
function readName(written: string): Naming | null {
  const known = NAMINGS.get(written);
  if (known !== undefined) return known;
  const name = written.toLowerCase().replace(/[^a-z0-9]/g, '');
  const rules = NAMED_RULES.filter((rule) => rule.name.test(name));
  const isSecret = SECRET_NAME.test(name) && !OPEN_NAME.test(name);
  const isHeader = /(?:authorization|cookie)$/.test(name);
  const naming = rules.length > 0 || isSecret || isHeader ? { name, rules, isSecret } : null;
  if (NAMINGS.size >= MOST_NAMINGS) NAMINGS.clear();
  NAMINGS.set(written, naming);
  return naming;
}

function judge({ name, rules, isSecret }: Naming, value: Value | null): Span | null {
  if (value === null) return null;
  if (name.endsWith('authorization')) return findAuthorization(value);
  if (name.endsWith('cookie')) return findCookie(value);
  if (isStandIn(value.text) || isReference(value.text)) return null;
  const rule = rules.find(
    ({ value: shape, check }) => shape.test(value.text) && check?.(value.text) !== false,
  );
  const kind = rule?.kind ?? (isSecret && isSecretValue(name, value) ? 'assigned-secret' : null);
  if (kind === null) return null;
  return { kind, start: value.start, end: value.start + value.text.length, byContext: true };
}

/** A path, a URL, a pattern, a template, a member of something: where a value is, not what it is. */
function isReference(text: string): boolean {
  return (
    /^(?:\.{0,2}\/|~|https?:|[a-z]+:\/\/|\^|arn:|@)/.test(text) ||
    /\$\{|\{\{|\{\}|%s|\\[dws]|\[a-z/i.test(text) ||
    (/^[A-Za-z_][A-Za-z0-9_]*(?:\??\.[A-Za-z_][A-Za-z0-9_]*)+$/.test(text) && !looksRandom(text))
  );
}

const PERSONAL = /pass|pwd|secret|contrasena|cred/;

function isSecretValue(name: string, { text, isQuoted, isSpaced }: Value): boolean {
  if (/\s|^-/.test(text)) return false;
  // The verdict of a test, as in `PASS: TestA`.
  if (name === 'pass' && !isQuoted) return false;
  if (looksRandom(text)) return true;
  if (!isQuoted && isSpaced) return false;
  if (PERSONAL.test(name)) return looksChosen(text);
  const turns = (text.match(/\d(?=[A-Za-z])|[A-Za-z](?=\d)/g) ?? []).length;
  return text.length >= 12 && turns >= 2 && looksChosen(text);
}

const AUTHORIZATION =
  /^(?:([A-Za-z][\w-]{2,20}) {1,3})?(?:(?:token|key|api_key)=)?["']?([\w.~+/=:-]{16,2000})/;
const SCHEMES: ReadonlyMap<string, string> = new Map([
  ['bearer', 'bearer-token'],
  ['basic', 'basic-auth'],
]);

function findAuthorization({ line: readLine, start }: Value): Span | null {
  const line = readLine();
  const [all = '', scheme = '', secret = ''] = AUTHORIZATION.exec(line) ?? [];
  if (!/\d/.test(secret) || !/[A-Za-z]/.test(secret) || isStandIn(secret)) return null;
  const end = start + all.length;
  const kind = SCHEMES.get(scheme.toLowerCase()) ?? 'authorization';
  return { kind, start: end - secret.length, end, byContext: true };
}

/** All of the header, as long as one of its cookies is more than a setting. */
function findCookie({ line: readLine, start }: Value): Span | null {
  const line = readLine();
  const isTelling = line.split(';').some((pair) => {
    const [, value = ''] = /^\s{0,4}[\w.-]{1,100}=(.{16,4000})$/.exec(pair) ?? [];
    return /\d/.test(value) && /[A-Za-z]/.test(value) && !isStandIn(value);
  });
  return isTelling ? { kind: 'cookie', start, end: start + line.length, byContext: true } : null;
}
