import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitMessage, shareOut } from '../../../src/handover/brief/fit.ts';
import { splitMessage } from '../../../src/model/message-lines.ts';
import { cleanText, countUtf8Bytes } from '../../../src/model/text.ts';

const anyShare = fc.record({ full: fc.integer({ min: 0, max: 5000 }), weight: fc.integer({ min: 0, max: 60 }) });
const anyMessage = fc
  .array(
    fc.oneof(
      fc.constantFrom('', '# Heading', '- an item of a list', '1. first', '| a | b |', '|---|---|', '```', '**Bold**'),
      fc.constantFrom('This leads to what follows:', 'Shall I go on?', '好的，已经完成了。', '---', '~~~'),
      fc.string({ unit: 'grapheme', maxLength: 200 }),
      fc.lorem({ maxCount: 30 }),
    ),
    { maxLength: 20 },
  )
  .map((lines) => lines.join('\n'));

describe('sharing out bytes', () => {
  it('gives none more than it can use, and all together no more than there is', () => {
    fc.assert(
      fc.property(fc.array(anyShare), fc.integer({ min: -100, max: 20_000 }), (shares, total) => {
        const got = shareOut(shares, total);
        expect(got).toHaveLength(shares.length);
        expect(got.every((bytes, at) => bytes >= 0 && bytes <= (shares[at]?.full ?? 0))).toBe(true);
        expect(got.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(Math.max(0, total));
      }),
    );
  });

  it('leaves nothing over that somebody could use', () => {
    fc.assert(
      fc.property(fc.array(anyShare), fc.nat({ max: 20_000 }), (shares, total) => {
        const weighed = shares.filter(({ weight }) => weight > 0);
        const wanted = weighed.reduce((sum, { full }) => sum + full, 0);
        const got = shareOut(weighed, total).reduce((sum, bytes) => sum + bytes, 0);
        expect(got).toBeGreaterThanOrEqual(Math.min(wanted, total) - 2 * weighed.length);
      }),
    );
  });

  it('gives more to what has more weight', () => {
    expect(
      shareOut(
        [
          { full: 1000, weight: 1 },
          { full: 1000, weight: 3 },
        ],
        400,
      ),
    ).toEqual([100, 300]);
  });

  it('gives what one leaves to the others', () => {
    expect(
      shareOut(
        [
          { full: 40, weight: 1 },
          { full: 1000, weight: 1 },
        ],
        400,
      ),
    ).toEqual([40, 360]);
  });
});

describe('fitting a message', () => {
  it('never takes more bytes than it may, and keeps the order of the lines', () => {
    fc.assert(
      fc.property(
        anyMessage,
        fc.integer({ min: 0, max: 1500 }),
        fc.boolean(),
        fc.boolean(),
        (message, bytes, code, isOver) => {
          const lines = fitMessage(message, bytes, { code, isOver });
          expect(countUtf8Bytes(lines.join(' · '))).toBeLessThanOrEqual(bytes);
          const all = splitMessage(cleanText(message)).map(({ text, lead }) => [text, `${lead}: ${text}`]);
          let from = 0;
          for (const line of lines) {
            const start = line.slice(0, -1).trimEnd();
            const at = all.findIndex(
              (texts, index) => index >= from && texts.some((text) => text === line || text.startsWith(start)),
            );
            expect(at).toBeGreaterThanOrEqual(from);
            from = at + 1;
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('gives all of it where it fits', () => {
    expect(fitMessage('The retry waits.\n- five times\n- two seconds', 200)).toEqual([
      'The retry waits.',
      'five times',
      'two seconds',
    ]);
  });

  it('keeps the first line and items before what stands around them', () => {
    const filler = 'Some more words that are said in between and explain nothing of it at all.';
    const message = `The upload now tries again when the server is busy.\n${filler}\n${filler}\n- It waits for two seconds between two tries.\n${filler}`;
    expect(fitMessage(message, 110)).toEqual([
      'The upload now tries again when the server is busy.',
      'It waits for two seconds between two tries.',
    ]);
  });

  it('leaves out code unless it is asked for', () => {
    const message = 'This is the call to use from now on:\n```\nretry(5);\n```';
    expect(fitMessage('It is there.\n```\nretry(5);\n```', 200)).toEqual(['It is there.']);
    expect(fitMessage(message, 200, { code: true }).join('\n')).toContain('retry(5);');
  });

  it('leaves out questions and passing states of a turn that is over, in any language', () => {
    const lines = [
      'The retry waits for two seconds.',
      'Shall I commit it?',
      'The server is not running.',
      '要提交吗？',
      '服务器目前没有运行。',
      'Le serveur est actuellement arrêté.',
      'O servidor está no momento parado.',
      '서버는 현재 꺼져 있습니다.',
    ];
    expect(fitMessage(lines.join('\n'), 2000, { isOver: true })).toEqual(['The retry waits for two seconds.']);
    expect(fitMessage(lines.join('\n'), 2000)).toEqual(lines);
  });
});
