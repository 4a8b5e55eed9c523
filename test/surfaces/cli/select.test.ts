import { beforeAll, describe, expect, it } from 'vitest';
import { errorCode, makeSandbox } from '../../support/cli.ts';
import { saveSample } from '../../support/samples.ts';
import { drawScreen } from '../../support/screen.ts';
import { hasTerminal, runInTerminal } from '../../support/terminal.ts';

const sandbox = makeSandbox();
const ids: string[] = [];

beforeAll(() => {
  for (const title of ['Parser rewrite', 'Login page', 'Release notes'])
    ids.push(saveSample(sandbox.machine, { title, agent: title === 'Login page' ? 'codex' : 'manual' }).id);
});

describe('handover select', () => {
  it('prints the newest match with --print-id', async () => {
    expect(await sandbox.ok(['select', '--print-id'])).toBe(`${ids[2]}\n`);
    expect(await sandbox.ok(['select', '--print-id', '--query', 'pars'])).toBe(`${ids[0]}\n`);
    expect(await sandbox.ok(['select', '--print-id', '--agent', 'codex'])).toBe(`${ids[1]}\n`);
    const row = await sandbox.json(['select', '--print-id']);
    expect(Object.keys(row)).toEqual([
      'id',
      'created_at',
      'agent',
      'project',
      'root',
      'title',
      'next',
      'session',
      'terminal',
      'last_at',
      'noted_at',
      'score',
    ]);
  });

  it('fails with a code without a terminal, and says when nothing matches', async () => {
    const blind = await sandbox.run(['select', '--json']);
    expect([blind.status, errorCode(blind)]).toEqual([64, 'HANDOVER_USAGE']);
    for (const args of [['--print-id'], ['--print-id', '--json'], []]) {
      const { status, stdout, stderr } = await sandbox.run(['select', ...args, '--query', 'nowhere']);
      expect([status, stdout, stderr]).toEqual([66, '', expect.stringContaining('no handover matches')]);
    }
  });
});

describe.runIf(hasTerminal)('handover select in a terminal', () => {
  const enter = '\r';

  it('prints the id of the handover that is picked by typing', async () => {
    const { status, stdout, terminal } = await runInTerminal(sandbox, ['select'], {
      pipeOutput: true,
      keys: [
        { after: 'Release notes', type: 'logpa' },
        { after: 'Login page', type: enter },
      ],
    });
    expect([status, stdout]).toEqual([0, `${ids[1]}\n`]);
    expect(terminal).toContain('Which handover?');
  });

  it('hides what does not match, and Enter takes what is shown first', async () => {
    const size = { rows: 30, columns: 70 };
    const { stdout, shown } = await runInTerminal(sandbox, ['select'], {
      pipeOutput: true,
      size,
      quietMs: 150,
      keys: [
        { after: 'Parser rewrite', type: '\u001b[B' },
        { after: 'Login page', type: 'p' },
        { after: 'Search:', type: 'ar' },
        { after: 'Search:', type: enter },
      ],
    });
    const screens = shown.map((written) => drawScreen(written, size));
    const rowsOf = (screen = '') => [...screen.matchAll(/^│ {2}([●○]) (.*?) {2,}(\S.*)$/gm)].map(([, ...row]) => row);
    expect(rowsOf(screens[1]).map(([mark]) => mark)).toEqual(['○', '●', '○']);
    expect(rowsOf(screens.at(-1))).toEqual([['●', 'Parser rewrite', 'sample, just now']]);
    expect(screens.at(-1)).toContain(`│    ${ids[0]} manual\n`);
    expect(stdout).toBe(`${ids[0]}\n`);
  });

  it('draws whole lines in a terminal that says it has no columns', async () => {
    const { status, stdout, terminal } = await runInTerminal(sandbox, ['select'], {
      pipeOutput: true,
      size: { rows: 0, columns: 0 },
      keys: [{ after: 'Release notes', type: enter }],
    });
    expect([status, stdout]).toEqual([0, `${ids[2]}\n`]);
    expect(terminal).toContain('Which handover? Type parts of its title or project');
  });

  it('prints the newest when Enter is pressed at once, or another after the arrow keys', async () => {
    const first = await runInTerminal(sandbox, ['select'], {
      pipeOutput: true,
      keys: [{ after: 'Release notes', type: enter }],
    });
    expect([first.status, first.stdout]).toEqual([0, `${ids[2]}\n`]);
    const down = await runInTerminal(sandbox, ['select'], {
      pipeOutput: true,
      keys: [
        { after: 'Parser rewrite', type: '\u001b[B' },
        { after: 'Login page', type: enter },
      ],
    });
    expect([down.status, down.stdout]).toEqual([0, `${ids[1]}\n`]);
  });

  it('exits with 130 when the user cancels', async () => {
    const { status, stdout, terminal } = await runInTerminal(sandbox, ['select'], {
      pipeOutput: true,
      keys: [{ after: 'Release notes', type: '\u0003' }],
    });
    expect([status, stdout]).toEqual([130, '']);
    expect(terminal).toMatch(/cancelled: .*nothing was selected/);
    expect(terminal).not.toContain('error');
  });
});
