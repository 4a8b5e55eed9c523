import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { HandoverError } from '../../src/errors.ts';
import { resolveId } from '../../src/store/find-handover.ts';
import { forgetHandover, hasHandover, readHandover } from '../../src/store/handovers.ts';
import { openCatalog } from '../../src/store/open-catalog.ts';
import { openStore, pathOfHandover } from '../../src/store/store.ts';
import { errorCode, inPairs, makeSandbox } from '../support/cli.ts';
import { snapshotTree } from '../support/tree.ts';

const CANARY = 'canary-outside-the-store';
const sandbox = makeSandbox();
let id = '';

const HOSTILE_IDS = [
  '..',
  '../../etc/passwd',
  '../secret',
  '../../../secret',
  '/etc/passwd',
  '%2e%2e',
  '%2e%2e%2fsecret',
  '..\\..\\secret',
  '20260101-000000-aaaa/../../../../secret',
  '20260101-\n000000-aaaa',
  '2026\n0101',
  '20260101-000000-aaaa/',
  '1'.repeat(300),
  'CON',
  'nul.json',
  '20260101-000000-aaaa.',
  '20260101-000000-aaaa .json',
  '2026é',
  '2026é',
  '２０２６0101-000000',
  '٢٠٢٦',
  '*',
  '~',
  '',
];

beforeAll(async () => {
  id = await sandbox.save('--summary', 'the only one');
  writeFileSync(join(sandbox.folder, 'secret.json'), CANARY);
  writeFileSync(join(sandbox.store, 'secret.json'), CANARY);
  mkdirSync(join(sandbox.store, 'handovers', 'secret'), { recursive: true });
  writeFileSync(join(sandbox.store, 'handovers', 'secret', 'secret.json'), CANARY);
});

const isCache = (path: string): boolean => /^(index\.|locks|leaving)/.test(relative(sandbox.store, path));

describe.each(['show', 'render', 'diff', 'forget', 'list --id', 'show --id', 'select --print-id --id'])(
  'an id that is none, given to %s',
  (command) => {
    it('fails with a code, and nothing outside the store is read or written', async () => {
      // A lock claim and an index may come to be in the store; its folder then has a new time.
      const before = snapshotTree(sandbox.folder, (path) => path === sandbox.store);
      const kept = snapshotTree(join(sandbox.store, 'handovers'));
      const journal = snapshotTree(join(sandbox.store, 'journal'), isCache);
      const results = await inPairs(HOSTILE_IDS, (hostile) => sandbox.run([...command.split(' '), hostile, '--json']));
      for (const [at, result] of results.entries()) {
        const given = JSON.stringify(HOSTILE_IDS[at]);
        expect([64, 66], given).toContain(result.status);
        expect(errorCode(result), given).toMatch(/^HANDOVER_(USAGE|NOT_FOUND)$/);
        expect(result.stdout + result.stderr).not.toContain(CANARY);
      }
      expect(snapshotTree(sandbox.folder, (path) => path === sandbox.store)).toEqual(before);
      expect(snapshotTree(join(sandbox.store, 'handovers'))).toEqual(kept);
      expect(snapshotTree(join(sandbox.store, 'journal'), isCache)).toEqual(journal);
    });
  },
);

describe('an id inside the library', () => {
  const store = openStore(sandbox.machine);
  const isId = (text: string): boolean => /^[0-9]{8}-[0-9]{6}(-[0-9a-z]{3,4})?$/.test(text);
  const refuse = (text: string): void => {
    for (const act of [pathOfHandover, readHandover, hasHandover, forgetHandover]) {
      expect(() => act(store, text), JSON.stringify(text)).toThrow(
        expect.objectContaining({ code: 'HANDOVER_INPUT_INVALID' }),
      );
    }
  };

  it('never leads outside the store, also with a NUL in it', () => {
    for (const text of ['20260101-000000-aaaa\0', '\0', '../../x\0.json', ...HOSTILE_IDS]) refuse(text);
  });

  it('is refused unless it has the form of an id', () => {
    const part = fc.constantFrom('..', '/', '\\', '\0', '\n', '20260101', '-', '000000', 'aaaa', '.json', '%2e');
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(part, { maxLength: 8 }).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        if (!isId(text)) refuse(text);
        else expect(relative(sandbox.store, pathOfHandover(store, text))).toMatch(/^handovers\/\d{4}\/\d\d\/[^/]+$/);
      }),
      { numRuns: 2000 },
    );
  });

  it('is found only by its prefixes', async () => {
    const { catalog } = await openCatalog(store);
    for (const words of ['\0', `${id}\0`, ...HOSTILE_IDS]) {
      const asked = resolveId(store, words, async () => catalog);
      await expect(asked, JSON.stringify(words)).rejects.toBeInstanceOf(HandoverError);
    }
    catalog.close();
  });
});
