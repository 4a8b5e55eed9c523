// Builds the evaluation into .cache/eval and runs it: npm run eval -- --corpus DIR
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'rolldown';

const dir = resolve('.cache/eval');
await rm(dir, { recursive: true, force: true });
await build({
  input: { main: 'eval/main.ts', worker: 'eval/worker.ts' },
  platform: 'node',
  external: ['@photostructure/sqlite'],
  logLevel: 'silent',
  output: { dir, format: 'esm' },
});
await import(pathToFileURL(resolve(dir, 'main.js')).href);
