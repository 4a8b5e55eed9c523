import { generateKeyPairSync } from 'node:crypto';
import { lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorCode, makeDesk } from '../support/cli.ts';

interface Listed {
  own: { name: string } | null;
  keys: { name: string; state: string; public_key: string; fingerprint: string }[];
}

describe('handover keys', () => {
  it('makes keys once, trusts them, and never makes others over them', async () => {
    const desk = makeDesk();
    expect(await desk.json<Listed>(['keys', 'list'])).toMatchObject({ own: null, keys: [] });
    const own = await desk.json<Record<string, string>>(['keys', 'generate', '--name', 'alice']);
    expect(own).toMatchObject({
      name: 'alice',
      public_key: expect.stringMatching(/^RW/),
      recipient: expect.stringMatching(/^age1/),
    });
    const again = await desk.run(['keys', 'generate', '--json']);
    expect(errorCode(again)).toBe('HANDOVER_USAGE');
    expect(await desk.json(['keys', 'export'])).toMatchObject({ public_key: own.public_key });
    expect(await desk.json<Listed>(['keys', 'list'])).toMatchObject({
      own: { name: 'alice' },
      keys: [{ name: 'alice', state: 'trusted' }],
    });
    expect((lstatSync(join(desk.home, '.config/agent-handover')).mode & 0o777).toString(8)).toBe('700');
  });

  it('trusts a key of session-handoff, by its secret file or its public one', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    for (const pem of [
      privateKey.export({ format: 'pem', type: 'pkcs8' }),
      publicKey.export({ format: 'pem', type: 'spki' }),
    ]) {
      const desk = makeDesk();
      writeFileSync(join(desk.folder, 'key.pem'), pem);
      await desk.ok(['keys', 'trust', '../key.pem', '--name', 'ann']);
      expect((await desk.json<Listed>(['keys', 'list'])).keys).toMatchObject([{ name: 'ann' }]);
      const list = readFileSync(join(desk.home, '.config/agent-handover/trusted-keys'), 'utf8');
      expect(list).toMatch(/^# .+\ntrusted RW\S{54} ann\n$/);
    }
  });

  it('trusts no key of another kind', async () => {
    const desk = makeDesk();
    const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({
      format: 'pem',
      type: 'spki',
    });
    writeFileSync(join(desk.folder, 'rsa.pem'), rsa);
    for (const word of ['../rsa.pem', 'RWxx', 'hello', '-----BEGIN'])
      expect(errorCode(await desk.run(['keys', 'trust', '--name', 'ann', '--json', '--', word])), word).toBe(
        'HANDOVER_INPUT_INVALID',
      );
  });

  it('revokes by name or fingerprint, and remembers', async () => {
    const [desk, ann] = [makeDesk(), makeDesk()];
    const { public_key, fingerprint } = await ann.json<Record<string, string>>([
      'keys',
      'generate',
      '--name',
      'ann',
    ]);
    await desk.ok(['keys', 'trust', public_key ?? '', '--name', 'ann']);
    await desk.ok(['keys', 'revoke', fingerprint ?? '']);
    expect((await desk.json<Listed>(['keys', 'list'])).keys).toMatchObject([
      { name: 'ann', state: 'revoked' },
    ]);
    expect(errorCode(await desk.run(['keys', 'trust', public_key ?? '', '--name', 'eve', '--json']))).toBe(
      'HANDOVER_BUNDLE_REFUSED',
    );
    expect(errorCode(await desk.run(['keys', 'revoke', 'nobody', '--json']))).toBe('HANDOVER_NOT_FOUND');
  });

  it('keeps what a person wrote in the trust list, and stops at a line that it cannot read', async () => {
    const [desk, ann] = [makeDesk(), makeDesk()];
    const { public_key } = await ann.json<Record<string, string>>(['keys', 'generate', '--name', 'ann']);
    await desk.ok(['keys', 'generate', '--name', 'me']);
    const path = join(desk.home, '.config/agent-handover/trusted-keys');
    writeFileSync(path, `# mine\n\n${readFileSync(path, 'utf8')}`);
    await desk.ok(['keys', 'trust', public_key ?? '', '--name', 'ann']);
    expect(readFileSync(path, 'utf8')).toMatch(/^# mine\n\n# .+\ntrusted \S+ me\ntrusted \S+ ann\n$/);
    writeFileSync(path, 'trusted who knows\n');
    expect(errorCode(await desk.run(['keys', 'list', '--json']))).toBe('HANDOVER_CONFIG_INVALID');
  });

  it('says what there is to do', async () => {
    expect((await makeDesk().run(['keys', 'destroy'])).stderr).toContain(
      'generate, list, trust, revoke, export',
    );
  });
});
