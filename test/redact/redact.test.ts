import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeFactId, type Fact } from '../../src/model/fact.ts';
import { Redactor } from '../../src/redact/redactor.ts';
import { RULES } from '../../src/redact/rules/vendors.ts';
import { SECRET_NAMES } from '../fixtures/secrets/names.ts';
import { SHAPES } from '../fixtures/secrets/shapes.ts';
import { fillTemplate, rollDice } from '../fixtures/secrets/write-secrets.ts';
import { makeRedactor } from '../support/redactor.ts';

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

/** Marks are the same for the same secret; here only kinds matter. */
const dropMarks = (text: string): string => text.replace(/:[0-9a-z]{8}\]/g, ']');

describe('a secret', () => {
  it.each(SECRETS)('of the kind %s is redacted, and counted', (kind, text) => {
    const redactor = makeRedactor();
    const around = AROUND[kind] ?? ((inner: string): string => `use ${inner} for it`);
    expect(dropMarks(redactor.redactText(around(text)))).toBe(around(`[redacted:${kind}]`));
    expect(redactor.redactions).toEqual([{ kind, count: 1 }]);
    expect(redactor.holdsSecret(around(text))).toBe(true);
  });

  it('has one placeholder everywhere, unlike others, and another one under another key', () => {
    const [one, other] = [secret('ghp_', LETTERS.slice(0, 36)), secret('ghp_', LETTERS.slice(4, 40))];
    const [first, second, third] = makeRedactor().redactText(`${one} ${other} "${one}"`).split(' ');
    expect(third).toBe(`"${first}"`);
    expect(second).not.toBe(first);
    const elsewhere = new Redactor({ key: () => new Uint8Array(32).fill(1) });
    expect(elsewhere.redactText(one)).not.toBe(first);
    expect(first).toMatch(/^\[redacted:github-token:[0-9a-z]{8}\]$/);
  });

  it('that was recognised once by its context is redacted everywhere', () => {
    const redactor = makeRedactor();
    expect(redactor.redactText('log in with tr0ub4dor9x')).toContain('tr0ub4dor9x');
    expect(redactor.hasLearnt).toBe(false);
    redactor.redactText('DB_PASSWORD=tr0ub4dor9x');
    expect(redactor.hasLearnt).toBe(true);
    expect(redactor.redactText('log in with tr0ub4dor9x')).not.toContain('tr0ub4dor9x');
    expect(redactor.redactions).toEqual([{ kind: 'assigned-secret', count: 1 }]);
  });

  it('is recognised by the name of its JSON member', () => {
    const value = makeRedactor().redactValue({ user: 'ann', password: 'tr0ub4dor&9x', list: [{ port: 80 }] });
    expect(value).toMatchObject({ user: 'ann', list: [{ port: 80 }] });
    expect(JSON.stringify(value)).not.toContain('tr0ub4dor');
  });

  it('is redacted where it was cut off', () => {
    const text = `git push https://x ${secret('ghp_', 'a1B2c3D4e5')}…`;
    expect(dropMarks(makeRedactor().redactText(text))).toBe('git push https://x [redacted:cut-token]…');
  });

  it('is redacted in all fields of a fact, names included', () => {
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
    const redactor = makeRedactor();
    const redacted = redactor.redactFact(fact);
    expect(JSON.stringify(redacted)).not.toContain(token);
    expect(redacted).toMatchObject({ detail: { exit: 0, none: null } });
    expect(dropMarks(redacted.text)).toBe('login [redacted:github-token]');
    expect(redacted.id).toBe(computeFactId('command', redacted.text));
    expect(redactor.redactions).toEqual([{ kind: 'github-token', count: 1 }]);
  });

  it('is tested for every rule', () => {
    const tried = new Set(SHAPES.map(({ kind }) => kind));
    expect([...new Set(RULES.map(({ kind }) => kind))].length).toBeGreaterThanOrEqual(60);
    expect(tried.size).toBeGreaterThanOrEqual(60);
  });
});

/** Each form of a secret in which it can still be used, or easily be had. */
const WRAPPINGS: Readonly<Record<string, (text: string) => string>> = {
  'escaped as JSON': (text) => JSON.stringify(JSON.stringify(`a\n${text}\nb`)),
  'in a URL': (text) => `https://example.org/?with=${encodeURIComponent(text)}&all=1`,
  'in base64': (text) => `data: ${Buffer.from(`first line\n${text}\n`).toString('base64')} end`,
  'in base64 over lines': (text) =>
    (
      Buffer.from(`name: shop\nwith: ${text}\n`)
        .toString('base64')
        .match(/.{1,76}/g) ?? []
    ).join('\n'),
  'by its numbers': (text) =>
    `"${[...text].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`,
  'over two lines': (text) => `run --with ${text.slice(0, 12)}\\\n  ${text.slice(12)}`,
  'put together': (text) => `const it = "${text.slice(0, 12)}" + "${text.slice(12)}";`,
  'quoted in a mail': (text) =>
    text
      .split('\n')
      .map((line) => `> ${line}`)
      .join('\n'),
};

describe('a name at the end of a text', () => {
  const secret = fillTemplate('{A20}7', rollDice(randomInt(2 ** 31)));

  it.each(SECRET_NAMES)('gives its meaning to the value before it as one within a text does: %s', (name) => {
    const text = `  - value: '${secret}'\n    name: ${name}`;
    const isRedacted = (written: string): boolean => !makeRedactor().redactText(written).includes(secret);
    expect([secret, isRedacted(text)]).toEqual([secret, isRedacted(`${text}\n`)]);
  });
});

describe('an encoded or wrapped secret', () => {
  const dice = rollDice(7);
  const secrets = SHAPES.filter(({ names, kind }) => names === undefined && kind !== 'private-key').map(
    ({ template }) => fillTemplate(template, dice),
  );
  it.each(Object.entries(WRAPPINGS))('%s is redacted in at least nine of ten cases', (_, wrap) => {
    const left = secrets.filter((text) => {
      const form = wrap(text);
      return makeRedactor()
        .redactText(form)
        .includes(form.slice(form.length * 0.3, form.length * 0.7));
    });
    expect(left.length, left.join('\n')).toBeLessThanOrEqual(secrets.length / 10);
  });

  it('has the same placeholder as the plain one', () => {
    const token = secret('ghp_', LETTERS.slice(0, 36));
    const [, mark = ''] = /:([0-9a-z]{8})\]/.exec(makeRedactor().redactText(token)) ?? [];
    for (const name of ['escaped as JSON', 'in a URL', 'by its numbers', 'over two lines', 'put together'])
      expect(makeRedactor().redactText(WRAPPINGS[name]?.(token) ?? ''), name).toContain(mark);
  });

  it.each(SHAPES.filter(({ kind }) => kind === 'private-key'))(
    'is taken out as a key in any form: $template',
    ({ template }) => {
      const key = fillTemplate(template, dice);
      const [, , body = ''] = key.split('\n');
      const forms = [
        key,
        JSON.stringify({ private_key: key }),
        key.replaceAll('\n', '\\n'),
        key
          .split('\n')
          .map((line) => `    ${line}`)
          .join('\n'),
        key
          .split('\n')
          .map((line) => `"${line}\\n" +`)
          .join('\n'),
        key.slice(0, 150),
        encodeURIComponent(key),
        Buffer.from(key).toString('base64'),
      ];
      for (const form of forms) {
        const redacted = makeRedactor().redactText(`before\n${form}\nafter`);
        expect([redacted.includes(body.slice(0, 40)), redacted.startsWith('before')], redacted).toEqual([false, true]);
      }
    },
  );
});

describe('text that is no secret', () => {
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
  ])('%j is not redacted', (text) => {
    const redactor = makeRedactor();
    expect(redactor.redactText(text)).toBe(text);
    expect(redactor.redactions).toEqual([]);
  });
});

describe('text marked as private', () => {
  it('is dropped as a whole if a placeholder is in it', () => {
    const text = 'Use <private>the [redacted:jwt:abcd1234] blue\none</private> now';
    expect(dropMarks(makeRedactor().redactText(text))).toBe('Use [redacted:private] now');
    expect(makeRedactor().holdsSecret(text)).toBe(true);
  });

  it('is removed', () => {
    const redactor = makeRedactor();
    expect(dropMarks(redactor.redactText('Use <private>the blue\none</private> now'))).toBe(
      'Use [redacted:private] now',
    );
    expect(redactor.redactions).toEqual([{ kind: 'private', count: 1 }]);
  });

  it.each(['<pri\u200bvate>the blue one</private>', '<private>the blue one</pri\u001b[0mvate>'])(
    'is removed if what is not seen splits its tags: %j',
    (text) => {
      expect(dropMarks(makeRedactor().redactText(`Use ${text} now`))).toBe('Use [redacted:private] now');
    },
  );

  it('extends to the end where the user did not close it, but not for others', () => {
    const text = 'Use <private>the blue one now';
    expect(makeRedactor().redactText(text)).toBe(text);
    expect(dropMarks(makeRedactor().redactText(text, { byHuman: true }))).toBe('Use [redacted:private]');
    const spoken = 'Explain the tag `<private>` to me';
    expect(makeRedactor().redactText(spoken, { byHuman: true })).toBe(spoken);
  });
});

describe('redaction', () => {
  it('of any text is idempotent', () => {
    const text = fc
      .array(fc.oneof(fc.string(), fc.constantFrom(...SECRETS.map(([, one]) => one))))
      .map((parts) => parts.join(' '));
    fc.assert(
      fc.property(text, (any) => {
        const once = makeRedactor().redactText(any);
        expect(makeRedactor().redactText(once)).toBe(once);
      }),
    );
  });
});

describe('several encoded secrets in one text', () => {
  const encode = (index: number): string =>
    Buffer.from(`first line\nghp${'_'}${'aB3dE5fG7h'.repeat(3)}${100000 + index}\n`).toString('base64');

  it.each([' and ', ` ${'ŁŃ'.repeat(20)} `, ` ${'words '.repeat(11_000)}`])('are all redacted (%#)', (between) => {
    const encoded = Array.from({ length: 6 }, (_, index) => encode(index));
    const redactor = makeRedactor();
    const left = redactor.redactText(`data: ${encoded.join(between)} end`);
    for (const run of encoded) expect(left).not.toContain(run.slice(0, 24));
    expect(redactor.redactions).toEqual([{ kind: 'github-token', count: 6 }]);
  });
});
