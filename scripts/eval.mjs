// Builds an evaluation into a folder below .cache/eval and runs it there: npm run eval -- --corpus DIR, npm run eval:search, npm run eval:redaction -- --corpus DIR
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'rolldown';

const cache = resolve('.cache/eval');
mkdirSync(cache, { recursive: true });
// A folder of its own, so that runs side by side do not pull the ground from under each other.
const dir = mkdtempSync(join(cache, 'run-'));
process.on('exit', () => rmSync(dir, { recursive: true, force: true }));

const INPUTS = new Map([
  ['search', { main: 'eval/search/main.ts' }],
  ['redaction', { main: 'eval/redaction/main.ts' }],
]);
await build({
  input: INPUTS.get(process.argv[2] ?? '') ?? { main: 'eval/main.ts', worker: 'eval/worker.ts' },
  platform: 'node',
  external: ['@photostructure/sqlite'],
  logLevel: 'silent',
  output: { dir, format: 'esm' },
});
await import(pathToFileURL(join(dir, 'main.js')).href);
