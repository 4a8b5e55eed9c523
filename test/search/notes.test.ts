import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readPieces } from '../../src/search/notes.ts';
import { makeRedactor } from '../support/redactor.ts';
import { makeFolder } from '../support/temp-store.ts';

const anyKey = fc.string({
  unit: fc.constantFrom(...'abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'),
  minLength: 16,
  maxLength: 24,
});

test('blocks of notes hold no secret that only the block before shows to be one, and keep their lines', () => {
  const path = join(makeFolder(), 'MEMORY.md');
  fc.assert(
    fc.property(anyKey, (key) => {
      // Without a digit it may be a word.
      const secret = `${key}7`;
      writeFileSync(path, `# Shop\n\nYour new API key:\n\n    ${secret}\n\nSave it.\n\nThe upload tries again.\n`);
      const pieces = readPieces({ path, state: '', maxBytes: 100_000 }, makeRedactor());
      expect(JSON.stringify(pieces)).not.toContain(secret);
      expect(pieces.at(-1)).toEqual({ text: 'The upload tries again.', line: 9 });
    }),
    { numRuns: 50 },
  );
});
