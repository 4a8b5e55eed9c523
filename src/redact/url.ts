import { isStandIn, looksRandom } from './guess.ts';
import type { Span } from './rule.ts';

const USER_INFO = /:\/\/([^\s/?#"'`<>\\@]{1,300}(?:@[^\s/?#"'`<>\\@]{1,200})?)@(?=([\w.[$-]{1,253}))/y;

/** A password, or a token in the place of a user, in a URL; `at` is where its `://` stands. */
export function findUrlSecret(text: string, at: number): Span | null {
  USER_INFO.lastIndex = at;
  const [, info, host = ''] = USER_INFO.exec(text) ?? [];
  if (info === undefined) return null;
  const colon = info.indexOf(':');
  const start = at + 3 + (colon + 1);
  const secret = info.slice(colon + 1);
  const end = start + secret.length;
  if (colon === -1) {
    if (/sentry|ingest/.test(host) && /^[a-f0-9]{32}$/.test(secret))
      return { kind: 'sentry-dsn', start, end, byContext: true };
    return looksRandom(secret) && !isStandIn(secret)
      ? { kind: 'url-token', start, end, byContext: true }
      : null;
  }
  if (
    secret.length < 3 ||
    /^(?:pass|passwd|pw|pwd|x-oauth-basic|PASS|PASSWORD)$/.test(secret) ||
    isStandIn(secret)
  )
    return null;
  return { kind: 'url-password', start, end, byContext: true };
}
