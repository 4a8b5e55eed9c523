import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SHAPES } from '../../fixtures/secrets/shapes.ts';
import { fillTemplate, rollDice } from '../../fixtures/secrets/write-secrets.ts';
import { makeSandbox } from '../../support/cli.ts';

const TOKEN = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_');

describe('handover redact', () => {
  it('prints a file or standard input without secrets, with one placeholder for one secret', async () => {
    const sandbox = makeSandbox();
    writeFileSync(join(sandbox.project, 'a.txt'), `use ${TOKEN}\n`);
    const out = await sandbox.ok(['redact', 'a.txt']);
    expect(out).toMatch(/^use \[redacted:github-token:\w{8}\]\n$/);
    expect(await sandbox.ok(['redact', '-'], { input: `use ${TOKEN}\n` })).toBe(out);
    expect(await sandbox.ok(['redact'], { input: out })).toBe(out);
    const elsewhere = await makeSandbox().ok(['redact'], { input: `use ${TOKEN}\n` });
    expect(elsewhere).not.toBe(out);
    const key = join(sandbox.store, 'redaction.key');
    expect([statSync(key).size, statSync(key).mode & 0o777]).toEqual([32, 0o600]);
    expect(await sandbox.ok(['doctor'])).toContain('all is well');
  });

  it('prints with --json what it found, without the text', async () => {
    const found = await makeSandbox().json(['redact'], {
      input: `use ${TOKEN}, ${TOKEN} and <private>me</private>`,
    });
    expect(found).toMatchObject({
      redactions: [
        { kind: 'github-token', count: 1 },
        { kind: 'private', count: 1 },
      ],
    });
    expect(JSON.stringify(found)).not.toContain('use');
  });

  it('leaves binary data unchanged', async () => {
    const sandbox = makeSandbox();
    const bytes = Buffer.from([...Array(256).keys()]);
    const path = join(sandbox.project, 'bytes');
    writeFileSync(path, Buffer.concat([bytes, Buffer.from(` ${TOKEN} `), bytes]));
    const result = await sandbox.run(['redact', 'bytes'], { through: ['sh', '-c', '"$@" > out', 'sh'] });
    expect(result.status).toBe(0);
    const out = readFileSync(join(sandbox.project, 'out'));
    expect([out.subarray(0, 256), out.subarray(-256)]).toEqual([bytes, bytes]);
    expect(out.includes(TOKEN)).toBe(false);
  });

  it('finds secrets that span two chunks of input', async () => {
    const key = fillTemplate(SHAPES.find(({ kind }) => kind === 'private-key')?.template ?? '', rollDice(3));
    const [, , body = ''] = key.split('\n');
    const filler = (length: number): string => `${'a line like any other\n'.repeat(length / 22)}`;
    for (const before of [262_000, 262_100, 524_100]) {
      const input = `${filler(before)}${key}\n<private>${filler(2200)}blue</private>\n${filler(400_000)}`;
      const out = await makeSandbox().ok(['redact'], { input });
      expect([out.includes(body), out.includes('blue'), out.length > 400_000 + before]).toEqual([false, false, true]);
    }
  });

  it('reports a file that cannot be read', async () => {
    const sandbox = makeSandbox();
    mkdirSync(join(sandbox.project, 'folder'));
    expect((await sandbox.run(['redact', 'missing'])).status).toBe(66);
    expect((await sandbox.run(['redact', 'folder'])).status).toBe(77);
  });
});
