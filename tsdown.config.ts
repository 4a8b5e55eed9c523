import { defineConfig } from 'tsdown';

/** The library is ESM with types; the command line is code-split CommonJS, so that a command loads only what it needs. */
export default defineConfig([
  {
    entry: { index: 'src/index.ts' },
    outDir: 'dist/lib',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    dts: true,
    deps: { neverBundle: ['@photostructure/sqlite'] },
  },
  {
    entry: { main: 'src/surfaces/cli/main.ts' },
    outDir: 'dist/cli',
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    dts: false,
    minify: false,
    deps: { neverBundle: ['@photostructure/sqlite'] },
  },
]);
