import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitMessage } from '../../src/model/message-lines.ts';

const textsOf = (message: string): string[] => splitMessage(message).map(({ text }) => text);

describe('the lines of a message', () => {
  it('are preceded by the heading or the words that lead to them', () => {
    expect(textsOf('## Open points\n- The delay is fixed\n- Nothing is logged')).toEqual([
      'Open points: The delay is fixed',
      'Nothing is logged',
    ]);
    expect(textsOf('**Risks**\nThe queue may fill up.')).toEqual(['Risks: The queue may fill up.']);
    expect(textsOf('What changed:\n1. a retry\n2. no retry on 404')).toEqual([
      'What changed: 1. a retry',
      '2. no retry on 404',
    ]);
  });

  it('are items where they stand in a list or a table, without the head of the table', () => {
    const message = 'It is done.\n| name | does |\n|---|---|\n| retry | tries again |\n* an item';
    expect(splitMessage(message).map(({ text, isItem }) => [text, isItem])).toEqual([
      ['It is done.', false],
      ['retry; tries again', true],
      ['an item', true],
    ]);
  });

  it('are code inside of a fence, as it is', () => {
    expect(splitMessage('Run it:\n```sh\n  npm test # all\n\n```\nDone.')).toEqual([
      { text: 'Run it:', isItem: false, isCode: true, isFirst: false, lead: '' },
      { text: '      npm test # all', isItem: false, isCode: true, isFirst: false, lead: '' },
      { text: 'Done.', isItem: false, isCode: false, isFirst: false, lead: '' },
    ]);
  });

  it('lose marks of emphasis and rules, and keep names', () => {
    expect(textsOf('---\nThe **delay** is in `__init__`, __as we know__, and src/**/*.ts.\n===')).toEqual([
      'The delay is in `__init__`, as we know, and src/**/*.ts.',
    ]);
    expect(textsOf('━━━━━━━━\nThe review is done.\n╌╌╌ · ╌╌╌')).toEqual(['The review is done.']);
    expect(textsOf('- **`retry`**: tries 2**8 times')).toEqual(['`retry`: tries 2**8 times']);
  });

  it('never have a line break, are never empty, and have no other letters than the message, in its order', () => {
    const part = fc.oneof(
      fc.constantFrom('\n', '# ', '- ', '**', '__', '|', '```\n', '~~~\n', ': ', ':\n', '1. ', ' '),
      fc.string({ unit: 'grapheme', maxLength: 30 }),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
        const message = parts.join('');
        const letters = new Set(message.match(/[\p{L}\p{N}]/gu));
        for (const { text } of splitMessage(message)) {
          expect(text).not.toContain('\n');
          expect(text.trim()).not.toBe('');
          expect((text.match(/[\p{L}\p{N}]/gu) ?? []).every((letter) => letters.has(letter))).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });
});
