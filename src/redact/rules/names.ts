import { decodeBase64 } from '../heuristics.ts';
import type { NamedRule } from '../rule.ts';

const HEX32 = /^[a-f0-9]{32}$/i;
const UUID = /^[a-f0-9]{8}-(?:[a-f0-9]{4}-){3}[a-f0-9]{12}$/i;
const WORD = (least: number): RegExp => new RegExp(`^[\\w+/=.~-]{${least},512}$`);

/** A user and a password in base64, as in HTTP headers. */
export function holdsCredentials(text: string): boolean {
  return /^[\x20-\x7e]{1,100}:[\x20-\x7e]{3,}$/.test(decodeBase64(text) ?? '');
}

/** Secrets without a shape of their own, by the variable names that their providers document. */
export const NAMED_RULES: readonly NamedRule[] = [
  { kind: 'aws-secret-key', name: /secret(?:access)?key$/, value: /^[A-Za-z0-9/+=]{40}$/ },
  {
    kind: 'aws-session-token',
    name: /(?:aws)?(?:session|security)token$/,
    value: /^[A-Za-z0-9/+=]{100,2000}$/,
  },
  { kind: 'azure-key', name: /azure\w*(?:key|secret)$|ocpapimsubscriptionkey$/, value: WORD(20) },
  { kind: 'cloudflare-key', name: /(?:cloudflare|cf)\w*(?:key|token)$|^xauthkey$/, value: /^[\w-]{37,60}$/ },
  {
    kind: 'datadog-key',
    name: /(?:datadog|dd)(?:api|app|application|client)\w*(?:key|token)$/,
    value: /^(?:pub)?[a-f0-9]{32,40}$/,
  },
  { kind: 'fastly-key', name: /fastly\w*(?:key|token)$/, value: /^[\w-]{32}$/ },
  { kind: 'pagerduty-key', name: /(?:pagerduty|pd)\w*(?:key|token)$/, value: /^[\w+-]{18,40}$/ },
  { kind: 'okta-token', name: /okta\w*(?:token|key|secret)$/, value: /^[\w-]{40,64}$/ },
  { kind: 'auth0-secret', name: /auth0\w*(?:secret|token|key)$/, value: /^[\w-]{32,128}$/ },
  {
    kind: 'snowflake-secret',
    name: /snowflake\w*(?:password|passphrase|token|secret)$/,
    value: /^\S{8,512}$/,
  },
  { kind: 'heroku-key', name: /heroku\w*(?:key|token)$/, value: UUID },
  { kind: 'twilio-token', name: /twilio\w*(?:token|secret|key)$/, value: HEX32 },
  { kind: 'postmark-token', name: /postmark\w*(?:token|key)$/, value: UUID },
  { kind: 'paypal-secret', name: /paypal\w*(?:secret|key|token)$/, value: WORD(32) },
  { kind: 'algolia-key', name: /algolia\w*key$/, value: HEX32 },
  { kind: 'segment-key', name: /segment\w*key$/, value: /^[A-Za-z0-9]{32}$/ },
  { kind: 'bitbucket-token', name: /bitbucket\w*(?:secret|password|token)$/, value: WORD(16) },
  { kind: 'codecov-token', name: /codecov\w*token$/, value: UUID },
  { kind: 'ngrok-token', name: /ngrok\w*token$/, value: /^\w{30,60}$/ },
  {
    kind: 'mistral-key',
    name: /(?:mistral|cohere|together|deepseek|elevenlabs|xi)\w*key$/,
    value: /^[\w-]{30,80}$/,
  },
  { kind: 'rails-key', name: /(?:secretkeybase|railsmasterkey)$/, value: /^[a-f0-9]{32,128}$/ },
  { kind: 'django-key', name: /^(?:django)?secretkey$/, value: /^[\x21-\x7e]{40,60}$/ },
  { kind: 'service-account-key', name: /privatekeyid$/, value: /^[a-f0-9]{40}$/ },
  { kind: 'kubeconfig-key', name: /clientkeydata$/, value: /^[A-Za-z0-9+/=]{40,10000}$/ },
  { kind: 'docker-auth', name: /^auth$/, value: /^[A-Za-z0-9+/]{12,500}={0,2}$/, check: holdsCredentials },
  { kind: 'ansible-vault', name: /vaultpass(?:word)?$/, value: /^\S{8,200}$/ },
];

/** Names with these endings hold secrets. */
export const SECRET_NAME =
  /(?:pass(?:word|wd|phrase|code)?|pwd|passwort|contrasena|secret|token|credentials?|creds|(?:api|secret|access|private|auth|account|encrypt(?:ion)?|sign(?:ing)?|master|service|admin|license|deploy|session|shared|storage|client|app|application|hmac|jwt|cookie|aes|crypto|webhook|subscription|licence|root|consumer|write|ingest|server|primary|secondary)key(?:base|data)?|auth|dsn|connectionstring|connstr)\d?$/;

/** Exceptions: public values, counts, switches and words that only end alike. */
export const OPEN_NAME =
  /(?:next|page|paging|cursor|continuation|sync|cancel|cancellation|lex|start|end|sep|pad|eos|bos|unk|mask|special|stop|design|color|max|min|total|input|output|num|per|cached|completion|prompt|prev|previous|current|other|bucket|change|resume|skip|csrf|xsrf|verify|show|hide|toggle|forgot|reset|no|has|is|with|without|require|needs|use|public|publish(?:able)?|by|bypass|one|all|first|last|test|compass|sur|tres|tokenizer|syntax|keyword|punctuation|operator|identifier)(?:pass(?:word|wd|code)?|token|secret|key|auth|credentials?)\d?$/;

/** The last three letters of every name that a secret may be assigned to: they rule out most names at once. */
export const NAME_ENDINGS: readonly string[] =
  'ord swd ase ode pwd ort ena ret ken ial als eds key ass uth kie ion yid _id ata'.split(' ');
