import type { NamedRule } from '../rule.ts';
import { decodeBase64 } from '../values.ts';

const HEX32 = /^[a-f0-9]{32}$/i;
const UUID = /^[a-f0-9]{8}-(?:[a-f0-9]{4}-){3}[a-f0-9]{12}$/i;
const WORD = (least: number): RegExp => new RegExp(`^[\\w+/=.~-]{${least},512}$`);

/** A user and a password in base64, as in HTTP headers. */
export function holdsCredentials(text: string): boolean {
  return /^[\x20-\x7e]{1,100}:[\x20-\x7e]{3,}$/.test(decodeBase64(text) ?? '');
}

function named(kind: string, name: RegExp, value: RegExp): NamedRule {
  return { kind, name, value };
}

/** Secrets without a shape of their own, by the variable names that their providers document. */
export const NAMED_RULES: readonly NamedRule[] = [
  named('aws-secret-key', /secret(?:access)?key$/, /^[A-Za-z0-9/+=]{40}$/),
  named('aws-session-token', /(?:aws)?(?:session|security)token$/, /^[A-Za-z0-9/+=]{100,2000}$/),
  named('azure-key', /azure\w*(?:key|secret)$|ocpapimsubscriptionkey$/, WORD(20)),
  named('cloudflare-key', /(?:cloudflare|^cf)\w*(?:key|token)$|^xauthkey$/, /^[\w-]{37,60}$/),
  named('datadog-key', /(?:datadog|^dd)(?:api|app|application|client)\w*(?:key|token)$/, /^(?:pub)?[a-f0-9]{32,40}$/),
  named('fastly-key', /fastly\w*(?:key|token)$/, /^[\w-]{32}$/),
  named('pagerduty-key', /(?:pagerduty|^pd)\w*(?:key|token)$/, /^[\w+-]{18,40}$/),
  named('okta-token', /okta\w*(?:token|key|secret)$/, /^[\w-]{40,64}$/),
  named('auth0-secret', /auth0\w*(?:secret|token|key)$/, /^[\w-]{32,128}$/),
  named('snowflake-secret', /snowflake\w*(?:password|passphrase|token|secret)$/, /^\S{8,512}$/),
  named('heroku-key', /heroku\w*(?:key|token)$/, UUID),
  named('twilio-token', /twilio\w*(?:token|secret|key)$/, HEX32),
  named('postmark-token', /postmark\w*(?:token|key)$/, UUID),
  named('paypal-secret', /paypal\w*(?:secret|key|token)$/, WORD(32)),
  named('algolia-key', /algolia\w*key$/, HEX32),
  named('segment-key', /segment\w*key$/, /^[A-Za-z0-9]{32}$/),
  named('bitbucket-token', /bitbucket\w*(?:secret|password|token)$/, WORD(16)),
  named('codecov-token', /codecov\w*token$/, UUID),
  named('ngrok-token', /ngrok\w*token$/, /^\w{30,60}$/),
  named('mistral-key', /(?:mistral|cohere|together|deepseek|elevenlabs|^xi)\w*key$/, /^[\w-]{30,80}$/),
  named('rails-key', /(?:secretkeybase|railsmasterkey)$/, /^[a-f0-9]{32,128}$/),
  named('django-key', /^(?:django)?secretkey$/, /^[\x21-\x7e]{40,60}$/),
  named('service-account-key', /privatekeyid$/, /^[a-f0-9]{40}$/),
  named('kubeconfig-key', /clientkeydata$/, /^[A-Za-z0-9+/=]{40,10000}$/),
  { kind: 'docker-auth', name: /^auth$/, value: /^[A-Za-z0-9+/]{12,500}={0,2}$/, check: holdsCredentials },
  named(
    'seed-phrase',
    /(?:mnemonic|(?:seed|recovery|backup|wallet|mnemonic)phrase)$/,
    /^(?:(?:\d{1,2}[.)] ?)?[a-z]{3,8},? ){11,23}(?:\d{1,2}[.)] ?)?[a-z]{3,8}$/,
  ),
  named('ansible-vault', /vaultpass(?:word)?$/, /^\S{8,200}$/),
];

/** How much a name says about its value. `personal`: a person chooses it. `loose`: it may as well be something else. */
export type NameGrade = 'personal' | 'secret' | 'loose';

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '));

const PERSONAL =
  /(?:password|passwd|passphrase|passcode|passwort|kennwort|wachtwoord|passord|contrasena|senha|motdepasse|[a-z]pwd?)$/;
const PERSONAL_WORDS = words('pw psw pword mdp psk assword');
/** What makes a code, a seed or a string one that lets somebody in. */
const PERSONAL_CODES = words('recovery pin backup otp totp hotp mfa unlock wallet master');
const PASS = /pass$/;
const NO_PASS = words('bypass compass encompass surpass trespass underpass overpass multipass');
/** The word before a `pass` that is one of several. */
const PASSES = words('pre post multi single one two first second last next final each per render shadow lighting test');
const SECRET = /secret$/;
const SECRET_WORDS = words('credential credentials creds bearer salt pepper');
/** What makes a key a secret one, before `key` or joined to it. */
const SECRET_KEYS = words(
  'api secret access private auth account encrypt encryption sign signing master admin license licence deploy hmac jwt aes des crypt crypto fernet cookie signature secrets sops webhook subscription consumer rest integration security decryption cipher shared ssh tls ssl backup recovery preshared psk unseal role maps openai anthropic claude gemini groq mistral cohere replicate stripe paypal mailgun sendgrid mailchimp resend postmark twilio google firebase supabase algolia datadog sentry github gitlab pinecone openrouter deepseek xai weather',
);
const LOOSE_KEYS = words('service session storage client app application root write ingest server primary secondary');
const LOOSE_WORDS = words('pass pat auth masterauth otp totp hotp');
/** The word before `KEY` in a variable that holds no secret; all others may. */
const OPEN_KEYS = words(
  'primary foreign partition sort cache hash range object group index lookup unique composite natural surrogate row map dict hot sorting routing shard storage lock state sound i18n locale react item query mutation event bucket s3 file path folder image idempotency dedup by order id config setting settings property column field feature flag option registry reg hkey press arrow up down enter escape esc tab home space any meta ctrl shift alt function modifier metadata attribute label tag annotation context no on with for to of',
);

/** The word before `token` where it is a piece of text, a place in a list or a count. */
const OPEN_TOKENS = words(
  'bridge next page paging pagination cursor continuation sync cancel cancellation abort lex lexer start end sep pad eos bos unk mask special stop design color max min total input output num per cached cache completion prompt prev previous current other bucket change resume skip syntax keyword punctuation operator identifier first last one all by public',
);
/** The first word of switches. */
const SWITCHES = words('is has no show hide toggle forgot need needs require requires use uses without can should');
/** What may follow, as in `API_KEY_PROD`. Only in capitals: in small letters these end too many words. */
const ENVIRONMENTS = words('prod dev stg staging live test old new base64 b64 hex value');
/** Behind a secret word they do not make it something else. */
const CLOSINGS = words('base data value');

/** Compares whole words of a name: it is split at marks, digits and capitals. Null for a name that holds no secret. */
export function gradeName(name: string): NameGrade | null {
  const parts = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '');
  if (parts.length > 1 && (ENVIRONMENTS.has(parts.at(-1) ?? '') || CLOSINGS.has(parts.at(-1) ?? ''))) parts.pop();
  const [last = '', before = ''] = [parts.at(-1), parts.at(-2)];
  if (parts.length > 1 && SWITCHES.has(parts[0] ?? '')) return null;
  // The folder of a shell before this one.
  if (last === 'oldpwd') return null;
  if (PERSONAL.test(last) || PERSONAL_WORDS.has(last)) return 'personal';
  if (last === 'pwd') return parts.length > 1 && !/\.pwd$/i.test(name) ? 'personal' : 'loose';
  if (name.endsWith('user.signingkey')) return null;
  if (PASS.test(last) && (last === 'pass' ? parts.length > 1 && !PASSES.has(before) : !NO_PASS.has(last)))
    return 'personal';
  if (before === 'pass' && (last === 'word' || last === 'phrase')) return 'personal';
  if ((last === 'passe' && before === 'de') || (last === 'wd' && before === 'pass')) return 'personal';
  if (last === 'confirmation' && before === 'password') return 'personal';
  if (last === 'cookie') return before === 'erlang' || before === 'release' ? 'secret' : null;
  if (SECRET.test(last)) return before === 'public' ? null : 'secret';
  if (SECRET_WORDS.has(last)) return 'secret';
  if (last.endsWith('token')) return gradeToken(last.slice(0, -'token'.length) || before);
  if ((last === 'code' || last === 'codes' || last === 'seed') && PERSONAL_CODES.has(before)) return 'personal';
  if (last.endsWith('key')) return gradeKey(last.slice(0, -'key'.length) || before, parts, name);
  if (last === 'pat' && VARIABLE.test(name)) return 'secret';
  return LOOSE_WORDS.has(last) ? 'loose' : null;
}

function gradeToken(kind: string): NameGrade | null {
  if (OPEN_TOKENS.has(kind)) return null;
  return kind === 'csrf' || kind === 'xsrf' ? 'loose' : 'secret';
}

function gradeKey(kind: string, parts: readonly string[], name: string): NameGrade | null {
  if (parts.includes('public') || parts.includes('publishable')) return null;
  if (SECRET_KEYS.has(kind)) return 'secret';
  return LOOSE_KEYS.has(kind) || (VARIABLE.test(name) && !OPEN_KEYS.has(kind)) ? 'loose' : null;
}

const VARIABLE = /^[A-Z][A-Z0-9]*(?:_{1,2}[A-Z0-9]+)+$/;

/** How the names end that a secret may be assigned to: this rules out most names at once. */
export const NAME_ENDINGS: readonly string[] = [
  ...'word passord code codes seed bearer salt pepper woord passwd pwd phrase base secret token key pass creds keyid key_id key-id data prod dev _stg _staging _live _test _old _new base64 _b64 _hex _value'.split(
    ' ',
  ),
  // At least three characters each.
  ...[...'abcdefghijklmnopqrstuvwxyz_-. \n\t"\'`*({[<>,;&?+$=:|'].map((before) => `${before}pw`),
];
/** Those of names that are seldom written but before a `:` or `=`. */
export const SELDOM_ENDINGS: readonly string[] =
  'wort contrasena passe confirmation credential credentials auth cookie authorization senha psw psk mdp mnemonic otp _pat -pat'.split(
    ' ',
  );
