import { generateKeyPairSync } from 'node:crypto';
import { lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorCode, makeSandbox } from '../../support/cli.ts';

interface Listed {
  own: { name: string } | null;
  keys: { name: string; state: string; public_key: string; fingerprint: string }[];
}

describe('handover keys', () => {
  it('generates keys once, trusts them, and never overwrites them', async () => {
    const sandbox = makeSandbox();
    expect(await sandbox.json<Listed>(['keys', 'list'])).toMatchObject({ own: null, keys: [] });
    const own = await sandbox.json<Record<string, string>>(['keys', 'generate', '--name', 'alice']);
    expect(own).toMatchObject({
      name: 'alice',
      public_key: expect.stringMatching(/^RW/),
      recipient: expect.stringMatching(/^age1/),
    });
    const again = await sandbox.run(['keys', 'generate', '--json']);
    expect(errorCode(again)).toBe('HANDOVER_USAGE');
    expect(await sandbox.json(['keys', 'export'])).toMatchObject({ public_key: own.public_key });
    expect(await sandbox.json<Listed>(['keys', 'list'])).toMatchObject({
      own: { name: 'alice' },
      keys: [{ name: 'alice', state: 'trusted' }],
    });
    expect((lstatSync(join(sandbox.home, '.config/agent-handover')).mode & 0o777).toString(8)).toBe('700');
  });

  it('keeps an existing age key, so that older bundles can still be decrypted', async () => {
    const sandbox = makeSandbox();
    const before = await sandbox.json<Record<string, string>>(['keys', 'generate', '--name', 'alice']);
    rmSync(join(sandbox.home, '.config/agent-handover/keys/signing.key'));
    const after = await sandbox.json<Record<string, string>>(['keys', 'generate', '--name', 'alicia']);
    expect(after.public_key).not.toBe(before.public_key);
    expect(after.recipient).toBe(before.recipient);
  });

  it('refuses the name of a trusted signer, and a second name for one key', async () => {
    const [sandbox, ann] = [makeSandbox(), makeSandbox()];
    const { public_key = '' } = await ann.json<Record<string, string>>(['keys', 'generate', '--name', 'ann']);
    await sandbox.ok(['keys', 'trust', public_key, '--name', 'ann']);
    const namesake = await sandbox.run(['keys', 'generate', '--name', 'ann']);
    expect(namesake).toMatchObject({ status: 64, stderr: expect.stringContaining('Choose another name') });
    expect((await sandbox.json<Listed>(['keys', 'list'])).own).toBeNull();
    const renamed = await sandbox.run(['keys', 'trust', public_key, '--name', 'eve']);
    expect(renamed).toMatchObject({ status: 64, stderr: expect.stringContaining('as the key of ann') });
    await sandbox.ok(['keys', 'generate', '--name', 'me']);
  });

  it('trusts a key of session-handoff, by its secret file or its public one', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    for (const pem of [
      privateKey.export({ format: 'pem', type: 'pkcs8' }),
      publicKey.export({ format: 'pem', type: 'spki' }),
    ]) {
      const sandbox = makeSandbox();
      writeFileSync(join(sandbox.folder, 'key.pem'), pem);
      await sandbox.ok(['keys', 'trust', '../key.pem', '--name', 'ann']);
      expect((await sandbox.json<Listed>(['keys', 'list'])).keys).toMatchObject([{ name: 'ann' }]);
      const list = readFileSync(join(sandbox.home, '.config/agent-handover/trusted-keys'), 'utf8');
      expect(list).toMatch(/^# .+\ntrusted RW\S{54} ann\n$/);
    }
  });

  it('trusts what export prints: as a file, as text, and as JSON', async () => {
    const ann = makeSandbox();
    const { public_key = '' } = await ann.json<Record<string, string>>([
      'keys',
      'generate',
      '--name',
      'Ann with a long name',
    ]);
    for (const flags of [[], ['--json']]) {
      const printed = await ann.ok(['keys', 'export', ...flags]);
      writeFileSync(join(ann.folder, 'ann.pub'), printed);
      for (const word of [join(ann.folder, 'ann.pub'), printed, printed.replaceAll('\n', ' '.repeat(300))]) {
        const sandbox = makeSandbox();
        await sandbox.ok(['keys', 'trust', word, '--name', 'ann']);
        expect((await sandbox.json<Listed>(['keys', 'list'])).keys).toMatchObject([{ name: 'ann', public_key }]);
      }
    }
    const other = await makeSandbox().json<Record<string, string>>(['keys', 'generate', '--name', 'eve']);
    const two = await ann.run(['keys', 'trust', `${public_key} ${other.public_key}`, '--name', 'both', '--json']);
    expect(errorCode(two)).toBe('HANDOVER_INPUT_INVALID');
  });

  it('refuses keys of another kind', async () => {
    const sandbox = makeSandbox();
    const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({
      format: 'pem',
      type: 'spki',
    });
    writeFileSync(join(sandbox.folder, 'rsa.pem'), rsa);
    for (const word of ['../rsa.pem', 'RWxx', 'hello', '-----BEGIN'])
      expect(errorCode(await sandbox.run(['keys', 'trust', '--name', 'ann', '--json', '--', word])), word).toBe(
        'HANDOVER_INPUT_INVALID',
      );
  });

  it('revokes by name or fingerprint, permanently', async () => {
    const [sandbox, ann] = [makeSandbox(), makeSandbox()];
    const { public_key, fingerprint } = await ann.json<Record<string, string>>(['keys', 'generate', '--name', 'ann']);
    await sandbox.ok(['keys', 'trust', public_key ?? '', '--name', 'ann']);
    await sandbox.ok(['keys', 'revoke', fingerprint ?? '']);
    expect((await sandbox.json<Listed>(['keys', 'list'])).keys).toMatchObject([{ name: 'ann', state: 'revoked' }]);
    expect(errorCode(await sandbox.run(['keys', 'trust', public_key ?? '', '--name', 'eve', '--json']))).toBe(
      'HANDOVER_BUNDLE_REFUSED',
    );
    expect(errorCode(await sandbox.run(['keys', 'revoke', 'nobody', '--json']))).toBe('HANDOVER_NOT_FOUND');
  });

  it('keeps comments in the trust list, and refuses an unreadable line', async () => {
    const [sandbox, ann] = [makeSandbox(), makeSandbox()];
    const { public_key } = await ann.json<Record<string, string>>(['keys', 'generate', '--name', 'ann']);
    await sandbox.ok(['keys', 'generate', '--name', 'me']);
    const path = join(sandbox.home, '.config/agent-handover/trusted-keys');
    writeFileSync(path, `# mine\n\n${readFileSync(path, 'utf8')}`);
    await sandbox.ok(['keys', 'trust', public_key ?? '', '--name', 'ann']);
    expect(readFileSync(path, 'utf8')).toMatch(/^# mine\n\n# .+\ntrusted \S+ me\ntrusted \S+ ann\n$/);
    writeFileSync(path, 'trusted who knows\n');
    expect(errorCode(await sandbox.run(['keys', 'list', '--json']))).toBe('HANDOVER_CONFIG_INVALID');
  });

  it('lists its subcommands', async () => {
    expect((await makeSandbox().run(['keys', 'destroy'])).stderr).toContain('generate, list, trust, revoke, export');
  });
});
