import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { getFileProbe } from '../../../src/model/fact.ts';
import type { Handover } from '../../../src/model/handover.ts';
import { sha256Hex } from '../../../src/model/hash.ts';
import { errorCode, makeSandbox, runGit, type Sandbox } from '../../support/cli.ts';

let sandbox: Sandbox;

beforeEach(() => {
  sandbox = makeSandbox();
});

async function saveAndRead(...args: string[]): Promise<Handover> {
  return await sandbox.json<Handover>(['show', await sandbox.save(...args)]);
}

describe('handover save', () => {
  it('prints the id, and as JSON also time, path and number of facts', async () => {
    expect(await makeSandbox().ok(['save', '--summary', 'x'])).toMatch(/^saved handover \d{8}-\d{6}-[0-9a-z]{4}\n$/);
    const saved = await sandbox.json<{ id: string; created_at: string; path: string; facts: number }>([
      'save',
      '--summary',
      'x',
      '--next',
      'a',
    ]);
    expect(Object.keys(saved)).toEqual(['id', 'created_at', 'path', 'facts']);
    expect(saved.facts).toBe(1);
    expect(statSync(saved.path).isFile()).toBe(true);
  });

  it('saves each fact with its kind and origin', async () => {
    const kinds = ['goal', 'next', 'decision', 'constraint', 'rejected', 'blocker', 'question', 'note'];
    const { facts, title, summary, session } = await saveAndRead(
      ...['--title', 'A title', '--summary', 'Line one\nline two', '--agent', 'Codex'],
      ...kinds.flatMap((kind) => [`--${kind}`, `the ${kind}`]),
      ...['--next', 'another', '--by', 'agent'],
    );
    expect({ title, summary, agent: session.agent }).toEqual({
      title: 'A title',
      summary: 'Line one\nline two',
      agent: 'Codex',
    });
    expect(facts.map((fact) => [fact.kind, fact.text, fact.trust, fact.origin])).toEqual([
      ['goal', 'the goal', 'declared', 'agent'],
      ['next', 'the next', 'declared', 'agent'],
      ['next', 'another', 'declared', 'agent'],
      ...kinds.slice(2).map((kind) => [kind, `the ${kind}`, 'declared', 'agent']),
    ]);
  });

  it('takes the title from the first line of the summary', async () => {
    expect((await saveAndRead('--summary', '  First line  \nmore')).title).toBe('First line');
    const { title } = await saveAndRead('--summary', 'long '.repeat(100));
    expect(title.length).toBeLessThanOrEqual(100);
    expect(title.endsWith('…')).toBe(true);
  });

  it('reads the summary, or one step a line, from standard input', async () => {
    const run = async (args: string[], input: string): Promise<Handover> => {
      sandbox = makeSandbox();
      const { id } = await sandbox.json<{ id: string }>(['save', ...args], { input });
      return await sandbox.json<Handover>(['show', id]);
    };
    expect((await run(['--summary', '-'], 'from\nstdin\n')).summary).toBe('from\nstdin');
    const { facts } = await run(['--title', 't', '--next', '-', '--next', 'last'], '- one\n\n2. two\n* three\r\n');
    expect(facts.map((fact) => fact.text)).toEqual(['one', 'two', 'three', 'last']);
  });

  it('refuses an address in the place of a file, and does not repeat it', async () => {
    sandbox = makeSandbox();
    const { status, stderr } = await sandbox.run(['save', 'x', '--file', 'https://app:hunter2@db.example.com/shop']);
    expect([status, stderr.includes('hunter2')]).toEqual([64, false]);
    expect(stderr).toContain('--note TEXT');
  });

  it('takes secrets out of steps before they are split', async () => {
    sandbox = makeSandbox();
    const body = Array.from({ length: 4 }, () => randomBytes(48).toString('base64'));
    const key = ['-----BEGIN RSA PRIVATE KEY-----', ...body, '-----END RSA PRIVATE KEY-----'].join('\n');
    const { id } = await sandbox.json<{ id: string }>(['save', 'x', '--next', '-'], {
      input: `- one\n${key}\n- two\n`,
    });
    const { facts } = await sandbox.json<Handover>(['show', id]);
    expect(facts.map(({ text }) => text)).toEqual(['one', expect.stringMatching(/^\[redacted:[\w-]+:\w+\]$/), 'two']);
  });

  it('refuses to read both summary and steps from standard input', async () => {
    const result = await sandbox.run(['save', '--summary', '-', '--next', '-', '--json'], { input: 'x' });
    expect([result.status, errorCode(result)]).toEqual([64, 'HANDOVER_USAGE']);
    expect(result.stderr).toContain('cannot be used together');
  });

  it('pins a note with --pin TEXT, and all facts with --pin alone', async () => {
    const one = await saveAndRead('--summary', 'x', '--next', 'step', '--pin', 'never forget');
    expect(one.facts.map((fact) => [fact.text, fact.pinned ?? false])).toEqual([
      ['step', false],
      ['never forget', true],
    ]);
    sandbox = makeSandbox();
    const all = await saveAndRead('--summary', 'x', '--next', 'step', '--pin');
    expect(all.facts.map((fact) => [fact.text, fact.pinned ?? false])).toEqual([['step', true]]);
    expect(await sandbox.ok(['render', all.id])).toContain('## Pinned\n> - next: step');
  });

  it('records a file relative to the project, with the digest of its content', async () => {
    mkdirSync(join(sandbox.project, 'src'), { recursive: true });
    writeFileSync(join(sandbox.project, 'src', 'a.ts'), 'content');
    const { facts } = await saveAndRead(
      '--summary',
      'x',
      '--file',
      'src/a.ts',
      '--file',
      './src/../gone.ts',
      '--file',
      '..odd',
    );
    expect(facts.map((fact) => [fact.text, getFileProbe(fact)?.sha256 ?? null])).toEqual([
      ['src/a.ts', sha256Hex('content')],
      ['gone.ts', null],
      ['..odd', null],
    ]);
  });

  it('works outside git, in a subfolder, and for another folder', async () => {
    const other = join(sandbox.folder, 'other', 'deep');
    mkdirSync(other, { recursive: true });
    expect(await saveAndRead('--summary', 'x', '--project', other)).toMatchObject({
      project: { name: 'deep', remote: null },
      workspace: { root: other, folder: '', git: null },
    });
    const root = join(sandbox.folder, 'other');
    runGit(root, 'init', '--quiet');
    expect(await saveAndRead('--summary', 'x', '--project', other)).toMatchObject({
      project: { name: 'other' },
      workspace: { root, folder: 'deep', git: { branch: 'main', head: null } },
    });
  });

  it('detects from the environment that an agent runs it, and which', async () => {
    const { id } = await sandbox.json<{ id: string }>(['save', '--summary', 'x', '--next', 'y'], {
      env: { CLAUDECODE: '1' },
    });
    const { session, facts } = await sandbox.json<Handover>(['show', id]);
    expect([session.agent, facts[0]?.origin]).toEqual(['claude-code', 'agent']);
    const own = await saveAndRead('--summary', 'x', '--next', 'y', '--tool', 'My Tool');
    expect([own.session.agent, own.facts[0]?.origin]).toEqual(['My Tool', 'human']);
  });

  it.each([
    [[], 64, 'HANDOVER_USAGE'],
    [['--title', ' '], 64, 'HANDOVER_USAGE'],
    [['--file', 'a.ts'], 64, 'HANDOVER_USAGE'],
    [['a text', '--summary', 'another'], 64, 'HANDOVER_USAGE'],
    [['--summary', 'x', '--next', ''], 64, 'HANDOVER_USAGE'],
    [['--summary', 'x', '--agent', ' '], 64, 'HANDOVER_USAGE'],
    [['--summary', 'x', '--by', 'dog'], 64, 'HANDOVER_USAGE'],
    [['--summary', 'x', '--unknown'], 64, 'HANDOVER_USAGE'],
    [['--summary', 'x', 'stray'], 64, 'HANDOVER_USAGE'],
    [['--summary', 'x', '--project', '/no/such/folder'], 66, 'HANDOVER_PROJECT_MISSING'],
    [['--summary', 'x', '--title', 'x'.repeat(2000)], 65, 'HANDOVER_TEXT_TOO_LARGE'],
    [['--summary', 'x', '--agent', 'x'.repeat(65)], 65, 'HANDOVER_TEXT_TOO_LARGE'],
    [['--summary', 'x', '--note', 'x'.repeat(70_000)], 65, 'HANDOVER_TEXT_TOO_LARGE'],
  ])('refuses %j and saves nothing', async (args, status, code) => {
    const clean = makeSandbox();
    const result = await clean.run(['save', ...args, '--json']);
    expect([result.status, errorCode(result)]).toEqual([status, code]);
    expect(existsSync(clean.store)).toBe(false);
  });
});
