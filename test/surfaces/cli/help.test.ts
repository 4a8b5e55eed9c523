import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../src/surfaces/cli/commands/table.ts';
import { VERSION } from '../../../src/version.ts';
import { makeSandbox } from '../../support/cli.ts';

const sandbox = makeSandbox();

describe('the handover command', () => {
  it.each([[['--help']], [['save', '--help']], [['render', '--help']], [['diff', '--help']]])(
    'prints help for %j',
    async (args) => {
      expect(await sandbox.ok(args)).toMatchSnapshot();
    },
  );

  it('prints the same help without a command, with -h and with help', async () => {
    const help = await sandbox.ok(['--help']);
    for (const args of [[], ['-h'], ['help']]) expect(await sandbox.ok(args)).toBe(help);
  });

  it('lists every command once', async () => {
    const help = await sandbox.ok(['--help']);
    const listed = [...help.matchAll(/^ {2}(\S+) +\S/gm)].map(([, name]) => name);
    expect(listed.sort()).toEqual(Object.keys(COMMANDS).sort());
  });

  it('prints the help of a command for help NAME too', async () => {
    expect(await sandbox.ok(['help', 'save'])).toBe(await sandbox.ok(['save', '--help']));
    const { status, stderr } = await sandbox.run(['help', 'lst']);
    expect(status).toBe(64);
    expect(stderr).toContain('there is no command "lst"');
  });

  it('says that flags come after the command', async () => {
    const { status, stderr } = await sandbox.run(['--json', 'list']);
    expect(status).toBe(64);
    expect(stderr).toContain('Flags come after the command');
  });

  it('prints its version', async () => {
    for (const args of [['--version'], ['-v'], ['-V'], ['version']])
      expect(await sandbox.ok(args)).toBe(`${VERSION}\n`);
  });

  it('lists the commands when one is unknown', async () => {
    for (const name of ['lst', 'constructor', '__proto__', 'toString']) {
      const { status, stderr } = await sandbox.run([name]);
      expect(status, name).toBe(64);
      expect(stderr).toContain('The commands are: save, capture, sessions, ');
    }
  });

  it('prints errors as text, and as one JSON document with --json', async () => {
    const text = await sandbox.run(['show', 'x']);
    expect(text.stderr).toBe('error: no handover has the id "x"\n  next: List handovers: handover list\n');
    const { error } = JSON.parse((await sandbox.run(['show', 'x', '--json'])).stderr);
    expect(error).toEqual({
      code: 'HANDOVER_NOT_FOUND',
      message: 'no handover has the id "x"',
      hint: 'List handovers: handover list',
    });
  });
});
