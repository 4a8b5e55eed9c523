import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { findSessions } from '../../src/agents/find-session.ts';
import { SESSION_ID, Transcript } from '../fixtures/agents/claude-code.ts';
import { makeRedactor } from '../support/redactor.ts';
import { makeFolder, makeMachine } from '../support/temp-store.ts';

async function findTitle(prompt: string): Promise<string | null | undefined> {
  const home = makeFolder();
  const machine = makeMachine(home, { home });
  const folder = join(home, '.claude', 'projects', '-p');
  mkdirSync(folder, { recursive: true });
  const t = new Transcript();
  t.human(prompt);
  writeFileSync(join(folder, `${SESSION_ID}.jsonl`), t.text);
  return (await findSessions(machine))[0]?.title;
}

it('the title of a session is the first line of what was asked', async () => {
  expect(await findTitle('Make the upload retry\nwhen the server is busy')).toBe('Make the upload retry');
});

/** Both halves have a digit: letters alone may be words. */
const anyKey = fc.string({
  unit: fc.constantFrom(...'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'),
  minLength: 14,
  maxLength: 14,
});

it('has nothing of a secret that goes on in the next line', async () => {
  await fc.assert(
    fc.asyncProperty(anyKey, fc.integer({ min: 8, max: 13 }), async (key, at) => {
      const prompt = `AKIA${key.slice(0, at)}7\n4${key.slice(at)}\nis the key of the shop`;
      // What is not taken for a secret in the text itself need not be one in the title.
      fc.pre(!makeRedactor().redactText(prompt).includes(key.slice(0, 8)));
      const title = await findTitle(prompt);
      expect(title).not.toContain(key.slice(0, 8));
    }),
    { numRuns: 20 },
  );
});
