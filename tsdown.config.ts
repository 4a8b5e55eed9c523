import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { defineConfig, type Rolldown } from 'tsdown';
import { Prefilter } from './src/redact/prefilter.ts';

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
 * The form in which `src/platform/code-cache.ts` runs a file: a function, so that no text has to be put together at start, in
 * ASCII, so that it takes one byte a character.
 */
const runnable: Rolldown.Plugin = {
  name: 'runnable',
  generateBundle(_, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type === 'chunk') file.code = `(function (exports, require, __filename) {${escapeText(file.code)}})`;
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
  inputOptions: {
    preserveEntrySignatures: 'allow-extension',
    checks: { pluginTimings: false, ineffectiveDynamicImport: false },
  },
  outputOptions: { chunkFileNames: '[name]-[hash].cjs' },
} as const;

const LIBRARY = {
  format: 'esm',
  platform: 'node',
  target: 'node20',
  define,
  inputOptions: { checks: { pluginTimings: false, ineffectiveDynamicImport: false } },
  deps: { neverBundle: OPTIONAL },
} as const;

/**
 * Each further built file costs about half a millisecond at start, and each needless module its evaluation. So these
 * commands get a file with the modules that they need at once, less those of the commands before.
 */
const QUICKEST = {
  base: ['main.ts'],
  check: ['../../app/runs/check.ts'],
  list: ['run.ts', 'commands/list.ts', '../../store/open-catalog.ts'],
};

/** Of what these need besides, modules that are needed by the same of them are one file. The bundler splits the rest. */
const FREQUENT = {
  search: ['commands/search.ts', '../../search/index-finder.ts'],
  save: [
    'commands/save.ts',
    '../../app/capture/save-session.ts',
    '../../app/capture/catch-up.ts',
    '../../store/find-handover.ts',
  ],
  resume: ['commands/resume.ts'],
  run: ['commands/run.ts'],
};

/** Parts of the files of those, by their names, which other commands need without the rest. */
const PARTS = {
  sessions: {
    of: ['search', 'save', 'resume', 'run', 'save-resume', 'save-resume-run'],
    files: ['../../search/sessions/search-sessions.ts'],
  },
  kept: { of: ['save-resume'], files: ['../../store/handovers.ts', '../../store/marks.ts', '../../store/journal.ts'] },
  redact: { of: ['save-resume'], files: ['../../redact/open-redactor.ts'] },
};

let chunks: Map<string, string> | undefined;

const nameChunk: Rolldown.CodeSplittingNameFunction = (id, context) => {
  chunks ??= assignChunks((module) => context.getModuleInfo(module)?.importedIds ?? []);
  return chunks.get(id) ?? null;
};

/** A chunk is named by who needs it. What a module imports is needed by all who need the module, so no two chunks need each other. */
function assignChunks(listImports: (id: string) => readonly string[]): Map<string, string> {
  const walk = (files: readonly string[]): Set<string> => {
    const seen = new Set(files.map((file) => resolve('src/surfaces/cli', file)));
    for (const id of seen) for (const imported of listImports(id)) seen.add(imported);
    return seen;
  };
  const quick = new Map<string, string>();
  for (const [name, files] of Object.entries(QUICKEST))
    for (const id of walk(files)) if (!quick.has(id)) quick.set(id, name);
  const others = new Map<string, string>();
  for (const [name, files] of Object.entries(FREQUENT))
    for (const id of walk(files)) others.set(id, others.has(id) ? `${others.get(id)}-${name}` : name);
  for (const [part, { of, files }] of Object.entries(PARTS))
    for (const id of walk(files)) {
      const name = others.get(id) ?? '';
      if (of.includes(name)) others.set(id, `${name}-${part}`);
    }
  const all = new Map([...others, ...quick]);
  all.delete(resolve('src/surfaces/cli/main.ts'));
  return all;
}

const PAGE = 'src/surfaces/report-page';

/** Observable Plot puts a style sheet into each chart, which the page's policy refuses: page.css has the same rules. */
const PLOT_STYLE = /svg\s*\.append\("style"\)\s*\.text\(\s*`[^`]*`\s*\)/;

/** The page of `handover report`, in one file that allows nothing but its own script and style. Only the data is missing. */
const page: Rolldown.Plugin = {
  name: 'page',
  transform(code, id) {
    if (!id.endsWith('/plot/src/plot.js')) return null;
    if (!PLOT_STYLE.test(code)) throw new Error('the style sheet in the charts of Observable Plot was not found');
    return code.replace(PLOT_STYLE, 'undefined');
  },
  generateBundle(_, bundle) {
    const [chunk] = Object.values(bundle);
    if (chunk?.type !== 'chunk') throw new Error('the page has no script');
    const script = escapeText(chunk.code).replace(/<(?=\/script|!--)/gi, '\\x3c');
    const style = readFileSync(join(PAGE, 'page.css'), 'utf8');
    const digest = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    const policy = `default-src 'none'; script-src ${digest(script)}; style-src ${digest(style)}; base-uri 'none'; form-action 'none'`;
    const parts = new Map(Object.entries({ __POLICY__: policy, '/*__STYLE__*/': style, '/*__SCRIPT__*/': script }));
    const template = readFileSync(join(PAGE, 'page.html'), 'utf8');
    const source = template.replace(/(?:\/\*)?__[A-Z]+__(?:\*\/)?/g, (name) => parts.get(name) ?? name);
    delete bundle[chunk.fileName];
    this.emitFile({ type: 'asset', fileName: 'page.html', source });
  },
};

export default defineConfig([
  { entry: { start: 'src/surfaces/start.ts' }, outDir: 'dist/start', define, ...HOOK },
  { entry: { main: 'src/surfaces/hook/main.ts' }, outDir: 'dist/hook', plugins: [runnable], ...HOOK },
  { entry: { index: 'src/index.ts' }, outDir: 'dist/lib', dts: true, ...LIBRARY },
  {
    entry: { page: join(PAGE, 'main.ts') },
    outDir: 'dist/report',
    plugins: [page],
    format: 'iife',
    platform: 'browser',
    target: 'es2023',
    dts: false,
    minify: true,
    inputOptions: { checks: { pluginTimings: false } },
  },
  { entry: { index: 'test/support/internals.ts' }, outDir: 'dist/internals', dts: false, ...LIBRARY },
  {
    entry: { main: 'src/surfaces/cli/main.ts' },
    alias,
    outDir: 'dist/cli',
    plugins: [runnable],
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    dts: false,
    define: { ...define, __PREFILTER__: JSON.stringify(new Prefilter().pack()) },
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
    deps: { neverBundle: OPTIONAL },
    inputOptions: {
      preserveEntrySignatures: 'allow-extension',
      checks: { pluginTimings: false, ineffectiveDynamicImport: false },
    },
    outputOptions: {
      chunkFileNames: '[name]-[hash].cjs',
      codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: nameChunk }] },
    },
  },
]);
