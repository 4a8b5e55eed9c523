/**
 * What values look like: random, chosen by a person, or on the closed list of what may stand in the place of a secret, which is
 * fillers, references to it, and plain words. And where they end.
 */

import type { Span } from './rule.ts';

const MAX_KNOWN = 1000;
const MAX_KNOWN_LENGTH = 256;

/** Remembers what was computed for short texts: the same names and values come again and again. */
function remember<T>(compute: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const last = known.get(text);
    if (last !== undefined) return last;
    const computed = compute(text);
    if (text.length > MAX_KNOWN_LENGTH) return computed;
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(text, computed);
    return computed;
  };
}

/** A value made of these words only is a filler. */
const FILLERS: ReadonlySet<string> = new Set(
  `a an any api app auth bar baz boolean buffer bytes config const creds credential credentials ctx data default demo dev
  dummy empty enter env fake false foo for function getenv here hidden insert jwt int integer invalid key local masked missing
  mock my name new nil no none not null number object of old on off or optional pass passphrase passwd password pwd redacted removed
  replace required sample secret some str string test tests testing text the this todo token tokens true type undefined unset
  unused user value wrong xxx xxxx yes your`.split(/\s+/),
);

const FILLER =
  /^(.)\1*$|(?<![A-Za-z0-9])x{4}|x{4}(?![A-Za-z0-9])|x{6}|\*{4}|^\*{3}|^.{0,8}\*{3}$|•{3}|example|placeholder|redacted|change.?(?:me|it)|your[-_. ]|[-_]here$|^(?:<[\w .:'|/-]{1,80}>|\[[\w .:'|/-]{1,80}\]|\{[\w .:!'|/-]{0,80}\}|@\w{1,80}@|%\w{1,80}%|%[a-z]|%\(\w{1,80}\)s|\$\d|\$\([\w./-]{2,40}(?: .{0,80})?\)?|0x0+)$|\{\{.{1,60}\}\}|^\{\{ ?[\w.$]{2,40}$|\$\{[A-Za-z_][\w.]{1,60}[}:|([?]|^\$(?:env:)?[A-Za-z_]{2,80}\d{0,2}$|^["'`\\$%{}<>()[\]]{1,3}$/i;

/** A part to be filled in. */
const BLANK = /<([a-z][\w -]{2,30})>/i;

const IN_BRACKETS = /^(?:<\S+>|\[\S+\]|\{\S+\})$/;

/** What brackets hold in a template; else they may belong to a value, as in a connection string of ODBC. */
function isName(text: string): boolean {
  return !looksRandom(text) && (text.length < MIN_PART || !/\d/.test(text) || looksLikeWords(text));
}

/** With dots for what was left out, and too little beside them to be of use. */
function isShortened(text: string): boolean {
  const parts = text.split(/\.{3}|…/);
  return parts.length > 1 && parts.every((part) => part.length < MIN_PART || looksLikeWords(part));
}

const MIN_PART = 13;
const MAX_CHARACTERS_CHECKED = 100;

/** Whether it stands for a value to be filled in or taken from elsewhere. */
export const isStandIn = remember((value: string): boolean => {
  const head = value.slice(0, MAX_CHARACTERS_CHECKED);
  if (FILLER.test(head)) return !IN_BRACKETS.test(head) || isName(head.slice(1, -1));
  if (isShortened(head)) return true;
  const [, blank] = BLANK.exec(head) ?? [];
  if (blank !== undefined && looksLikeWords(blank)) return true;
  const words = WORDS.test(value) ? splitWords(value) : [];
  return words.length > 0 && words.every((word) => FILLERS.has(word));
});

const ADDRESS = /^(?:[a-z][a-z0-9+.-]{1,20}:\/\/|[A-Z]:\\|arn:)/;
const VERSION = /^[~^v]?\d{1,5}(?:\.\d{1,5}){1,3}(?:[-+][\w.]{1,20})?$/;
const CONSTANT = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$|^[A-Z][a-z]{1,20}\.[A-Z_]{3,40}$/;
const PATH = /^(?:~|\.{1,2})?\/[\w.@/-]{2,200}$/;
const FILE =
  /^[\w.@-]{1,60}(?:\/[\w.@-]{1,60}){0,12}\.(?:[cm]?[jt]sx?|json|ya?ml|toml|txt|md|env|ini|conf|cfg|pem|key|crt|cer|p12|pfx|jks|py|go|rs|rb|php|java|kt|sh|sql|xml|html|css|csv|log|lock|enc|gpg|age)$/;
const EXPRESSION = /^\^.*(?:\[[^\]]+\]|\\[dws]|\.[*+]).*\$$|\[(?:a-z|A-Z|0-9)|^[/^][^\s]*\\[dws]|\(\?[:=!]|\\[dws][*+]/;
const MEMBER = /^[&*!$@]{0,2}[A-Za-z_$][\w$]*(?:(?:\?|!)?\.|::|->)[A-Za-z_$#][\w$.?!:>-]*$/;
const CALL = /^[&*!$@]{0,2}[A-Za-z_$][\w$.:?]{2,80}(?:[([{]$|\(.*\)[\w.,;()[\]]{0,40}$|\[.*\][\w.,;()[\]]{0,40}$)/;

/** A path, URL, pattern or member, or a call in code: where a value is, not what it is. */
export function isReference(text: string, isQuoted: boolean): boolean {
  if (ADDRESS.test(text) || CONSTANT.test(text) || EXPRESSION.test(text) || VERSION.test(text)) return true;
  if (FILE.test(text) && !/[^/]{25}/.test(text) && !text.split('/').some((part) => looksRandom(part))) return true;
  if (PATH.test(text)) return looksLikeWords(text);
  const [head] = (isQuoted ? null : CALL.exec(text)) ?? MEMBER.exec(text) ?? [];
  return head !== undefined && looksLikeWords(head.replace(/\W{0,3}[([{].*/, '').replace(/[^\w.]/g, '_'));
}

const OPERATION =
  /^(?:\[\d{0,4}\]|[([{<!&*~+-]){0,3}([A-Za-z_$][\w$]*(?:[?!]?(?:\.|::|->)[\w$]+)*)[!?]?\.?(?:[([{<]|\|\||&&|\?\?|=>)/;
const OPERAND = /^[([{<!&*~]{1,3}([A-Za-z_$][\w$.:]*)[)\]}>]{0,3}$/;
/** A function or a type by the way its name is written, and those with short names. */
const CAPITALS =
  /^(?:await )?(?:[a-z]{2,20}(?:[A-Z][a-z]{1,20}){1,6}\(|[A-Z][A-Za-z]{1,40}<[A-Z][A-Za-z0-9]{2,40}|(?:\[\d{0,4}\])?(?:bytes?|str|int|len|list|type|repr|hash)\()|^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\)/;
/** A call of a member, or one without arguments or with a quote or a variable of Perl or PHP behind it, however short their names are. */
const CALLED =
  /^(?:function\b|\(0,|[&*!$@]{0,2}[A-Za-z_]\w{0,40}(?:(?:(?:\??\.|->|::)\$?[A-Za-z_]\w{0,40}){1,6}\(|->[[{$\w]|\((?:$|[)$])))/;
/** A command of PowerShell, as in `(Get-Secret restic)`. */
const CMDLET = /^\$?\([A-Z][a-z]{1,12}-[A-Z][A-Za-z]{2,40}\)?$/;
const PATTERN = /^\/(?:[\\^([]|.+\/[dgimsuvy]{0,6}$)/;

/** A call or a function, which few passwords look like. */
export function isCall(text: string): boolean {
  return CALLED.test(text);
}

/** More of the same, where a value without quotes is more often code than a setting; `after` is what follows it. */
export function isCode(text: string, after: string): boolean {
  if ([PATTERN, CMDLET, CAPITALS].some((code) => code.test(text)) || isCall(text)) return !isRandomBase64(text);
  const [, path] = OPERATION.exec(text) ?? [];
  if (path !== undefined && path.length > 2 && scoreWords(path) >= (path.length > 4 ? -path.length / 4 : 2))
    return true;
  const [, name] = OPERAND.exec(text) ?? [];
  if (name !== undefined && looksLikeWords(name)) return true;
  return /^[,;)}\]]/.test(after) && /^[A-Za-z_$][A-Za-z_$.]*\d?$/.test(text);
}

const listPairs = (groups: string): ReadonlySet<string> =>
  new Set(groups.split(' ').flatMap(([first = '', ...next]) => next.map((letter) => first + letter)));

/** The pairs of letters that make two thirds of words, and those that make most of the rest: a letter, and what may follow. */
const COMMON = listPairs(
  'abcdilmnprst bl caehiklort dei eacdflmnprstx ffio ge haeio iacdeglmnostv ke laeiloy maeiop nacdegiost ocdlmnprstu paelort raeiost scehipstu taehiorst ulnrst ve',
);
const SELDOM = listPairs(
  'aagkuvy baeiorsu ccu daorsu ebegivwy faelru gahilnorsu hrt ibfprz kis ldstu mbmu nfknpuv oabgikovw phipsu qu rcdgklmnruvy saklmoy tcluy uabcdegimp vaio waeio xipt yps ze',
);
/** Where the four characters of a literal begin that are the least common in texts; not behind `most`. */
export function findRarest(literal: string, most = literal.length): number {
  const count = (at: number): number => {
    const three = literal.slice(at, at + 3).toLowerCase();
    const rank = COMMON_THREES.get(three);
    if (rank !== undefined) return COMMON_THREES.size - rank;
    return countPair(three.slice(0, 2)) + countPair(three.slice(1));
  };
  let [rarest, least, last] = [0, Number.POSITIVE_INFINITY, count(0)];
  for (let at = 0; at <= most && at + 4 <= literal.length; at++) {
    const next = count(at + 1);
    if (last + next < least) [rarest, least] = [at, last + next];
    last = next;
  }
  return rarest;
}

/** Those that words and code have most, the most common first. */
const COMMON_THREES: ReadonlyMap<string, number> = new Map(
  `ent ion ing err ess ate int com ile che tra nti str the age omm mit sta ran con mmi fil tri tio est tes rin cli gen
  tat use for tur nil rom nte ont rat ons ted urn etu ret lin pro and res omp ser dat ans ine mpt cmd git pat ith rip
  rro ror ail cri scr ipt les rea ath man ata ect tin teg anc log tre bra ter nsc rep ead egy ree tor ten ati ist ame
  nts ook wor ork epo act dir unc ext ase has led ite han hoo all sto eta put ers cti nam sha out wit tal add get tad
  new set met ore ode ttr fmt fun nes ded ini nst but oun ain nde sho sag fro ult son fai oni ang rac att ren uti der
  eco typ eat dow mes rem ype sti ada end tex ack nge ngs ind nid dif had ado mma men cre rit iti ese ver mod not ere
  era win orf jso lat pre ifi bas mar eve cod cal exi ove run wri ive rib ibu esu ool ual ref tte art anu ssa thi cla
  ude pos ens tru ond par tid xis ash exp its cha tar emp sum rec ler len ary hou fie ort rre pri are ete hed aut ure
  ach tha tem tim app his rev ins`
    .split(/\s+/)
    .map((three, rank) => [three, rank]),
);

export function countPair(pair: string): number {
  if (COMMON.has(pair) || pair.includes(' ')) return 3;
  return SELDOM.has(pair) ? 1 : 0;
}

const WORDS = /^[A-Za-z][A-Za-z0-9]{0,30}(?:[-_. /:@]{1,3}[A-Za-z0-9]{1,30}){0,12}[-_.]?$/;

/** Words of a language or of code, joined by marks or by capitals, with few digits. False for what is random. */
export function looksLikeWords(text: string): boolean {
  return scoreWords(text) >= -1;
}

/** The same with more certainty, for values that are seldom words. */
export function surelyWords(text: string): boolean {
  return scoreWords(text) >= 3;
}

/** Names of methods and types that have numbers. */
const NUMBERED = /ed25519|x25519|secp256k1|sha\d{1,3}|base64|oauth2|x509|u?int8|utf8|aes\d{3}|[hre]s256|p256/gi;

/** About half a point for each letter of words, and less than minus one for each random one. */
const scoreWords = remember((text: string): number => {
  const plain = text.replace(/^[/.~_$@&*-]{1,4}/, '').replace(NUMBERED, 'Name');
  const inner = plain.match(/[A-Za-z]\d{1,20}(?=[A-Za-z])/g)?.length ?? 0;
  if (!WORDS.test(plain) || plain.replace(/\D/g, '').length > 4) return Number.NEGATIVE_INFINITY;
  const words = splitWords(plain);
  // Capitals at random make many short words.
  const short = words.filter((word) => word.length < 3).length;
  let score = -2 * inner - (words.length - 1) / 2 - Math.max(0, short - 2);
  for (const word of words)
    for (let i = 1; i < word.length; i++) {
      const pair = word.slice(i - 1, i + 1);
      if (!SELDOM.has(pair)) score += COMMON.has(pair) ? 1 : -2;
    }
  return score;
});

function splitWords(text: string): string[] {
  const words = text.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/);
  return words.filter((word) => word !== '').map((word) => word.toLowerCase());
}

const RANDOM_LENGTH = 16;
const RANDOM_BITS = 3;
const MEASURED = 200;

/** Letters and digits in turn, few repetitions, no words joined by marks. */
export function looksRandom(value: string, { turns } = countCharacters(value)): boolean {
  if (value.length < RANDOM_LENGTH || turns === 0 || turns * 8 < Math.min(value.length, 40)) return false;
  return countEntropy(value.slice(0, MEASURED)) >= RANDOM_BITS;
}

/** Long enough that no path is like it: its slashes are of base64. */
export function isRandomBase64(text: string): boolean {
  return (
    /^(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[A-Za-z0-9+/]{24,}={0,2}$/.test(text) && looksRandom(text) && !looksLikeWords(text)
  );
}

const COUNTS = new Uint16Array(256);

/** In bits per character; a rough guess for non-ASCII text. */
function countEntropy(text: string): number {
  COUNTS.fill(0);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i) & 255;
    COUNTS[code] = (COUNTS[code] ?? 0) + 1;
  }
  let bits = 0;
  for (const count of COUNTS) if (count > 0) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

const PLAIN_WORDS = /^[A-Za-z]+(?:[-_. /]{1,3}[A-Za-z]+)*\d{0,2}$/;
const MIN_DIFFERENT = 5;

/** As a person chooses a password: more than words. */
export function looksLikePassword(
  value: string,
  { small, capitals, digits, others } = countCharacters(value),
): boolean {
  if (value.length < 8) return false;
  const kinds = Math.sign(small) + Math.sign(capitals) + Math.sign(digits) + Math.sign(others);
  if (kinds < 2 || small + capitals === 0) return false;
  return hasDifferent(value, MIN_DIFFERENT) && !PLAIN_WORDS.test(value);
}

/** Whether a text has so many different characters. */
export function hasDifferent(text: string, least: number): boolean {
  const seen: number[] = [];
  for (let i = 0; i < text.length && seen.length < least; i++) {
    const code = text.charCodeAt(i);
    if (!seen.includes(code)) seen.push(code);
  }
  return seen.length >= least;
}

/** `turns`: how often a digit follows a letter, or a letter a digit. */
export function countCharacters(text: string) {
  const kinds = { small: 0, capitals: 0, digits: 0, others: 0, turns: 0 };
  let last = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    let kind = 0;
    if (code >= 0x61 && code <= 0x7a) {
      kinds.small++;
      kind = 1;
    } else if (code >= 0x41 && code <= 0x5a) {
      kinds.capitals++;
      kind = 1;
    } else if (code >= 0x30 && code <= 0x39) {
      kinds.digits++;
      kind = 2;
    } else kinds.others++;
    if (kind + last === 3) kinds.turns++;
    last = kind;
  }
  return kinds;
}

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** The text in a base64 string; null where it is no base64 or no text. */
export function decodeBase64(text: string): string | null {
  if (!BASE64.test(text)) return null;
  const decoded = Buffer.from(text, 'base64').toString('latin1');
  return /^[\t\n\r\x20-\x7e]*$/.test(decoded) ? decoded : null;
}

export const MAX_VALUE = 4096;

/** What stands before a token in a header. */
const SCHEME = /^(?:[Bb]earer|[Bb]asic|[Tt]oken|ApiKey) {1,3}(?=\S+$)/;

/** Up to the quote that closes it, or to where the text was cut, without a scheme; null where neither is on the line. */
export function readQuoted(
  text: string,
  start: number,
  { slashes, quote }: { slashes: string; quote: string },
): { text: string; start: number } | null {
  const rest = text.slice(start, start + MAX_VALUE);
  const end = findClose(rest, slashes, quote);
  if (end === -1) return null;
  const whole = rest.slice(0, end);
  const trimmed = quote.length > 1 ? whole.trim() : whole;
  if (trimmed.includes('\n')) return null;
  const value = trimmed.replace(SCHEME, '');
  return { text: value, start: start + whole.indexOf(trimmed) + trimmed.length - value.length };
}

function findClose(rest: string, slashes: string, quote: string): number {
  const close = `${slashes}${quote}`;
  for (let end = rest.indexOf(close); end !== -1; end = rest.indexOf(close, end + 1)) {
    const [before = ''] = /\\*$/.exec(rest.slice(Math.max(0, end - 8), end)) ?? [];
    if (quote === "'" || (slashes === '' ? before.length % 2 === 0 : before === '')) return end;
  }
  return rest.indexOf('…');
}

/** Code that changes what it is given to, as in `token = token[1:]`. */
export function isOfItself(name: string, value: string): boolean {
  const last = name.slice(name.lastIndexOf('.') + 1);
  return value.startsWith(last) && /^[^\w]/.test(value.slice(last.length));
}

/** Without the next pair, and without marks at the end that belong to the sentence or the code around it. */
export function trimBare(text: string): string {
  const next = /[;,]([A-Za-z_][\w.-]{3,40})[=:]/.exec(text);
  const whole = next !== null && surelyWords(next[1] ?? '') ? text.slice(0, next.index) : text;
  const value = whole.replace(/(?:\^\[\[[\d;]{0,12}m){1,3}$/, '');
  let end = value.length;
  while (end > 0 && isClosing(value, end - 1)) end--;
  return value.slice(0, end);
}

const BRACKETS: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{', '>': '<' };

function isClosing(text: string, at: number): boolean {
  const char = text.charAt(at);
  const open = BRACKETS[char];
  return open === undefined ? '.,:;'.includes(char) : !text.slice(0, at).includes(open);
}

export const isMixed = (text: string): boolean => /\d/.test(text) && /[A-Za-z]/.test(text);

/** The rest of a line behind the name of an HTTP header. */
type HeaderLine = { text: string; start: number };

const KIND_OF_SCHEME = new Map(Object.entries({ bearer: 'bearer-token', basic: 'basic-auth' }));
const AUTHORIZATION = /^(?:([A-Za-z][\w-]{2,20}) {1,3})?(?:(?:token|key|api_key)=)?["']?([\w.~+/=:%!#*^-]{8,2000})/;
function findAuthorization({ text, start }: HeaderLine): Span | null {
  const [all = '', scheme = '', secret = ''] = AUTHORIZATION.exec(text) ?? [];
  if (
    isStandIn(secret) ||
    looksLikeWords(secret) ||
    ADDRESS.test(secret) ||
    /^[A-Za-z_]{2,30}=.{0,7}$/.test(secret) ||
    (scheme === '' && !(secret.length >= 16 && isMixed(secret)))
  )
    return null;
  const end = start + all.length;
  const kind = KIND_OF_SCHEME.get(scheme.toLowerCase()) ?? 'authorization';
  return { kind, start: end - secret.length, end, byContext: true };
}

/** The whole header, if one of its cookies is more than a setting. */
function findCookie({ text, start }: HeaderLine): Span | null {
  const isSecret = text.split(';').some((pair) => {
    const [, name = '', value = ''] = /^\s{0,4}([\w.-]{1,100})=(.{14,4000})$/.exec(pair) ?? [];
    const isRandom = value.length >= 16 && isMixed(value);
    return (isRandom || (/sess|sid$|token|auth/i.test(name) && !looksLikeWords(value))) && !isStandIn(value);
  });
  return isSecret ? { kind: 'cookie', start, end: start + text.length, byContext: true } : null;
}

export function judgeHeader(header: 'authorization' | 'cookie', line: HeaderLine): Span | null {
  return header === 'cookie' ? findCookie(line) : findAuthorization(line);
}
