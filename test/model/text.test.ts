import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanLine, cleanText, countUtf8Bytes, cutToBytes, revealControls } from '../../src/model/text.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 60 });
const FORBIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e007f}]/u;

describe('cleaning text', () => {
  it('leaves no control or invisible characters, is well formed, and is idempotent', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const clean = cleanText(text);
        expect(clean).not.toMatch(FORBIDDEN);
        expect(clean.isWellFormed()).toBe(true);
        expect(cleanText(clean)).toBe(clean);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['colours', '\u001b[31mred\u001b[0m', 'red'],
    ['a link by OSC 8', '\u001b]8;;http://x\u0007text\u001b]8;;\u0007', 'text'],
    ['a clipboard write by OSC 52', 'a\u001b]52;c;aGk=\u001b\\b', 'ab'],
    ['C1 forms', 'a\u009b31mb\u009d0;title\u009cc', 'abc'],
    ['a device string', 'a\u001bPq123\u001b\\b', 'ab'],
    ['carriage returns', 'one\r\ntwo\rthree', 'one\ntwo\nthree'],
    ['bidirectional overrides', 'a\u202eb\u2066c', 'abc'],
    ['zero-width spaces', 'pa\u200bss\ufeff', 'pass'],
    ['a NUL', 'a\u0000b', 'ab'],
    ['tag characters', 'hi\u{e0041}\u{e0042}', 'hi'],
    ['a lone surrogate', 'a\ud800b', 'a\ufffdb'],
  ])('removes %s', (_what, text, expected) => {
    expect(cleanText(text)).toBe(expected);
  });

  it.each(['שלום עולם', 'مرحبا', 'می‌خواهم', 'क्‍ष', '👩‍👩‍👧‍👦 family', '日本語', 'naïve café', 'tab\tand\nline'])(
    'keeps %s',
    (text) => {
      expect(cleanText(text)).toBe(text);
    },
  );

  it('gives one trimmed line with cleanLine', () => {
    expect(cleanLine('  a\n\tb   c ')).toBe('a b c');
  });

  it('handles a long unclosed escape sequence', () => {
    const hostile = `\u001b]${'x'.repeat(4)}`.repeat(200_000);
    expect(cleanText(hostile)).not.toMatch(FORBIDDEN);
  });

  it('makes control characters visible with revealControls', () => {
    expect(revealControls('a\u001b[31m\u0000\u007f')).toBe('a␛[31m␀␡');
    fc.assert(
      fc.property(anyText, (text) => {
        expect(revealControls(text)).not.toMatch(FORBIDDEN);
      }),
    );
  });
});

describe('counting and cutting bytes', () => {
  it('agrees with the encoder', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(countUtf8Bytes(text)).toBe(Buffer.byteLength(text));
      }),
    );
  });

  it('never exceeds the limit, never splits a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 3, max: 40 }), (text, limit) => {
        const cut = cutToBytes(text, limit);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(limit);
        expect(cut.isWellFormed()).toBe(true);
        expect(cut === text || cut.endsWith('…')).toBe(true);
      }),
    );
  });
});
