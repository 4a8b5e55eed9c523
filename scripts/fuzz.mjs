// Builds the fuzzer into a folder below .cache/fuzz and runs it there: npm run fuzz -- --count 100000
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'rolldown';

const cache = resolve('.cache/fuzz');
mkdirSync(cache, { recursive: true });
const dir = mkdtempSync(join(cache, 'run-'));
process.on('exit', () => rmSync(dir, { recursive: true, force: true }));

await build({
  input: { main: 'test/fuzz/main.ts' },
  platform: 'node',
  external: ['@photostructure/sqlite'],
  logLevel: 'silent',
  output: { dir, format: 'esm' },
});
await import(pathToFileURL(join(dir, 'main.js')).href);
