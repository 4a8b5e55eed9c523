import { beforeAll, describe, expect, it } from 'vitest';
import { hasProgram, makeSandbox } from '../../support/cli.ts';
import { saveSample } from '../../support/samples.ts';
import { hasTerminal, runInTerminal } from '../../support/terminal.ts';

const sandbox = makeSandbox();
const MARK = { HANDOVER_PAGER: 'sed s/^/paged:/', PAGER: 'sed s/^/wrong:/' };

beforeAll(async () => {
  for (let at = 0; at < 12; at++) saveSample(sandbox.machine, { title: `Title ${at}` });
  await sandbox.ok(['list']);
});

function list(env: Record<string, string>, { rows = 10, args = ['list'] as readonly string[] } = {}) {
  return runInTerminal({ ...sandbox, env: { ...sandbox.env, ...env } }, args, { size: { rows, columns: 100 } });
}

describe.runIf(hasTerminal)('the pager', () => {
  it('gets what is longer than the screen, notices included, in order', async () => {
    const { status, terminal } = await list(MARK, { args: ['list', '--limit', '9'] });
    expect(status).toBe(0);
    const lines = terminal.trimEnd().split('\r\n');
    expect(lines.filter((line) => !line.startsWith('paged:'))).toEqual([]);
    expect(lines[0]).toContain('Title 11');
    expect(lines.at(-1)).toContain('there are more');
  });

  it('is not started for what fits, in a pipe, or with --no-pager before or after the command', async () => {
    expect((await list(MARK, { rows: 400 })).terminal).not.toContain('paged:');
    expect(await sandbox.ok(['list'], { env: MARK })).not.toContain('paged:');
    for (const args of [
      ['--no-pager', 'list'],
      ['list', '--no-pager'],
    ]) {
      const { status, terminal } = await list(MARK, { args });
      expect([status, terminal.includes('paged:'), terminal.includes('Title 0')]).toEqual([0, false, true]);
    }
  });

  it('is never started by an agent, nor where it is turned off or missing', async () => {
    for (const env of [
      { ...MARK, CLAUDECODE: '1' },
      { HANDOVER_PAGER: '' },
      { PAGER: 'cat' },
      { PAGER: 'no-such-program' },
    ]) {
      const { status, terminal } = await list(env);
      expect([status, terminal.includes('paged:'), terminal.includes('Title 0')]).toEqual([0, false, true]);
    }
  });

  it('keeps the exit status, and shows errors', async () => {
    const { status, terminal } = await list(MARK, { args: ['show', '20990101-000000-aaaa'] });
    expect([status, terminal]).toEqual([66, expect.stringContaining('no handover has the id')]);
  });

  it.runIf(hasProgram('less', '--version'))('is less, which stays until a key is pressed', async () => {
    const { status, terminal } = await runInTerminal(sandbox, ['list'], {
      size: { rows: 10, columns: 100 },
      env: { PAGER: undefined, LESSHISTFILE: '-' },
      keys: [{ after: 'Title 9', type: 'q' }],
    });
    expect(status).toBe(0);
    expect(terminal).toContain('Title 11');
    expect(terminal).not.toContain('Title 2');
  });
});
