import { beforeAll, describe, expect, it } from 'vitest';
import { errorCode, makeSandbox } from '../../support/cli.ts';
import { saveSample } from '../../support/samples.ts';
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
      'score',
    ]);
  });

  it('fails with a code without a terminal, and when nothing matches', async () => {
    const blind = await sandbox.run(['select', '--json']);
    expect([blind.status, errorCode(blind)]).toEqual([64, 'HANDOVER_USAGE']);
    const none = await sandbox.run(['select', '--print-id', '--query', 'nowhere', '--json']);
    expect([none.status, errorCode(none)]).toEqual([66, 'HANDOVER_NOT_FOUND']);
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

  it('exits with its own status when the user cancels', async () => {
    const { status, stdout, terminal } = await runInTerminal(sandbox, ['select'], {
      pipeOutput: true,
      keys: [{ after: 'Release notes', type: '\u0003' }],
    });
    expect([status, stdout]).toEqual([75, '']);
    expect(terminal).toContain('nothing was selected');
  });
});
