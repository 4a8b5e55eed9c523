import { describe, expect, it } from 'vitest';
import { AGENT_NAMES } from '../../../src/agents/agent.ts';
import { COMMANDS } from '../../../src/surfaces/cli/commands/table.ts';
import { inPairs, makeSandbox } from '../../support/cli.ts';

const sandbox = makeSandbox();

/** Status, first line and second line of what a command says to wrong arguments. */
async function mistake(...args: string[]): Promise<[status: number | null, error: string, next: string]> {
  const { status, stderr } = await sandbox.run(args);
  const [error = '', next = '', ...more] = stderr.split('\n');
  expect([args, more]).toEqual([args, ['']]);
  return [status, error, next];
}

describe('wrong arguments', () => {
  it('are answered with the command that they were given to, whichever it is', async () => {
    const names = Object.keys(COMMANDS).filter((name) => name !== 'hooks');
    await inPairs(names, async (name) => {
      expect(await mistake(name, '--nonsense')).toEqual([
        64,
        `error: ${name} has no flag --nonsense`,
        `  next: See: handover ${name} --help`,
      ]);
    });
  }, 240_000);

  it.each([
    [['list', '--lmit', '3'], 'list has no flag --lmit', 'Did you mean --limit? See: handover list --help'],
    [
      ['list', '--all'],
      'list has no flag --all',
      'It lists those of all projects; without a limit: --limit 0. See: handover list --help',
    ],
    [
      ['why', 'a.ts', '--all-projects'],
      'why has no flag --all-projects',
      'Did you mean --all? See: handover why --help',
    ],
    [['to', 'codex', '--id', 'x'], 'to has no flag --id', 'See: handover to --help'],
    [['export', '--latest'], 'export has no flag --latest', 'See: handover export --help'],
    [
      ['export', '--al-projects'],
      'export has no flag --al-projects',
      'Did you mean --all-projects? See: handover export --help',
    ],
    [['list', '--limit'], 'a value for --limit is missing', 'See: handover list --help'],
    [['list', '--limit', '1', '--limit', '2'], '--limit can be given only once', 'See: handover list --help'],
    [['list', '-q'], 'list has no flag -q', 'See: handover list --help'],
    [['list', 'x'], 'list takes no arguments; "x" is too many', 'See: handover list --help'],
    [['list', '--json=x'], '"x" is not a value of --json', 'See: handover list --help'],
    [['init', '--no-hooks=x'], '--no-hooks takes no value', 'See: handover init --help'],
    [['refute', 'x'], 'a value for --because is missing', 'See: handover refute --help'],
    [
      ['pin', 'No', 'tabs'],
      'pin takes one argument; "tabs" is too many',
      'Put words that belong together in quotes. See: handover pin --help',
    ],
    [
      ['export', '--format', 'x'],
      '--format cannot be "x"',
      'Use one of: bundle, markdown, json, session-handoff, v2. See: handover export --help',
    ],
    [['pin'], 'pin needs a FACT', 'The id of a fact, the start of one, or its words. See: handover pin --help'],
    [['hooks', 'x'], 'hooks has no action "x"', 'Use one of: install, uninstall, status.'],
    [['keys'], 'keys needs an ACTION', 'What to do: generate, list, trust, revoke, export. See: handover keys --help'],
    [['keys', 'x'], 'keys has no action "x"', 'Use one of: generate, list, trust, revoke, export.'],
    [
      ['completions'],
      'completions needs a SHELL',
      'The shell: bash, zsh, fish, powershell. See: handover completions --help',
    ],
    [['completions', 'x'], 'there are no completions for "x"', 'Use one of: bash, zsh, fish, powershell.'],
    [['compact', '--month', 'zz'], '"zz" is not a month', 'A month is written as 2026-01.'],
    [['to'], 'to needs an AGENT', `The agent to start: ${AGENT_NAMES.join(', ')}. See: handover to --help`],
    [['to', 'codx'], 'unknown agent "codx"', `Did you mean: codex? Use one of: ${AGENT_NAMES.join(', ')}.`],
    [
      ['hooks', 'instal'],
      'hooks has no action "instal"',
      'Did you mean: install? Use one of: install, uninstall, status.',
    ],
    [
      ['keys', 'lst'],
      'keys has no action "lst"',
      'Did you mean: list? Use one of: generate, list, trust, revoke, export.',
    ],
    [['to', 'x'], 'unknown agent "x"', `Use one of: ${AGENT_NAMES.join(', ')}.`],
  ])('%j: %s', async (args, error, next) => {
    expect(await mistake(...args)).toEqual([64, `error: ${error}`, `  next: ${next}`]);
  });
});
