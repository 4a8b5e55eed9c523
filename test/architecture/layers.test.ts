import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listFiles } from '../support/source-files.ts';

interface Import {
  from: string;
  to: string;
}

const files = [...listFiles('src', '.ts'), ...listFiles('eval', '.ts')];
const sources = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));
const imports = files.flatMap((file) => readImports(file, sources.get(file) ?? ''));

function readImports(from: string, source: string): Import[] {
  const found: Import[] = [];
  const statement = /^(?:import|export)\s+[^'"]*?from\s+'([^']+)';|^import\s+'([^']+)';|\bimport\('([^']+)'\)/gms;
  for (const [, named, bare, dynamic] of source.matchAll(statement)) {
    const target = named ?? bare ?? dynamic ?? '';
    const to = target.startsWith('.') ? join(dirname(from), target).replaceAll('\\', '/') : target;
    found.push({ from, to });
  }
  return found;
}

/**
 * The folders of `src`, lowest first: each may import only those before it, and no surface imports another. What stands
 * directly in `src` but `index.ts` is below them all.
 */
const LAYERS = [
  'model',
  'platform',
  'redact',
  'distill',
  'agents',
  'handover',
  'store',
  'memory',
  'search',
  'exchange',
  'app',
  'surfaces',
];
const BASE = ['errors.ts', 'version.ts'];

/** The commands that start another surface: `handover mcp`, and the worker that a hook leaves behind. */
const STARTS_OTHERS = ['src/surfaces/cli/main.ts', 'src/surfaces/cli/commands/mcp.ts'];

/** `src/store/journal.ts` is in the area `store`; files directly in src are areas of their own; `eval` is one area. */
function areaOf(path: string): string {
  const [top = '', area = ''] = path.split('/');
  return top === 'src' ? area : top;
}

/** Whether an import goes down, or stays within its folder. */
function goesDown({ from, to }: Import): boolean {
  const [area, target] = [areaOf(from), areaOf(to)];
  if (area === 'eval') return true;
  if (area === 'index.ts') return target !== 'surfaces' && target !== 'eval';
  if (area === 'surfaces' && target === 'surfaces')
    return surfaceOf(from) === surfaceOf(to) || STARTS_OTHERS.includes(from);
  if (area === target || BASE.includes(target)) return !BASE.includes(area);
  return LAYERS.includes(target) && LAYERS.indexOf(target) < LAYERS.indexOf(area);
}

function surfaceOf(path: string): string {
  return path.split('/')[2] ?? '';
}

const inside = imports.filter(({ to }) => /^(?:src|eval)\//.test(to));
const outside = imports.filter(({ to }) => !/^(?:src|eval)\//.test(to));

describe('imports in src and eval', () => {
  it('are found by this test', () => {
    expect(inside.length).toBeGreaterThan(100);
    expect(inside.every(({ to }) => sources.has(to))).toBe(true);
  });

  it('go only from a folder to the ones below it, and from no surface to another', () => {
    expect(inside.filter((one) => !goesDown(one)).map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
  });

  it('are checked in every folder', () => {
    const areas = new Set(files.filter((file) => file.startsWith('src/')).map(areaOf));
    expect([...areas].sort()).toEqual([...LAYERS, ...BASE, 'index.ts'].sort());
  });

  it('keep the evaluation independent of how the product reads sessions and finds names', () => {
    // Arms are what is measured; so is what eval/debt counts, and its yardstick are labels.
    const yardstick = inside.filter(({ from }) => areaOf(from) === 'eval' && !/^eval\/(?:arms|debt)\//.test(from));
    const measured = /^src\/(?:distill|app\/capture|agents\/(?!(?:shared\/)?json\.ts))/;
    expect(yardstick.length).toBeGreaterThan(20);
    expect(yardstick.filter(({ to }) => measured.test(to))).toEqual([]);
  });

  it('form no cycle, including type imports and dynamic imports', () => {
    expect(findCycle(inside)).toBeNull();
  });

  it('with a cycle are recognised', () => {
    const edge = (from: string, to: string): Import => ({ from, to });
    expect(findCycle([edge('a', 'b'), edge('b', 'c'), edge('c', 'b')])).toEqual(['b', 'c', 'b']);
  });

  it('of operating system modules occur only in platform', () => {
    const system = /^node:(fs|fs\/promises|os|child_process|net|http|https|tty|worker_threads|module|process)$/;
    const wrong = outside.filter(
      ({ from, to }) => system.test(to) && areaOf(from) !== 'platform' && areaOf(from) !== 'eval',
    );
    expect(wrong).toEqual([]);
  });

  it('of the model go outside only for hashing and schemas', () => {
    const wrong = outside.filter(
      ({ from, to }) => areaOf(from) === 'model' && to !== 'node:crypto' && to !== 'valibot',
    );
    expect(wrong).toEqual([]);
  });

  it('of the command line framework and the prompts occur only in surfaces', () => {
    const wrong = outside.filter(({ from, to }) => /^@(stricli|clack)\//.test(to) && areaOf(from) !== 'surfaces');
    expect(wrong).toEqual([]);
  });
});

/** What starts an evaluation, which is a program of its own. */
function isProgram(file: string): boolean {
  return ['eval/main.ts', 'eval/search/main.ts', 'eval/redaction/main.ts', 'eval/debt/main.ts'].includes(file);
}

describe('source files', () => {
  const isOutside = (file: string): boolean =>
    areaOf(file) !== 'platform' && areaOf(file) !== 'surfaces' && !isProgram(file);

  it('use the process object only in platform and surfaces', () => {
    expect(find(/\bprocess\./, isOutside)).toEqual([]);
  });

  it('print only in surfaces', () => {
    const prints = inside.filter(
      ({ from, to }) => /platform\/(streams|print)\.ts$/.test(to) && areaOf(from) !== 'surfaces' && !isProgram(from),
    );
    expect(prints).toEqual([]);
    expect(find(/\bconsole\.|stdout\.write|stderr\.write/, (file) => areaOf(file) !== 'surfaces')).toEqual([]);
  });

  it('take time and randomness from the machine that is passed in', () => {
    expect(find(/\bDate\.now\(|new Date\(\)|Math\.random\(/, (file) => areaOf(file) !== 'platform')).toEqual([]);
  });

  it('never start a shell', () => {
    expect(
      find(/shell:\s*true|\bexecSync\(|\bexec\(\s*[`'"](?!PRAGMA|BEGIN|COMMIT|ROLLBACK|VACUUM)/, () => true),
    ).toEqual([]);
  });

  it('have no any, no cast but const, no non-null assertion', () => {
    expect(find(/\bas (?!const\b|[a-z]+ from|Timestamp\b)[A-Za-z]+[;,)]|: any\b|<any>/, () => true)).toEqual([]);
  });

  it('have no empty catch', () => {
    expect(find(/catch(?: \(\w+\))? \{\s*\}/, () => true)).toEqual([]);
  });

  it('are named for the problem', () => {
    expect(files.filter((file) => /(manager|service|helper|util)/i.test(file))).toEqual([]);
    expect(find(/\b(?:class|interface|function|const)\s+\w*(?:Manager|Service|Helper|Utils?)\b/, () => true)).toEqual(
      [],
    );
  });

  it('stay within 400 lines, tests within 500', () => {
    const tests = [...listFiles('test', '.ts', '.mjs'), ...listFiles('scripts', '.mjs')];
    const count = (file: string): number => readFileSync(file, 'utf8').split('\n').length - 1;
    expect(files.filter((file) => count(file) > 400)).toEqual([]);
    expect(tests.filter((file) => count(file) > 500)).toEqual([]);
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

it('reads no file whole without a limit: only files of the system and of this program, and one whose size was checked', () => {
  const readers = [...sources].filter(([file, source]) => file.startsWith('src/') && /\breadFileSync\(/.test(source));
  expect(readers.map(([file]) => file).sort()).toEqual([
    'src/platform/code-cache.ts',
    'src/platform/listeners.ts',
    'src/platform/process-identity.ts',
    'src/platform/project-folder.ts',
  ]);
});
