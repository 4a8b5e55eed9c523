import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HOOK_HOSTS } from '../../src/agents/hook-hosts.ts';
import type { HookedAgent } from '../../src/agents/hook-input.ts';
import { VERSION } from '../../src/version.ts';
import { makeTempFolder } from '../support/cli.ts';

function readJson(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function variable(name: string): string {
  return `\${${name}}`;
}

/** What `hooks install` would write, with the command of a plugin. */
function describeHooks(agent: HookedAgent, root: string): Record<string, unknown> {
  const host = HOOK_HOSTS.find((candidate) => candidate.agent === agent);
  const launcher = { node: '/n', script: '/p/bin/hook.cjs' };
  const [file] = host?.listFiles({ scope: 'user', folder: '/f', launcher, platform: 'linux', env: {} }) ?? [];
  if (file?.kind !== 'entries') throw new Error(`${agent} has no entries`);
  return Object.fromEntries(
    [...file.handlers].map(([event, handler]) => [
      event,
      [{ hooks: [{ ...handler, command: `node "${root}/bin/hook.cjs" ${agent} ${event}` }] }],
    ]),
  );
}

describe('the plugin for Claude Code and Codex', () => {
  const plugin = 'plugins/agent-handover';

  it('is listed in a marketplace file in the package', () => {
    expect(readJson('.claude-plugin/marketplace.json')).toMatchObject({
      name: 'agent-handover',
      owner: { name: expect.any(String) },
      plugins: [{ name: 'agent-handover', source: `./${plugin}`, description: expect.any(String) }],
    });
    expect(readJson('package.json')).toMatchObject({
      files: expect.arrayContaining(['.claude-plugin', 'plugins', 'skills']),
    });
  });

  it('has the version of the package in both manifests', () => {
    for (const folder of ['.claude-plugin', '.codex-plugin']) {
      expect(readJson(join(plugin, folder, 'plugin.json'))).toMatchObject({
        name: 'agent-handover',
        version: VERSION,
      });
    }
  });

  it('has the hooks for each of the two', () => {
    const claude = readJson(join(plugin, 'hooks/hooks.json'));
    expect(claude.hooks).toEqual(describeHooks('claude-code', variable('CLAUDE_PLUGIN_ROOT')));
    expect(readJson(join(plugin, '.codex-plugin/plugin.json')).hooks).toBe('./hooks/codex.json');
    const codex = readJson(join(plugin, 'hooks/codex.json'));
    expect(codex.hooks).toEqual(describeHooks('codex', variable('CLAUDE_PLUGIN_ROOT')));
    for (const file of [claude, codex]) expect(Object.keys(file).sort()).toEqual(['description', 'hooks']);
  });
});

describe('the MCP server and the skill of the plugins', () => {
  it('are in both the plugin and the extension', () => {
    expect(readJson('plugins/agent-handover/.mcp.json')).toEqual({
      mcpServers: { handover: { command: 'node', args: [`${variable('CLAUDE_PLUGIN_ROOT')}/bin/mcp.cjs`] } },
    });
    expect(readJson('plugins/gemini/gemini-extension.json').mcpServers).toEqual({
      handover: { command: 'node', args: [`${variable('extensionPath')}/bin/mcp.cjs`, '--agent', 'gemini'] },
    });
  });

  it('are the same everywhere', () => {
    const skill = readFileSync('skills/handover/SKILL.md', 'utf8');
    expect(skill).toMatch(/^---\nname: handover\ndescription: .{50,1000}\n---\n/);
    for (const plugin of ['plugins/agent-handover', 'plugins/gemini'])
      expect(readFileSync(join(plugin, 'skills/handover/SKILL.md'), 'utf8')).toBe(skill);
  });

  it('name every tool', () => {
    const skill = readFileSync('skills/handover/SKILL.md', 'utf8');
    for (const file of readdirSync('src/surfaces/mcp/tools').filter((name) => !name.endsWith('.run.ts')))
      expect(skill).toContain(`\`${file.replace(/\.ts$/, '')}\``);
  });
});

describe('the extension for Gemini CLI', () => {
  it('has a manifest and hooks that name it', () => {
    expect(readJson('plugins/gemini/gemini-extension.json')).toMatchObject({
      name: 'agent-handover',
      version: VERSION,
    });
    expect(readJson('plugins/gemini/hooks/hooks.json')).toEqual({
      hooks: describeHooks('gemini', variable('extensionPath')),
    });
  });
});

describe.each(['plugins/agent-handover', 'plugins/gemini'])('the hook entry of %s', (plugin) => {
  /** A package whose hook entry says who called it. */
  function makePackage(): string {
    const folder = join(makeTempFolder(), 'agent-handover');
    mkdirSync(join(folder, 'bin'), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"name":"agent-handover"}');
    writeFileSync(join(folder, 'bin/handover.cjs'), '#!/usr/bin/env node\n', { mode: 0o755 });
    writeFileSync(join(folder, 'bin/hook.cjs'), "process.stdout.write('ran ' + process.argv.slice(2));");
    return folder;
  }

  function run(script: string, path: string): string {
    return execFileSync(process.execPath, [script, 'codex', 'Stop'], {
      env: { PATH: path },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  }

  it('runs the package that contains it', () => {
    const folder = makePackage();
    cpSync(plugin, join(folder, plugin), { recursive: true });
    expect(run(join(folder, plugin, 'bin/hook.cjs'), '/nowhere')).toBe('ran codex,Stop');
  });

  it('runs the MCP server of that package with its arguments', () => {
    const folder = makePackage();
    writeFileSync(join(folder, 'bin/handover.cjs'), "process.stdout.write('ran ' + process.argv.slice(2));");
    cpSync(plugin, join(folder, plugin), { recursive: true });
    expect(run(join(folder, plugin, 'bin/mcp.cjs'), '/nowhere')).toBe('ran mcp,codex,Stop');
  });

  it('runs the package found in PATH when an agent copied it elsewhere', () => {
    const programs = makeTempFolder();
    symlinkSync(join(makePackage(), 'bin/handover.cjs'), join(programs, 'agent-handover'));
    const copy = join(makeTempFolder(), 'cache/plugin/0.1.0');
    cpSync(plugin, copy, { recursive: true });
    expect(run(join(copy, 'bin/hook.cjs'), `/nowhere:${programs}`)).toBe('ran codex,Stop');
  });

  it('prints nothing when the package is missing or broken', () => {
    const copy = join(makeTempFolder(), 'cache/plugin/0.1.0');
    cpSync(plugin, copy, { recursive: true });
    expect(run(join(copy, 'bin/hook.cjs'), '/nowhere')).toBe('');
    const broken = makePackage();
    writeFileSync(join(broken, 'package.json'), '{');
    const programs = makeTempFolder();
    symlinkSync(join(broken, 'bin/handover.cjs'), join(programs, 'agent-handover'));
    expect(run(join(copy, 'bin/hook.cjs'), programs)).toBe('');
  });
});
