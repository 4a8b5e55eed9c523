import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listFiles } from '../support/source-files.ts';

interface Import {
  from: string;
  to: string;
  typeOnly: boolean;
}

const files = [...listFiles('src', '.ts'), ...listFiles('eval', '.ts')];
const sources = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));
const imports = files.flatMap((file) => readImports(file, sources.get(file) ?? ''));

function readImports(from: string, source: string): Import[] {
  const found: Import[] = [];
  const statement =
    /^(?:import|export)\s+(type\s+)?[^'"]*?from\s+'([^']+)';|^import\s+'([^']+)';|\bimport\('([^']+)'\)/gms;
  for (const [, type, named, bare, dynamic] of source.matchAll(statement)) {
    const target = named ?? bare ?? dynamic ?? '';
    const to = target.startsWith('.') ? join(dirname(from), target).replaceAll('\\', '/') : target;
    found.push({ from, to, typeOnly: type !== undefined });
  }
  return found;
}

/** `src/store/index-file.ts` is in the area `store`; files directly in src are areas of their own; `eval` is one area. */
function areaOf(path: string): string {
  const [top = '', area = ''] = path.split('/');
  return top === 'src' ? area : top;
}

/** What each area may import besides itself. What is not listed here has not been thought about and fails. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  'errors.ts': [],
  'version.ts': [],
  model: ['errors.ts'],
  platform: ['errors.ts'],
  config: ['errors.ts', 'platform'],
  workspace: ['errors.ts', 'model', 'platform'],
  handover: ['errors.ts', 'model', 'platform', 'workspace'],
  agents: ['errors.ts', 'model', 'platform'],
  distil: ['errors.ts', 'model'],
  redact: ['errors.ts', 'model', 'platform', 'config'],
  meaning: ['errors.ts', 'model', 'platform', 'config', 'workspace', 'redact', 'store'],
  brief: ['errors.ts', 'model'],
  store: ['errors.ts', 'model', 'platform', 'handover'],
  capture: [
    'errors.ts',
    'version.ts',
    'model',
    'platform',
    'workspace',
    'agents',
    'distil',
    'redact',
    'handover',
    'store',
  ],
  questions: ['errors.ts', 'model', 'platform', 'workspace', 'distil', 'handover', 'store', 'search'],
  memory: ['errors.ts', 'model', 'platform', 'workspace', 'redact', 'store'],
  search: [
    'errors.ts',
    'model',
    'platform',
    'config',
    'workspace',
    'agents',
    'redact',
    'handover',
    'store',
    'capture',
    'memory',
    'meaning',
  ],
  run: [
    'errors.ts',
    'model',
    'platform',
    'config',
    'workspace',
    'agents',
    'redact',
    'store',
    'capture',
    'memory',
    'publish',
    'brief',
    'bundle',
  ],
  migrate: ['errors.ts', 'model', 'platform', 'workspace', 'redact', 'handover', 'store', 'memory', 'run'],
  relay: [
    'errors.ts',
    'model',
    'platform',
    'config',
    'workspace',
    'handover',
    'agents',
    'capture',
    'brief',
    'store',
  ],
  hooks: ['errors.ts', 'model', 'platform', 'agents', 'store'],
  publish: ['errors.ts', 'model', 'platform', 'config', 'workspace', 'redact', 'store'],
  bundle: ['errors.ts', 'model', 'platform', 'workspace', 'redact', 'handover', 'brief', 'store'],
  surfaces: [
    'errors.ts',
    'version.ts',
    'model',
    'platform',
    'workspace',
    'agents',
    'distil',
    'redact',
    'capture',
    'handover',
    'brief',
    'store',
    'questions',
    'migrate',
    'relay',
    'hooks',
    'memory',
    'search',
    'run',
    'publish',
    'bundle',
  ],
  'index.ts': [
    'errors.ts',
    'model',
    'platform',
    'workspace',
    'handover',
    'capture',
    'brief',
    'store',
    'migrate',
    'memory',
    'run',
    'publish',
    'bundle',
  ],
  // Measures the product from outside, as a program of its own that is not shipped.
  eval: [
    'errors.ts',
    'model',
    'platform',
    'agents',
    'capture',
    'handover',
    'brief',
    'search',
    'store',
    'redact',
    'surfaces',
  ],
};

const inside = imports.filter(({ to }) => /^(?:src|eval)\//.test(to));
const outside = imports.filter(({ to }) => !/^(?:src|eval)\//.test(to));

describe('imports point one way', () => {
  it('reads the imports at all', () => {
    expect(inside.length).toBeGreaterThan(100);
    expect(inside.every(({ to }) => sources.has(to))).toBe(true);
  });

  it('from surfaces to features to platform and model, never back', () => {
    const wrong = inside.filter(({ from, to }) => {
      return areaOf(from) !== areaOf(to) && !(ALLOWED[areaOf(from)] ?? []).includes(areaOf(to));
    });
    expect(wrong).toEqual([]);
  });

  it('with a yardstick that shares no way of reading sessions or finding names with what it measures', () => {
    const yardstick = inside.filter(({ from }) => areaOf(from) === 'eval' && !from.startsWith('eval/arms/'));
    const measured = /^src\/(?:distil|capture|agents\/(?!row\.ts))/;
    expect(yardstick.length).toBeGreaterThan(20);
    expect(yardstick.filter(({ to }) => measured.test(to))).toEqual([]);
  });

  it('without cycles between files', () => {
    expect(findCycle(inside.filter(({ typeOnly }) => !typeOnly))).toBeNull();
  });

  it('with the operating system behind platform', () => {
    const system =
      /^node:(fs|fs\/promises|os|child_process|net|http|https|tty|worker_threads|module|process)$/;
    const wrong = outside.filter(
      ({ from, to }) => system.test(to) && areaOf(from) !== 'platform' && areaOf(from) !== 'eval',
    );
    expect(wrong).toEqual([]);
  });

  it('with nothing of the outside in the model but hashing and schemas', () => {
    const wrong = outside.filter(
      ({ from, to }) => areaOf(from) === 'model' && to !== 'node:crypto' && to !== 'valibot',
    );
    expect(wrong).toEqual([]);
  });

  it('with the command line framework and the prompts in surfaces only', () => {
    const wrong = outside.filter(
      ({ from, to }) => /^@(stricli|clack)\//.test(to) && areaOf(from) !== 'surfaces',
    );
    expect(wrong).toEqual([]);
  });
});

/** What starts an evaluation, which is a program of its own. */
function isProgram(file: string): boolean {
  return ['eval/main.ts', 'eval/search/main.ts', 'eval/redaction/main.ts'].includes(file);
}

describe('what a source file may do', () => {
  const isOutside = (file: string): boolean =>
    areaOf(file) !== 'platform' && areaOf(file) !== 'surfaces' && !isProgram(file);

  it('only platform and surfaces know the process', () => {
    expect(find(/\bprocess\./, isOutside)).toEqual([]);
  });

  it('only surfaces print', () => {
    const prints = inside.filter(
      ({ from, to }) =>
        /platform\/(streams|print)\.ts$/.test(to) && areaOf(from) !== 'surfaces' && !isProgram(from),
    );
    expect(prints).toEqual([]);
    expect(find(/\bconsole\.|stdout\.write|stderr\.write/, (file) => areaOf(file) !== 'surfaces')).toEqual(
      [],
    );
  });

  it('time and chance come from the machine that is passed in', () => {
    expect(find(/\bDate\.now\(|new Date\(\)|Math\.random\(/, (file) => areaOf(file) !== 'platform')).toEqual(
      [],
    );
  });

  it('no shell is ever started', () => {
    expect(
      find(/shell:\s*true|\bexecSync\(|\bexec\(\s*[`'"](?!PRAGMA|BEGIN|COMMIT|ROLLBACK)/, () => true),
    ).toEqual([]);
  });

  it('no any, no cast but const, no non-null assertion', () => {
    expect(find(/\bas (?!const\b|[a-z]+ from|Timestamp\b)[A-Za-z]+[;,)]|: any\b|<any>/, () => true)).toEqual(
      [],
    );
  });

  it('no empty catch', () => {
    expect(find(/catch(?: \(\w+\))? \{\s*\}/, () => true)).toEqual([]);
  });

  it('is named for the problem', () => {
    expect(files.filter((file) => /(manager|service|helper|util)/i.test(file))).toEqual([]);
    expect(
      find(/\b(?:class|interface|function|const)\s+\w*(?:Manager|Service|Helper|Utils?)\b/, () => true),
    ).toEqual([]);
  });

  it('stays within 500 lines, tests included', () => {
    const all = [...files, ...listFiles('test', '.ts', '.mjs'), ...listFiles('scripts', '.mjs')];
    const long = all.filter((file) => readFileSync(file, 'utf8').split('\n').length > 501);
    expect(long).toEqual([]);
  });
});

function find(pattern: RegExp, inFile: (file: string) => boolean): string[] {
  return [...sources].flatMap(([file, source]) => {
    if (!inFile(file)) return [];
    const code = source.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, (comment) => comment.replace(/[^\n]/g, ' '));
    return code
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1} ${line.trim()}`] : []));
  });
}

function findCycle(edges: readonly Import[]): string[] | null {
  const next = new Map<string, Import[]>();
  for (const edge of edges) next.set(edge.from, [...(next.get(edge.from) ?? []), edge]);
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): string[] | null => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return null;
    for (const { to } of next.get(file) ?? []) {
      const cycle = visit(to, [...path, file]);
      if (cycle !== null) return cycle;
    }
    done.add(file);
    return null;
  };
  for (const file of next.keys()) {
    const cycle = visit(file, []);
    if (cycle !== null) return cycle;
  }
  return null;
}
