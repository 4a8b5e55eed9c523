import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { HOOK_STATE } from '../../../src/store/store.ts';
import type { Sandbox } from '../../support/cli.ts';
import { HOOK } from '../../support/hooks.ts';
import { writeText } from '../../support/transcripts.ts';
import { GOAL, openSandbox, workOneTurn } from './one-turn.ts';

let sandbox: Sandbox;

/** A session of Claude Code has worked here and ended. */
beforeEach(async () => {
  const opened = openSandbox();
  sandbox = opened.sandbox;
  const { agent } = await workOneTurn(sandbox, opened.work);
  await agent.end();
});

function setStartup(startup: string): void {
  writeText(join(sandbox.home, '.config/agent-handover/config.toml'), `[restore]\nstartup = "${startup}"\n`);
}

/** Puts a Codex into PATH that calls its hook as it starts a session, and writes down what it printed. */
function standIn(session: string): { bin: string; read(): string } {
  const bin = join(sandbox.folder, 'bin');
  const note = join(sandbox.folder, 'printed');
  mkdirSync(bin, { recursive: true });
  const input = { session_id: session, transcript_path: null, cwd: sandbox.project, source: 'startup' };
  writeFileSync(
    join(bin, 'codex'),
    `#!${process.execPath}
const { execFileSync } = require('node:child_process');
const call = () => execFileSync(process.execPath, [${JSON.stringify(HOOK)}, 'codex', 'SessionStart'], { input: ${JSON.stringify(JSON.stringify(input))} });
require('node:fs').writeFileSync(${JSON.stringify(note)}, Buffer.concat([call(), call()]));
`,
  );
  chmodSync(join(bin, 'codex'), 0o755);
  return { bin, read: () => readFileSync(note, 'utf8') };
}

function startByHand({ bin, read }: ReturnType<typeof standIn>, env: Record<string, string> = {}): string {
  execFileSync(join(bin, 'codex'), [], { env: { ...sandbox.env, ...env }, cwd: sandbox.project });
  return read();
}

describe('an agent that handover to started', () => {
  it.each(['brief', 'hint'])('is given nothing by its hook with startup = "%s"', async (startup) => {
    setStartup(startup);
    const codex = standIn('019ed893-d2a6-7c30-a8b8-5a8a49cfa001');
    const env = { PATH: `${codex.bin}:${process.env.PATH}` };
    expect((await sandbox.run(['to', 'codex'], { env })).status).toBe(0);
    expect(codex.read()).toBe('');
    expect(readdirSync(join(sandbox.store, HOOK_STATE, 'started'))).toEqual([]);
  });
});

describe('a hook of another agent', () => {
  it('gives a brief that is for this agent', () => {
    setStartup('brief');
    const given = startByHand(standIn('019ed893-d2a6-7c30-a8b8-5a8a49cfa003'));
    expect(given).toMatch(/# Handover \S+ for Codex\\n/);
    expect(given).toContain('AGENTS.md');
    expect(given).toContain(GOAL);
  });

  it('tells when the session was worked on, not when it was captured', async () => {
    const opened = openSandbox();
    sandbox = opened.sandbox;
    setStartup('brief');
    const { agent } = await workOneTurn(sandbox, opened.work, { atMs: Date.now() - 5 * 60 * 60_000 });
    await agent.end();
    const given = startByHand(standIn('019ed893-d2a6-7c30-a8b8-5a8a49cfa006'));
    expect(given).toContain('an earlier session here (claude-code, 5 hours ago) worked on');
  });

  it('hints at a command that works, or at the tool of our server', () => {
    const given = startByHand(standIn('019ed893-d2a6-7c30-a8b8-5a8a49cfa004'));
    const [, command = ''] = /read it with the command: ([^"\\]+)/.exec(given) ?? [];
    const [node = '', ...args] = command.trim().split(' ');
    expect(execFileSync(node, args, { env: sandbox.env, cwd: sandbox.project, encoding: 'utf8' })).toContain(GOAL);
    const home = join(sandbox.folder, 'codex-home');
    const server = `[mcp_servers.handover]\ncommand = "/usr/bin/node"\nargs = ["/opt/x/bin/handover.cjs", "mcp", "--agent", "codex"]\n`;
    writeText(join(home, 'config.toml'), server);
    const hint = startByHand(standIn('019ed893-d2a6-7c30-a8b8-5a8a49cfa005'), { CODEX_HOME: home });
    expect(hint).toContain('read it with the tool get of the MCP server handover: id ');
    expect(hint).not.toContain('handover.cjs');
  });
});
