import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeRedactor } from '../support/redactor.ts';

const HEX = '1923f76d1bd0a4c5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d';
const BASE64 = 'nYJvKx2q7wR1tZ0pLs8dFgHjKl4mNbVcXzQwErTyUiOpAsDfGhJkLzXcVbNm1234567890abcdEFGHijklMNOPqr==';

/** What looks like a secret and is none: each of these was once redacted by mistake. */
const NEAR_MISSES: readonly string[] = [
  `commit ${HEX.slice(0, 40)}`,
  `index ${HEX.slice(0, 7)}..${HEX.slice(8, 15)} 100644`,
  `digest: sha256:${HEX}`,
  `"integrity": "sha512-${BASE64}"`,
  `"resolved": "https://registry.npmjs.org/left-pad/-/left-pad-1.3.0.tgz#${HEX.slice(0, 40)}"`,
  `checksum = "${HEX}"`,
  `github.com/a/b v1.2.3 h1:${BASE64.slice(0, 43)}=`,
  'session 5b0c7f0e-4b5e-4f0a-9d57-0c1f7c2a9e11 of user 7c1a0c3e-22d1-4f5b-8b1a-3a3d1e0f4b6c',
  'toolu_01Ab3dEf5GhIjKlMnOpQrStU and msg_01XyZ9876543210AbCdEfGhIj',
  'key: "user:42:profile", cacheKey = `v2:${id}`, partitionKey: "tenant-17"',
  'const token = tokens[index + 1]; const nextPageToken = response.nextPageToken2;',
  'token: string; password?: string | null; secret: Buffer; apiKey: process.env.API_KEY_2',
  'password = getpass.getpass(); token = await fetchToken2(user1)',
  'password: z.string().min(8), secret: faker.string.alphanumeric(32)',
  'PASSWORD=$DB_PASSWORD TOKEN=${TOKEN_2} SECRET="{{ vault.secret_1 }}" KEY=%API_KEY_1%',
  'password=<your-password-1> token=xxxxxxxxxxxxxxxx1 secret="********"',
  'API_KEY=your_api_key_here_123 SECRET_KEY=changeme123 DB_PASSWORD=example-password-1',
  'max_tokens: 200000, total_tokens=1234567, "input_tokens":12345, tokens_per_second=12.5',
  '--- PASS: TestToken/7_hex_chars (0.00s)',
  '--password-file /run/secrets/db-password-1 --token-ttl 24h --key-name shop-key-2026',
  'secretName: shop-db-credentials-v2, existingSecret: my-secret-2, passwordKey: db-password',
  'git@github.com:ann/shop.git ssh://git@example.org:22/a https://example.org:8080/a@b',
  'postgres://app:$PASSWORD@db/shop postgres://app:<password>@db redis://:${REDIS_PASSWORD}@cache',
  'https://user:password@example.org and https://user:pass@example.org in the documents',
  'Bearer of good news, Basic training, the bearer token_bucket_rate_limiter_2_is_slow',
  'Authorization: Bearer <token> and Authorization: Bearer $TOKEN and Authorization: Bearer ${token}',
  'if (pem.startsWith("-----BEGIN PRIVATE KEY-----")) { return parse(pem); }',
  '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----',
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ2pQ0r5Vq5s0x0p2d3f4g5h6j7k8l9z1x2c3v4b5n6m ann@example',
  'src/risk-assessment-of-the-whole-platform-and-its-many-parts-2026.md task-runner-2',
  'npm_config_registry npm_package_version hf_hub_download gho_st sk-learn sk_learn_model_1',
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk',
  'eyJ is how the base64 of a JSON object begins; e.g. eyJhIjoxfQ==',
  'const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";',
  '!function(e,t){"use strict";var n=t(1),r=e.token||"",o={key:r,auth:n.auth};e.exports=o}(a1b2,c3d4);',
  'SELECT password_hash, token_id FROM users WHERE key_id = 42 AND secret_version = 3;',
  'pattern: /[A-Za-z0-9+\\/=]{40}/, password: "^(?=.*[0-9])[a-z]{8,}$"',
  '/var/lib/docker/overlay2/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef/merged',
  'AccountKey and SharedAccessKey are names; sig=verify(message) is a call',
  'A3-size paper, SG.NR is a bond, key-value store, r8_memory, re_compile(x), pat_terns',
];

describe('text that only looks like a secret', () => {
  it.each(NEAR_MISSES)('%j is not redacted', (text) => {
    expect(makeRedactor().redactText(text)).toBe(text);
  });
});

describe('the source of this project', () => {
  const list = (folder: string): string[] =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(?:ts|mjs|md|json)$/.test(file))
      .map((file) => join(folder, file));

  it.each(['package-lock.json', ...list('src'), ...list('docs'), ...list('schemas')])('%s is not redacted', (file) => {
    const text = readFileSync(file, 'utf8');
    expect(makeRedactor().redactText(text)).toBe(text);
  });
});
