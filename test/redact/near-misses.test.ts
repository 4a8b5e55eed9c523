import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeRedactor } from '../support/redactor.ts';

const HEX = '1923f76d1bd0a4c5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d';
const BASE64 = 'nYJvKx2q7wR1tZ0pLs8dFgHjKl4mNbVcXzQwErTyUiOpAsDfGhJkLzXcVbNm1234567890abcdEFGHijklMNOPqr==';

/** What looks like a secret and is none: each of these was once redacted by mistake. */
const NEAR_MISSES: readonly string[] = [
  `commit ${HEX.slice(0, 40)}`,
  'arn:aws:secretsmanager:eu-central-1:123456789012:secret:prod/db-AbCdEf',
  'PASSWORD_RULES = ["required", "min:8"], password: ["required", "confirmed"], (token) => ["a1"]',
  'echo "all done" > token.txt, echo $TOKEN > .token, cat <<< "hello world", mysql -p --host db-7f3a9c81d2e4',
  'redis-cli -a --no-auth-warning ping, curl -u ann:--verbose https://example.org',
  'NAME            SECRET           AGE\nshop-tls        shop-tls-secret  4d\n',
  '<tr><th>token</th><th>meaning</th></tr><tr><td>shop</td><td>name</td></tr>',
  '1) "token"\n2) "username"\n3) "password"\n',
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
  'OLDPWD=/srv/app1/web PWD=/srv/app2/web and then cd /srv/app1/web',
  'http://localhost:3000?mail=ann@example.org https://example.org:8080#top@v1',
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
  'primary_key: user_id, sort_key = "a1b2c3d4e5f6a7b8", FOREIGN_KEY=orders_2f81, CACHE_KEY=v1-7f3a9c81d2e4',
  'PASS: TestA/7_hex_chars_a1b2c3, pass: 12, pass=3 fail=0, "PASS  test/redact/a1b2.test.ts", PWD=/home/x8k2/a1',
  'jwtSecret := []byte(os.Getenv("SECRET")), password: "src/app.ts", token = token[1:], pw = pw[:-1]',
  'salt: TArg<Uint8Array>, salt = bytes(memoryview(salt)), password = kdfInputToBytes(password)',
  '| Token | Example |\n|---|---|\n| `base:<sha-or-ref>` | `base:abc1234` |\n| plan | words |\n',
  'from .pgen2 import grammar, token\nfrom .pygram import pattern_symbols, pysyms7\n',
  'kind: ConfigMap\ndata:\n  a: c2hvcA==x7f3a9c\n---\nkind: Secret\ntype: Opaque\n',
  'The password is wrong, the token is missing, and the secret was rotated in production',
  'echo "hello world" | sort, printf "%s" a1b2c3d4 | wc -c\nvault login to continue, net user guide',
  `GPG_KEY=${HEX.slice(0, 40).toUpperCase()} ENV GPG_KEY ${HEX.slice(0, 40)} gpg --recv-keys "$GPG_KEY"`,
  'AKIAIOSFODNN7EXAMPLE and wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY are of the documentation',
  '| token | meaning |\n|---|---|\ntoken | description\n**Token** is what the server sends\n',
  'secret = settings.secret or "default", token = read() ?? "", token: [1, 2, 3], key = [0, 0, 0, 0, 0, 0, 0, 0, 0]',
  '  ~ password = (sensitive value) -> (known after apply)\n  ~ secret_name = "a1b2c3d4" -> "b2c3d4e5"\n',
  'curl -b cookies.txt -c cookies.txt https://example.org, curl -b "theme=dark; lang=english" https://example.org',
  'mnemonic: each word of it stands for eleven bits, and the last one has a few that check the others too',
  '"minipass": "^7.1.3", "pass": "すべての必須のARIA属性が存在します", password: ~1.2.3',
  "self.password = cfg.get('password'), Client(token=args.tok, secret=opts.get('s')), password=function(e){return 1}",
  'my $token = $tokens->[$self->{_tokpos}]; if (my $secret = $self->{cb}{secret}) { $pw = getpw($whoever); }',
  "_token = r'(?:(?:(?:x)?[^\"])+)', json_token = r'[^\\W\\d]\\w*', secretKey: Fn.toBytes(skS), if (token === LEFT_BRACE){",
  'for an unknown token: ${JSON.stringify(notification)}, wildcard 2001:db8:*:*:*:*:*:* of an address',
  'volume "x" : secret "web-config-5f6g7h8" not found, using password authentication_v2_handler',
  'kv put secret/config/token ttl=3600, Secret Key [optional]: see docs/keys2.md, Password for user admin: required\n',
  "csrf_token: '{{ csrf_token() }}', X-CSRF-Token: fetch, csrfToken: generateCsrfToken(req2), csrf_token=None",
  '<input type="password" placeholder="x" value="">, {token, "abc_def_1"}, PWD={password}, PWD=/srv/app1',
  "ADMIN_PASSWORD:      <set to the key 'password' in secret 'db'>  Optional: false\nAPI_KEY=sk-abc… TOKEN=ghs...",
  '1password 8.11.22-27\n1password-cli 2.32.0-2\nfirefox 146.0.1-1.1\n',
  "cy.get('[name=password]').type(Cypress.env('PASSWORD_1')), page.getByLabel('Password').fill('')",
  'Password\n--------\nIt has eight characters or more.\n\nsecret handshake\ntoken refresh\n',
  "jwt.sign(payload, process.env.JWT_SECRET_1), new PDO($dsn, $user, $pass1), auth=('user', 'password')",
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
