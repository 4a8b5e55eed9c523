import { looksRandom } from '../heuristics.ts';
import { type Rule, token } from '../rule.ts';
import { holdsCredentials } from './names.ts';

const HEAD = '-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}';
const FOOT = '-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}';
/** The characters of a key, even if wrapped, quoted, escaped or indented. */
const INNER = '[A-Za-z0-9+/=\\s\\\\"\',:.()#*>|@]';
const BETWEEN = '(?:\\\\[nr]|[\\s"\',]){0,20}';
const FIELDS = '(?:[A-Z][A-Za-z-]{1,20}: [^\\n]{0,80}\\n){0,4}';

/** Keys, password hashes and credentials of general formats. */
export const KEY_RULES: readonly Rule[] = [
  {
    kind: 'private-key',
    starts: ['-----BEGIN ', '---- BEGIN '],
    pattern: new RegExp(`${HEAD}(?:${INNER}{0,20000}-(?!-)){0,6}${INNER}{0,60000}${FOOT}`, 'y'),
    check: (block) => /[A-Za-z0-9+/=]{4}/.test(block.replace(new RegExp(`${HEAD}|${FOOT}`, 'g'), '')),
  },
  {
    // Without its end. A header alone, as in code that looks for keys, is no key.
    kind: 'private-key',
    starts: ['-----BEGIN ', '---- BEGIN '],
    pattern: new RegExp(`${HEAD}${BETWEEN}${FIELDS}${BETWEEN}(?:[A-Za-z0-9+/=]{16,500}${BETWEEN}){1,800}`, 'y'),
  },
  {
    kind: 'putty-key',
    starts: ['PuTTY-User-Key-File-'],
    pattern: /PuTTY-User-Key-File-\d:[^\0]{20,400}?Private-Lines: \d{1,3}(?:\r?\n[A-Za-z0-9+/=]{1,64}){1,200}/y,
  },
  token('age-secret-key', ['AGE-SECRET-KEY-1'], /[A-Z0-9]{58}/),
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
  {
    kind: 'curl-password',
    starts: ['curl '],
    ahead: /-(?:u|-user)[ =]/g,
    pattern: /curl [^\n]{0,200}?-(?:u|-user)[ =]["']?[^\s:"'$]{1,60}:([^\s"'$]{4,100})/y,
  },
  { kind: 'flag-password', starts: ['sshpass '], pattern: /sshpass -p ?["']?([^\s"'$]{4,100})/y },
  {
    kind: 'flag-password',
    starts: ['mysql', 'mariadb'],
    ahead: /-p/g,
    pattern: /(?:mysql|mariadb)(?:dump|admin|import)? [^\n]{0,200}?-p["']?([^\s"'$-][^\s"'$]{3,100})/y,
    // `-p` may also be a port or a folder.
    check: (text) => !/^\d{1,5}$|^[./~]|:/.test(text),
  },
  {
    kind: 'flag-password',
    starts: ['docker login', 'podman login', 'helm registry login', 'az login'],
    ahead: /-p/g,
    pattern:
      /(?:docker|podman|helm registry|az) login [^\n]{0,200}?(?:-p|--password)[ =]["']?([^\s"'$-][^\s"'$]{3,100})/y,
  },
  {
    kind: 'flag-password',
    starts: ['redis-cli '],
    ahead: /-a[ =]/g,
    pattern: /redis-cli [^\n]{0,200}?-a[ =]["']?([^\s"'$-][^\s"'$]{3,100})/y,
  },
  {
    kind: 'netrc',
    starts: ['machine '],
    pattern: /machine\s{1,9}[^\s]{1,200}\s{1,9}login\s{1,9}[^\s]{1,200}\s{1,9}password\s{1,9}([^\s]{3,200})/y,
  },
  {
    kind: 'identified-by',
    starts: ['IDENTIFIED BY ', 'identified by ', 'WITH PASSWORD ', 'with password ', 'ENCRYPTED PASSWORD '],
    pattern: /(?:IDENTIFIED BY|identified by|WITH PASSWORD|with password|ENCRYPTED PASSWORD) '([^'\n]{4,200})/y,
  },
  token(
    'password-hash',
    ['$apr1$', '$2y$', '$2a$', '$2b$', '$1$', '$5$', '$6$', '$y$', '$7$', '$argon2id$', '$argon2i$'],
    /[\w./$=,+]{20,200}/,
  ),
  token('password-hash', ['{SHA}', '{SSHA}', '{PBKDF2}', '{SSHA512}'], /[A-Za-z0-9+/=$]{20,120}/),
];
