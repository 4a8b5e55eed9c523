import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeFactId, type Fact } from '../../src/model/fact.ts';
import { holdsSecret, Redactor } from '../../src/redact/redact.ts';
import { RULES } from '../../src/redact/rules.ts';

/** Put together here, so that no file of this project looks as if a secret were in it. */
const secret = (...parts: string[]): string => parts.join('');
const LETTERS = 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6';

const SECRETS: readonly (readonly [kind: string, text: string])[] = [
  ['aws-access-key', secret('AKIA', 'IOSFODNN7EXAMPL3')],
  ['github-token', secret('ghp_', LETTERS.slice(0, 36))],
  ['github-token', secret('github_pat_', LETTERS.slice(0, 30))],
  ['gitlab-token', secret('glpat-', LETTERS.slice(0, 20))],
  ['slack-token', secret('xoxb-', '1234567890-', LETTERS.slice(0, 20))],
  ['slack-webhook', secret('hooks.slack.com/', 'services/T0000/B0000/', LETTERS.slice(0, 24))],
  ['anthropic-key', secret('sk-ant-', 'api03-', LETTERS)],
  ['openai-key', secret('sk-proj-', LETTERS)],
  ['google-key', secret('AIza', LETTERS.slice(0, 35))],
  ['stripe-key', secret('sk_live_', LETTERS.slice(0, 24))],
  ['npm-token', secret('npm_', LETTERS.slice(0, 36))],
  ['pypi-token', secret('pypi-', LETTERS)],
  ['hugging-face-token', secret('hf_', LETTERS.slice(0, 34))],
  ['jwt', secret('eyJhbGciOiJIUzI1NiJ9', '.eyJzdWIiOiIxMjM0In0.', LETTERS.slice(0, 30))],
  ['bearer-token', LETTERS.slice(0, 32)],
  ['url-password', 'hunter2pass'],
  ['assigned-secret', LETTERS.slice(0, 20)],
  ['private-key', secret('-----BEGIN RSA ', 'PRIVATE KEY-----\nMIIE\n-----END RSA ', 'PRIVATE KEY-----')],
];

const AROUND: Readonly<Record<string, (text: string) => string>> = {
  'bearer-token': (text) => `curl -H "Authorization: Bearer ${text}" x`,
  'url-password': (text) => `git clone https://ann:${text}@example.org/shop.git`,
  'assigned-secret': (text) => `DB_PASSWORD=${text} npm start`,
};

describe('a secret', () => {
  it.each(SECRETS)('of the kind %s is taken out, and counted', (kind, text) => {
    const redactor = new Redactor();
    const around = AROUND[kind] ?? ((inner: string): string => `use ${inner} for it`);
    expect(redactor.redactText(around(text))).toBe(around(`[redacted: ${kind}]`));
    expect(redactor.redactions).toEqual([{ kind, count: 1 }]);
  });

  it.each(SECRETS)('of the kind %s is noticed wherever it stands in a value', (kind, text) => {
    const around = AROUND[kind] ?? ((inner: string): string => `use ${inner} for it`);
    const value = new Map([['results', [{ texts: new Set(['nothing', around(text)]) }]]]);
    expect(holdsSecret(value)).toBe(true);
    expect(holdsSecret(new Map([[around(text), 1]]))).toBe(true);
    expect(holdsSecret(['nothing', { like: 'a secret' }, new Uint8Array(3), null])).toBe(false);
  });

  it('is taken out where it was cut off', () => {
    const text = `git push https://x ${secret('ghp_', 'a1B2c3D4e5')}…`;
    expect(new Redactor().redactText(text)).toBe('git push https://x [redacted: cut-token]…');
  });

  it('is taken out of all of a fact, names included', () => {
    const [, token] = SECRETS[1] ?? ['', ''];
    const fact: Fact = {
      id: computeFactId('command', token),
      kind: 'command',
      text: `login ${token}`,
      trust: 'observed',
      origin: 'tool',
      sources: [],
      detail: { stem: token, names: { [token]: 3 }, list: [token], exit: 0, none: null },
    };
    const redactor = new Redactor();
    const redacted = redactor.redactFact(fact);
    expect(JSON.stringify(redacted)).not.toContain(token);
    expect(redacted).toMatchObject({
      id: fact.id,
      text: 'login [redacted: github-token]',
      detail: { exit: 0, none: null },
    });
    expect(redactor.redactions).toEqual([{ kind: 'github-token', count: 1 }]);
  });

  it('has every rule tried', () => {
    const tried = new Set([...SECRETS.map(([kind]) => kind), 'cut-token']);
    expect(new Set(RULES.map(({ kind }) => kind))).toEqual(tried);
  });
});

describe('what is no secret', () => {
  it.each([
    'commit 1923f76d1bd0a4c5e6f708192a3b4c5d6e7f8091',
    'session 5b0c7f0e-4b5e-4f0a-9d57-0c1f7c2a9e11',
    'sha512-3q2+7wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==',
    'https://example.org:8080/a@b and git@github.com:ann/shop.git',
    'postgres://app:$PASSWORD@db/shop and postgres://app:<password>@db',
    `GITHUB_TOKEN=$${'{{'} secrets.GITHUB_TOKEN }}`,
    'const API_KEY = process.env.API_KEY',
    'MAX_TOKENS=200000',
    'sk-learn, task-runner-with-a-very-long-name-and-more-words',
    'src/risk-assessment-of-the-whole-platform-and-its-many-parts-2026.md',
    'Bearer of good news, and the token_bucket_rate_limiter_2',
    'npm_config_registry, hf_hub_download, eyJ',
  ])('%j stays as it is', (text) => {
    const redactor = new Redactor();
    expect(redactor.redactText(text)).toBe(text);
    expect(redactor.redactions).toEqual([]);
  });
});

describe('redacting', () => {
  it('any text twice is redacting it once', () => {
    const text = fc
      .array(fc.oneof(fc.string(), fc.constantFrom(...SECRETS.map(([, one]) => one))))
      .map((parts) => parts.join(' '));
    fc.assert(
      fc.property(text, (any) => {
        const once = new Redactor().redactText(any);
        expect(new Redactor().redactText(once)).toBe(once);
      }),
    );
  });
});
