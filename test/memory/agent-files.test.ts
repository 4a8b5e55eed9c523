import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { installBlocks, putBlock, removeBlocks, takeBlock } from '../../src/memory/agent-files.ts';
import { makeTempFolder } from '../support/cli.ts';

const LINES = ['## Handover', '', 'Run it.'];
const piece = fc.oneof(
  fc.constantFrom('\n', '\r\n', '\n\n', '\ufeff', '# Rules', ' ', '<!-- agent-handover -->'),
  fc.string(),
);
const content = fc
  .array(piece, { maxLength: 12 })
  .map((pieces) => Buffer.from(pieces.join('')).toString('latin1'))
  .filter((text) => !text.includes('agent-handover:'));

describe('a marked block in an instruction file', () => {
  it('is removed byte for byte from any file: CRLF, BOM, no final line feed, empty', () => {
    fc.assert(
      fc.property(content, (before) => {
        const after = putBlock(before, LINES, 'x');
        expect(takeBlock(after, 'x')).toBe(before);
        expect(putBlock(after, LINES, 'x')).toBe(after);
      }),
      { numRuns: 500 },
    );
    for (const before of ['', '\n', '\r\n', 'a', 'a\n', 'a\r\n', 'a\r\n\r\n', '\xef\xbb\xbfa', 'a\n\n\n'])
      expect(takeBlock(putBlock(before, LINES, 'x'), 'x'), JSON.stringify(before)).toBe(before);
    expect(takeBlock(putBlock(null, LINES, 'x'), 'x')).toBeNull();
  });

  it('is updated in place, and the text around it stays', () => {
    const before = `# Mine\n\n<!-- agent-handover:begin -->\nof the original\n<!-- agent-handover:end -->\n\n## After\n`;
    const after = putBlock(before, LINES, 'x');
    expect(after).toBe(before.replace('of the original', LINES.join('\n')));
    expect(takeBlock(after, 'x')).toBe('# Mine\n\n## After\n');
  });

  it('with unmatched markers is refused', () => {
    const [begin, end] = ['<!-- agent-handover:begin -->\n', '<!-- agent-handover:end -->\n'];
    for (const text of [begin, end, `${end}${begin}`, `${begin}${begin}${end}`, `${begin}${end}${begin}${end}`])
      expect(() => putBlock(text, LINES, 'x'), text).toThrow('do not match');
  });
});

describe('instruction files of agents', () => {
  const agents = ['codex', 'claude-code', 'gemini', 'cline'] as const;

  it('get the block once, and are restored when it is removed', () => {
    const root = makeTempFolder();
    const mine = Buffer.from('\xef\xbb\xbf# Rules\r\nbe \xff kind', 'latin1');
    writeFileSync(join(root, 'AGENTS.md'), mine, { mode: 0o640 });
    writeFileSync(join(root, 'CLAUDE.md'), '');
    expect(installBlocks(root, { agents }).map(({ outcome }) => outcome)).toEqual(['added', 'added', 'added', 'added']);
    const installed = readFileSync(join(root, 'AGENTS.md'));
    expect(installed.subarray(0, mine.length)).toEqual(mine);
    expect(installed.toString('latin1').replaceAll('\r\n', '')).not.toContain('\n');
    expect(statSync(join(root, 'AGENTS.md')).mode & 0o777).toBe(0o640);
    expect(new Set(installBlocks(root, { agents }).map(({ outcome }) => outcome))).toEqual(new Set(['unchanged']));
    expect(readFileSync(join(root, 'AGENTS.md'))).toEqual(installed);
    expect(removeBlocks(root).filter(({ outcome }) => outcome === 'removed')).toHaveLength(4);
    expect(readFileSync(join(root, 'AGENTS.md'))).toEqual(mine);
    expect(readdirSync(root).sort()).toEqual(['AGENTS.md', 'CLAUDE.md']);
    expect(readFileSync(join(root, 'CLAUDE.md'), 'utf8')).toBe('');
    expect(new Set(removeBlocks(root).map(({ outcome }) => outcome))).toEqual(new Set(['absent']));
  });

  it('linked to one file are written once, and never outside the project', () => {
    const root = makeTempFolder();
    const elsewhere = join(makeTempFolder(), 'theirs.md');
    writeFileSync(elsewhere, 'theirs');
    writeFileSync(join(root, 'AGENTS.md'), 'mine\n');
    symlinkSync('AGENTS.md', join(root, 'CLAUDE.md'));
    symlinkSync(elsewhere, join(root, 'GEMINI.md'));
    expect(installBlocks(root, { agents }).map(({ outcome }) => outcome)).toEqual([
      'added',
      'added',
      'refused',
      'added',
    ]);
    expect(readFileSync(join(root, 'AGENTS.md'), 'utf8').match(/:begin/g)).toHaveLength(1);
    expect(readFileSync(elsewhere, 'utf8')).toBe('theirs');
    removeBlocks(root);
    expect(readFileSync(join(root, 'CLAUDE.md'), 'utf8')).toBe('mine\n');
  });

  it('are refused as links to the folder above the project, to one above that, and to git itself', () => {
    const above = makeTempFolder();
    const root = join(above, 'in', 'project');
    mkdirSync(join(root, '.git'), { recursive: true });
    writeFileSync(join(root, '.git', 'config'), '[core]\n');
    symlinkSync('..', join(root, 'AGENTS.md'));
    symlinkSync('../..', join(root, 'CLAUDE.md'));
    symlinkSync('.git/config', join(root, 'GEMINI.md'));
    symlinkSync('..', join(root, '.clinerules'));
    const files = installBlocks(root, { agents });
    expect(files.slice(0, 3)).toEqual(
      ['AGENTS.md', 'CLAUDE.md', 'GEMINI.md'].map((file) => ({
        file,
        outcome: 'refused',
        note: expect.stringContaining('outside the project'),
      })),
    );
    expect(files[3]).toMatchObject({ outcome: 'refused' });
    expect(readFileSync(join(root, '.git', 'config'), 'utf8')).toBe('[core]\n');
    expect(readdirSync(join(above, 'in'))).toEqual(['project']);
  });

  it('are only those of the agents that are named', () => {
    const root = makeTempFolder();
    expect(installBlocks(root, { agents: [] })).toEqual([]);
    installBlocks(root, { agents: ['opencode', 'codex', 'qwen'] });
    expect(readdirSync(root).sort()).toEqual(['AGENTS.md', 'QWEN.md']);
  });

  it('may be a .clinerules that is one file, or a folder with rules of others', () => {
    const one = makeTempFolder();
    writeFileSync(join(one, '.clinerules'), 'rules\n');
    installBlocks(one, { agents });
    expect(readFileSync(join(one, '.clinerules'), 'utf8')).toContain('agent-handover:begin');
    const many = makeTempFolder();
    mkdirSync(join(many, '.clinerules'));
    writeFileSync(join(many, '.clinerules', 'other.md'), 'x');
    installBlocks(many, { agents });
    removeBlocks(many);
    expect(readdirSync(join(many, '.clinerules'))).toEqual(['other.md']);
    expect(existsSync(join(many, 'AGENTS.md'))).toBe(false);
  });
});
