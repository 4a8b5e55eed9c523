import type { Rule, TextRange } from '../rule.ts';
import { isStandIn, looksLikeWords, surelyWords } from '../values.ts';

/**
 * Where commands take a secret: the words that a command begins with, and then `§` for the secret, `…` for any arguments, `*` for
 * one of them or a part of it, `{a|b}` for either, `--flag=` for a flag with `=` or a blank behind it, and `_` for a blank that
 * may be missing. Behind `~`, what looks like words is no secret.
 */
const ARGUMENTS = `
7z|7za|7zz|7zr|rar|unrar: … {-p|-hp}§
~ansible-vault encrypt_string: … §
~aws ssm put-parameter: … --value=§
aws secretsmanager put-secret-value|create-secret|update-secret: … --secret-string=§
az keyvault secret set: … --value=§
beeline|cbq|couchbase-cli|cqlsh|cypher-shell|evil-winrm|hdbsql|influx: … -p §
mongo|mongodump|mongoexport|mongoimport|mongorestore|mongosh|rdesktop|snowsql|twine: … -p §
~psexec|PsExec.exe|oc|cf|supabase|rabbitmqadmin|racadm|smbmap|crackmapexec|nxc|certutil: … -p §
~poetry|uv publish: … -p §
dotnet nuget: … {-p |-k }§
~twilio login: … -p §
xcrun altool: … -p §
~choco push: … -k §
~schtasks: … /rp §
~signtool: … /p §
~reset-admin-password|set-initial-password: §
~vault unwrap: §
~vault token lookup|renew|revoke: §
~drush upwd|user:password: * §
~ACL SETUSER: … >§
~bw unlock: §
~bw login: * §
~bundle config: … *:§
~cargo|vault login: §
chpasswd: … <<<_*:§
~composer config: http-basic.* * §
~composer config: {github-oauth|gitlab-oauth|gitlab-token}.* §
cmdkey: … /pass:§
~ConvertTo-SecureString: {-String }§
~ConvertTo-SecureString: §
curl|http|https|xh: … {-u_|-su_|-ku_|-sku_|-sSu_|-fsSu_|-sSfu_|-iu_|-vu_|-a_|-U_|--user=|--auth=|--proxy-user=|-E |--cert=}*:§
az|buildah|docker|nerdctl|podman|skopeo login: … {-p_|--password=}§
helm|crane|oras registry|auth login: … {-p |--password=}§
doctl: … {-t |--access-token=}§
dotnet user-secrets set: * §
etcdctl: … --user=*:§
doppler|fly|flyctl|infisical|supabase secrets set: … *=§
~doppler secrets set: * §
~flyctl|glab|vercel: … -t §
gh secret set: … {--body=|-b_}§
htpasswd: {-nb|-bn|-nbB|-Bbn|-bnB|-nBb} * §
htpasswd: {-b|-bc|-cb|-Bb|-bB|-cBb|-Bbc|-bcB|-cbB|-Bcb} * * §
ldapadd|ldapdelete|ldapmodify|ldappasswd|ldapsearch|ldapwhoami: … {-w_|-s }§
http|https|xh: … -A bearer -a_§
lftp|ncftp: … -u_*,§
~mc alias set: * * * §
~mc config host add: * * * §
~b2 authorize-account: * §
~networksetup -setairportnetwork: * * §
netsh wlan: … key=§
mosquitto_passwd: … -b * * §
mysqladmin: … password §
~net user: * §
~net use: … \\\\* §
~net use: … /user:* §
~ftp|lftp: … {"|'|}user * §
~ngrok authtoken: §
~ngrok config add-authtoken: §
nmcli: … {password|wifi-sec.psk|802-11-wireless-security.psk} §
openssl: … {-k |-K |pass:}§
influx: … -t §
plink|pscp|psftp: … -pw §
~poetry config: pypi-token.* §
poetry config: http-basic.* * §
~pulumi config set: … --secret * §
rabbitmqctl add_user|authenticate_user|change_password: * §
~rclone obscure: §
rclone config create|password|update: … {pass|password|secret_access_key|client_secret}{ |=}§
redis-cli|valkey-cli: … {-a |--pass |AUTH }§
~requirepass|masterauth: §
security: … -w §
security import: … -P §
security set-key-partition-list: … -k §
security create-keychain|set-keychain-password|unlock-keychain: … -p §
rpcclient|smbclient|winexe: … {-U_|--user=}*%§
~snmpget|snmpwalk: … {-A |-X |-c }§
bcp|osql|ipmitool|mosquitto_pub|mosquitto_sub|sqlcmd|tsql|unzip|zip: … -P_§
expdp|impdp|rman|sqlldr|sqlplus: … */§@
ssh-keygen: … {-N |-P }§
sshpass: … -p_§
useradd|usermod: … {-p |--password=}§
~vault operator unseal: §
vault kv patch|put: … *=§
~vault write: … *=§
~wandb login: §
wpa_passphrase: * §
sdl-freerdp|wfreerdp|wlfreerdp|xfreerdp|xfreerdp3: … /p:§
`;

const SECRET = '["\']?([^\\s"\']{4,256})';
const WORDS: Readonly<Record<string, string>> = {
  '…': '(?:[ \\t][^\\n]{0,240}?)??[ \\t]{1,4}',
  '*': '["\']?[^\\s"\'-][^\\s"\']{0,79}?["\']?',
  '§@': '["\']?([^\\s"\'@]{4,256})(?=["\']?@)',
  '§': SECRET,
  '=': '[= ]',
  _: ' ?',
  ' ': '[ \\t]{1,4}',
  '{': '(?:',
  '}': ')',
  '|': '|',
};

function writePattern(place: string): string {
  return place.replace(/--[\w-]+=|\w_(?=[a-z])|§@|./g, (part) => {
    if (part.startsWith('--') && part.endsWith('=')) return `${part.slice(0, -1)}${WORDS['=']}`;
    if (/^\w_$/.test(part)) return part;
    return part === '=' || part === '-' ? part : (WORDS[part] ?? part.replace(/[.$+?()[\]^\\/]/g, '\\$&'));
  });
}

/** The beginnings of a command, with each of the words that are told apart by `|`. */
function listHeads(head: string): string[] {
  return head
    .split(' ')
    .reduce<string[]>((heads, word) => heads.flatMap((one) => word.split('|').map((each) => `${one}${each} `)), ['']);
}

/** More pairs in the same command. */
const MORE = /["']?[ \t]{1,4}["']?[\w./-]{1,80}=["']?([^\s"']{4,256})/y;

function readRow(row: string): Rule {
  const [, loose, head = '', place = ''] = /^(~?)(.*?): (.*)$/.exec(row) ?? [];
  const starts = listHeads(head);
  const names = starts.map((start) => start.trimEnd().replaceAll('.', '\\.').replaceAll(' ', '[ \\t]{1,4}'));
  const gap = place.startsWith('…') ? '' : '[ \\t]{1,4}';
  // What stands before the secret or its first part that may be anything, if that is enough to look for.
  const [, flags = ''] = /^… ((?:\{[^}*§]{2,}\}|[-/<\w.]{2,}[=_ ]?))/.exec(place) ?? [];
  return {
    kind: `${head.startsWith('curl') ? 'curl' : 'flag'}-password`,
    starts,
    ...(flags === '' ? {} : { ahead: new RegExp(`[ \\t]${writePattern(flags)}`, 'g') }),
    pattern: new RegExp(`(?:${names.join('|')})${gap}${writePattern(place.replace(/ ?… /g, '…'))}`, 'y'),
    check: (text) => isValue(text) && (loose === '' || !isWord(text)),
    ...(place.endsWith('*=§') ? { more: MORE } : {}),
  };
}

/** A flag may follow in place of a password. */
export function isValue(text: string): boolean {
  const [, flag = ''] = /^(--?[a-zA-Z][\w-]{0,60})(?:[=:].*)?$/.exec(text) ?? [];
  const isFlag = flag !== '' && (flag.length < MIN_DASHED || looksLikeWords(flag));
  return !isFlag && !/^(?:\/[a-z]{2,12}(?::|$)|[|<>&;]+$)/.test(text) && !isStandIn(text);
}

/** The words of a sentence behind the name of a command are mostly short. */
function isWord(text: string): boolean {
  return text.length < LONG_WORD ? looksLikeWords(text) : surelyWords(text);
}

const LONG_WORD = 12;
/** Shorter, what begins with a dash is a flag. */
const MIN_DASHED = 12;
export const isNoWord = (text: string): boolean => isValue(text) && !looksLikeWords(text);

/** The commands that read a secret from their input. */
const READERS =
  'sudo [^\\n]{0,40}-S|--password-stdin|passwd|kinit|cryptsetup|--passphrase-fd|(?:docker|podman) secret create|secret put|vercel env add|gh secret set|gh auth login|gcloud secrets|functions:secrets:set|vault (?:kv put|login|write)|htpasswd [^\\n]{0,20}-\\w{0,4}i|pass insert|secret-tool store|ssh-add';
/** What the name of a file with a secret in it ends with. */
const SECRET_FILE =
  '(?:[^\\s"\'<>|;&]{0,160}/)?(?:(?<=secrets/)[\\w.-]{1,80}|[\\w.-]{0,60}?(?:pass(?:word|wd|phrase)?|secrets?|token|credentials?|api[_-]?key)(?:\\.\\w{1,5})?)(?![\\w/-])';

/** The password before a place, as in `ann:x@tcp(`. */
function reachBefore(text: string, { start }: TextRange): TextRange | null {
  const [, secret = ''] = /[\w.-]{1,60}:([^\s"'`/]{4,100})$/.exec(text.slice(Math.max(0, start - 164), start)) ?? [];
  return secret === '' || isStandIn(secret) ? null : { start: start - secret.length, end: start };
}

/** What a password is called elsewhere; names of one word in Latin letters are in `names.ts`. */
const FOREIGN =
  'contraseña|mot de passe|hasło|şifre|heslo|lösenord|jelszó|пароль|密码|密碼|口令|パスワード|비밀번호|암호';

/** Passwords in the arguments and the input of commands, and in files that commands read. */
export const COMMAND_RULES: readonly Rule[] = [
  ...ARGUMENTS.trim().split('\n').map(readRow),
  {
    kind: 'flag-password',
    starts: ['--from-literal=', '--from-literal '],
    pattern: /--from-literal[= ]["']?[\w.-]{1,80}=["']?([^\s"']{4,256})/y,
    check: isNoWord,
  },
  {
    kind: 'curl-password',
    starts: ['curl '],
    ahead: /[ \t](?:-b|--cookie)/g,
    // The first cookie that is long.
    pattern:
      /curl(?:[ \t][^\n]{0,240}?)??[ \t]{1,4}(?:-b ?|--cookie[= ])["']?(?:[\w.-]{1,80}=[^\s"';]{0,11}; ?){0,8}[\w.-]{1,80}=([^\s"';]{12,1024})/y,
    check: isNoWord,
  },
  {
    kind: 'flag-password',
    starts: ['jdbc:oracle:'],
    pattern: /jdbc:oracle:[a-z]{3,4}:[^\s/@:"']{1,60}\/["']?([^\s"'@]{4,100})(?=["']?@)/y,
    check: isValue,
  },
  { kind: 'flag-password', starts: ['@tcp(', '@unix('], pattern: /@(?:tcp|unix)\(/y, reach: reachBefore },
  {
    kind: 'flag-password',
    starts: ['mysql', 'mariadb'],
    ahead: /-p/g,
    pattern:
      /(?:mysql|mariadb)(?:-?dump|-?admin|import)?(?:["'],)? (?:[^\n]{0,200}?[ "'])??-p["']?((?!-.{0,14}(?:\s|$))[^\s"'$][^\s"']{3,100})/y,
    // `-p` may also be a port or a folder.
    check: (text) =>
      isValue(text) && !/^\d{1,5}$|^[.~]|:/.test(text) && !(text.startsWith('/') && looksLikeWords(text)),
  },
  {
    kind: 'piped-password',
    starts: ['echo ', 'printf '],
    ahead: new RegExp(READERS, 'g'),
    pattern: new RegExp(
      `(?:echo|printf) (?:-[neE]{1,3} |["']?%s(?:\\\\n)?["']? )?["']?([^\\s"'|]{4,256}?)(?=(?:\\\\n)?["']? ?\\| ?[^\\n]{0,120}(?:${READERS}))`,
      'y',
    ),
    check: isValue,
  },
  {
    kind: 'piped-password',
    starts: ['<<<'],
    pattern: new RegExp(`(?<=(?:${READERS})[^\\n]{0,120})<<<[ ]?["']?([^\\s"']{5,256})`, 'y'),
    check: isValue,
  },
  {
    kind: 'piped-password',
    starts: ['echo ', 'printf '],
    ahead: />|\btee /g,
    pattern: new RegExp(
      `(?:echo|printf) (?:-[neE]{1,3} |["']?%s(?:\\\\n)?["']? )?["']?([^\\s"'|>]{6,256}?)(?=(?:\\\\n)?["']? ?(?:>{1,2}|\\| ?(?:sudo )?tee(?: -a)?) ?["']?${SECRET_FILE})`,
      'iy',
    ),
    check: isNoWord,
  },
  {
    kind: 'assigned-secret',
    starts: FOREIGN.split('|')
      .flatMap((word) => [word, word.charAt(0).toUpperCase() + word.slice(1), word.toUpperCase()])
      .flatMap((word) =>
        word.length > 2 ? [word] : [':', '：', ' ', '=', '＝', '是', '为'].map((mark) => word + mark),
      ),
    pattern: new RegExp(
      `(?:${FOREIGN})["'\`*]{0,3}[ \\t]{0,3}[:=：＝是为][ \\t]{0,3}["'\`*]{0,3}([^\\s"'\`]{6,256})`,
      'iy',
    ),
    check: isNoWord,
  },
  {
    kind: 'pgpass',
    pivots: [':5432:', ':5433:', ':6432:', ':*:'],
    before: [1, 64],
    pattern: /[\w.*-]{1,64}:(?:\d{4}|\*):[^:\s]{1,64}:[^:\s]{1,64}:(?!\*)([^\s:]{4,100})(?=\s|$)/y,
    check: isValue,
  },
  {
    kind: 'netrc',
    starts: ['machine '],
    pattern: /machine\s{1,9}[^\s]{1,200}\s{1,9}login\s{1,9}[^\s]{1,200}\s{1,9}password\s{1,9}([^\s]{3,200})/y,
  },
];
