import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Handover } from '../../src/model/handover.ts';
import { makeSandbox, type Sandbox } from '../support/cli.ts';

/**
 * A store and exports that version 0.1.0 wrote, at its first release. They are never written again: whatever is released
 * later must read them, and must write the same bytes from them.
 */
const BEFORE = join(import.meta.dirname, '../fixtures/written-before');
const MONTH = join(BEFORE, 'store/handovers/2026/11');
const [SAVED = '', CAPTURED = ''] = readdirSync(MONTH)
  .sort()
  .map((file) => file.replace('.json', ''));

function openStore(): Sandbox {
  const sandbox = makeSandbox();
  cpSync(join(BEFORE, 'store'), sandbox.store, { recursive: true });
  return sandbox;
}

const readExport = (name: string): string => readFileSync(join(BEFORE, 'exports', name), 'utf8');

describe('a store written by version 0.1.0', () => {
  it('is intact: no handover or journal entry is damaged or missing', async () => {
    expect(await openStore().ok(['doctor'])).toContain('8 journal entries');
  });

  it('lists its handovers by their work, without the forgotten ones', async () => {
    const rows = await openStore().json<{ id: string }[]>(['list']);
    expect(rows.map(({ id }) => id)).toEqual([SAVED, CAPTURED]);
  });

  it('keeps the pin that its journal records', async () => {
    const brief = await openStore().ok(['render', SAVED, '--budget', '400']);
    expect(brief).toContain('Staging has real receivers');
  });

  it.each([SAVED, CAPTURED])('opens %s and prints the sealed record', async (id) => {
    const shown = await openStore().json<Handover>(['show', id]);
    expect(shown).toEqual(JSON.parse(readFileSync(join(MONTH, `${id}.json`), 'utf8')));
  });

  it.each([
    [SAVED, 'json', 'json.txt'],
    [SAVED, 'session-handoff', 'session-handoff.txt'],
    [CAPTURED, 'json', 'captured-json.txt'],
    [CAPTURED, 'session-handoff', 'captured-session-handoff.txt'],
  ])('exports %s as %s, byte for byte as before', async (id, format, name) => {
    const stdout = await openStore().ok(['export', '--id', id, '--format', format]);
    expect(stdout).toBe(readExport(name));
  });
});

describe('a bundle written by version 0.1.0', () => {
  const facts = (handover: Handover): string[] => handover.facts.map(({ id, text }) => `${id} ${text}`);
  const original = (id: string): Handover => JSON.parse(readFileSync(join(MONTH, `${id}.json`), 'utf8'));

  it.each([
    ['signed', 'signed.bundle', ['--trust', join(BEFORE, 'signing.pub')]],
    ['unsigned', 'plain.bundle', ['--allow-unsigned']],
    [
      'signed and encrypted',
      'locked.bundle',
      ['--trust', join(BEFORE, 'signing.pub'), '--passphrase-file', join(BEFORE, 'passphrase')],
    ],
  ])('is imported when it is %s', async (_, name, flags) => {
    const sandbox = makeSandbox();
    await sandbox.ok(['import', '--input', join(BEFORE, 'exports', name), ...flags]);
    expect(facts(await sandbox.json<Handover>(['show', SAVED]))).toEqual(facts(original(SAVED)));
  });
});

it('a V2 envelope written by version 0.1.0 is migrated', async () => {
  const output = await makeSandbox().ok(['migrate', '--from', join(BEFORE, 'exports', 'captured-v2.txt')]);
  expect(output).toContain('1 imported, 0 already here, 0 refused');
});
