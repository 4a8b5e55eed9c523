import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileBrief } from '../../src/handover/brief/compile.ts';
import { checkClaims, findChanges, isChanged } from '../../src/handover/claims.ts';
import { declareHandover } from '../../src/handover/declare.ts';
import { findLocked, openLocks } from '../../src/handover/lock-files.ts';
import { addProbes } from '../../src/handover/probes.ts';
import { sealHandover } from '../../src/handover/seal.ts';
import { computeFactId, type Fact } from '../../src/model/fact.ts';
import type { Handover } from '../../src/model/handover.ts';
import { describePlace } from '../../src/platform/project.ts';
import { runGit } from '../support/cli.ts';
import { makeFact } from '../support/facts.ts';
import { requireReader } from '../support/rendered.ts';
import { makeDeclaration } from '../support/samples.ts';
import { makeFolder, makeMachine } from '../support/temp-store.ts';

const ENDED = Date.UTC(2026, 1, 3, 12);

const name = fc.stringMatching(/^[a-zA-Z\u00e4\u4e2d][\w \u00e4\u4e2d-]{0,8}[a-z]$/).map((text) => `${text}.ts`);
const content = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.constantFrom('', '\ufeffconst a = 1;\r\n', 'no end of line', '\0\u0001', 'x'.repeat(70_000)),
);

interface Touched {
  name: string;
  folder: string;
  content: string;
  status: 'created' | 'edited' | 'read' | 'deleted';
  /** Minutes after the session ended that the file was written. */
  late: number;
}

const touched: fc.Arbitrary<Touched> = fc.record({
  name,
  folder: fc.constantFrom('', 'src/', 'src/deep er/'),
  content,
  status: fc.constantFrom('created', 'edited', 'read', 'deleted'),
  late: fc.constantFrom(-60, -1, 0),
});

function toFact({ folder, name: own, status }: Touched): Fact {
  const text = `${folder}${own}`;
  return {
    id: computeFactId('file', text),
    kind: 'file',
    text,
    status,
    trust: 'observed',
    origin: 'tool',
    sources: [],
  };
}

function writeTouched(root: string, { folder, name: own, content: text, status, late }: Touched): void {
  const path = join(root, folder, own);
  mkdirSync(dirname(path), { recursive: true });
  if (status === 'deleted') return;
  writeFileSync(path, text);
  const time = new Date(ENDED + late * 60_000);
  utimesSync(path, time, time);
}

describe('what a handover states', () => {
  it('is never said to have changed while nothing has, whatever the files hold; and each change is found', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(touched, { maxLength: 6, selector: (file) => `${file.folder}${file.name}`.toLowerCase() }),
        fc.nat(),
        // Git takes most of the time.
        fc.integer({ min: 0, max: 19 }),
        (files, pick, git) => {
          const root = makeFolder();
          const machine = makeMachine(root);
          for (const file of files) writeTouched(root, file);
          if (git > 17) runGit(root, 'init', '-q');
          if (git > 18) {
            runGit(root, 'add', '-A');
            runGit(root, 'commit', '-qm', 'Begin', '--allow-empty');
          }
          const facts = addProbes(files.map(toFact), { folder: root, startedMs: 0, endedMs: ENDED, machine });
          const stamp = { id: '20260203-120000-aaaa', created_at: new Date(ENDED).toISOString() };
          const draft = declareHandover(makeDeclaration(), describePlace(root, machine), machine);
          const handover = sealHandover({ ...draft, ...stamp, facts });
          const look = (): string[] =>
            checkClaims(handover, describePlace(root, machine), machine)
              .filter(({ state, about }) => isChanged(state) && about === 'file')
              .map(({ what }) => what);
          expect(
            checkClaims(handover, describePlace(root, machine), machine).filter(({ state }) => isChanged(state)),
          ).toEqual([]);
          // A new time alone is no change.
          for (const file of files) writeTouched(root, { ...file, late: 600 });
          expect(look()).toEqual([]);
          const changed = files[pick % Math.max(1, files.length)];
          if (changed === undefined) return;
          writeFileSync(join(root, changed.folder, changed.name), `${changed.content}!`);
          expect(look()).toEqual([`${changed.folder}${changed.name}`]);
        },
      ),
      { numRuns: 200 },
    );
  });

  describe('with a file that was uncommitted, and that the session did not touch', () => {
    const [before, after] = [new Date(ENDED - 60_000), new Date(ENDED + 60_000)];
    const check: Fact = {
      id: computeFactId('check', 'npm test'),
      kind: 'check',
      text: 'npm test',
      status: 'ok',
      trust: 'observed',
      origin: 'tool',
      sources: [],
    };
    const write = (path: string, text: string, time: Date): void => {
      writeFileSync(path, text);
      utimesSync(path, time, time);
    };
    const look = (change: (root: string) => void): string[] => {
      const root = makeFolder();
      const machine = makeMachine(root);
      write(join(root, 'wait.ts'), 'a', before);
      runGit(root, 'init', '-q');
      runGit(root, 'add', '-A');
      runGit(root, 'commit', '-qm', 'Begin');
      write(join(root, 'wait.ts'), 'ab', before);
      const draft = declareHandover(makeDeclaration(), describePlace(root, machine), machine);
      const stamp = { id: '20260203-120000-aaaa', created_at: new Date(ENDED).toISOString() };
      const handover = sealHandover({ ...draft, ...stamp, facts: [check] });
      change(root);
      return checkClaims(handover, describePlace(root, machine), machine)
        .filter(({ about }) => about === 'uncommitted' || about === 'check')
        .map(({ about, state, now }) => `${about} ${state}${now === null ? '' : `: ${now}`}`);
    };

    it('holds as long as it is as it was', () => {
      expect(look(() => undefined)).toEqual(['uncommitted holds', 'check holds']);
    });

    it('cannot be told once it was written again', () => {
      expect(look((root) => write(join(root, 'wait.ts'), 'cd', after))).toEqual([
        'uncommitted unknown',
        'check unknown: files changed since',
      ]);
    });

    it('tells of commits, not of other files, once it was committed', () => {
      expect(look((root) => runGit(root, 'commit', '-qam', 'Wait'))).toEqual([
        'uncommitted changed: 0 uncommitted files',
        'check unknown: commits since',
      ]);
    });
  });

  it('about the branch is that of the session, where git was looked at only later and on another one', () => {
    const root = makeFolder();
    const machine = makeMachine(root);
    runGit(root, 'init', '-q', '-b', 'main');
    runGit(root, 'commit', '-qm', 'Begin', '--allow-empty');
    const place = describePlace(root, machine);
    const { noted_at: _, ...draft } = declareHandover(makeDeclaration(), place, machine);
    const state = makeFact('note', 'Branch fix/retry.', {
      detail: { role: 'state', about: ['end'], branch: 'fix/retry' },
    });
    const seal = (minutes: number): Handover => {
      const session = { ...draft.session, last_at: new Date(ENDED - minutes * 60_000).toISOString() };
      const stamp = { id: '20260203-120000-aaaa', created_at: new Date(ENDED).toISOString() };
      return sealHandover({ ...draft, ...stamp, session, facts: [state] });
    };
    const told = (handover: Handover): string[] =>
      checkClaims(handover, describePlace(root, machine), machine).map(
        ({ about, what, now }) => `${about} ${what}: ${now}`,
      );
    const late = seal(60);
    expect(told(late)).toEqual(['branch fix/retry: main']);
    expect(findChanges(late, place, machine).branch).toEqual({ before: 'fix/retry', after: 'main' });
    const { text } = compileBrief(late, requireReader('generic'));
    expect(text).toContain('> git when captured: branch main');
    expect(told(seal(1))).toContain('branch main: null');
    runGit(root, 'switch', '-qc', 'fix/retry');
    expect(told(late)).toEqual(['branch fix/retry: null']);
  });

  it('about a file is gone where a folder has its name now', () => {
    const root = makeFolder();
    const machine = makeMachine(root);
    const file: Touched = { name: 'retry.ts', folder: '', content: 'x', status: 'edited', late: -1 };
    writeTouched(root, file);
    const facts = addProbes([toFact(file)], { folder: root, startedMs: 0, endedMs: ENDED, machine });
    const draft = declareHandover(makeDeclaration(), describePlace(root, machine), machine);
    const stamp = { id: '20260203-120000-aaaa', created_at: new Date(ENDED).toISOString() };
    rmSync(join(root, 'retry.ts'));
    mkdirSync(join(root, 'retry.ts'));
    const claims = checkClaims(sealHandover({ ...draft, ...stamp, facts }), describePlace(root, machine), machine);
    expect(claims.filter(({ about }) => about === 'file').map(({ state, now }) => [state, now])).toEqual([
      ['gone', 'is a folder now'],
    ]);
  });

  it('about a file that was written after the session ended is known by its time only', () => {
    const root = makeFolder();
    const file: Touched = { name: 'late.ts', folder: '', content: 'x', status: 'edited', late: 5 };
    writeTouched(root, file);
    const [fact] = addProbes([toFact(file)], {
      folder: root,
      startedMs: 0,
      endedMs: ENDED,
      machine: makeMachine(root),
    });
    expect(fact?.probe).toBeUndefined();
  });
});

describe('the version of a dependency', () => {
  const LOCKS: [file: string, command: string, text: string][] = [
    [
      'package-lock.json',
      'npm install left-pad',
      '{"packages":{"node_modules/left-pad": {\n      "version": "1.3.0"}}}',
    ],
    [
      'pnpm-lock.yaml',
      'pnpm add -D @types/node@^20',
      "      '@types/node':\n        specifier: ^20\n        version: 1.3.0(a@1)",
    ],
    ['yarn.lock', 'yarn add left-pad', '"left-pad@^1":\n  version "1.3.0"'],
    ['bun.lock', 'bun add left-pad', '"left-pad": ["left-pad@1.3.0", ""'],
    ['Cargo.lock', 'cargo add serde', 'name = "serde"\nversion = "1.3.0"'],
    ['poetry.lock', 'poetry add requests', 'name = "requests"\nversion = "1.3.0"'],
    ['uv.lock', 'uv add requests>=1', 'name = "requests"\nversion = "1.3.0"'],
    ['go.mod', 'go get github.com/a/b@latest', '\tgithub.com/a/b v1.3.0'],
    ['composer.lock', 'composer require a/b', '"name": "a/b",\n            "version": "1.3.0"'],
    ['Gemfile.lock', 'bundle add rails', '    rails (1.3.0)'],
    ['requirements.txt', 'pip install requests==1.3.0', 'requests==1.3.0 ; python_version > "3"'],
  ];
  it.each(LOCKS)('is read from %s', (lock, command, text) => {
    const folder = makeFolder();
    const around = (part: string): string => (part.startsWith('{') ? part : `before\n${part}\nafter\n`);
    writeFileSync(join(folder, lock), around(text));
    const found = findLocked(openLocks(folder), command);
    expect(found).toEqual({ lock, dependency: found?.dependency, version: expect.stringMatching(/^v?1\.3\.0$/) });
    writeFileSync(join(folder, lock), around(text.replaceAll('1.3.0', '2.0.0')));
    const readNow = (): string[] | null => openLocks(folder)(lock, found?.dependency ?? '');
    expect(readNow()).toEqual([expect.stringMatching(/^v?2\.0\.0$/)]);
    writeFileSync(join(folder, lock), text.replaceAll('1.3.0', '2.0.0').replaceAll('\n', '\r\n'));
    expect(readNow()).toEqual([expect.stringMatching(/^v?2\.0\.0$/)]);
    writeFileSync(join(folder, lock), lock === 'package-lock.json' ? '{"packages":{}}' : '\n');
    expect(readNow()).toEqual([]);
  });

  it('is read from package-lock.json however that is written, and cannot be told of a link', () => {
    const folder = makeFolder();
    const read = (packages: object, space?: number): string[] | null => {
      writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages }, null, space));
      return openLocks(folder)('package-lock.json', 'zod');
    };
    const entry = { bin: { zod: 'zod.js' }, dev: true, version: '4.0.1' };
    for (const space of [undefined, 2]) expect(read({ 'node_modules/zod': entry }, space)).toEqual(['4.0.1']);
    expect(read({ 'node_modules/a/node_modules/zod': entry })).toEqual([]);
    expect(read({ 'node_modules/zod': { resolved: 'packages/zod', link: true } })).toBeNull();
    writeFileSync(join(folder, 'package-lock.json'), '<<<<<<< HEAD\n{}');
    expect(openLocks(folder)('package-lock.json', 'zod')).toBeNull();
  });

  it('is that of any of several with one name, and not kept where there are several', () => {
    const folder = makeFolder();
    const entry = (version: string): string => `[[package]]\nname = "rand"\nversion = "${version}"\n`;
    writeFileSync(join(folder, 'Cargo.lock'), entry('0.8.5'));
    expect(findLocked(openLocks(folder), 'cargo add rand')?.version).toBe('0.8.5');
    writeFileSync(join(folder, 'Cargo.lock'), `${entry('0.7.3')}\n${entry('0.8.5')}`);
    expect(openLocks(folder)('Cargo.lock', 'rand')).toEqual(['0.7.3', '0.8.5']);
    expect(findLocked(openLocks(folder), 'cargo add rand')).toBeNull();
  });

  it('is looked at of each one that was installed together', () => {
    const root = makeFolder();
    const machine = makeMachine(root);
    const write = (zod: string, types: string): void => {
      const packages = { 'node_modules/zod': { version: zod }, 'node_modules/@types/node': { version: types } };
      writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages }));
    };
    write('4.0.1', '20.0.0');
    const text = 'npm i --save-dev zod @types/node';
    const id = computeFactId('command', text);
    const install: Fact = {
      ...{ id, kind: 'command', text, status: 'ok', trust: 'observed', origin: 'tool', sources: [] },
    };
    const facts = addProbes([install], { folder: root, startedMs: 0, endedMs: ENDED, machine });
    const stamp = { id: '20260203-120000-aaaa', created_at: new Date(ENDED).toISOString() };
    const draft = declareHandover(makeDeclaration(), describePlace(root, machine), machine);
    const handover = sealHandover({ ...draft, ...stamp, facts });
    write('4.0.1', '21.0.0');
    const claims = checkClaims(handover, describePlace(root, machine), machine);
    expect(claims.map(({ what, state, now }) => [what, state, now])).toEqual([
      [`${text}: zod`, 'holds', null],
      [`${text}: @types/node`, 'changed', '@types/node 20.0.0 is 21.0.0 now'],
    ]);
  });

  it('is not read for what is no dependency, and never breaks on odd names', () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'package-lock.json'), '{}');
    for (const command of ['npm install', 'npm test', 'npm install ./a.tgz', 'pip install -r requirements.txt'])
      expect(findLocked(openLocks(folder), command)).toBeNull();
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        expect(findLocked(openLocks(folder), `npm install ${one} ${other}`)).toBeNull();
        expect(openLocks(folder)(one, other) ?? []).toEqual([]);
      }),
    );
  });
});
