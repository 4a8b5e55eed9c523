// Builds an evaluation into a folder below .cache/eval and runs it there: npm run eval -- [--debt] --corpus DIR, npm run eval:search, npm run eval:redaction -- --corpus DIR
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
  ['debt', { main: 'eval/debt/main.ts' }],
]);
const which = process.argv.includes('--debt') ? 'debt' : (process.argv[2] ?? '');
const input = INPUTS.get(which) ?? { main: 'eval/main.ts', worker: 'eval/worker.ts' };
// The source of another checkout, to compare redaction with.
const against = process.argv.indexOf('--against');
if (against !== -1) input.other = join(resolve(process.argv[against + 1] ?? '.'), 'src/redact/redactor.ts');
await build({
  input,
  platform: 'node',
  external: ['@photostructure/sqlite'],
  logLevel: 'silent',
  output: { dir, format: 'esm' },
});
await import(pathToFileURL(join(dir, 'main.js')).href);
