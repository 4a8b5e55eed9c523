import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cleanLine,
  cleanText,
  countNouns,
  countUtf8Bytes,
  cutAtWord,
  cutToBytes,
  revealControls,
} from '../../src/model/text.ts';

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

  it('leaves nothing that Unicode does not know to print something, by every code point', () => {
    const left: string[] = [];
    for (let code = 0xa0; code <= 0x10ffff; code++) {
      const char = String.fromCodePoint(code);
      const isPrinted =
        /[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}\p{Extended_Pictographic}]/u.test(char) && !/\p{DI}/u.test(char);
      const isSign = /\p{Cf}/u.test(char) && !/\p{DI}/u.test(char) && !(code >= 0xfff9 && code <= 0xfffb);
      if (!isPrinted && !isSign && cleanText(`a${char}b`) === `a${char}b`) left.push(code.toString(16));
    }
    expect(left).toEqual([]);
  });

  it.each([
    ['supplementary variation selectors', 0xe0100, 0xe01ef],
    ['what lies behind them', 0xe01f0, 0xe0fff],
    ['variation selectors', 0xfe00, 0xfe0f],
    ['beams and slurs of notes', 0x1d173, 0x1d17a],
    ['controls of shorthand', 0x1bca0, 0x1bca3],
    ['controls and blanks of hieroglyphs', 0x13430, 0x13455],
    ['selectors of Mongolian', 0x180b, 0x180f],
    ['a blank of Braille', 0x2800, 0x2800],
    ['private characters', 0xe000, 0xe010],
  ])('removes %s, in the middle of a word and after an emoji', (_what, from, to) => {
    for (let code = from; code <= to; code++) {
      const char = String.fromCodePoint(code);
      expect(cleanText(`a${char}b`)).toBe('ab');
      if (code !== 0xfe0f) expect(cleanText(`👍${char}`)).toBe('👍');
      expect(revealControls(`a${char}b`)).toBe('a\ufffdb');
    }
  });

  it('stays idempotent where selectors and joiners meet', () => {
    const unit = fc.constantFrom(
      'a',
      '1',
      '👍',
      '❤',
      '\ufe0f',
      '\ufe0e',
      '\u200d',
      '\u200c',
      '\u20e3',
      'क',
      '्',
      'م',
      '\u2800',
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 8 }), (text) => {
        expect(cleanText(cleanText(text))).toBe(cleanText(text));
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    'שלום עולם',
    '❤️ and 1️⃣',
    '👩🏽‍💻',
    '🏳️‍🌈',
    '١٢٣ ۝',
    'e\u0301',
    'ᠮᠣᠩᠭᠣᠯ',
    '𓀀',
    '⠓⠊',
    '\u3000全角',
    '©️',
    'مرحبا',
    'می‌خواهم',
    'क्‍ष',
    '👩‍👩‍👧‍👦 family',
    '日本語',
    'naïve café',
    'tab\tand\nline',
  ])('keeps %s', (text) => {
    expect(cleanText(text)).toBe(text);
  });

  it('gives one trimmed line with cleanLine', () => {
    expect(cleanLine('  a\n\tb   c ')).toBe('a b c');
  });

  it('handles a long unclosed escape sequence', () => {
    const hostile = `\u001b]${'x'.repeat(4)}`.repeat(200_000);
    expect(cleanText(hostile)).not.toMatch(FORBIDDEN);
  });

  it('keeps what follows a control that wrongly decoded text has, and the lines below an unclosed sequence', () => {
    expect(cleanText('It shows â€œHelloâ€\u009d here.\nNever on Friday.')).toBe(
      'It shows â€œHelloâ€ here.\nNever on Friday.',
    );
    expect(cleanText('before \u001b]0;title\nNever on Friday.')).toBe('before \nNever on Friday.');
    expect(cleanText('a\u009d0;title\u009cb')).toBe('ab');
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
  it('cuts between words, and inside one only where nothing else is left', () => {
    expect(cutAtWord('retry when the server is busy', 20)).toBe('retry when the…');
    expect(cutAtWord('"https://example.com/a/very/long/path/of/a/page"', 12)).toBe('"https://…');
    expect(cutAtWord('"a_name_of_forty_letters_without_any_blank', 12)).toBe('"a_name_o…');
  });

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

describe('counting nouns', () => {
  it('has the singular for one, and the plural as it is written', () => {
    expect([0, 1, 2].map((count) => countNouns(count, 'call'))).toEqual(['0 calls', '1 call', '2 calls']);
    expect([1, 2].map((count) => countNouns(count, 'journal entry'))).toEqual(['1 journal entry', '2 journal entries']);
    expect(countNouns(3, 'day')).toBe('3 days');
  });
});
