/** What stands between the name of a secret and its value. */

/**
 * Where a value is. In a `setting`, as of a shell, it is never code. A `cell` of a table may hold anything, and an `argument`
 * even more so.
 */
export type ValuePlace = 'assigned' | 'setting' | 'cell' | 'argument';

/** What may stand between the name of a secret and its value. */
export interface Connector {
  /** What it may begin with. */
  first: string;
  /** Sticky, tried at the end of the name; the value begins where it ends. */
  pattern: RegExp;
  /** What has to stand before the name, and the characters that it may end with, where they are few. */
  before?: { ends?: string; pattern: RegExp };
  /** What the name has to be like. */
  name?: RegExp;
  /** The value is the content of a tag. */
  isTag?: true;
  /** The value is the rest of one line, or of lines with the same indent. */
  isBlock?: true;
  /** Where the value is, if it is not just assigned. */
  place?: ValuePlace;
  /** Where it matches, no other one can. */
  isLast?: true;
}

const Q = '\\\\{0,3}["\'`]';
/** The beginning of a heredoc of a shell, Terraform, Ruby or PHP, up to its first line. */
const HEREDOC =
  /["'`]?[ \t]{0,3}(?:(?:=[ \t]{0,3})?["']?(?:\$\(cat[ \t]{1,3})?<<[-~]?(?!<)|=[ \t]{0,3}<<<)[ \t]?["'\\]?[A-Za-z_]\w{0,30}["']?[^\n<]{0,40}\r?\n[ \t]{0,40}/y;
/** What gives a value where there is none, as `??` does. */
const DEFAULT =
  /["'`\])]{0,4}\s{0,20}(?:\?\?=?|\|\|=?|\?:|or)\s{0,20}(?=[@$frbu]?["'`])|["'`\])]{0,4}\.(?:unwrap_or|unwrap_or_else|orElse|getOrElse|or)\((?:\|\w{0,20}\|[ \t]?)?(?=["'`])/y;

const LINE_START = { ends: '\n \t', pattern: /(?:^|\n)[ \t]{0,8}$/ };

/** In the order in which they are tried. */
const ALL: readonly Connector[] = [
  {
    first: '> ',
    pattern: /(?: [\w:.-]{1,40}=(?:"[^"<>]{0,200}"|'[^'<>]{0,200}')){0,4}>(?:\s{0,40}<[Vv]alue>)?/y,
    before: { ends: '<:', pattern: /<(?:\w{1,20}:)?$/ },
    isTag: true,
    isLast: true,
  },
  // `password: |` and `>-` of YAML, and heredocs.
  {
    first: '"\'`:',
    pattern:
      /["'`]?[ \t]{0,3}:[ \t]{1,8}[|>][-+\d]{0,2}[ \t]{0,8}(?:#[^\n]{0,80})?\r?\n(?:[-+>]|[ \t]{0,6}\d{1,6}[→:|\t])?[ \t]{1,40}/y,
    isBlock: true,
    isLast: true,
  },
  { first: '"\'` \t=<', pattern: HEREDOC, isBlock: true, isLast: true },
  { first: ':', pattern: /:[-=]/y, before: { ends: '{', pattern: /\$\{$/ } },
  // `password=`, `"password": `, `ENV["PASSWORD"] = `, `**Password:** `, `password => `, `password := `, `password: &a `; in HTML, R and C#
  {
    first: ' \t\u00a0"\'\\]?`*:=：＝',
    pattern:
      /(?:[ \t\u00a0"'\\\]?`*]{0,8}|[ \t]{9,40})(?::=|=>|[=＝](?:={1,2}(?=[\s"']))?|[:：](?!:)\*{0,2})[ \t\u00a0]{0,40}(?:(?:&\w{1,20}|!!\w{1,10}|!unsafe) )?/y,
    // In the name of a resource of AWS, the secret's name follows.
    before: { pattern: /$(?<!arn:[\w:-]{1,60}:)/ },
  },
  { first: '&', pattern: /&(?:quot|apos|#34|#39);[ \t]{0,3}[:=][ \t]{0,3}(?:&(?:quot|apos|#34|#39);)?/y },
  { first: ' \t<', pattern: /[ \t]{0,3}<{1,2}-[ \t]{0,3}(?=["'])/y },
  { first: ' {', pattern: / ?\{ ?(?:get|init|set)[^{}"]{0,40}\}[ \t]{0,3}=[ \t]{0,3}(?=[@$]?")/y },
  { first: ' \t', pattern: /(?:[ \t]\w{1,20})?[ \t]{1,3}<<<[ \t]{0,3}/y, place: 'setting' },
  { first: ' ', pattern: / --?[vV]alue[ =]/y, place: 'setting' },
  { first: ' \t', pattern: /[ \t]{1,40}REG_(?:EXPAND_|MULTI_)?SZ[ \t]{1,40}(?=\S)/y, place: 'setting' },
  // `password: string = "`, `var password string = "`, `char password[] = "`
  {
    first: ' \t?:[!',
    pattern:
      /\??(?:[ \t]{0,3}:)?[ \t]{0,3}[&'*A-Za-z[\]][\w<>[\].&'*|? ]{0,40}?[ \t]{0,3}=[ \t]{0,3}(?=[@$frbu]?["'`]|[A-Z]\w{2,20}\(["'`])/y,
    name: /(?<![Bb]earer)$/,
  },
  { first: ' \t', pattern: /[ \t]{1,4}(?=["'`]|[^\s|&;<>-]|-[^\s-]\S{14})/y, name: /^-/ },
  // `- --password` above `- x`, `["--password", "x"]`
  {
    first: '"\'\r\n',
    pattern: /["']?\r?\n[ \t]{0,40}- {1,3}(?=["']?(?:[^\s"'-]|-[^\s-]\S{14}))/y,
    name: /^--/,
    place: 'setting',
  },
  { first: '"\'', pattern: /["'],\s{0,20}(?=["'](?:[^"'-]|-[^\s-]\S{14}))/y, name: /^--/ },
  { first: '"\'', pattern: /["'],\s{0,20}(?:[a-z_]{1,20}=[^,()\n]{1,40},\s{0,20}){0,4}default=(?=["'])/y, name: /^--/ },
  // `ENV PASSWORD x`, `setx PASSWORD x`, `set -gx PASSWORD x`, `npm config set _auth x`, `requirepass x`
  {
    first: ' \t',
    pattern: /[ \t]{1,4}(?=\S)/y,
    before: {
      ends: ' :.',
      pattern:
        /(?:^|[\s;&|+"'`])(?:ENV|ARG|setx|fastcgi_param|uwsgi_param|proxy_set_header|add_header|Header set|setenv|SetEnv|env[ :](?:set|add)|[SN]e[tw]-Item(?: -Path)?|set -[a-zA-Z]{1,4}|--set \S{1,80} \S{1,40}|config(?:ure)?(?: --?[\w-]{1,20}){0,3}(?: set)?(?: --?[\w-]{1,20}){0,3}) {1,2}(?:[\w/:.-]{1,60}[:.])?$/,
    },
    place: 'setting',
  },
  // `kv put db/password x`, `SET app:token x`, of stores of keys and values.
  {
    first: ' ',
    pattern: / (?![\w-]{1,40}=\S)(?=\S{8})/y,
    before: {
      ends: ':/._-',
      pattern: /(?:^|[\s"'`])(?:kv put|etcdctl put|SET|set) ["']?[\w:.-]{0,60}[:/](?:[\w-]{1,30}[:/._-]){0,4}$/,
    },
    place: 'argument',
  },
  // `#define PASSWORD "x"`, `$ENV{PASSWORD} = "x"`, `${env:PASSWORD} = "x"`
  {
    first: ' \t',
    pattern: /[ \t]{1,40}L?(?=["'])/y,
    before: { ends: ' \t', pattern: /#[ \t]{0,8}define[ \t]{1,8}$/ },
  },
  {
    first: '}"\'',
    pattern: /["']?\} ?=[ \t]{0,40}(?=["'])/y,
    before: { ends: '{"\':', pattern: /(?:\$\w{1,40}|->|[}\]])\{["']?$|\$\{env:$/i },
  },
  // `? password` above `: x` of YAML, `1) "password"` above `2) "x"` of Redis
  {
    first: '"\'\r\n',
    pattern: /["']?[ \t]{0,8}\r?\n[ \t]{0,40}:[ \t]{1,8}(?=\S)/y,
    before: { ends: ' \t"\'', pattern: /(?:^|\n)[ \t]{0,40}\?[ \t]{1,8}["']?$/ },
  },
  {
    first: '"',
    pattern: /"\r?\n[ \t]{0,8}\d{1,4}\)[ \t]{1,3}(?=")/y,
    before: { pattern: /\d\)[ \t]{1,3}"[\w:.-]{0,50}$/ },
    place: 'cell',
  },
  // Calls, and arguments behind the name.
  { first: '(', pattern: /\([ \t]{0,3}(?=[@$frbu]?["'`])/y, name: /(?:^|[._-])(?:set|with)_?[A-Za-z]|^\./ },
  { first: '({', pattern: /[({][ \t]{0,3}(?=[@$frbu]?["'`])/y, place: 'argument' },
  {
    first: '"\'`\\',
    pattern: new RegExp(`${Q}[ \\t]{0,3},\\s{0,20}(?=${Q})`, 'y'),
    before: {
      pattern:
        /(?:define|env|setProperty|SetEnvironmentVariable|set_var|set|put|append|header|Header)\([ \t]{0,3}\\{0,3}["'`][\w.-]{0,40}$/i,
    },
  },
  // Also `type(get('Password'), "x")`, `type('input[name=password]', "x")`, `fill_in 'Password', with: "x"`
  {
    first: '"\'`\\]',
    pattern: new RegExp(`\\]?${Q}\\){0,2}[ \\t]{0,3},\\s{0,20}(?:with: )?(?=${Q})`, 'y'),
    place: 'argument',
  },
  // `name: X` and `value: y` of Kubernetes, tasks, parameters, XML and forms; `default` of Terraform.
  {
    first: '"\'`\\: \t\r\n',
    pattern: new RegExp(`(?:${Q})?:?(?:[ \\t]{0,8}\\r?\\n[ \\t]{1,40}|[ \\t]{1,8})[Vv]alue:[ \\t]{0,8}`, 'y'),
    place: 'setting',
  },
  {
    first: '"\'`\\',
    pattern: new RegExp(
      `${Q}(?:,\\s{0,40}${Q}\\w{1,30}${Q}:[ \\t]{0,3}(?:true|false|null|${Q}[^"\\\\\\n]{0,120}${Q})){0,4},?\\s{0,40}(?:${Q})?(?:[Dd]efault|[Pp]arameter)?[Vv]alue(?:${Q})?[ \\t]{0,3}[:=][ \\t]{0,3}`,
      'y',
    ),
  },
  // `"password": {"sensitive": true, "value": "x"}`, as Terraform prints its outputs, and the content of a tag of HTML.
  {
    first: '"\\',
    pattern: new RegExp(
      `${Q}[ \\t]{0,3}:[ \\t]{0,3}\\{[^{}]{0,240}?${Q}value${Q}[ \\t]{0,3}:[ \\t]{0,3}(?=\\\\{0,3}")`,
      'y',
    ),
  },
  { first: '"\'', pattern: /["'] content=(?=["'])/y },
  { first: ',', pattern: /,(?:ParameterValue=|[ \t]{0,4}value:[ \t]{0,4})/y, place: 'setting' },
  { first: '"\'', pattern: /["'](?: [^<>\n]{0,80})?>(?:\s{0,40}<[Vv]alue>)?/y, isTag: true },
  // `expect "password:" { send "x\\r" }`, `child.expect('password:')` above `child.sendline('x')`
  {
    first: ':',
    pattern: /: ?["'][)\s{;]{1,20}(?:\w{1,20}\.)?send(?:line)?[ (]{1,3}(?:-- )?(?=["'])/y,
    place: 'setting',
  },
  { first: '<', pattern: /<\/key>\s{0,40}<string>/y, isTag: true },
  { first: '"\' \t{', pattern: /["']?[ \t]{0,3}\{[^{}]{0,300}?default[ \t]{0,8}=[ \t]{0,8}(?=")/y },
  // `Password:` above its value, `the password is `.
  {
    first: '"\'`*:',
    pattern: /["'`*]{0,3}[ \t]{0,3}:\*{0,2}[ \t]{0,8}\r?\n(?:[ \t]{0,40}\r?\n)?[ \t]{0,40}/y,
    isBlock: true,
    place: 'cell',
  },
  { first: ' ', pattern: / (?:is|was)(?: now| set to)?:? /y, place: 'argument' },
  { first: '"\'`]) \t.', pattern: DEFAULT },
  // `**password** – `, `password → `, `<b>password</b>: <code>`, `<td>password</td><td>`
  {
    first: ' \t*`"\'_',
    pattern: /[*`"'_]{0,3}[ \t]{1,3}(?:[–—→⇒]|->|-(?=[ \t]{1,3}(?:`|\S{8,200}[ \t]{0,8}\r?$)))[ \t]{1,3}/my,
    place: 'cell',
  },
  {
    first: ':<',
    pattern:
      /:?<\/[a-z][a-z0-9]{0,9}>[ \t]{0,3}[:=–→-]?\s{0,20}<[a-z][a-z0-9]{0,9}(?: [^<>]{0,80})?>(?:<[a-z]{1,6}>)?/y,
    isTag: true,
  },
  { first: ':<', pattern: /:?<\/[a-z][a-z0-9]{0,9}>[ \t]{0,3}:?[ \t]{0,3}(?=[^\s<])/y, place: 'cell' },
  // `**password** x`, `secret = settings.x or "`, and `password = "a" -> "` of a plan of Terraform.
  { first: '*', pattern: /\*\*[ \t]{1,3}(?=[^\s*])/y, before: { ends: '*', pattern: /\*\*$/ }, place: 'argument' },
  {
    first: ' \t:=',
    pattern:
      /[ \t]{0,3}[:=][ \t]{0,3}[A-Za-z_$][\w$.?]{0,60}(?:[([][^()[\]\n]{0,60}[)\]])?[ \t]{1,3}(?:or|\|\||\?\?|\?:)[ \t]{1,3}(?=[@$frbu]?["'`])/y,
  },
  {
    first: ' "',
    pattern: /"?[ \t]{1,40}=[ \t]{1,3}(?:"[^"\n]{0,200}"|\([a-z ]{3,40}\)|null)[ \t]{1,3}->[ \t]{1,3}(?=")/y,
  },
  // `{password, "x"}` of Erlang, `string(3) "x"` of PHP, `printf 'PASSWORD=%s' x`, `userPassword:: ` in base64.
  { first: ',', pattern: /,[ \t]{0,3}(?:<<)?(?=")/y, before: { ends: '{:', pattern: /\{:?$/ }, place: 'argument' },
  // A part of a form, an output of GitHub's actions, and what a test of a browser types.
  { first: '"', pattern: /"(?:\r?\n){2}(?=\S)/y, before: { ends: '"', pattern: /; name=\\{0,3}"$/ } },
  {
    first: ':',
    pattern: /::(?=[^\s:])/y,
    before: { ends: '=', pattern: /::set-(?:output|env) name=$/ },
    place: 'setting',
  },
  {
    first: '"\']',
    pattern: /["'\]]{1,3}\){1,2}\.(?:fill|type|send_keys|sendKeys|setValue)\((?=["'`])/y,
    place: 'argument',
  },
  { first: '"', pattern: /"\][ \t]{0,2}=>\s{1,40}string\(\d{1,4}\) (?=")/y },
  { first: '=:', pattern: /[:=] ?["']?%[sq]["']?(?:\\n)?["'] (?=["']?[^\s%-])/y, place: 'setting' },
  { first: ':', pattern: /::[ \t]{1,2}(?=[A-Za-z0-9+/]{8,4096}={0,2}\s*?$)/my, before: LINE_START },
  // Where colours are written out, as by `cat -v`.
  {
    first: '^',
    pattern: /(?:\^\[\[[\d;]{0,12}m){1,3}["']?[ \t]{0,3}[:=][ \t]{0,3}(?:\^\[\[[\d;]{0,12}m){0,3}/y,
  },
  // `Secret Access Key [None]: `, `Unseal Key 1: `, `PASSWORD elastic = `, and what programs say that made a password:
  // `Password for user admin: `, `A temporary password is generated for root@localhost: `.
  { first: ' ', pattern: / \[[\w* ]{0,40}\][ \t]?:[ \t]{1,3}/y },
  { first: ' ', pattern: / \d{1,2}:[ \t]{1,3}(?=[A-Za-z0-9+/]{40})/y, name: / Key$/i },
  { first: ' ', pattern: / [a-z_]{2,20} = (?=\S{12})/y, name: /^PASSWORD$/, place: 'cell' },
  {
    first: ' ',
    pattern:
      / (?:is generated )?(?:for|to) [^\n:=;,]{1,80}:(?:[ \t]{1,3}|[ \t]{0,3}(?:\r?\n[ \t]{0,40}){1,2})(?=\S{8,200}\s*?$)/my,
    name: /pass(?:word|phrase|code)$/i,
    place: 'argument',
  },
  // `connecting with token x`, `loaded secret "x"`.
  {
    first: ' ',
    pattern: / (?=["'`]?[\w+/.~=-]{16,200}(?:["'`.,;)\s]|$))/y,
    before: { ends: ' ', pattern: /(?:with|using|use)(?: the| a| this| your)? (?:[A-Za-z]{2,12} )?$/i },
    place: 'argument',
  },
  { first: ' ', pattern: / (?=(["'`])[A-Za-z0-9+/=]{16,200}\1)/y, place: 'argument' },
  // Cells of tables, and columns at the beginning of a line; the last as psql shows a record.
  {
    first: ' \t`*"\'',
    pattern: /[`*"']{0,3}[ \t]{1,40}([|│┃║])[ \t]{1,40}(?!\1|--)(?=\S(?:(?!\1)[^\n]){1,4096}[ \t](?:\1|[│║]))/y,
    place: 'cell',
  },
  {
    first: '|',
    pattern: /\|(?=[^\s|]{6,256}\|[ \t]{0,20}\r?$)/my,
    before: { ends: '|', pattern: /(?:^|\n)\|$/ },
    place: 'cell',
  },
  {
    first: ' \t',
    pattern: /[ \t]{1,40}(?=[^\s|│┃║-]\S{5,200}\s*$)/my,
    before: { ends: '\n \t', pattern: /(?:^|\n)[ \t]{0,8}$|\t$/ },
    place: 'cell',
  },
  {
    first: ' |',
    pattern: /[ ]{0,60}[|│][ ]{1,3}(?=[^\s|│]\S{5,4096}[ \t]{0,200}\r?$)/my,
    before: LINE_START,
    place: 'cell',
  },
];

/** By the character that follows the name, those that may begin with it. */
export const CONNECTORS: ReadonlyMap<string, readonly Connector[]> = new Map(
  [...new Set(ALL.flatMap(({ first }) => [...first]))].map((char) => [
    char,
    ALL.filter(({ first }) => first.includes(char)),
  ]),
);

/** What a value stands in: brackets, alone or of a type: `["`, `String::from("`, `[]byte("`, `new SecretString("`. */
export const WRAPPER =
  /(?:[([]\s{0,40}){1,2}(?=[brfuN@]?\\{0,3}["'`])|(?:new |&|\[\])?(?:[A-Za-z_]\w{0,30}(?:::|\.|->)){0,4}(?:from|of|new|byte|bytes|bytearray|[sS]tr(?:ing)?|\w{0,20}[sS]ecret\w{0,20}|\w{0,20}[pP]assword\w{0,10}|SecureString|Sensitive|Some|Ok|GetBytes|encode|stringWithString|c_str)(?:<[\w<>, ]{0,30}>)?\(\s{0,20}(?=[@$frbu]?["'`])/y;

/** `value="x" key="` and `value: x` with `name: ` behind it, up to the name. */
export const VALUE_BEFORE =
  /[Vv]alue\\{0,3}["']?[ \t]{0,3}[:=][ \t]{0,3}(\\{0,3}["'])?([^\n]{6,1024}?)(?:\1|(?=[\n ]))[,;]?\s{0,40}?(?:\\{0,3}["'])?(?:[Kk]ey|[Nn]ame|[Ii]d)\\{0,3}["']?[ \t]{0,3}[:=][ \t]{0,3}\\{0,3}["']?$/d;
