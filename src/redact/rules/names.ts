import { decodeBase64 } from '../heuristics.ts';
import type { NamedRule } from '../rule.ts';

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
  named('cloudflare-key', /(?:cloudflare|cf)\w*(?:key|token)$|^xauthkey$/, /^[\w-]{37,60}$/),
  named('datadog-key', /(?:datadog|dd)(?:api|app|application|client)\w*(?:key|token)$/, /^(?:pub)?[a-f0-9]{32,40}$/),
  named('fastly-key', /fastly\w*(?:key|token)$/, /^[\w-]{32}$/),
  named('pagerduty-key', /(?:pagerduty|pd)\w*(?:key|token)$/, /^[\w+-]{18,40}$/),
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
  named('mistral-key', /(?:mistral|cohere|together|deepseek|elevenlabs|xi)\w*key$/, /^[\w-]{30,80}$/),
  named('rails-key', /(?:secretkeybase|railsmasterkey)$/, /^[a-f0-9]{32,128}$/),
  named('django-key', /^(?:django)?secretkey$/, /^[\x21-\x7e]{40,60}$/),
  named('service-account-key', /privatekeyid$/, /^[a-f0-9]{40}$/),
  named('kubeconfig-key', /clientkeydata$/, /^[A-Za-z0-9+/=]{40,10000}$/),
  { kind: 'docker-auth', name: /^auth$/, value: /^[A-Za-z0-9+/]{12,500}={0,2}$/, check: holdsCredentials },
  named('ansible-vault', /vaultpass(?:word)?$/, /^\S{8,200}$/),
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
