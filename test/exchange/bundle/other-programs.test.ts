import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decryptWithAge, encryptWithAge, generateAgeKey } from '../../../src/exchange/bundle/age.ts';
import { formatArchive } from '../../../src/exchange/bundle/archive.ts';
import {
  formatPublicKey,
  formatPublicKeyFile,
  formatSecretKeyFile,
  generateSecretKey,
  parsePublicKey,
  parseSecretKey,
  parseSignature,
  signFile,
  verifyFile,
} from '../../../src/exchange/bundle/minisign.ts';
import { sha256Hex } from '../../../src/model/hash.ts';
import { hasProgram, makeSandbox, makeTempFolder, runProcess, type Sandbox } from '../../support/cli.ts';

const hasMinisign = hasProgram('minisign', '-v');
const hasAge = hasProgram('age', '--version') && hasProgram('age-keygen', '--version');

async function must(command: readonly string[], cwd: string): Promise<string> {
  const { status, stdout, stderr } = await runProcess(command, { cwd });
  if (status !== 0) throw new Error(`${command.join(' ')}: ${status} ${stdout}${stderr}`);
  return stdout;
}

describe.skipIf(!hasMinisign)(
  'the minisign program (skipped where it is not installed: apt-get install minisign)',
  () => {
    it('verifies our signatures, and rejects changed files', async () => {
      const folder = makeTempFolder();
      const secret = generateSecretKey(randomBytes);
      writeFileSync(join(folder, 'note'), 'hello\n');
      writeFileSync(join(folder, 'key.pub'), formatPublicKeyFile(secret));
      writeFileSync(
        join(folder, 'note.minisig'),
        signFile(Buffer.from('hello\n'), secret, { untrusted: 'not signed', trusted: 'signed too' }),
      );
      expect(await must(['minisign', '-Vm', 'note', '-p', 'key.pub'], folder)).toContain('Trusted comment: signed too');
      expect(await must(['minisign', '-Vqm', 'note', '-P', formatPublicKey(secret)], folder)).toBe('');
      writeFileSync(join(folder, 'note'), 'hello!\n');
      expect((await runProcess(['minisign', '-Vm', 'note', '-p', 'key.pub'], { cwd: folder })).status).not.toBe(0);
    });

    it('signs with our key files, and we verify with its keys', async () => {
      const folder = makeTempFolder();
      const secret = generateSecretKey(randomBytes);
      writeFileSync(join(folder, 'note'), 'hello\n');
      writeFileSync(join(folder, 'our.key'), formatSecretKeyFile(secret));
      await must(['minisign', '-S', '-s', 'our.key', '-m', 'note'], folder);
      const ours = parseSignature(readFileSync(join(folder, 'note.minisig'), 'utf8'));
      expect(ours !== null && verifyFile(Buffer.from('hello\n'), ours, secret)).toBe(true);
      expect(ours !== null && verifyFile(Buffer.from('hello!\n'), ours, secret)).toBe(false);
      await must(['minisign', '-G', '-W', '-p', 'its.pub', '-s', 'its.key'], folder);
      const its = parseSecretKey(readFileSync(join(folder, 'its.key'), 'utf8'));
      const itsPublic = parsePublicKey(readFileSync(join(folder, 'its.pub'), 'utf8'));
      expect(its === null ? null : formatPublicKey(its)).toBe(itsPublic === null ? '' : formatPublicKey(itsPublic));
      await must(['minisign', '-S', '-s', 'its.key', '-m', 'note'], folder);
      const theirs = parseSignature(readFileSync(join(folder, 'note.minisig'), 'utf8'));
      expect(theirs !== null && itsPublic !== null && verifyFile(Buffer.from('hello\n'), theirs, itsPublic)).toBe(true);
    });
  },
);

describe.skipIf(!hasAge)('the age program (skipped where it is not installed: apt-get install age)', () => {
  it('decrypts what we encrypt for a key, and we decrypt what it encrypts', async () => {
    const folder = makeTempFolder();
    const { identity, recipient } = await generateAgeKey();
    const plain = randomBytes(200_000);
    writeFileSync(join(folder, 'id'), `${identity}\n`);
    writeFileSync(join(folder, 'ours.age'), await encryptWithAge(plain, { recipients: [recipient] }));
    await must(['age', '-d', '-i', 'id', '-o', 'opened', 'ours.age'], folder);
    expect(readFileSync(join(folder, 'opened')).equals(plain)).toBe(true);
    await must(['age', '-r', recipient, '-o', 'its.age', 'opened'], folder);
    const opener = { identities: [identity], askPassphrase: async () => Buffer.from('') };
    expect((await decryptWithAge(readFileSync(join(folder, 'its.age')), opener)).equals(plain)).toBe(true);
  });
});

describe.skipIf(!hasMinisign || !hasAge)(
  'a bundle checked by hand (skipped where minisign or age is not installed)',
  () => {
    it('is verified with minisign and sha256sum, and decrypted with age', async () => {
      const sandbox = makeSandbox();
      await sandbox.save('--title', 'The work', '--next', 'go on');
      const { public_key, recipient } = await sandbox.json<Record<string, string>>([
        'keys',
        'generate',
        '--name',
        'alice',
      ]);
      await sandbox.ok(['export', '--sign', '--encrypt-to', recipient ?? '', '--output', '../work.handover']);
      const folder = join(sandbox.folder, 'unpacked');
      mkdirSync(folder);
      await must(['tar', '-xf', '../work.handover'], folder);
      expect(await must(['minisign', '-Vm', 'manifest', '-P', public_key ?? ''], folder)).toContain('alice, number 1');
      expect(await must(['sha256sum', '-c', 'manifest'], folder)).toBe('handovers.jsonl.age: OK\n');
      const identity = join(sandbox.home, '.config/agent-handover/keys/age.key');
      const text = await must(['age', '-d', '-i', identity, 'handovers.jsonl.age'], folder);
      expect(JSON.parse(text)).toMatchObject({ schema: 'handover/1', title: 'The work' });
      await importByHand(sandbox, folder);
      chmodSync(identity, 0o644);
      expect((await sandbox.run(['keys', 'export'])).stderr).toContain('chmod 600');
    });
  },
);

/** The same bundle, locked with age and signed with minisign, is imported. */
async function importByHand(sandbox: Sandbox, folder: string): Promise<void> {
  const keys = join(sandbox.home, '.config/agent-handover/keys');
  const { recipient = '' } = await sandbox.json<Record<string, string>>(['keys', 'export']);
  await must(['age', '-d', '-i', join(keys, 'age.key'), '-o', 'plain', 'handovers.jsonl.age'], folder);
  await must(['age', '-r', recipient, '-o', 'handovers.jsonl.age', 'plain'], folder);
  const content = readFileSync(join(folder, 'handovers.jsonl.age'));
  const manifest = readFileSync(join(folder, 'manifest'), 'utf8')
    .replace('# sequence: 1', '# sequence: 2')
    .replace(/[0-9a-f]{64}(?= {2}handovers)/, sha256Hex(content));
  writeFileSync(join(folder, 'manifest'), manifest);
  await must(['minisign', '-S', '-s', join(keys, 'signing.key'), '-m', 'manifest'], folder);
  const signature = readFileSync(join(folder, 'manifest.minisig'));
  const archive = { manifest: Buffer.from(manifest), signature, content } as const;
  const path = join(sandbox.folder, 'by-hand.handover');
  writeFileSync(path, formatArchive({ ...archive, contentName: 'handovers.jsonl.age' }));
  expect(await sandbox.json(['import', '--input', path, '--on-conflict', 'replace'])).toMatchObject({
    signer: { name: 'alice' },
    handovers: [{ title: 'The work', outcome: 'replaced' }],
  });
}
