import { countKinds, isStandIn, looksChosen, looksRandom } from './guess.ts';
import type { NamedRule, Span } from './rule.ts';
import { NAMED_RULES, OPEN_NAME, SECRET_NAME } from './rules/names.ts';

/** What a name says of the value that it is given. */
export interface Naming {
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
const NAMINGS = new Map<string, Naming | null>();
const MOST_NAMINGS = 4096;

/** Null for a name that is given anything. */
export function readName(written: string): Naming | null {
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
export function judge(naming: Naming, value: Value): string | null {
  const { text } = value;
  const rule = naming.rules.find(({ value: shape, check }) => shape.test(text) && check?.(text) !== false);
  const kind = rule?.kind ?? (naming.isSecret && isSecretValue(naming, value) ? 'assigned-secret' : null);
  return kind === null || isStandIn(text) || isReference(text) ? null : kind;
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

function isSecretValue({ name, isPersonal }: Naming, { text, isQuoted, isSpaced }: Value): boolean {
  if (text.startsWith('-') || (isQuoted && /\s/.test(text))) return false;
  // The verdict of a test, as in `PASS: TestA`.
  if (name === 'pass' && !isQuoted) return false;
  const kinds = countKinds(text);
  if (looksRandom(text, kinds)) return true;
  if (!isQuoted && isSpaced) return false;
  return (isPersonal || (text.length >= 12 && kinds.turns >= 2)) && looksChosen(text, kinds);
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
  if (!/\d/.test(secret) || !/[A-Za-z]/.test(secret) || isStandIn(secret)) return null;
  const end = start + all.length;
  const kind = SCHEMES.get(scheme.toLowerCase()) ?? 'authorization';
  return { kind, start: end - secret.length, end, byContext: true };
}

/** All of the header, as long as one of its cookies is more than a setting. */
function findCookie({ text, start }: HeaderLine): Span | null {
  const isTelling = text.split(';').some((pair) => {
    const [, value = ''] = /^\s{0,4}[\w.-]{1,100}=(.{16,4000})$/.exec(pair) ?? [];
    return /\d/.test(value) && /[A-Za-z]/.test(value) && !isStandIn(value);
  });
  return isTelling ? { kind: 'cookie', start, end: start + text.length, byContext: true } : null;
}
