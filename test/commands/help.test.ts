import { describe, expect, it } from 'vitest';
import { VERSION } from '../../src/version.ts';
import { makeDesk } from '../support/cli.ts';

const desk = makeDesk();

describe('handover', () => {
  it.each([[['--help']], [['save', '--help']], [['render', '--help']], [['diff', '--help']]])(
    'explains itself with %j',
    async (args) => {
      expect(await desk.ok(args)).toMatchSnapshot();
    },
  );

  it('gives the same help without a command, with -h and with help', async () => {
    const help = await desk.ok(['--help']);
    for (const args of [[], ['-h'], ['help']]) expect(await desk.ok(args)).toBe(help);
  });

  it('tells its version', async () => {
    for (const args of [['--version'], ['-v'], ['version']]) expect(await desk.ok(args)).toBe(`${VERSION}\n`);
  });

  it('names the commands there are when there is no such one', async () => {
    for (const name of ['lst', 'constructor', '__proto__', 'toString']) {
      const { status, stderr } = await desk.run([name]);
      expect(status, name).toBe(64);
      expect(stderr).toContain('The commands are: save, capture, sessions, list, show');
    }
  });

  it('prints errors as text, and as one JSON document with --json', async () => {
    const text = await desk.run(['show', 'x']);
    expect(text.stderr).toBe(
      'error: no handover has the id "x"\n  next: See what is kept with: handover list\n',
    );
    const { error } = JSON.parse((await desk.run(['show', 'x', '--json'])).stderr);
    expect(error).toEqual({
      code: 'HANDOVER_NOT_FOUND',
      message: 'no handover has the id "x"',
      hint: 'See what is kept with: handover list',
    });
  });
});
