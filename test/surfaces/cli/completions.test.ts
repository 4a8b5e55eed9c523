import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { AGENT_NAMES } from '../../../src/agents/agent.ts';
import { COMMANDS } from '../../../src/surfaces/cli/commands/table.ts';
import { HANDOVER, hasProgram, makeSandbox, makeTempFolder, runProcess } from '../../support/cli.ts';
import { writeSession } from '../../support/hooks.ts';
import { saveSample } from '../../support/samples.ts';
import { hasTerminal, runInTerminal } from '../../support/terminal.ts';
import { listFiles } from '../../support/tree.ts';

const sandbox = makeSandbox();
let id = '';

beforeAll(() => {
  id = saveSample(sandbox.machine, { title: 'one' }).id;
});

async function complete(...words: string[]): Promise<string[]> {
  const lines = (await sandbox.ok(['__complete', ...words])).split('\n').slice(0, -1);
  expect(lines.every((line) => /^\S+\t\S/.test(line))).toBe(true);
  return lines.map((line) => line.split('\t')[0] ?? '');
}

describe('what a shell completes', () => {
  it('are commands, at first and after help', async () => {
    expect((await complete('')).sort()).toEqual([...Object.keys(COMMANDS), 'help'].sort());
    expect(await complete('res')).toEqual(['resume', 'restore', 'resolve']);
    expect(await complete('help', 'tim')).toEqual(['timeline']);
    expect(await complete('--new-word')).toContain('resume');
  });

  it('are flags, and those that were not given yet', async () => {
    expect(await complete('list', '--l')).toEqual(['--limit', '--latest']);
    expect(await complete('list', '--latest', '--l')).toEqual(['--limit']);
    expect(await complete('hooks', 'install', '--dry')).toEqual(['--dry-run']);
    expect(await complete('hooks', '')).toEqual(['install', 'uninstall', 'status']);
  });

  it('are ids, agents, projects and fixed values, where these are expected', async () => {
    expect(await complete('show', id.slice(0, 6))).toEqual([id]);
    expect(await complete('export', '--id', '')).toEqual([id]);
    expect(await complete('to', '')).toEqual([...AGENT_NAMES]);
    expect(await complete('list', '--agent', 'cl')).toEqual(['claude-code', 'cline']);
    expect(await complete('list', '--project', '')).toEqual(['sample']);
    expect(await complete('export', '--format', 'm')).toEqual(['markdown']);
    expect(await complete('completions', 'b')).toEqual(['bash']);
    expect(await complete('keys', '')).toEqual(['generate', 'list', 'trust', 'revoke', 'export']);
    expect(await complete('keys', 'tr')).toEqual(['trust']);
    expect(await sandbox.ok(['__complete', 'to', 'cod'])).toBe('codex\tThe agent to start\n');
    expect(await sandbox.ok(['__complete', 'show', id.slice(0, 6)])).toBe(`${id}\tone\n`);
  });

  it('are sessions that are here, and no handover in their place', async () => {
    const own = makeSandbox();
    await own.save('by hand');
    const session = writeSession(own);
    session.transcript.human('Retry the checkout');
    session.write();
    const proposed = (await own.ok(['__complete', 'sessions', ''])).split('\t')[0] ?? '';
    expect(await own.ok(['sessions', proposed])).toContain('Retry the checkout');
    expect(await own.ok(['__complete', 'sessions', id.slice(0, 4)])).toBe('');
  });

  it('are nothing for files and for words that make no sense', async () => {
    expect(await complete('redact', 'x')).toEqual([]);
    expect(await complete('nonsense', '')).toEqual([]);
    expect(await complete('list', '--nonsense', 'x', '')).toEqual([]);
  });

  it.runIf(hasProgram('bash', '--version'))('is what bash shows', async () => {
    const bin = makeTempFolder();
    symlinkSync(HANDOVER, join(bin, 'handover'));
    const script = `. completions/handover.bash
      COMP_WORDS=(handover show ${id.slice(0, 4)}) COMP_CWORD=2; _handover; printf '%s\\n' "\${COMPREPLY[@]}"
      COMP_WORDS=(handover to '') COMP_CWORD=2; _handover; printf '%s ' "\${COMPREPLY[@]}"; complete -p handover`;
    const env = { ...sandbox.env, PATH: `${bin}:${process.env.PATH}` };
    const { stdout, stderr } = await runProcess(['bash', '-c', script], { cwd: process.cwd(), env });
    expect(stderr).toBe('');
    const [first, second = ''] = stdout.split('\n');
    expect(first).toBe(id);
    expect(second).toContain(`${AGENT_NAMES.join(' ')} complete -o bashdefault -o default -F _handover handover`);
  });

  it.runIf(hasProgram('fish', '--version'))('is what fish shows', async () => {
    const bin = makeTempFolder();
    symlinkSync(HANDOVER, join(bin, 'handover'));
    const ask = (line: string): string => `complete -C '${line}'; echo`;
    const script = `source completions/handover.fish; ${['handover keys ', 'handover to cod', `handover show ${id.slice(0, 6)}`, 'handover hooks un', 'handover redact READM'].map(ask).join('; ')}`;
    const env = { ...sandbox.env, PATH: `${bin}:${process.env.PATH}` };
    const { stdout, stderr } = await runProcess(['fish', '--no-config', '-c', script], { cwd: process.cwd(), env });
    expect(stderr).toBe('');
    const shown = stdout.split('\n\n').map((lines) => lines.split('\n').map((line) => line.split('\t')[0]));
    expect(shown[0]?.sort()).toEqual(['export', 'generate', 'list', 'revoke', 'trust']);
    expect(shown.slice(1, 5)).toEqual([['codex'], [id], ['uninstall'], ['README.md']]);
  });

  it.runIf(hasTerminal && hasProgram('zsh', '--version'))('is what zsh shows', async () => {
    const bin = makeTempFolder();
    symlinkSync(HANDOVER, join(bin, 'handover'));
    const start = `PS1='zsh> '; unset zle_bracketed_paste; fpath=(${process.cwd()}/completions $fpath)
autoload -Uz compinit; compinit -D -u\n`;
    writeFileSync(join(sandbox.home, '.zshrc'), start);
    const { status, shown, terminal } = await runInTerminal(sandbox, ['-i'], {
      program: ['zsh'],
      quietMs: 150,
      env: { PATH: `${bin}:${process.env.PATH}` },
      keys: [
        { after: 'zsh> ', type: 'handover keys \t' },
        { after: 'trust', type: 'g\t' },
        { after: 'enerate', type: '\u0003' },
        { after: 'zsh> ', type: `handover show ${id.slice(0, 6)}\t` },
        { after: id.slice(-4), type: '\u0003' },
        { after: 'zsh> ', type: 'exit 0\r' },
      ],
    });
    expect([status, shown.length]).toEqual([0, 6]);
    expect(terminal).toMatch(/generate.*--.*What to do/s);
  });

  it('is refused for a shell that is not known', async () => {
    const { status, stderr } = await sandbox.run(['completions', 'tcsh']);
    expect([status, stderr]).toEqual([64, expect.stringContaining('bash, zsh, fish, powershell')]);
  });
});

describe('what is generated from the commands', () => {
  it('is up to date: docs/commands.md, the manual and the completions (npm run commands)', () => {
    const folder = makeTempFolder();
    execFileSync(process.execPath, ['scripts/write-commands.mjs', folder]);
    const written = listFiles(folder).map((path) => path.slice(folder.length + 1));
    expect(written.sort()).toEqual([
      'completions/_handover',
      'completions/handover.bash',
      'completions/handover.fish',
      'completions/handover.ps1',
      'docs/commands.md',
      'man/handover.1',
    ]);
    for (const file of written)
      expect([file, readFileSync(file, 'utf8')]).toEqual([file, readFileSync(join(folder, file), 'utf8')]);
  });

  it.runIf(hasProgram('groff', '--version'))('is a manual that groff has nothing to complain about', () => {
    const { stdout, stderr } = spawnSync('groff', ['-man', '-Tutf8', '-ww', 'man/handover.1'], { encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(stdout).toContain('restored automatically');
  });
});
