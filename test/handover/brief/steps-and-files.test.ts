import { describe, expect, it } from 'vitest';
import { buildAccount } from '../../../src/handover/brief/account.ts';
import { countLineBytes } from '../../../src/handover/brief/block.ts';
import { compileBrief } from '../../../src/handover/brief/compile.ts';
import { describeSteps } from '../../../src/handover/brief/turns.ts';
import type { Fact } from '../../../src/model/fact.ts';
import { makeDraft, sealDraft } from '../../support/facts.ts';
import { readSection, renderSession, requireReader, sealSession } from '../../support/rendered.ts';
import { agent, edit, fail, read, run, type Step, scriptSession, user } from '../../support/scripted-session.ts';

const first = user('Make the upload retry when the server is busy');
const _second = user('Now write a page about the retry in the manual');

function section(heading: string, ...steps: Step[]): string[] {
  return readSection(renderSession(scriptSession(...steps)).text, heading);
}

function _sectionOf(heading: string, ...facts: Fact[]): string[] {
  return readSection(compileBrief(sealDraft(makeDraft(facts)), requireReader('generic')).text, heading);
}

describe('the last steps', () => {
  it('end with the last one, and lose the oldest ones first', () => {
    const many = Array.from({ length: 30 }, (_, at) => run(`make part${at} ${'x'.repeat(100)}`));
    const brief = renderSession(scriptSession(first, ...many), { budget: 1000 }).text;
    const lines = readSection(brief, 'Last steps').filter((line) => line.startsWith('Tool:'));
    expect(lines.at(-1)).toContain('make part29');
    expect(lines.length).toBeLessThan(30);
    expect(lines[0]).toContain(`make part${30 - lines.length}`);
  });

  it('name a folder once, in the newest one', () => {
    const [folder, other] = ['/home/ann/work/shop/packages/upload/src/', '/home/ann/work/shop/packages/cart/src/'];
    const steps = [read(`${folder}queue.ts`), read(`${other}cart.ts`), read(`${folder}retry.ts`), run('cd /tmp && ls')];
    expect(section('Last steps', first, ...steps).filter((line) => line.startsWith('Tool:'))).toEqual([
      'Tool: tool {"file_path": "…/queue.ts"}',
      `Tool: tool {"file_path": "${other}cart.ts"}`,
      `Tool: tool {"file_path": "${folder}retry.ts"}`,
      'Tool: tool {"command": "cd /tmp && ls"}',
    ]);
  });

  it('are cut where even the last one is longer than the room', () => {
    const account = buildAccount(sealSession(scriptSession(first, edit('src/shop.ts', 'wait(); '.repeat(200)))));
    for (const bytes of [120, 200, 300]) {
      const { lines } = describeSteps(account, 2000).print(bytes);
      expect(lines[0]).toContain('shop.ts');
      expect(countLineBytes(lines)).toBeLessThanOrEqual(bytes);
    }
    expect(describeSteps(account, 2000).print(60).lines).toEqual([]);
  });

  it('show no call that failed as if it had not, however little room there is', () => {
    const failed = fail(`close window ${'x'.repeat(80)}`, `Error: no window of that name ${'y'.repeat(80)}`);
    const account = buildAccount(sealSession(scriptSession(first, failed)));
    for (const bytes of [110, 150, 200, 300]) {
      const { lines } = describeSteps(account, 2000).print(bytes);
      expect(lines[0]).toContain('close window');
      expect(lines[1]).toMatch(/ {2}FAILED: Error: no window/);
      expect(countLineBytes(lines)).toBeLessThanOrEqual(bytes);
    }
  });
});

describe('files and commands', () => {
  it('count the changed files that have no room', () => {
    const edits = Array.from({ length: 60 }, (_, at) => edit(`src/part${at}/of-the-shop.ts`, 'wait();'));
    const lines = readSection(renderSession(scriptSession(first, ...edits), { budget: 1000 }).text, 'Files');
    const shown = lines.join('\n').match(/of-the-shop\.ts/g)?.length ?? 0;
    expect(shown).toBeLessThan(60);
    expect(lines[0]).toMatch(new RegExp(`^Changed \\(${shown} of 60\\): `));
  });

  it('say where files were edited after a check', () => {
    const lines = section('Commands', first, run('CI=1 npm test', '5 passed'), edit('src/upload.ts', 'retry();'));
    expect(lines.join('\n')).toContain('`npm test` (env CI) → passed (files were edited since)');
  });

  it('are listed by folder, with what was done to them', () => {
    const created = edit('src/retry.ts', 'export function retryUpload() {}', { change: 'created' });
    expect(
      section(
        'Files',
        first,
        edit('docs/a.md', 'a'),
        created,
        edit('src/upload.ts', 'b();'),
        agent('See `retryUpload`.'),
      ),
    ).toEqual([
      'Changed: src/: upload.ts (1 edit), retry.ts (new; 1 edit; declares retryUpload)',
      '  docs/: a.md (1 edit)',
    ]);
  });

  it('have their outcome and their variables', () => {
    const [line = ''] = section(
      'Commands',
      first,
      run('CI=1 npm test', '5 passed'),
      fail('CI=1 npm run lint', 'error: no title'),
    );
    expect(line.split(' · ').sort()).toEqual(['`npm run lint` (env CI) → FAILED', '`npm test` (env CI) → passed']);
  });

  it('have a check once: with where it stands, or here', () => {
    const steps = [first, run('npm test', '5 passed'), run('npm run lint', '0 errors'), run('npm run watch')];
    expect(section('Where it stands', ...steps).join()).toContain('`npm test` passed');
    expect(section('Commands', ...steps)).toEqual(['`npm run watch`']);
  });
});
