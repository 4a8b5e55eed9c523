import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeSandbox, runGit, type Sandbox } from '../../support/cli.ts';
import { writeSession } from '../../support/hooks.ts';
import { hasTerminal, runInTerminal } from '../../support/terminal.ts';

const AGENTS = ['claude-code', 'codex', 'gemini', 'opencode', 'qwen', 'copilot', 'cline'];

let sandbox: Sandbox;
/** Without the programs of the machine that the tests run on. */
const env = { PATH: '/nowhere' };

beforeEach(() => {
  sandbox = makeSandbox();
});

function writeHome(name: string, text: string): string {
  const path = join(sandbox.home, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  return path;
}

describe('handover hooks', () => {
  it('writes commands with absolute paths, the agent and the event', async () => {
    const settings = writeHome('.claude/settings.json', '{}');
    await sandbox.ok(['hooks', 'install', '--agent', 'claude-code'], { env });
    const { hooks } = JSON.parse(readFileSync(settings, 'utf8'));
    expect(Object.keys(hooks)).toEqual(['SessionStart', 'UserPromptSubmit', 'Stop', 'PreCompact', 'SessionEnd']);
    const [word = '', script = '', ...rest] = hooks.Stop[0].hooks[0].command.split(' ');
    expect(JSON.parse(word)).toBe(process.execPath);
    expect(JSON.parse(script)).toBe(join(process.cwd(), 'bin/hook.cjs'));
    expect(rest).toEqual(['claude-code', 'Stop']);
  });

  it('finds agents by their program and its version, without starting it', async () => {
    const programs = join(sandbox.folder, 'bin');
    const folder = join(sandbox.folder, 'lib/node_modules/@openai/codex');
    mkdirSync(join(folder, 'bin'), { recursive: true });
    mkdirSync(programs);
    writeFileSync(join(folder, 'package.json'), '{"name":"@openai/codex","version":"0.166.0"}');
    writeFileSync(join(folder, 'bin/codex.js'), `#!/bin/sh\ntouch ${sandbox.folder}/started\n`);
    chmodSync(join(folder, 'bin/codex.js'), 0o755);
    symlinkSync(join(folder, 'bin/codex.js'), join(programs, 'codex'));
    const { agents } = await sandbox.json<{ agents: { agent: string }[] }>(['hooks', 'status', '--agent', 'codex'], {
      env: { PATH: programs },
    });
    expect(agents).toEqual([
      expect.objectContaining({
        agent: 'codex',
        detected: true,
        version: '0.166.0',
        state: 'none',
        folder: null,
      }),
    ]);
    expect(readdirSync(sandbox.folder)).not.toContain('started');
  });

  it('lists its subcommands when one is unknown', async () => {
    const { status, stderr } = await sandbox.run(['hooks', 'instal'], { env });
    expect([status, stderr]).toEqual([64, expect.stringContaining('install')]);
  });

  it('refuses an agent that is not installed or not known', async () => {
    const absent = await sandbox.run(['hooks', 'install', '--agent', 'codex'], { env });
    expect([absent.status, absent.stderr]).toEqual([66, expect.stringContaining('Codex is not on this machine')]);
    const unknown = await sandbox.run(['hooks', 'install', '--agent', 'aider'], { env });
    expect([unknown.status, unknown.stderr]).toEqual([64, expect.stringContaining(AGENTS.join(', '))]);
  });

  it('writes nothing at all when one of the files cannot be read', async () => {
    writeHome('.claude/settings.json', '{}');
    const broken = writeHome('.qwen/settings.json', '{\n  "a": 1\n  "b": 2\n}\n');
    const { status, stderr } = await sandbox.run(['hooks', 'install', '--json'], { env });
    expect(status).toBe(65);
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'HANDOVER_JSON_INVALID',
      message: `${broken} cannot be read at line 3, column 3: comma expected`,
      line: 3,
    });
    expect(readFileSync(join(sandbox.home, '.claude/settings.json'), 'utf8')).toBe('{}');
    expect(await sandbox.ok(['hooks', 'status', '--agent', 'qwen'], { env })).toContain('cannot be read at line 3');
  });

  it('uses the configuration folders that environment variables name', async () => {
    const folder = join(sandbox.folder, 'elsewhere');
    const homes = {
      CLAUDE_CONFIG_DIR: join(folder, 'claude'),
      CODEX_HOME: join(folder, 'codex'),
      GEMINI_CLI_HOME: join(folder, 'gemini'),
      XDG_CONFIG_HOME: join(folder, 'config'),
      QWEN_HOME: join(folder, 'qwen'),
      COPILOT_HOME: join(folder, 'copilot'),
      CLINE_DIR: join(folder, 'cline'),
    };
    for (const home of [...Object.values(homes), join(folder, 'gemini/.gemini'), join(folder, 'config/opencode')]) {
      mkdirSync(home, { recursive: true });
    }
    await sandbox.ok(['hooks', 'install'], { env: { ...env, ...homes } });
    expect(readdirSync(sandbox.home)).toEqual([]);
    const { agents } = await sandbox.json<{ agents: { state: string }[] }>(['hooks', 'status'], {
      env: { ...env, ...homes },
    });
    expect(agents.map(({ state }) => state)).toEqual(AGENTS.map(() => 'installed'));
  });

  it('writes only into the project with --scope project, from any folder in it', async () => {
    runGit(sandbox.project, 'init', '--quiet');
    const inner = join(sandbox.project, 'src');
    mkdirSync(inner);
    writeHome('.claude/settings.json', '{}');
    await sandbox.ok(['hooks', 'install', '--scope', 'project'], {
      env: { PATH: process.env.PATH },
      cwd: inner,
    });
    expect(readdirSync(join(sandbox.project, '.claude'))).toEqual(['settings.local.json']);
    expect(readFileSync(join(sandbox.home, '.claude/settings.json'), 'utf8')).toBe('{}');
  });

  it('installs once when many install at the same time', async () => {
    const settings = writeHome('.claude/settings.json', '{"hooks": {"Stop": []}}');
    const runs = await Promise.all(Array.from({ length: 6 }, () => sandbox.run(['hooks', 'install'], { env })));
    expect(runs.map(({ status, stderr }) => [status, stderr])).toEqual(runs.map(() => [0, '']));
    expect(runs.filter(({ stdout }) => stdout.includes('  changed  '))).toHaveLength(1);
    expect(readFileSync(settings, 'utf8').match(/hook\.cjs/g)).toHaveLength(5);
    await sandbox.ok(['hooks', 'uninstall'], { env });
    expect(readFileSync(settings, 'utf8')).toBe('{"hooks": {"Stop": []}}');
  });

  it('says when the user has disabled all hooks', async () => {
    writeHome('.gemini/settings.json', '{"hooksConfig": {"enabled": false}}');
    await sandbox.ok(['hooks', 'install'], { env });
    expect(await sandbox.ok(['hooks', 'status', '--agent', 'gemini'], { env })).toContain('all hooks are turned off');
  });

  it('does not change a write-protected file', async () => {
    const settings = writeHome('.claude/settings.json', '{}');
    chmodSync(settings, 0o444);
    const { status, stderr } = await sandbox.run(['hooks', 'install'], { env });
    expect([status, stderr]).toEqual([77, expect.stringContaining('is write-protected')]);
    expect(readFileSync(settings, 'utf8')).toBe('{}');
  });
});

describe('the trust that Codex asks for', () => {
  const codex = ['--agent', 'codex'];

  function noteTrust(hash: string): void {
    const hooks = join(sandbox.home, '.codex/hooks.json');
    const events = ['session_start', 'user_prompt_submit', 'stop', 'interrupt', 'pre_compact', 'session_end'];
    const notes = events.map((event) => `[hooks.state."${hooks}:${event}:0:0"]\ntrusted_hash = "sha256:${hash}"\n`);
    writeHome('.codex/config.toml', `model = "m"\n${notes.join('')}`);
  }

  async function isTrusted(): Promise<boolean | null> {
    const { agents } = await sandbox.json<{ agents: { files: { trusted: boolean | null }[] }[] }>(
      ['hooks', 'status', ...codex],
      { env },
    );
    return agents[0]?.files[0]?.trusted ?? null;
  }

  it('is explained until the user grants it, and never granted by us', async () => {
    const config = writeHome('.codex/config.toml', 'model = "m"\n');
    expect(await isTrusted()).toBeNull();
    const printed = await sandbox.ok(['hooks', 'install', ...codex], { env });
    expect(printed).toContain('next: Codex runs no hook until you have reviewed it: start codex');
    expect(await isTrusted()).toBe(false);
    expect(readFileSync(config, 'utf8')).toMatch(/^model = "m"\n\n# Written by .*\n\[mcp_servers\.handover\]\n/);
    expect(readFileSync(config, 'utf8')).not.toContain('trusted_hash');
    noteTrust('11');
    expect(await isTrusted()).toBe(true);
  });

  it('is asked for again when a hook has changed', async () => {
    const hooks = writeHome('.codex/hooks.json', '{}');
    await sandbox.ok(['hooks', 'install', ...codex], { env });
    writeFileSync(hooks, readFileSync(hooks, 'utf8').replaceAll('/bin/hook.cjs', '/older/bin/hook.cjs'));
    noteTrust('11');
    expect(await sandbox.ok(['hooks', 'install', ...codex], { env })).toContain('next: Codex runs no hook');
    expect(await isTrusted()).toBe(false);
    noteTrust('22');
    expect(await isTrusted()).toBe(true);
  });
});

describe('handover doctor', () => {
  it('reports hooks whose program is missing', async () => {
    const settings = writeHome('.claude/settings.json', '{}');
    await sandbox.ok(['hooks', 'install'], { env });
    writeFileSync(settings, readFileSync(settings, 'utf8').replaceAll(process.execPath, '/gone/node'));
    const { findings } = await sandbox.json<{ findings: { code: string; message: string }[] }>(['doctor'], {
      env,
    });
    expect(findings).toContainEqual(
      expect.objectContaining({
        code: 'broken-hook',
        message: expect.stringContaining(
          'starts /gone/node, which does not exist; repair it: handover hooks install --agent claude-code',
        ),
      }),
    );
    expect(findings.some(({ code }) => /unknown/.test(code))).toBe(false);
  });
});

describe('handover init', () => {
  it('without a terminal says what to type, and changes nothing', async () => {
    const settings = writeHome('.claude/settings.json', '{}');
    const { status, stdout, stderr } = await sandbox.run(['init'], { env });
    expect(status).toBe(64);
    expect(stdout).toContain('to do: add hooks for Claude Code to ~/.claude/settings.json\n');
    expect(stderr).toContain('handover init --yes');
    expect(readFileSync(settings, 'utf8')).toBe('{}');
  });

  it('takes hooks and MCP with --yes, touches nothing else, and has nothing left to do the second time', async () => {
    writeHome('.claude/settings.json', '{}');
    writeHome('.codex/config.toml', '');
    const before = readdirSync(sandbox.project);
    const { done, parts, next } = await sandbox.json<InitResult>(['init', '--yes'], { env });
    expect(done).toBe(true);
    expect(parts.map(({ name, chosen }) => [name, chosen])).toEqual([
      ['claude-code', true],
      ['codex', true],
      ['blocks', false],
      ['files', false],
    ]);
    for (const part of parts.slice(0, 2))
      expect(part.proposals).toEqual(
        ['hooks', 'the MCP server'].map((each) => expect.stringContaining(`add ${each} for`)),
      );
    expect(next).toEqual([expect.stringContaining('start codex')]);
    expect(readdirSync(sandbox.project)).toEqual(before);
    expect(await sandbox.ok(['init'], { env })).toContain('there is nothing to set up\n');
  });

  it('adds blocks only to files of agents that are there, and --remove undoes everything', async () => {
    const mine = '{\n    "theme": "dark" }';
    const settings = writeHome('.claude/settings.json', mine);
    const before = readdirSync(sandbox.project);
    await sandbox.ok(['init', '--yes', '--blocks', '--files'], { env });
    const added = readdirSync(sandbox.project).filter((name) => !before.includes(name) && !name.startsWith('.'));
    expect(added.sort()).toEqual(['CLAUDE.md', 'HANDOFF.md', 'MEMORY.md', 'SOUL.md']);
    expect(readFileSync(settings, 'utf8')).toContain('hook.cjs');
    const { removed } = await sandbox.json<{ removed: { outcome: string }[] }>(['init', '--remove'], { env });
    expect(new Set(removed.map(({ outcome }) => outcome))).toEqual(new Set(['removed']));
    expect(readFileSync(settings, 'utf8')).toBe(mine);
    expect(readdirSync(sandbox.project).filter((name) => !name.startsWith('.'))).toEqual(before);
    expect(await sandbox.ok(['init', '--remove'], { env })).toBe('there is nothing to remove\n');
  });

  it('offers to capture earlier sessions', async () => {
    const session = writeSession(sandbox);
    session.transcript.human('Retry the checkout');
    session.write();
    const { next } = await sandbox.json<InitResult>(['init', '--yes'], { env });
    expect(next).toEqual([expect.stringContaining('1 earlier session on this machine, 1 in this project')]);
    expect(await sandbox.json(['list'])).toEqual([]);
  });

  it('skips what flags exclude', async () => {
    const settings = writeHome('.claude/settings.json', '{}');
    writeHome('.qwen/settings.json', '{}');
    expect(await sandbox.ok(['init', '--yes', '--no-hooks', '--no-files'], { env })).toContain(
      'there is nothing to set up\n',
    );
    await sandbox.ok(['init', '--yes', '--no-mcp', '--agent', 'qwen'], { env });
    expect(readFileSync(join(sandbox.home, '.qwen/settings.json'), 'utf8')).not.toContain('mcpServers');
    await sandbox.ok(['init', '--yes', '--agent', 'qwen'], { env });
    expect(readFileSync(join(sandbox.home, '.qwen/settings.json'), 'utf8')).toContain('mcpServers');
    expect(readFileSync(settings, 'utf8')).toBe('{}');
    expect(readFileSync(join(sandbox.home, '.qwen/settings.json'), 'utf8')).toContain('hook.cjs');
  });

  describe.runIf(hasTerminal)('in a terminal', () => {
    const question = 'What should be set up?';
    const cancel = '\u0003';

    it('asks once, and does nothing when it is cancelled', async () => {
      const settings = writeHome('.claude/settings.json', '{}');
      const { status, terminal } = await runInTerminal(sandbox, ['init'], {
        keys: [{ after: question, type: cancel }],
      });
      expect([status, terminal]).toEqual([130, expect.stringContaining('nothing was done')]);
      expect(readFileSync(settings, 'utf8')).toBe('{}');
    });

    it('does what is ticked, hooks at first', async () => {
      const settings = writeHome('.claude/settings.json', '{}');
      const { status } = await runInTerminal(sandbox, ['init', '--agent', 'claude-code'], {
        keys: [{ after: question, type: '\r' }],
      });
      expect(status).toBe(0);
      expect(readFileSync(settings, 'utf8')).toContain('hook.cjs');
      expect(existsSync(join(sandbox.project, 'CLAUDE.md'))).toBe(false);
    });

    it('does not what is unticked', async () => {
      const settings = writeHome('.claude/settings.json', '{}');
      const [space, down] = [' ', '\u001b[B'];
      const { status, terminal } = await runInTerminal(sandbox, ['init', '--agent', 'claude-code'], {
        keys: [
          { after: 'SOUL.md', type: space },
          { after: 'Claude Code', type: down },
          { after: 'CLAUDE.md', type: space },
          { after: 'CLAUDE.md', type: '\r' },
        ],
      });
      expect([status, terminal]).toEqual([0, expect.stringContaining(' a block to CLAUDE.md')]);
      expect(readFileSync(settings, 'utf8')).toBe('{}');
      expect(existsSync(join(sandbox.project, 'CLAUDE.md'))).toBe(true);
      expect(existsSync(join(sandbox.project, 'SOUL.md'))).toBe(false);
    });

    it('captures earlier sessions where they are ticked', async () => {
      const session = writeSession(sandbox);
      session.transcript.human('Retry the checkout');
      session.write();
      const up = '\u001b[A';
      const { status, terminal } = await runInTerminal(sandbox, ['init', '--agent', 'claude-code'], {
        keys: [
          { after: 'Capture 1 earlier session', type: up },
          { after: 'Capture 1 earlier session', type: ' ' },
          { after: 'Capture 1 earlier session', type: '\r' },
        ],
      });
      expect([status, terminal]).toEqual([0, expect.stringContaining('capturing 1 session in the background')]);
      await expect.poll(async () => await sandbox.json(['list'])).toHaveLength(1);
    });
  });
});

interface InitResult {
  done: boolean;
  parts: { name: string; proposals: string[]; chosen: boolean }[];
  next: string[];
}
