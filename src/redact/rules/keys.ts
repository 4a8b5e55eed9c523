import { type ListSecrets, type Rule, type TextRange, token } from '../rule.ts';
import { listSecretData } from '../tables.ts';
import { isStandIn, looksLikePassword, looksLikeWords, looksRandom } from '../values.ts';
import { isNoWord, isValue } from './commands.ts';
import { holdsCredentials } from './names.ts';

/** A line before or after a key. Its blanks may be written as in a form that was sent, or in HTML. */
const frame = (word: string): RegExp =>
  new RegExp(
    `-{4,5} ?${word}_(?:[A-Z0-9 +]|&nbsp;){0,40}PRIVATE_KEY(?:_BLOCK)? ?-{4,5}`.replaceAll('_', '(?: |\\+|&nbsp;)'),
  );
const HEAD = frame('BEGIN');
const FOOT = frame('END');
const PUTTY_FOOT = /Private-(?:MAC|Hash): ?/;

/** How much may stand between two lines of a key: the prefix of a log, a diff or a pager, a line number, an escape. */
const MAX_GAP = 400;
const NEXT = new RegExp(`(${FOOT.source}|${PUTTY_FOOT.source})|-----BEGIN|[A-Za-z0-9+/=]{16,}`, 'g');
/** A short key, even if wrapped, quoted, escaped or indented. */
const SHORT = /^[A-Za-z0-9+/=\s\\"',:.()#*>|@]{0,400}$/;

/** The whole of a key whose first line is at `head`; null where none follows, as in code that looks for keys. */
function reachKeyEnd(text: string, head: TextRange): TextRange | null {
  let [last, gap] = [head.end, 0];
  for (;;) {
    const next = findNextLine(text, last);
    if (next?.isFoot === true)
      return last > head.end || isShortKey(text.slice(last, next.start)) ? { ...head, end: next.end } : null;
    if (next === null) break;
    [last, gap] = [next.end, next.start - last];
  }
  if (last === head.end) return null;
  // The last line may be cut off: it begins as far behind the one before as that one did. No word is left in two.
  let end = last + gap;
  if (gap === 0 || !isBase64(text.charCodeAt(end))) return { ...head, end: last };
  while (end < text.length && !/\s/.test(text.charAt(end))) end++;
  return { ...head, end };
}

function isShortKey(between: string): boolean {
  return SHORT.test(between) && /[A-Za-z0-9+/=]{4}/.test(between);
}

function findNextLine(text: string, from: number): (TextRange & { isFoot: boolean }) | null {
  const near = text.slice(from, from + MAX_GAP);
  NEXT.lastIndex = 0;
  for (let match = NEXT.exec(near); match !== null; match = NEXT.exec(near)) {
    const [found, foot] = match;
    const start = from + match.index;
    if (foot !== undefined) return { start, end: start + found.length, isFoot: true };
    if (found === '-----BEGIN') return null;
    let end = start + found.length;
    while (end < text.length && isBase64(text.charCodeAt(end))) end++;
    if (isKeyLine(text.slice(start, Math.min(end, start + 64)))) return { start, end, isFoot: false };
  }
  return null;
}

/** Letters of both cases and something else, and no path or name. */
function isKeyLine(run: string): boolean {
  return /[a-z]/.test(run) && /[A-Z]/.test(run) && /[0-9+/]/.test(run) && !looksLikeWords(run);
}

/** The last line of a key of OpenPGP. */
const CHECKSUM = /=[\w+/]{4}\s*$/;

/** The end of a key whose beginning is not in the text, from the first of its lines; null where there are none. */
function reachKeyStart(text: string, foot: TextRange): TextRange | null {
  let [first, lines] = [foot.start, 0];
  for (let isLast = true; first > 0; isLast = false) {
    const near = Math.max(0, first - 2 * MAX_GAP);
    const start = near + text.slice(near, first - 1).lastIndexOf('\n') + 1;
    const line = text.slice(start, first);
    // Another key ends before.
    if (line.includes('-- END ') || line.includes('--END ')) break;
    const runs = line.match(/[A-Za-z0-9+/=]{16,}/g) ?? [];
    if (runs.some(isKeyLine)) lines++;
    else if (!isLast && !CHECKSUM.test(line)) break;
    first = start;
  }
  return lines === 0 ? null : { start: first, end: foot.end };
}

function isBase64(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x61 && code <= 0x7a) ||
    code === 0x2b ||
    code === 0x2f ||
    code === 0x3d
  );
}

/** All data of a Kubernetes Secret but fillers, whatever its name. */
const listOpenData: ListSecrets = (text, at) => {
  const { ranges, end } = listSecretData(text, at);
  const isValue = (value: string): boolean =>
    value.length >= 4 && !isStandIn(value) && !/^\$\(|^<|^\d{1,5}$/.test(value);
  return { ranges: ranges.filter((range) => isValue(text.slice(range.start, range.end))), end };
};

/** The secret members of a JSON web key. */
const JWK = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k'];
const JWK_VALUE = /"[a-z]{1,2}\\{0,3}": ?\\{0,3}"([\w-]{40,700})/y;
const isMixed = (text: string): boolean => /[a-z]/.test(text) && /[A-Z]/.test(text) && /\d/.test(text);

/** Keys, password hashes and credentials of general formats. */
export const KEY_RULES: readonly Rule[] = [
  { kind: 'private-key', starts: ['-----BEGIN', '---- BEGIN '], pattern: new RegExp(HEAD, 'y'), reach: reachKeyEnd },
  { kind: 'private-key', starts: ['-----END', '---- END '], pattern: new RegExp(FOOT, 'y'), reach: reachKeyStart },
  // In DER: a sequence whose first member is the number of its version, as public keys and certificates have none.
  {
    kind: 'private-key',
    starts: ['MII', 'MIG', 'MHcCAQEEI', 'MC4CAQAwBQYDK2V'],
    pattern:
      /(?:MII[A-Za-z0-9+/]{3}IBA[AD]|MIG[A-Za-z0-9+/]AgE[AB][A-Z]|MHcCAQEEI|MC4CAQAwBQYDK2V)[A-Za-z0-9+/]{40,8000}(?:\r?\n[ \t]{0,40}[A-Za-z0-9+/]{60,80}(?![A-Za-z0-9+/])){0,100}(?:\r?\n[ \t]{0,40}[A-Za-z0-9+/]{2,80}={1,2})?={0,2}/y,
  },
  { kind: 'putty-key', starts: ['Private-Lines: '], pattern: /Private-Lines: \d{1,4}/y, reach: reachKeyEnd },
  {
    kind: 'jwk-key',
    starts: JWK.flatMap((name) => [`"${name}":`, `"${name}\\":`]),
    pattern: JWK_VALUE,
    check: isMixed,
  },
  {
    kind: 'kubernetes-secret',
    starts: [
      'stringData:',
      'stringData"',
      'stringData\\"',
      'kind: Secret',
      'kind":"Secret"',
      'kind": "Secret"',
      'kind\\":\\"Secret\\"',
      'kind\\": \\"Secret\\"',
    ],
    pattern: /(?:kind\\?"?: ?\\?"?Secret\\?"?|stringData\\?"?:)(?![\w-])/y,
    list: listOpenData,
  },
  token('age-secret-key', ['AGE-SECRET-KEY-1', 'AGE-SECRET-KEY-PQ-1'], /[A-Z0-9]{58,1000}/),
  token('age-secret-key', ['AGE-PLUGIN-'], /[A-Z0-9-]{1,40}-1[A-Z0-9]{50,1000}/),
  token('minisign-key', ['RWRTY0Iy', 'RWQAAEIy'], /[A-Za-z0-9+/=]{200,300}/),
  token('wireguard-key', ['PrivateKey = ', 'PrivateKey=', 'PresharedKey = '], /([A-Za-z0-9+/]{43}=)/),
  token('jwe', ['eyJ'], /[\w-]{10,2000}\.[\w-]{0,1000}\.[\w-]{10,100}\.[\w-]{10,6000}\.[\w-]{10,100}/),
  token('jwt', ['eyJ'], /[\w-]{10,2000}\.[\w-]{10,6000}\.[\w-]{10,1000}/),
  {
    kind: 'bearer-token',
    starts: ['Bearer ', 'bearer '],
    pattern: /[Bb]earer (?=[\w.~+/-]{0,100}\d)([\w.~+/-]{20,2000}={0,2})/y,
    check: (secret) => looksRandom(secret) || !/^[a-z0-9]{1,20}(?:[_-][a-z0-9]{1,20}){1,20}$/.test(secret),
  },
  {
    kind: 'basic-auth',
    starts: ['Basic ', 'basic '],
    pattern: /[Bb]asic ([A-Za-z0-9+/]{8,500}={0,2})/y,
    check: holdsCredentials,
  },
  token(
    'password-hash',
    ['$apr1$', '$2y$', '$2a$', '$2b$', '$1$', '$5$', '$6$', '$y$', '$7$', '$argon2id$', '$argon2i$'],
    /[\w./$=,+]{20,200}/,
  ),
  token('password-hash', ['{SHA}', '{SSHA}', '{PBKDF2}', '{SSHA512}'], /[A-Za-z0-9+/=$]{20,120}/),
];

/** Passwords in statements of databases, in calls of code, and in what programs print and keep. */
export const STATEMENT_RULES: readonly Rule[] = [
  {
    kind: 'identified-by',
    starts: [
      ...['IDENTIFIED BY ', 'identified by ', 'IDENTIFIED WITH ', 'identified with '],
      ...['PASSWORD ', "password '", 'password "', 'PASSWORD('],
    ],
    pattern: /(?:identified (?:with \S{3,42} )?(?:by|as)|password)[ (]["']([^"'\n]{4,200})/iy,
    check: (text) => !/\s/.test(text) && !isStandIn(text) && !looksLikeWords(text),
  },
  {
    kind: 'identified-by',
    starts: ['IDENTIFIED BY ', 'identified by '],
    pattern: /identified by (?=\S{0,200}\d)([^\s"'`;,()]{6,200})/iy,
    check: isNoWord,
  },
  {
    kind: 'identified-by',
    starts: ['PRAGMA key', 'pragma key', 'PRAGMA rekey', 'pragma rekey'],
    pattern: /pragma (?:re)?key ?= ?["']{1,2}(?:x')?([^"'\n]{4,200})/iy,
    check: isValue,
  },
  {
    kind: 'identified-by',
    starts: ['pgp_sym_', 'PGP_SYM_'],
    pattern: /pgp_sym_(?:en|de)crypt(?:_bytea)?\([^\n]{1,200}?, ?'([^'\n]{4,200})/iy,
    check: isValue,
  },
  // `new mysqli("host", "user", "x")` and the like, where no name says what is the password.
  {
    kind: 'assigned-secret',
    starts: [
      ...['mysqli(', 'mysqli_connect(', 'MySQLdb.connect(', 'PDO(', 'DBI->connect(', 'getConnection(', 'Sequelize('],
      ...['auth(', 'auth=(', 'auth: [', '.auth(', '.login(', 'create_superuser(', 'create_user('],
    ],
    pivots: ['BasicAuth(', 'basicAuth(', 'Credentials(', 'Credential(', 'AndPassword('],
    before: [0, 30],
    pattern:
      /[\w.>-]{3,60}(?:=|: ?)?[([]\s{0,20}(?:(?:["'][^"'\n]{0,200}["']|[a-z]\w{0,20}),\s{0,20}){1,2}["']([^\s"']{6,200})(?=["'])/y,
    check: isNoWord,
  },
  {
    kind: 'flag-password',
    starts: ['> AUTH ', '> auth ', '"auth" "', '"AUTH" "'],
    pattern: /(?:> |")auth"? (?:"?[\w-]{1,40}"? )?"?([^\s"']{6,256})(?="?[ \t]{0,8}(?:\r?\n|$))/iy,
    check: isNoWord,
  },
  {
    kind: 'flag-password',
    starts: ['insecure-password ', 'stats auth '],
    pattern: /(?:insecure-password|stats auth\s[^\s:]{1,60}:)\s?([^\s"']{4,256})/y,
    check: isNoWord,
  },
  {
    kind: 'assigned-secret',
    starts: ['BUNDLE_'],
    pattern: /BUNDLE_[A-Z0-9_]{2,80}(?:: ?|=)["']?[\w.@-]{1,60}:(?!\/\/)([^\s"']{6,256})/y,
    check: isNoWord,
  },
  {
    kind: 'assigned-secret',
    starts: [
      ...['jwt.sign(', 'jwt.verify(', 'jwt.encode(', 'jwt.decode(', 'JWT.encode(', 'JWT.decode('],
      ...['createHmac(', 'createCipheriv(', 'createDecipheriv('],
    ],
    pattern:
      /[\w.]{8,16}\((?:["'][\w-]{1,20}["']|[^()\n"'`,]{1,80}|\{[^()\n{}]{0,80}\}),\s{0,3}["'`]([^\s"'`]{8,200})(?=["'`])/y,
    check: isNoWord,
  },
  {
    kind: 'assigned-secret',
    starts: ['bcrypt.', 'hashpw(', 'password_hash(', 'hmac.new('],
    pattern: /(?:bcrypt\.\w{4,16}|hashpw|password_hash|hmac\.new)\(b?["']([^\s"'$]{8,200})(?=["'])/y,
    check: isNoWord,
  },
  // `ann:x` to be encoded in base64, and `Login: ann / x`.
  {
    kind: 'assigned-secret',
    starts: ['btoa(', 'b64encode(', 'Buffer.from('],
    pattern: /[\w.]{4,11}\(b?["'`][\w.@+-]{1,60}:([^\s"'`$]{6,200})(?=["'`])/y,
    check: isNoWord,
  },
  {
    kind: 'piped-password',
    starts: ['echo -n ', 'printf '],
    pattern: /(?:echo -n|printf) ["']?[\w.@+-]{1,60}:([^\s"'$%]{6,200})(?=["']? \| ?base64)/y,
    check: isNoWord,
  },
  {
    kind: 'assigned-secret',
    starts: ['Credentials: ', 'credentials: ', 'Login: ', 'login: ', 'User/pass', 'user/pass'],
    pattern:
      /[A-Za-z/]{5,13}:\*{0,2} ["'`]?[\w.@+-]{2,60}["'`]?(?: ?\/ ?|:)["'`]?([^\s"'`,;()]{8,100}?)(?=["'`.]{0,2}(?:[\s,;)]|$))/y,
    check: (text) => looksLikePassword(text) && isNoWord(text),
  },
  // What AWS and Azure print.
  {
    kind: 'assigned-secret',
    starts: ['SecretString', 'secretString', 'SecureString\t'],
    pattern: /(?:[sS]ecretString\\{0,3}"[ \t]{0,3}:[ \t]{0,3}\\{0,3}"|SecureString\t)([^\s"\\{][^\s"\\]{7,1024})/y,
    check: isNoWord,
  },
  {
    kind: 'azure-key',
    starts: ['keyName"', 'keyName\\"'],
    pattern: /keyName\\{0,3}": ?[^{}]{0,120}"value\\{0,3}": ?\\{0,3}"([A-Za-z0-9+/]{40,100}={1,2})/y,
  },
  {
    kind: 'assigned-secret',
    starts: ['::add-mask::'],
    pattern: /::add-mask::((?!\()[^\s"'`]{4,1024})/y,
    check: isValue,
  },
  {
    kind: 'assigned-secret',
    starts: ['BW_SESSION='],
    pattern: /BW_SESSION=["']?([A-Za-z0-9+/]{40,120}={0,2})/y,
  },
  {
    kind: 'flag-password',
    starts: ['WIFI:'],
    pattern: /WIFI:(?:[A-OQ-Z]:[^;\n]{0,64};){0,4}P:([^;\s]{8,64})/y,
    check: isValue,
  },
  // A line of the file that curl keeps cookies in, and a cookie as browsers save them.
  {
    kind: 'cookie',
    starts: ['TRUE\t', 'FALSE\t'],
    pattern: /(?:TRUE|FALSE)\t\d{1,12}\t[^\t\n]{1,100}\t(\S{16,4096})/y,
    check: (text) => looksRandom(text),
  },
  {
    kind: 'cookie',
    starts: ['session"', 'sessionid"', 'session_id"', 'SESSID"', 'SESSIONID"', 'sid"'],
    pattern: /(?:session(?:_?id)?|SESSID|SESSIONID|sid)",\s{0,40}"value":\s{0,3}"([^"\s\\]{16,4096})/y,
    check: (text) => looksRandom(text),
  },
  {
    kind: 'assigned-secret',
    starts: ['<input '],
    pattern:
      /<input (?=[^<>]{0,400}(?:type|name|id)=["']?[\w-]{0,30}password["'\s>])[^<>]{0,400}?value=["']([^"'<>]{4,256})/y,
    check: isValue,
  },
];
