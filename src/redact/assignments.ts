import { CONNECTORS, type Connector, VALUE_BEFORE, type ValuePlace, WRAPPER } from './connectors.ts';
import { isNamePart } from './prefilter.ts';
import { Lookahead, type NamedRule, type Span, type TextRange } from './rule.ts';
import { gradeName, NAME_ENDINGS, NAMED_RULES, type NameGrade, SELDOM_ENDINGS } from './rules/names.ts';
import { Tables } from './tables.ts';
import {
  countCharacters,
  isCall,
  isCode,
  isMixed,
  isOfItself,
  isRandomBase64,
  isReference,
  isStandIn,
  judgeHeader,
  looksLikePassword,
  looksLikeWords,
  looksRandom,
  MAX_VALUE,
  readQuoted,
  surelyWords,
  trimBare,
} from './values.ts';

/** A name that secrets are assigned to. */
interface SecretName {
  name: string;
  rules: readonly NamedRule[];
  grade: NameGrade | null;
  header: 'authorization' | 'cookie' | null;
  /** All in capitals, without marks: `PASS` may be a verdict. */
  isCapital: boolean;
  /** By the character behind the name, what may give it a value. */
  connectors: Map<string, readonly Connector[]>;
}

interface Value {
  text: string;
  start: number;
  isQuoted: boolean;
  /** With white space before the `=`, as in code and not in settings. */
  isSpaced: boolean;
  place: ValuePlace;
}

const ENDINGS: ReadonlySet<string> = new Set([...NAME_ENDINGS, ...SELDOM_ENDINGS].map((ending) => ending.slice(-3)));
const HEADERS = ['authorization', 'cookie'] as const;
const CACHE = new Map<string, SecretName | null>();
const MAX_CACHED = 4096;

/** Null for a name whose value is no secret. */
function classifyName(written: string): SecretName | null {
  const known = CACHE.get(written);
  if (known !== undefined) return known;
  const name = written.toLowerCase().replace(/[^a-z0-9]/g, '');
  const rules = NAMED_RULES.filter((rule) => rule.name.test(name));
  const grade = gradeName(written);
  const header = grade === null ? (HEADERS.find((ending) => name.endsWith(ending)) ?? null) : null;
  const isAny = rules.length > 0 || grade !== null || header !== null;
  const found = isAny
    ? { name, rules, grade, header, isCapital: /^[A-Z]+$/.test(written), connectors: new Map() }
    : null;
  if (CACHE.size >= MAX_CACHED) CACHE.clear();
  CACHE.set(written, found);
  return found;
}

function listConnectors({ connectors }: SecretName, name: string, next: string): readonly Connector[] {
  const known = connectors.get(next);
  if (known !== undefined) return known;
  const fitting = (CONNECTORS.get(next) ?? []).filter((connector) => connector.name?.test(name) !== false);
  connectors.set(next, fitting);
  return fitting;
}

/** The kind of secret that a value is under its name; null where it is none. */
function judgeValue(secretName: SecretName, value: Value): string | null {
  const { text } = value;
  const { rules, grade } = secretName;
  if (value.place === 'argument' && looksLikeWords(text)) return null;
  const rule = rules.find((each) => each.value.test(text) && each.check?.(text) !== false);
  // What is cheap to tell comes first.
  if (rule === undefined && (grade === null || text.length < MIN_LENGTH[grade] || /\s/.test(text))) return null;
  if (isStandIn(text) || isReference(text, value.isQuoted)) return null;
  if (OPENPGP.test(secretName.name) && FINGERPRINT.test(text)) return null;
  return rule?.kind ?? (isSecretValue(secretName, value) ? 'assigned-secret' : null);
}

/** The name of a public key, by which it is asked for. */
const OPENPGP = /(?:gpg|pgp)\w{0,12}key$/;
const FINGERPRINT = /^(?:0x)?(?:[A-F0-9]{8}|[A-F0-9]{16}|[A-F0-9]{40})$/i;

const MIN_LENGTH = { personal: 6, secret: 8, loose: 8 };

function isSecretValue(secretName: SecretName, value: Value): boolean {
  const { grade } = secretName;
  const { text, isQuoted, place } = value;
  if (grade === null) return false;
  if (!isQuoted && /^--?[A-Za-z][\w-]*$/.test(text) && looksLikeWords(text)) return false;
  if (grade === 'loose') return isUnusualValue(secretName, value);
  if (/^[\d.,:%]+$/.test(text))
    return /^\d+$/.test(text) && (text.length > 8 || (grade === 'personal' && place !== 'cell'));
  if (place === 'setting') return true;
  if (place === 'argument' && !/\d/.test(text)) return false;
  // A salt is often the name of a program.
  const isSalt = /(?:salt|pepper)$/.test(secretName.name);
  return isQuoted && place === 'assigned' && !isSalt ? !surelyWords(text) : !looksLikeWords(text);
}

/** Where the name says little, the value has to say more. */
function isUnusualValue({ name, isCapital }: SecretName, { text, isQuoted, isSpaced, place }: Value): boolean {
  const isPersonal = /pass$|pwd$/.test(name);
  // A sentence of a language without blanks.
  if (isPersonal && /[\u3040-\u9fff\uac00-\ud7af]/.test(text)) return false;
  if (!isCapital && isRandomBase64(text)) return true;
  // The verdict of a test, as in `PASS: TestA`, and the folder of a shell.
  if (isPersonal && (/^[~./]|^[A-Z]:/.test(text) || isReference(text, false))) return false;
  if (isPersonal && !isQuoted && ((isCapital && place !== 'setting') || place === 'cell' || /[/()[\]]/.test(text)))
    return false;
  const isGiven = place === 'setting' || (isPersonal && isQuoted && place === 'assigned');
  if (isGiven && text.length >= 12 && !looksLikeWords(text) && /^[A-Za-z]+$/.test(text)) return true;
  const kinds = countCharacters(text);
  if (isPersonal && !isQuoted)
    return (
      (!isSpaced || (text.length >= 12 && kinds.turns >= 2)) && looksLikePassword(text, kinds) && !looksLikeWords(text)
    );
  if (looksRandom(text, kinds)) return true;
  if (!isQuoted && isSpaced) return false;
  return (isPersonal || (text.length >= 12 && kinds.turns >= 2)) && looksLikePassword(text, kinds);
}

/** The kind of secret that a member of JSON is under its name; null where it is none. */
export function findKindByName(name: string, text: string): string | null {
  const isLong = name.length < 3 || name.length > MAX_NAME || text.length > MAX_VALUE;
  const secretName =
    isLong || !ENDINGS.has(name.replace(/\d+$/, '').slice(-3).toLowerCase()) ? null : classifyName(name);
  if (secretName === null) return null;
  return secretName.header === null
    ? judgeValue(secretName, { text, start: 0, isQuoted: true, isSpaced: false, place: 'assigned' })
    : (judgeHeader(secretName.header, { text, start: 0 })?.kind ?? null);
}

const MAX_NAME = 64;
const MAX_LINE = 1024;
/** What may follow the last letters of a name and still be of it. */
const NAME_REST = /[_-]?\d{1,3}(?![\w-])/y;
const QUOTE = /(?:[brfuN@](?=["']))?(?:(\\{0,3})("""|'''|["'`]))?/y;
const BLOCK = /[^\s]{6,4096}(?=[ \t]{0,8}(?:\r?\n|$))/y;
const SPACE = 0x20;
const BARE_QUERY = /[^\s"'`,;<>(){}[\]|\\&#=]{1,4096}={0,2}/y;
/** The end of a value without quotes, which may have escapes of a shell. */
const BARE_END = /[\s"']|(?<!\\)`|\\(?:[\snrtux"'\\]|$)/g;
/** Short, so that each of many in a row is read a few times only. */
const MAX_BARE = 256;
/** How many names of secrets may be in one value. */
const MAX_CROWD = 8;
const BRACKET = /[([]/g;
const MAX_WRAPPER = 240;
/** The words of a wallet's seed, without quotes. */
const PHRASE = /(?:(?:\d{1,2}[.)] ?)?[a-z]{3,8},? ){11,23}(?:\d{1,2}[.)] ?)?[a-z]{3,8}(?!\w| (?!\}))/y;
/** The bytes of a secret as a list of numbers. */
const NUMBERS =
  /(?:new )?(?:[A-Za-z]{1,12}8Array|bytes|bytearray|Buffer)?(?:\.from|\.of)?\(?\[\s{0,12}(\d{1,3}(?:,\s{0,12}\d{1,3}){7,255})/y;
const MIN_NUMBERS = 5;
/** The new value in a plan of Terraform, behind the old one. */
const REPLACED = /\\{0,3}"[ \t]{1,3}->[ \t]{1,3}\\{0,3}"([^"\\\n]{6,1024})(?=\\{0,3}")/y;
/** Behind so much of a value, what only a long token has. */
const LONG_REST = /[\w+/.~-]{0,8192}={0,2}/y;
const LINE_END = /[\n\r"'\\]/g;
const LINE_FEED = /\n/g;
const TAG_END = /<\//g;

/** The last word of a name of two words, and the first of them. */
const LAST_WORD = /^(?:key|codes?|seed|phrase)$/i;
const FIRST_WORD =
  /(?<![A-Za-z])(?:api|secret|access|private|auth|account|encryption|master|admin|licen[sc]e|deploy|webhook|subscription|service|unseal|recovery|backup|pin|otp|seed|mnemonic|wallet) $/i;
/** A colour as `cat -v` writes it, whose last letter seems to be of the name. */
const COLOUR_BEFORE = /\^\[\[(?:\d{0,3};)*$/;
/** In a connection string `PWD` is no folder. */
const USER_BEFORE = /u(?:ser )?id ?= ?[^;\n]{1,40};[ ]?$/i;
const NAMES_VALUE = /(?:[Kk]ey|[Nn]ame|[Ii]d)\\{0,3}["']?[ \t]{0,3}[:=][ \t]{0,3}\\{0,3}["']?$/;

export class Assignments {
  readonly #text: string;
  readonly #tables: Tables;
  readonly #lineEnds: Lookahead;
  readonly #tagEnds: Lookahead;
  readonly #bareEnds: Lookahead;
  readonly #brackets: Lookahead;
  #last: { secretName: SecretName; value: Value; kind: string | null } | null = null;
  /** The last long value or line that names were read from, and how many of them. */
  #crowd = { end: 0, names: 0 };

  constructor(text: string) {
    this.#text = text;
    this.#tables = new Tables(text, new Lookahead(text, LINE_FEED));
    this.#lineEnds = new Lookahead(text, LINE_END);
    this.#tagEnds = new Lookahead(text, TAG_END);
    this.#bareEnds = new Lookahead(text, BARE_END);
    this.#brackets = new Lookahead(text, BRACKET);
  }

  /** The secrets given to the name whose last letters end at `at`. */
  findAssigned(at: number): Span[] {
    const isHole = this.#text.charAt(at) === '}' && !/^ ?=/.test(this.#text.slice(at + 1, at + 3));
    const named = isHole ? null : this.#readName(at);
    if (named === null) return [];
    const { secretName, start, end } = named;
    const found = this.#findBehind(named) ?? this.#findBefore(named);
    if (found !== null) return [found, ...this.#findReplaced(secretName, found.end)];
    if (secretName.header !== null || (secretName.grade === 'loose' && secretName.rules.length === 0)) return [];
    return this.#tables.findBelow({ start, end }).flatMap((cell) => {
      const text = trimBare(this.#text.slice(cell.start, cell.end));
      return (
        this.#judge(secretName, { text, start: cell.start, isQuoted: false, isSpaced: false, place: 'cell' }) ?? []
      );
    });
  }

  #findReplaced(secretName: SecretName, at: number): Span[] {
    REPLACED.lastIndex = at;
    const [, text = ''] = REPLACED.exec(this.#text) ?? [];
    const start = REPLACED.lastIndex - text.length;
    const value = { text, start, isQuoted: true, isSpaced: false, place: 'assigned' } as const;
    const found = text === '' ? null : this.#judge(secretName, value);
    return found === null ? [] : [found];
  }

  #readName(at: number): Named | null {
    const text = this.#text;
    let end = at;
    if (at < text.length && isNamePart(text.charCodeAt(at))) {
      NAME_REST.lastIndex = at;
      if (!NAME_REST.test(text)) return null;
      end = NAME_REST.lastIndex;
    }
    let start = at;
    while (start > 0 && end - start < MAX_NAME && isNamePart(text.charCodeAt(start - 1))) start--;
    if (text.charCodeAt(start - 1) === SPACE && LAST_WORD.test(text.slice(start, end)))
      start -= FIRST_WORD.exec(text.slice(Math.max(0, start - 21), start))?.[0].length ?? 0;
    const before = text.slice(Math.max(0, start - MAX_NAME), start);
    if (COLOUR_BEFORE.test(before)) start += /^\d{0,3}m/.exec(text.slice(start, end))?.[0].length ?? 0;
    const name = text.slice(start, end);
    const isParameter = name === 'key' && /[?&]$/.test(before);
    const full = /^pwd$/i.test(name) && USER_BEFORE.test(before) ? `user_${name}` : isParameter ? 'service_key' : name;
    const secretName = classifyName(full);
    return secretName === null ? null : { secretName, name, start, end };
  }

  /** A value that stands before its name. */
  #findBefore({ secretName, start }: Named): Span | null {
    const text = this.#text;
    if (!NAMES_VALUE.test(text.slice(Math.max(0, start - 16), start))) return null;
    const near = text.slice(Math.max(0, start - 1100), start);
    const from = near.lastIndexOf('alue') - 1;
    const match = from < 0 ? null : VALUE_BEFORE.exec(near.slice(from));
    const [first, last] = match?.indices?.[2] ?? [0, 0];
    if (last === 0) return null;
    const offset = start - near.length + from;
    const value = text.slice(offset + first, offset + last);
    return this.#judge(secretName, {
      text: value,
      start: offset + first,
      isQuoted: true,
      isSpaced: false,
      place: 'assigned',
    });
  }

  #findBehind({ secretName, name, start, end }: Named): Span | null {
    const text = this.#text;
    for (const connector of listConnectors(secretName, name, text.charAt(end))) {
      const { pattern, before } = connector;
      if (start > 0 && before?.ends?.includes(text.charAt(start - 1)) === false) continue;
      pattern.lastIndex = end;
      const match = pattern.exec(text);
      if (match === null || before?.pattern.test(text.slice(Math.max(0, start - MAX_NAME), start)) === false) continue;
      const numbers = this.#readNumbers(secretName, pattern.lastIndex);
      if (numbers !== null) return numbers;
      const found = this.#judge(secretName, this.#readValue({ start, end: pattern.lastIndex, name, match, connector }));
      if (found !== null) return found;
      if (connector.isLast === true) return null;
    }
    return null;
  }

  #readNumbers({ grade }: SecretName, at: number): Span | null {
    if (grade === null || grade === 'loose' || !'[nbBUI'.includes(this.#text.charAt(at))) return null;
    NUMBERS.lastIndex = at;
    const [, numbers] = NUMBERS.exec(this.#text) ?? [];
    if (numbers === undefined || new Set(numbers.split(/,\s*/)).size < MIN_NUMBERS) return null;
    return {
      kind: 'assigned-secret',
      start: NUMBERS.lastIndex - numbers.length,
      end: NUMBERS.lastIndex,
      byContext: true,
    };
  }

  #judge(secretName: SecretName, value: Value | null): Span | null {
    if (value === null) return null;
    const { text, start } = value;
    if (secretName.header === null) {
      const kind = this.#judgeOnce(secretName, value);
      return kind === null ? null : { kind, start, end: start + text.length, byContext: true };
    }
    const end = Math.min(this.#lineEnds.find(start), start + MAX_LINE);
    if (this.#isCrowded(start, end)) return null;
    return judgeHeader(secretName.header, { text: this.#text.slice(start, end), start });
  }

  /** Remembers the last verdict: the same assignment often comes many times in a row. */
  #judgeOnce(secretName: SecretName, value: Value): string | null {
    const last = this.#last?.secretName === secretName ? this.#last : null;
    const isSame =
      last?.value.text === value.text &&
      last.value.isQuoted === value.isQuoted &&
      last.value.isSpaced === value.isSpaced &&
      last.value.place === value.place;
    const kind = last !== null && isSame ? last.kind : judgeValue(secretName, value);
    this.#last = { secretName, value, kind };
    return kind;
  }

  #readValue({ start: nameStart, end: at, name, match, connector }: Place): Value | null {
    const text = this.#text;
    const { isTag = false, isBlock = false, place = 'assigned' } = connector;
    const before = nameStart === 0 ? '' : text.charAt(nameStart - 1);
    const [gap = ''] = match;
    if (isTag) return this.#readTagged(at);
    if (isBlock) return this.#readBlock(at, place);
    const isPlain = gap === '=' || place === 'setting';
    const isOfShell = name === name.toUpperCase() || name.startsWith('-') || before === ';';
    const how: Pick<Value, 'isSpaced' | 'place'> = {
      isSpaced: /[ \t]=/.test(gap),
      place: isPlain && isOfShell ? 'setting' : place,
    };
    WRAPPER.lastIndex = at;
    QUOTE.lastIndex = this.#brackets.find(at) < at + MAX_WRAPPER && WRAPPER.test(text) ? WRAPPER.lastIndex : at;
    const begin = QUOTE.lastIndex;
    const [all = '', slashes = '', quote] = QUOTE.exec(text) ?? [];
    const start = begin + all.length;
    if (quote !== undefined) {
      const value = readQuoted(text, start, { slashes, quote });
      return value === null ? null : { ...value, isQuoted: true, ...how };
    }
    const isQuery = before === '?' || before === '&' || gap.startsWith('&');
    BARE_QUERY.lastIndex = start;
    const bareEnd = isQuery ? (BARE_QUERY.test(text) ? BARE_QUERY.lastIndex : start) : this.#endOfBare(start);
    if (bareEnd === start || this.#isCrowded(start, bareEnd)) return null;
    LONG_REST.lastIndex = bareEnd;
    const end = bareEnd - start < MAX_BARE || !LONG_REST.test(text) ? bareEnd : LONG_REST.lastIndex;
    PHRASE.lastIndex = start;
    const value = PHRASE.exec(text)?.[0] ?? trimBare(text.slice(start, end));
    if (!isPlain && (isCode(value, text.charAt(start + value.length)) || isOfItself(name, value))) return null;
    const isLine = gap === '=' && /^[\n]?$/.test(before) && /^[\r\n]?$/.test(text.charAt(start + value.length));
    if (how.place !== 'setting' && !isLine && isCall(value)) return null;
    return { text: value, start, isQuoted: false, ...how, ...(isLine ? { place: 'setting' } : {}) };
  }

  /** Whether so many names stand in one value or line that it was made on purpose. */
  #isCrowded(start: number, end: number): boolean {
    this.#crowd = start < this.#crowd.end ? { ...this.#crowd, names: this.#crowd.names + 1 } : { end, names: 1 };
    return this.#crowd.names > MAX_CROWD;
  }

  #endOfBare(start: number): number {
    return Math.min(this.#bareEnds.find(start), start + MAX_BARE);
  }

  /** The line at a place, and those below with the same indent that go on with it. */
  #readBlock(start: number, place: ValuePlace): Value | null {
    [BLOCK.lastIndex, PHRASE.lastIndex] = [start, start];
    const [first = ''] = PHRASE.exec(this.#text) ?? BLOCK.exec(this.#text) ?? [];
    if (first === '' || (place === 'cell' && (!isMixed(first) || /[:(){}[\]<>=,;]/.test(first)))) return null;
    return { text: first, start, isQuoted: true, isSpaced: false, place };
  }

  #readTagged(start: number): Value | null {
    const end = this.#tagEnds.find(start);
    if (end === this.#text.length || end + 2 > start + MAX_VALUE) return null;
    const tagged = this.#text.slice(start, end);
    const text = tagged.trim();
    const first = start + tagged.length - tagged.trimStart().length;
    return { text, start: first, isQuoted: true, isSpaced: false, place: 'assigned' };
  }
}

interface Named extends TextRange {
  secretName: SecretName;
  name: string;
}

interface Place {
  start: number;
  end: number;
  name: string;
  match: RegExpExecArray;
  connector: Connector;
}
