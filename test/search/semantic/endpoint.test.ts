import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Embedder, openEndpoint } from '../../../src/search/semantic/endpoint.ts';
import { readSemanticSettings } from '../../../src/search/semantic/settings.ts';
import { compareVectors, normalizeVector } from '../../../src/search/semantic/vector-store.ts';
import { makeSandbox, type Sandbox } from '../../support/cli.ts';
import { testEmbedder } from '../../support/conformance/embedder.ts';
import {
  EMBEDDING_KEY,
  type EmbeddingServer,
  formatAnswer,
  openEmbeddingServer,
} from '../../support/embedding-server.ts';
import { openLoopback } from '../../support/loopback.ts';
import { codeOf, configure, writeIn } from '../../support/publishing.ts';

function openFor(sandbox: Sandbox, url: string, more = ''): Embedder {
  configure(sandbox, `[search.meaning]\nurl = "${url}"\nmodel = "toy"\n${more}`);
  const settings = readSemanticSettings(sandbox.machine);
  if (settings === null) throw new Error('meaning is not set');
  return openEndpoint(settings, sandbox.machine);
}

async function openBoth(more = ''): Promise<{ server: EmbeddingServer; embedder: Embedder }> {
  const server = await openEmbeddingServer();
  return { server, embedder: openFor(makeSandbox(), `${server.url}/v1`, more) };
}

testEmbedder('an OpenAI-compatible endpoint', async () => {
  const { server, embedder } = await openBoth();
  return { embedder, cutOff: () => server.close() };
});

describe('an embedding endpoint that misbehaves', () => {
  const garbage: [string, string][] = [
    ['no JSON', '<html>hello</html>'],
    ['JSON of something else', '{"error":{"message":"model not found"}}'],
    ['too few vectors', formatAnswer([[1, 2]])],
    [
      'vectors of different lengths',
      formatAnswer([
        [1, 2],
        [1, 2, 3],
      ]),
    ],
    ['vectors without numbers', formatAnswer([[], []])],
    ['numbers that are texts', formatAnswer([['1'], ['2']])],
    ['numbers that are none', formatAnswer([[null], [null]])],
    [
      'zeros',
      formatAnswer([
        [0, 0],
        [0, 0],
      ]),
    ],
    ['a number beyond all numbers', '{"data":[{"embedding":[1e999]},{"embedding":[1]}]}'],
    ['one place twice', '{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}'],
    ['10 MB', `{"data":"${'x'.repeat(10 * 1024 * 1024)}"}`],
    ['deep nesting', '['.repeat(100_000)],
  ];
  it.each(garbage)('is reported when it answers with %s', async (_, body) => {
    const { server, embedder } = await openBoth();
    server.answer = () => ({ status: 200, body });
    expect(await codeOf(embedder.embed(['a', 'b'], 'text'))).toBe('HANDOVER_REMOTE_REFUSED');
  });

  it.each([
    [429, 'HANDOVER_REMOTE_BUSY'],
    [500, 'HANDOVER_REMOTE_UNREACHABLE'],
    [401, 'HANDOVER_REMOTE_REFUSED'],
    [404, 'HANDOVER_REMOTE_REFUSED'],
  ])('is reported when it answers with status %i', async (status, code) => {
    const { server, embedder } = await openBoth();
    server.answer = () => ({ status, body: '{}' });
    expect(await codeOf(embedder.embed(['a'], 'text'))).toBe(code);
  });

  it.each(['stall', 'begin'] as const)('is abandoned when its answer never ends (%s)', async (how) => {
    const { server, embedder } = await openBoth('timeout = 0.2');
    server.answer = () => how;
    expect(await codeOf(embedder.embed(['a'], 'text'))).toBe('HANDOVER_REMOTE_UNREACHABLE');
  });

  it('cannot redirect texts or key to another host', async () => {
    const seen: string[] = [];
    const other = await openLoopback((request, response) => {
      seen.push(`${request.headers.authorization}`);
      response.writeHead(200).end(formatAnswer([[1]]));
    });
    const server = await openEmbeddingServer();
    const sandbox = withKey(makeSandbox());
    const embedder = openFor(sandbox, `${server.url}/v1`, 'key_variable = "TOY_KEY"');
    for (const status of [301, 302, 307, 308]) {
      server.answer = () => ({ status, headers: { location: `${other.url}/v1/embeddings` } });
      expect(await codeOf(embedder.embed(['a'], 'text'))).toBe('HANDOVER_REMOTE_REFUSED');
    }
    expect(server.requests.map(({ authorization }) => authorization)).toContain(`Bearer ${EMBEDDING_KEY}`);
    expect(seen).toEqual([]);
  });
});

function withKey(sandbox: Sandbox): Sandbox {
  const env = { ...sandbox.machine.env, TOY_KEY: EMBEDDING_KEY };
  return { ...sandbox, machine: { ...sandbox.machine, env } };
}

describe('the settings of semantic search', () => {
  it('are off unless the user sets them, and can be switched off', () => {
    const sandbox = makeSandbox();
    expect(readSemanticSettings(sandbox.machine)).toBeNull();
    configure(sandbox, '[search.meaning]\nurl = "http://localhost:1/v1"\nmodel = "toy"\nenabled = false\n');
    expect(readSemanticSettings(sandbox.machine)).toBeNull();
  });

  it('of a project are ignored', () => {
    const sandbox = makeSandbox();
    writeIn(
      sandbox.project,
      '.agent-handover/config.toml',
      '[search.meaning]\nurl = "https://evil.example/v1"\nmodel = "toy"\n',
    );
    expect(readSemanticSettings(sandbox.machine)).toBeNull();
  });

  it.each([
    'http://models.example/v1',
    'http://192.168.1.5:11434/v1',
    'http://127.0.0.1.evil.example/v1',
    'https://user:pass@models.example/v1',
    'https://models.example/v1?key=x',
    'ftp://localhost/v1',
    'file:///etc/passwd',
    'nonsense',
  ])('refuse an unencrypted remote address: %s', (url) => {
    expect(() => openFor(makeSandbox(), url)).toThrow(/not an address/);
  });

  it.each(['https://models.example/v1', 'http://localhost:11434/v1', 'http://[::1]:1234/v1/'])('accept %s', (url) => {
    expect(openFor(makeSandbox(), url).batch).toBe(32);
  });

  it('read the key from a variable or a private file', async () => {
    const server = await openEmbeddingServer();
    const sandbox = makeSandbox();
    const file = join(sandbox.home, 'key');
    writeFileSync(file, `${EMBEDDING_KEY}\n`, { mode: 0o600 });
    await openFor(sandbox, `${server.url}/v1`, 'key_file = "~/key"').embed(['a'], 'text');
    await openFor(withKey(sandbox), `${server.url}/v1`, 'key_variable = "TOY_KEY"').embed(['a'], 'text');
    await openFor(sandbox, `${server.url}/v1`).embed(['a'], 'text');
    expect(server.requests.map(({ authorization }) => authorization)).toEqual([
      `Bearer ${EMBEDDING_KEY}`,
      `Bearer ${EMBEDDING_KEY}`,
      undefined,
    ]);
    chmodSync(file, 0o644);
    expect(() => openFor(sandbox, server.url, 'key_file = "~/key"')).toThrow(/others can read/);
    expect(() => openFor(sandbox, server.url, 'key_variable = "TOY_KEY"')).toThrow(/no key in the variable TOY_KEY/);
  });

  it('add the prefixes that the model needs to queries and texts', async () => {
    const { server, embedder } = await openBoth('query_prefix = "query: "\ntext_prefix = "passage: "');
    await embedder.embed(['a'], 'query');
    await embedder.embed(['b', 'c'], 'text');
    expect(server.requests.map(({ texts }) => texts)).toEqual([['query: a'], ['passage: b', 'passage: c']]);
  });
});

describe('an embedding vector', () => {
  it('has length 1 after normalisation, whatever the numbers', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 1, maxLength: 50 }),
        (numbers) => {
          const vector = normalizeVector(numbers);
          if (numbers.every((number) => number === 0)) expect(vector).toBeNull();
          else expect(compareVectors(vector ?? new Float32Array(), vector ?? new Float32Array())).toBeCloseTo(1, 3);
        },
      ),
    );
  });
});
