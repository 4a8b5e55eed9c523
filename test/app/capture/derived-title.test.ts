import fc from 'fast-check';
import { expect, it } from 'vitest';
import { saveWritten } from '../../../src/app/capture/save-session.ts';
import { makeRedactor } from '../../support/redactor.ts';
import { makeDeclaration, PLACE } from '../../support/samples.ts';
import { makeStore } from '../../support/temp-store.ts';

/** Both halves have a digit: letters alone may be words. */
const anyKey = fc.string({
  unit: fc.constantFrom(...'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'),
  minLength: 14,
  maxLength: 14,
});

it('the title of a note is its first line', () => {
  const declaration = makeDeclaration({
    title: undefined,
    summary: '\nMake the upload retry\nwhen the server is busy',
  });
  expect(saveWritten(makeStore(), declaration, { place: PLACE, base: null }).handover.title).toBe(
    'Make the upload retry',
  );
});

it.each(['summary', 'fact', 'pin'])('has nothing of a secret that goes on in the next line of a %s', (where) => {
  fc.assert(
    fc.property(anyKey, fc.integer({ min: 8, max: 13 }), (key, at) => {
      const text = `AKIA${key.slice(0, at)}7\n4${key.slice(at)}\nis the key of the shop`;
      // What is not taken for a secret in the text itself need not be one in the title.
      fc.pre(!makeRedactor().redactText(text).includes(key.slice(0, 8)));
      const declaration = makeDeclaration({
        title: undefined,
        ...(where === 'summary' ? { summary: text } : {}),
        ...(where === 'fact' ? { facts: [{ kind: 'next', text }] } : {}),
        ...(where === 'pin' ? { pins: [text] } : {}),
      });
      const { handover } = saveWritten(makeStore(), declaration, { place: PLACE, base: null });
      expect(handover.title).not.toBe('');
      expect(JSON.stringify(handover)).not.toContain(key.slice(0, 8));
    }),
    { numRuns: 20 },
  );
});
