// Builds what measures texts that were made against the rules, and runs it.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'rolldown';

const cache = resolve('.cache/perf');
mkdirSync(cache, { recursive: true });
const dir = mkdtempSync(join(cache, 'run-'));
process.on('exit', () => rmSync(dir, { recursive: true, force: true }));

await build({
  input: { main: 'test/perf/slowest-adversary.ts' },
  platform: 'node',
  logLevel: 'silent',
  output: { dir, format: 'esm' },
});
await import(pathToFileURL(join(dir, 'main.js')).href);
