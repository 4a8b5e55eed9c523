import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { QUESTIONS } from '../../src/surfaces/cli/help-texts.ts';
import { makeTempFolder, runProcess } from '../support/cli.ts';

const README = readFileSync('README.md', 'utf8');

describe('npm run demo', () => {
  it('shows a killed session, its brief in Codex, answers about it and what changed since, and leaves nothing', async () => {
    const folder = makeTempFolder();
    const { status, stdout, stderr } = await runProcess([process.execPath, 'scripts/demo.mjs'], {
      cwd: process.cwd(),
      env: { TMPDIR: folder, COLUMNS: '100' },
      timeoutMs: 60_000,
    });
    expect([status, stderr]).toEqual([0, '']);
    const shown = [
      '$ handover init --yes',
      'added hooks for Claude Code to ~/.claude/settings.json',
      'killed: kill -9',
      '$ handover to codex',
      'captured 1 session that no hook had saved: ',
      'Handover',
      '$ handover resume',
      '`node --test src/timeout.test.js` FAILED',
      '[in_progress] Test that charge gives up after 2 seconds',
      '$ handover search',
      '$ handover why src/checkout.js',
      'Never retry a 500 in src/checkout.js',
      'Three attempts are enough',
      'changed: src/checkout.js',
    ];
    let rest = stdout;
    for (const text of shown) {
      expect(rest).toContain(text);
      rest = rest.slice(rest.indexOf(text) + text.length);
    }
    expect(stdout).not.toContain('\u001b');
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('the README', () => {
  it('has at most 120 lines, and the two commands for a fresh clone among the first', () => {
    const lines = README.split('\n');
    expect(lines.length - 1).toBeLessThanOrEqual(120);
    const first = lines.slice(0, 10).join('\n');
    expect(first).toContain('npm install && npm run demo');
    expect(first).toContain('npm install && npm test');
  });

  it('shows the everyday commands as they are', () => {
    for (const [question, line] of QUESTIONS)
      expect(README).toMatch(new RegExp(`^ {2}${toPattern(question)} +${toPattern(line)}$`, 'm'));
  });

  it('has a picture that is up to date with what the demo prints (npm run picture)', () => {
    const drawn = join(makeTempFolder(), 'terminal.svg');
    execFileSync(process.execPath, ['scripts/write-picture.mjs', drawn], { env: { PATH: process.env.PATH } });
    expect(README).toContain('](docs/terminal.svg)');
    expect(readFileSync('docs/terminal.svg', 'utf8')).toBe(readFileSync(drawn, 'utf8'));
  });
});

function toPattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

describe('the documents', () => {
  it('link only to files and headings that there are', () => {
    const pages = [
      'README.md',
      'CONTRIBUTING.md',
      'SECURITY.md',
      'CHANGELOG.md',
      ...readdirSync('docs').map((name) => `docs/${name}`),
    ];
    const broken = pages
      .filter((page) => page.endsWith('.md'))
      .flatMap((page) => {
        const links = readProse(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g);
        return [...links].flatMap(([, path = '', heading]) => {
          const file = path === '' ? page : join(dirname(page), path);
          if (!existsSync(file)) return [`${page}: ${path}`];
          return heading === undefined || listAnchors(file).includes(heading) ? [] : [`${page}: ${path}#${heading}`];
        });
      });
    expect(broken).toEqual([]);
  });
});

/** Without the examples in it. */
function readProse(page: string): string {
  return readFileSync(page, 'utf8').replace(/^(```|~~~)[\s\S]*?^\1$/gm, '');
}

function listAnchors(file: string): string[] {
  const headings = readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, text = '']) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
