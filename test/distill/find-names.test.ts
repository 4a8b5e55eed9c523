import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  findErrorNames,
  findNames,
  findPaths,
  findQualified,
  findReferences,
  findSymbols,
} from '../../src/distill/names.ts';

const FINDERS = {
  paths: findPaths,
  symbols: findSymbols,
  qualified: findQualified,
  errors: findErrorNames,
  references: findReferences,
};

function expectAllFound(text: string): void {
  const names = findNames(text);
  for (const [kind, find] of Object.entries(FINDERS)) {
    const found = Object.entries(names).find(([name]) => name === kind)?.[1] ?? [];
    expect([...found], `${kind} in ${JSON.stringify(text)}`).toEqual(find(text));
  }
}

const NAMES = [
  'retryUpload',
  'retry_upload',
  'XMLHttpRequest',
  'S3Client',
  '_private_name',
  '9lives_left',
  'Test_shouldRetry',
  'flush',
  'flush()',
  'src/retry.ts',
  './a.b/[id]/(x)/page.tsx',
  '~/notes.md',
  '../x/y.test.ts',
  'C:/x.ts',
  'os.path.join',
  'a.b.c.d',
  'std::io::Error',
  '\\nFooBar',
  '\\retry_all',
  'UTF-8',
  'config.json',
  'TypeError',
  'IOError',
  'AError',
  'ENOENT',
  'TS2304',
  'SIGTERM',
  'ERR_BAD_ARG',
  'exit code 1',
  'exit status 12',
  '404 Not Found',
  '500 Internal',
  '#12',
  'ABC-123',
  'v1.2.3',
  'v10.0',
  'a'.repeat(90),
  `${'aB3_'.repeat(30)}`,
];
const GLUE = [' ', '\n', '.', ',', ':', '/', '-', '(', ')', '()', '_', '#', '`', '"', '…', 'é', '1', 'x', 'Z', ''];

describe('the names in a text', () => {
  it('are the same as those of each finder alone, whatever is beside them', () => {
    const part = fc.oneof(fc.constantFrom(...NAMES), fc.constantFrom(...GLUE), fc.string({ maxLength: 6 }));
    fc.assert(
      fc.property(fc.array(part, { maxLength: 14 }), (parts) => expectAllFound(parts.join(''))),
      { numRuns: 3000 },
    );
  });

  it('are found again in a text from the cache', () => {
    const text = 'In src/retry.ts `retryUpload` throws TypeError, see #12 and os.path.join.';
    expectAllFound(text);
    expectAllFound(text);
  });
});
