import fc from 'fast-check';
import measure from 'fast-string-truncated-width';
import { describe, expect, it } from 'vitest';
import { fitLine, wrapText } from '../../../src/surfaces/cli/layout.ts';
import { createOutput, showItem, wantsColours } from '../../../src/surfaces/cli/output.ts';
import { makeSandbox } from '../../support/cli.ts';

const COLUMNS = 40;
const word = fc.oneof(fc.stringMatching(/^[a-z]{1,12}$/), fc.constantFrom('日本語', 'größe', '👩‍💻', 'a/b.ts:3'));
const lead = fc.constantFrom('', '  ', '    ', '- ', '> ', '> - ', '# ');
const line = fc
  .tuple(lead, fc.array(word, { minLength: 1, maxLength: 40 }))
  .map(([mark, words]) => `${mark}${words.join(' ')}`);

describe('text in a terminal', () => {
  it('is broken between words only, stays within the width, and keeps its marks', () => {
    fc.assert(
      fc.property(line, (text) => {
        const rows = wrapText(text, COLUMNS).split('\n');
        const [mark = ''] = /^(?: *)(?:[>#] )*/.exec(text) ?? [];
        for (const row of rows) {
          expect(measure(row).width).toBeLessThanOrEqual(COLUMNS);
          expect(row.startsWith(mark)).toBe(true);
        }
        const words = (shown: string): string[] => shown.split(/\s+/).filter((one) => !/^[>#-]?$/.test(one));
        expect(rows.flatMap(words)).toEqual(words(text.normalize()));
      }),
    );
  });

  it('that fits is as it was, and so is a word that is too long for any line', () => {
    expect(wrapText('  a  b\tc \n\nx', COLUMNS)).toBe('  a  b\tc \n\nx');
    const path = `/very${'/long'.repeat(20)}`;
    expect(wrapText(`see ${path}`, COLUMNS)).toBe(`see\n${path}`);
  });

  it('keeps its style over a break', () => {
    const dimmed = `\u001b[2m  ${'word '.repeat(12).trim()}\u001b[22m`;
    expect(wrapText(dimmed, COLUMNS).split('\n')).toEqual([
      `  \u001b[2m${'word '.repeat(7).trim()}\u001b[22m`,
      `  \u001b[2m${'word '.repeat(5).trim()}\u001b[22m`,
    ]);
  });

  it('that must fit one line is cut, between words where one ends near', () => {
    expect(fitLine('short', COLUMNS)).toBe('short');
    expect(fitLine(`${'word '.repeat(20)}`, COLUMNS)).toBe(`${'word '.repeat(7).trim()}…`);
    fc.assert(
      fc.property(line, (text) => {
        const shown = fitLine(text, COLUMNS);
        expect(measure(shown).width).toBeLessThanOrEqual(COLUMNS);
        expect(text.startsWith(shown.replace(/…$/, ''))).toBe(true);
      }),
    );
  });

  it('has the title of an item beside it where there is room, and below it where there is not', () => {
    const show = (columns: number): string => {
      let shown = '';
      const sink = {
        isTerminal: true,
        size: () => ({ columns, rows: 20 }),
        writeBytes: () => true,
        write: (text: string) => {
          shown += text;
          return true;
        },
      };
      const out = createOutput(sink, false, { wrapText, fitLine });
      out.line(...showItem(out, { id: '20260131-120000-abcd', agent: 'codex', title: 'word '.repeat(20).trim() }), 'x');
      return shown;
    };
    expect(show(60)).toBe(`20260131-120000-abcd  codex\n  ${'word '.repeat(11).trim()}…\nx\n`);
    expect(show(160)).toBe(`20260131-120000-abcd  codex         ${'word '.repeat(20).trim()}\nx\n`);
  });
});

describe('colours', () => {
  it.each<[isTerminal: boolean, env: Record<string, string>, wanted: boolean]>([
    [true, {}, true],
    [false, {}, false],
    [true, { TERM: 'dumb' }, false],
    [true, { NO_COLOR: '1' }, false],
    [true, { NO_COLOR: '' }, true],
    [true, { CLICOLOR: '0' }, false],
    [true, { CLICOLOR: '1' }, true],
    [false, { CLICOLOR: '1' }, false],
    [false, { CLICOLOR_FORCE: '1' }, true],
    [false, { CLICOLOR_FORCE: '0' }, false],
    [true, { CLICOLOR_FORCE: '1', NO_COLOR: '1' }, false],
    [false, { FORCE_COLOR: '1' }, true],
    [false, { FORCE_COLOR: '3', NO_COLOR: '1' }, true],
    [true, { FORCE_COLOR: '0' }, false],
    [true, { FORCE_COLOR: 'false' }, false],
  ])('in a terminal: %s, with %j: %s', (isTerminal, env, wanted) => {
    expect(wantsColours({ isTerminal }, env)).toBe(wanted);
  });

  it('are written to a pipe when they are forced, and never into JSON', async () => {
    const sandbox = makeSandbox();
    await sandbox.save('Something');
    const env = { FORCE_COLOR: '1' };
    expect(await sandbox.ok(['list'], { env })).toContain('\u001b[1m');
    expect(await sandbox.ok(['list', '--json'], { env })).not.toContain('\u001b');
  });
});
