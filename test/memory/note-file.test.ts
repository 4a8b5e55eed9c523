import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appendNote, formatHeader, type Note, parseNoteFile } from '../../src/memory/note-file.ts';

const key = fc.stringMatching(/^n-[0-9a-z]{12}$/);
const at = fc
  .date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString());
const line = fc.oneof(
  fc.string(),
  fc.constantFrom(
    '',
    '---',
    '<!-- agent-handover | layer1 | 2026-11-15 -->',
    '<!-- agent-handover | note | 2026-11-15T12:00:00.000Z | n-000000000000 -->',
    '\\<!-- agent-handover | note | x | n-1 -->',
    '```',
    '\ufeff',
    'text\r',
  ),
);
const text = fc.array(line, { minLength: 1, maxLength: 8 }).map((lines) => lines.join('\n'));
const note: fc.Arbitrary<Note> = fc.record({ at, key, text }).filter(({ text: words }) => words.trim() !== '');

describe('a file of notes', () => {
  it('returns every appended note, whatever its text', () => {
    fc.assert(
      fc.property(fc.array(note, { minLength: 1, maxLength: 5 }), (notes) => {
        const content = notes.reduce(appendNote, formatHeader(1, '2026-11-15'));
        const parsed = parseNoteFile(content);
        expect(parsed.date).toBe('2026-11-15');
        expect(parsed.notes).toEqual(notes.map((each) => ({ ...each, text: each.text.trimEnd() })));
      }),
    );
  });

  it('is parsed whatever its content, and keeps its bytes when a note is appended', () => {
    fc.assert(
      fc.property(text, note, (content, added) => {
        const after = appendNote(content, added);
        expect(after.startsWith(content)).toBe(true);
        expect(parseNoteFile(after).notes.at(-1)).toEqual({ ...added, text: added.text.trimEnd() });
      }),
    );
  });
});
