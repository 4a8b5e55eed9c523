import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VERSION } from '../../src/version.ts';
import { removeFolder } from '../support/remove-folder.ts';
import { listFiles } from '../support/source-files.ts';

const bin = resolve('bin/handover.cjs');
const folder = mkdtempSync(join(tmpdir(), 'handover-start-'));
const recorder = join(folder, 'recorder.cjs');
const env = {
  PATH: process.env.PATH ?? '',
  HOME: folder,
  HANDOVER_HOME: join(folder, 'store'),
  NODE_DISABLE_COMPILE_CACHE: '1',
};

beforeAll(() => {
  writeFileSync(
    recorder,
    `const Module = require('node:module');
     const { writeFileSync } = require('node:fs');
     const load = Module._load;
     const seen = new Set();
     Module._load = function (name, ...rest) { seen.add(name); return load.call(this, name, ...rest); };
     const vm = require('node:vm');
     vm.Script = class extends vm.Script {
       constructor(code, options) { super(code, options); seen.add(options.filename); }
     };
     process.on('exit', () => writeFileSync(process.env.RECORD, JSON.stringify([...seen])));`,
  );
  execFileSync(process.execPath, [bin, 'save', '--title', 'one', '--project', folder], { env });
  execFileSync(process.execPath, [bin, 'list'], { env });
});

afterAll(() => removeFolder(folder));

function recordLoads(...args: string[]): string[] {
  return recordIn(process.cwd(), args);
}

function recordIn(cwd: string, args: readonly string[]): string[] {
  const record = join(folder, 'record.json');
  execFileSync(process.execPath, ['--require', recorder, bin, ...args], { cwd, env: { ...env, RECORD: record } });
  const loads: unknown = JSON.parse(readFileSync(record, 'utf8'));
  return Array.isArray(loads) ? loads.map(String) : [];
}

const HEAVY = [
  'crypto',
  'child_process',
  'tty',
  'net',
  'stream',
  'http',
  'https',
  'worker_threads',
  'fs/promises',
  'zlib',
  'v8',
];

function heavyOf(loads: readonly string[]): string[] {
  return loads.map((name) => name.replace(/^node:/, '')).filter((name) => HEAVY.includes(name));
}

describe('the start path', () => {
  it('of --version loads five small files of ours and nothing heavy', () => {
    const loads = recordLoads('--version');
    expect(heavyOf(loads)).toEqual([]);
    expect(
      loads
        .filter((name) => name.endsWith('.cjs'))
        .map((name) => basename(name).replace(/-.*/, ''))
        .sort(),
    ).toEqual(['base', 'handover.cjs', 'main.cjs', 'rolldown', 'start.cjs']);
  });

  it('of list with an index that is up to date loads no hashing, no schemas, no prompts and no subprocess', async () => {
    await new Promise((resolve) => setTimeout(resolve, 2500));
    recordLoads('list');
    const loads = recordLoads('list');
    expect(heavyOf(loads)).toEqual([]);
    const own = loads.filter((name) => name.endsWith('.cjs'));
    expect(own.length).toBeLessThanOrEqual(8);
    const code = own.map((name) => readFileSync(name, 'utf8')).join('\n');
    expect(code).toContain('no handovers found');
    for (const heavy of ['autocomplete', 'session-handoff/1', 'fast-import', 'must be a UTC time'])
      expect([heavy, code.includes(heavy)]).toEqual([heavy, false]);
  });

  it('of search with an index that is up to date loads no schemas, no prompts and no bundle format', () => {
    recordLoads('search', 'one');
    const own = recordLoads('search', 'one').filter((name) => name.endsWith('.cjs'));
    const code = own.map((name) => readFileSync(name, 'utf8')).join('\n');
    for (const heavy of ['autocomplete', 'session-handoff/1', 'fast-import', 'must be a UTC time'])
      expect([heavy, code.includes(heavy)]).toEqual([heavy, false]);
  });

  it('of help loads nothing heavy, no index, no prompts and no command', () => {
    for (const args of [['help'], ['help', '--all'], ['--help']]) {
      const loads = recordLoads(...args);
      expect(heavyOf(loads)).toEqual([]);
      expect(loads.some((name) => name.includes('sqlite'))).toBe(false);
      expect(loads.filter((name) => name.endsWith('.cjs')).length).toBeLessThanOrEqual(9);
    }
  });

  it('without a command, where work is kept, reads the newest handover alone: it loads no prompts, no bundle format and no brief', () => {
    recordIn(folder, []);
    const loads = recordIn(folder, []);
    const own = loads.filter((name) => name.endsWith('.cjs'));
    const code = own.map((name) => readFileSync(name, 'utf8')).join('\n');
    for (const heavy of ['autocomplete', 'session-handoff/1', 'What happened, turn by turn'])
      expect([heavy, code.includes(heavy)]).toEqual([heavy, false]);
    expect(own.length).toBeLessThanOrEqual(15);
  });

  it('uses the same names as the rest of the program', () => {
    const all = listFiles('dist/cli', '.cjs')
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n');
    for (const heavy of [
      'autocomplete',
      'session-handoff/1',
      'fast-import',
      'must be a UTC time',
      'What happened, turn by turn',
    ])
      expect([heavy, all.includes(heavy)]).toEqual([heavy, true]);
  });
});

describe('the start path of a hook', () => {
  const hook = 'bin/hook.cjs';
  const project = join(folder, 'project');
  const input = (more: object): string => JSON.stringify({ session_id: 's', cwd: project, ...more });

  function recordHook(event: string, stdin: string): string[] {
    const record = join(folder, 'hook-record.json');
    mkdirSync(project, { recursive: true });
    const pipe = `cat "${join(folder, 'input.json')}" | "${process.execPath}" --require "${recorder}" ${hook} claude-code ${event}`;
    writeFileSync(join(folder, 'input.json'), stdin);
    execFileSync('sh', ['-c', pipe], { env: { ...env, RECORD: record } });
    const loads: unknown = JSON.parse(readFileSync(record, 'utf8'));
    return Array.isArray(loads) ? loads.map(String) : [];
  }

  it.each([
    ['SessionStart', { source: 'startup' }],
    ['SessionStart', { source: 'compact' }],
    ['UserPromptSubmit', { prompt: 'go on' }],
  ])('%s %j loads three files of ours, and no further modules of Node', (event, more) => {
    const loads = recordHook(event, input(more));
    const own = loads.filter((name) => name.endsWith('.cjs')).map((name) => basename(name));
    expect(own).toEqual(['hook.cjs', 'start.cjs', 'main.cjs']);
    const others = loads.filter((name) => !name.endsWith('.cjs')).map((name) => name.replace(/^node:/, ''));
    expect([...new Set(others)].filter((name) => name !== recorder).sort()).toEqual([
      'fs',
      'module',
      'os',
      'path',
      'vm',
    ]);
  });

  it('at the end of a turn also loads what starts the worker', () => {
    expect(heavyOf(recordHook('Stop', input({})))).toEqual(['child_process']);
  });
});

describe('the package', () => {
  const manifest: unknown = JSON.parse(readFileSync('package.json', 'utf8'));

  it('has the version that the program says', () => {
    expect(manifest).toMatchObject({ version: VERSION });
    expect(execFileSync(process.execPath, [bin, '--version'], { env, encoding: 'utf8' })).toBe(`${VERSION}\n`);
  });

  it('has no dependency that is always installed, and no install script', () => {
    expect(manifest).not.toHaveProperty('dependencies');
    expect(manifest).not.toHaveProperty('scripts.install');
    expect(manifest).not.toHaveProperty('scripts.postinstall');
    expect(manifest).toHaveProperty('optionalDependencies', {
      '@photostructure/sqlite': expect.stringMatching(/^\^1\./),
      'sqlite-vec': expect.stringMatching(/^\^0\./),
    });
  });
});
