import { isStandIn, looksChosen, looksRandom } from './guess.ts';
import type { Span } from './rule.ts';
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
  let at = end;
  while (at - end < MAX_GAP && isGap(text.charCodeAt(at))) at++;
  const mark = text.charAt(at);
  if (mark !== ':' && mark !== '=' && mark !== '>') return null;
  const start = findNameStart(text, end);
  const name = text.slice(start, end);
  if (mark === '>') return text.charAt(start - 1) === '<' ? judge(name, readTagged(text, at + 1)) : null;
  const isQuery = /[?&]/.test(text.charAt(start - 1));
  return judge(name, readValue(text, at, { isSpaced: end < at && mark === '=', isQuery }));
}

/** The kind of secret that a value is for the name that it has, if any: for what is parsed already. */
export function findNamed(name: string, text: string): string | null {
  if (name.length < 3 || text.length > MAX_VALUE || !hasTail(name)) return null;
  return judge(name, { text, start: 0, isQuoted: true, isSpaced: false, line: text })?.kind ?? null;
}

const FLAG = /--([A-Za-z][\w-]{2,40})[ \t]{1,8}/y;

/** The value that stands behind a flag such as `--password`; `at` is where the flag begins. */
export function findFlagged(text: string, at: number): Span | null {
  FLAG.lastIndex = at;
  const [all, name] = FLAG.exec(text) ?? [];
  if (all === undefined || name === undefined || !hasTail(name)) return null;
  const value = readValue(text, at + all.length - 1, { isSpaced: false, isQuery: false });
  return value?.text.startsWith('-') ? null : judge(name, value);
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

export function isNamePart(code: number): boolean {
  const letter = code | 32;
  return (
    (letter >= 0x61 && letter <= 0x7a) ||
    (code >= 0x30 && code <= 0x39) ||
    code === 0x5f ||
    code === 0x2d ||
    code === 0x2e
  );
}

interface Value {
  text: string;
  start: number;
  isQuoted: boolean;
  /** With white space before the `=`, as code has it and settings have not. */
  isSpaced: boolean;
  /** The rest of its line. */
  line: string;
}

const MAX_VALUE = 1024;
const LEAD = /[:=]?[=>]?[ \t]{0,8}(?:[brfu@](?=["']))?(?:(\\{0,3})(["'`]))?/y;
const BARE = /[^\s"'`,;<>(){}[\]|\\]{1,1024}/y;
const BARE_QUERY = /[^\s"'`,;<>(){}[\]|\\&#]{1,1024}/y;

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
  const line = readLine(text, start);
  if (quote === undefined) {
    const bare = isQuery ? BARE_QUERY : BARE;
    bare.lastIndex = start;
    const found = bare.exec(text)?.[0] ?? '';
    const isCalled = /[([{]/.test(text.charAt(start + found.length));
    return found === '' || isCalled
      ? null
      : { text: found.replace(/[.:]$/, ''), start, isQuoted: false, isSpaced, line };
  }
  const close = text.indexOf(`${slashes}${quote}`, start);
  if (close === -1 || close - start > MAX_VALUE) return null;
  const value = text.slice(start, close);
  return value.includes('\n') ? null : { text: value, start, isQuoted: true, isSpaced, line };
}

function readTagged(text: string, start: number): Value | null {
  const close = text.indexOf('</', start);
  if (close === -1 || close - start > MAX_VALUE) return null;
  return { text: text.slice(start, close), start, isQuoted: true, isSpaced: false, line: '' };
}

const MAX_LINE = 4096;

function readLine(text: string, start: number): string {
  const rest = text.slice(start, start + MAX_LINE);
  const end = rest.search(/[\n\r"'\\]/);
  return end === -1 ? rest : rest.slice(0, end);
}

function judge(written: string, value: Value | null): Span | null {
  if (value === null) return null;
  const name = written.toLowerCase().replace(/[^a-z0-9]/g, '');
  if (name.endsWith('authorization')) return findAuthorization(value);
  if (name.endsWith('cookie')) return findCookie(value);
  const span = (kind: string): Span => ({
    kind,
    start: value.start,
    end: value.start + value.text.length,
    byContext: true,
  });
  if (isStandIn(value.text) || isReference(value.text)) return null;
  const known = NAMED_RULES.find((rule) => rule.name.test(name) && rule.value.test(value.text));
  if (known !== undefined)
    return known.kind === 'docker-auth' && !looksRandomBase64(value.text) ? null : span(known.kind);
  if (!SECRET_NAME.test(name) || OPEN_NAME.test(name)) return null;
  return isSecret(name, value) ? span('assigned-secret') : null;
}

function looksRandomBase64(text: string): boolean {
  return /^[\x20-\x7e]+:[\x20-\x7e]+$/.test(Buffer.from(text, 'base64').toString('latin1'));
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

function isSecret(name: string, { text, isQuoted, isSpaced }: Value): boolean {
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

function findAuthorization({ line, start }: Value): Span | null {
  const [all = '', scheme = '', secret = ''] = AUTHORIZATION.exec(line) ?? [];
  if (!/\d/.test(secret) || !/[A-Za-z]/.test(secret) || isStandIn(secret)) return null;
  const end = start + all.length;
  const kind = SCHEMES.get(scheme.toLowerCase()) ?? 'authorization';
  return { kind, start: end - secret.length, end, byContext: true };
}

/** All of the header, as long as one of its cookies is more than a setting. */
function findCookie({ line, start }: Value): Span | null {
  const isTelling = line.split(';').some((pair) => {
    const [, value = ''] = /^\s{0,4}[\w.-]{1,100}=(.{16,4000})$/.exec(pair) ?? [];
    return /\d/.test(value) && /[A-Za-z]/.test(value) && !isStandIn(value);
  });
  return isTelling ? { kind: 'cookie', start, end: start + line.length, byContext: true } : null;
}
