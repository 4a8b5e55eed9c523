import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decryptWithAge, encryptWithAge } from '../../../src/exchange/bundle/age.ts';
import { hasProgram, makeTempFolder, runProcess } from '../../support/cli.ts';

const hasAge = hasProgram('age', '--version') && hasProgram('age-keygen', '--version');

async function must(command: readonly string[], cwd: string): Promise<string> {
  const { status, stdout, stderr } = await runProcess(command, { cwd });
  if (status !== 0) throw new Error(`${command.join(' ')}: ${status} ${stdout}${stderr}`);
  return stdout;
}

describe.skipIf(!hasAge)('the age program (skipped where it is not installed: apt-get install age)', () => {
  it('decrypts what we encrypt with a passphrase, and we decrypt what it encrypts', async () => {
    const folder = makeTempFolder();
    const script = join(folder, 'type.py');
    writeFileSync(script, TYPE);
    writeFileSync(join(folder, 'note'), 'hello\n');
    const passphrase = Buffer.from('correct horse battery');
    writeFileSync(join(folder, 'ours.age'), await encryptWithAge(Buffer.from('hello\n'), { passphrase }));
    await must(['python3', script, passphrase.toString(), 'age', '-d', '-o', 'opened', 'ours.age'], folder);
    expect(readFileSync(join(folder, 'opened'), 'utf8')).toBe('hello\n');
    await must(['python3', script, passphrase.toString(), 'age', '-p', '-o', 'its.age', 'note'], folder);
    const opener = { identities: [], askPassphrase: async () => passphrase };
    expect((await decryptWithAge(readFileSync(join(folder, 'its.age')), opener)).toString()).toBe('hello\n');
  });
});

/** age asks for passphrases on the terminal alone: this types one, as often as it is asked for. */
const TYPE = `
import os, pty, sys
word, command = sys.argv[1], sys.argv[2:]
pid, fd = pty.fork()
if pid == 0: os.execvp(command[0], command)
seen = b''
try:
    while True:
        data = os.read(fd, 4096)
        if not data: break
        seen += data
        if b': ' in seen:
            os.write(fd, word.encode() + b'\\n')
            seen = b''
except OSError:
    pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;
