import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { defineConfig, type Rolldown } from 'tsdown';

/** What the program keeps for itself is good only for the very source that kept it. */
const BUILD = createHash('sha256');
for (const file of ['package-lock.json', 'tsdown.config.ts']) BUILD.update(readFileSync(file));
for (const file of readdirSync('src', { recursive: true, encoding: 'utf8' }).sort()) {
  if (file.endsWith('.ts')) BUILD.update(`${file}\n`).update(readFileSync(join('src', file)));
}
const define = { __BUILD__: JSON.stringify(BUILD.digest('hex').slice(0, 16)) };

/** What is installed only where it can be, and loaded only when it is needed. */
const OPTIONAL = ['@photostructure/sqlite', 'sqlite-vec'];

const alias = {
  // Its main file loads its parts in a way that no bundler can follow.
  'jsonc-parser': 'jsonc-parser/lib/esm/main.js',
  '@modelcontextprotocol/server/_shims': resolve('src/surfaces/mcp/sdk-shims.ts'),
};

/**
 * What every command needs, and what `list` needs, in one file: each further file costs about half a millisecond at
 * start. The rest is split, so that a command loads only what it needs.
 */
const START = [
  /src\/errors\.ts$/,
  /src\/surfaces\/cli\/(run|output|context|failure|filters|words|terminal-flag)\.ts$/,
  /src\/surfaces\/cli\/commands\/(table|list|list\.run)\.ts$/,
  /src\/model\/(base-name|base32|canonical|checksum|fact-kinds|fingerprint|id|text|time)\.ts$/,
  /src\/store\/(store|catalog|months|open-catalog|cache-database|cache-opening|index-catalog|index-freshness|index-schema)\.ts$/,
  /src\/platform\/(machine|streams|sleep|paths|folders|folder-listing|durable-file|process-identity|sql|data-folder|private-folder|cache-file)\.ts$/,
  /src\/surfaces\/start\/keep-program\.ts$/,
  /src\/workspace\/(home-path|worktree-root)\.ts$/,
  /src\/config\/config-paths\.ts$/,
  /node_modules\/@stricli\/core\//,
];

/** The answer of `check`, which needs nothing else. */
const CHECK = [
  /src\/surfaces\/cli\/check-now\.ts$/,
  /src\/run\/resume-code\.ts$/,
  /src\/platform\/project-folder\.ts$/,
];

/**
 * The form in which `src/platform/kept-code.ts` runs a file: a function, so that no text has to be put together at start, in
 * ASCII, so that it takes one byte a character.
 */
const runnable: Rolldown.Plugin = {
  name: 'runnable',
  generateBundle(_, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type === 'chunk')
        file.code = `(function (exports, require, __filename) {${escapeText(file.code)}})`;
    }
  },
};

function escapeText(code: string): string {
  if (/String\.raw`[^`]*[^`\n\x20-\x7e]/.test(code))
    throw new Error('String.raw would show the escapes: use ASCII there');
  return code.replace(/[^\n\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const HOOK = {
  format: 'cjs',
  platform: 'node',
  target: 'node20',
  dts: false,
  minify: { compress: true, mangle: true, codegen: { removeWhitespace: true } },
  inputOptions: { preserveEntrySignatures: 'allow-extension', checks: { pluginTimings: false } },
  outputOptions: { chunkFileNames: '[name]-[hash].cjs' },
} as const;

/** What finds facts in an index that is up to date. */
const SEARCHING = [
  /src\/search\/(excerpt|filter|finder|full-text|fuse|index-finder|kept-marks|matches|meant|misspelt|notes|open-finder|parsed-query|rank|retrieve|search|search-freshness|search-schema|searched|stem|tokens)\.ts$/,
  /src\/handover\/marks\.ts$/,
  /src\/model\/words\.ts$/,
  /src\/store\/(cache-seal|journal-files)\.ts$/,
];

/** Reading notes, which searches do and runs. */
const NOTES = [
  /src\/memory\/(document-names|layout|memory-file|note-blocks|note-file|read-memory)\.ts$/,
  /src\/platform\/project-file\.ts$/,
  /src\/run\/run-files\.ts$/,
];

/** What nearly every command needs that writes: settings, schemas, locks. */
const WRITING = [
  /src\/config\//,
  /src\/model\/json\.ts$/,
  /src\/platform\/(foreign-file|lock|lock-claim|pause|secret-key)\.ts$/,
  /node_modules\/(smol-toml|valibot)\//,
];

const REDACTING = [/src\/redact\/(?!second-net|preset-places|redact-stream|redact-event)/];

/** The schemas of what is kept. */
const RECORDS = [/src\/model\/(chain|fact|handover|journal-entry|quality|scalars|workspace)\.ts$/];

/** Where work is done, and what is kept of it. */
const KEEPING = [
  /src\/workspace\//,
  /src\/platform\/exec\.ts$/,
  /src\/agents\/agent\.ts$/,
  /src\/surfaces\/cli\/agents\.ts$/,
  /src\/relay\/(begun|folders|small-records)\.ts$/,
  /src\/handover\/(chain|changed-files|declare|fate|find-changes|periods|quality|said-otherwise|seal|standing)\.ts$/,
  /src\/store\/(catalog-opener|documents|drop-ready|handovers|journal|marks|moment|newest|resolve|scan-catalog|worktree)\.ts$/,
];

/** What a run of steps needs besides. */
const RUN = [
  /src\/run\/(brake|checkpoint|checkpoint-file|engine|run-config|steps)\.ts$/,
  /src\/memory\/(archive|compact|memory)\.ts$/,
  /src\/publish\/(settings|publisher)\.ts$/,
  /src\/surfaces\/cli\/commands\/(check|run|run\.run)\.ts$/,
];

/** What the next session is told of. */
const RESUMING = [
  /src\/brief\//,
  /src\/memory\/(briefing|documents|handover-points|snapshot)\.ts$/,
  /src\/capture\/(catch-up|find-session)\.ts$/,
  /src\/agents\/(has-transcripts|table)\.ts$/,
  /src\/agents\/[a-z-]+\/(paths|places)\.ts$/,
  /src\/agents\/row\.ts$/,
  /src\/surfaces\/cli\/(brief-flags|drift|newest-here|readers|resume-here)\.ts$/,
  /src\/surfaces\/cli\/commands\/(resume|resume\.run)\.ts$/,
];

const GROUPS = {
  start: START,
  check: CHECK,
  searching: SEARCHING,
  notes: NOTES,
  writing: WRITING,
  redacting: REDACTING,
  records: RECORDS,
  keeping: KEEPING,
  steps: RUN,
  resuming: RESUMING,
};

export default defineConfig([
  { entry: { start: 'src/surfaces/start/start.ts' }, outDir: 'dist/start', define, ...HOOK },
  { entry: { main: 'src/surfaces/hook/main.ts' }, outDir: 'dist/hook', plugins: [runnable], ...HOOK },
  {
    entry: { index: 'src/index.ts' },
    outDir: 'dist/lib',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    dts: true,
    define,
    inputOptions: { checks: { pluginTimings: false } },
    deps: { neverBundle: OPTIONAL },
  },
  {
    entry: { main: 'src/surfaces/cli/main.ts' },
    alias,
    outDir: 'dist/cli',
    plugins: [runnable],
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    dts: false,
    define,
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
    deps: { neverBundle: OPTIONAL },
    inputOptions: { preserveEntrySignatures: 'allow-extension', checks: { pluginTimings: false } },
    outputOptions: {
      chunkFileNames: '[name]-[hash].cjs',
      codeSplitting: {
        includeDependenciesRecursively: false,
        groups: Object.entries(GROUPS).map(([name, patterns]) => ({
          name,
          test: (id: string) => patterns.some((pattern) => pattern.test(id)),
        })),
      },
    },
  },
]);
