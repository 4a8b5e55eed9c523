import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { AGENT_NAMES } from '../../../src/agents/agent.ts';
import { findLaunch } from '../../../src/agents/table.ts';
import { makeStory, SESSION_ID } from '../../fixtures/agents/claude-code.ts';
import { makeSandbox, makeTempFolder, type RunResult, runGit, type Sandbox } from '../../support/cli.ts';
import { STORY_CWD } from '../../support/conformance/agents.ts';
import { hasTerminal, runInTerminal } from '../../support/terminal.ts';
import { writeText } from '../../support/transcripts.ts';

let sandbox: Sandbox;
let bin: string;

beforeEach(() => {
  sandbox = makeSandbox();
  bin = join(sandbox.folder, 'bin');
  mkdirSync(bin);
});

interface Started {
  args: string[];
  cwd: string;
  files: string[];
}

/** Puts a program in PATH that writes down how it was started, and then runs the given script. */
function standIn(program: string, then = ''): () => Started {
  const note = join(sandbox.folder, `${program}.json`);
  const path = join(bin, program);
  writeFileSync(
    path,
    `#!${process.execPath}
const fs = require('node:fs');
const args = process.argv.slice(2);
const files = args.filter((arg) => fs.existsSync(arg)).map((arg) => fs.readFileSync(arg, 'utf8'));
fs.writeFileSync(${JSON.stringify(note)}, JSON.stringify({ args, cwd: process.cwd(), files }));
${then}
`,
  );
  chmodSync(path, 0o755);
  return () => JSON.parse(readFileSync(note, 'utf8'));
}

async function runTo(args: readonly string[], cwd = sandbox.project): Promise<RunResult> {
  return await sandbox.run(['to', ...args], { cwd, env: { PATH: `${bin}:${process.env.PATH}` } });
}

describe('handover to', () => {
  it('starts the agent in the folder of the handover with the brief as its first prompt', async () => {
    runGit(sandbox.project, 'init', '-q');
    const folder = join(sandbox.project, 'web');
    mkdirSync(folder);
    const started = standIn('codex');
    const id = JSON.parse(await sandbox.ok(['save', '--summary', 'Half done', '--json'], { cwd: folder })).id;
    const { status, stderr } = await runTo(['codex', '--goal', 'Finish it'], sandbox.project);
    expect(stderr).toContain(id);
    expect(status).toBe(0);
    const { args, cwd } = started();
    expect(cwd).toBe(folder);
    expect(args).toHaveLength(1);
    expect(args[0]).toContain(`# Handover ${id} for Codex`);
    expect(args[0]).toContain('> Half done');
    expect(args[0]?.endsWith('What to do now: Finish it\n')).toBe(true);
  });

  it('exits with the status of the agent', async () => {
    await sandbox.save('--summary', 'Half done');
    standIn('claude', 'process.exit(7);');
    expect((await runTo(['claude-code'])).status).toBe(7);
    standIn('claude', 'process.kill(process.pid, "SIGKILL");');
    expect((await runTo(['claude'])).status).toBe(137);
  });

  it('prints the prompt and starts nothing with --print', async () => {
    await sandbox.save('--summary', 'Half done');
    standIn('gemini', 'process.exit(7);');
    const { status, stdout, stderr } = await runTo(['gemini', '--print']);
    expect(status).toBe(0);
    expect(stdout).toContain('> Half done');
    expect(stderr).toContain('the prompt for gemini --prompt-interactive PROMPT, from handover ');
    const { prompt, ...rest } = JSON.parse((await runTo(['gemini', '--json'])).stdout);
    expect(prompt).toBe(stdout);
    expect(rest).toMatchObject({
      agent: 'gemini',
      folder: sandbox.project,
      program: 'gemini',
      args: ['--prompt-interactive', 'PROMPT'],
    });
    expect(readdirSync(sandbox.folder)).not.toContain('gemini.json');
  });

  it('starts from another handover when it is named, in its own folder', async () => {
    const other = makeTempFolder();
    const named = JSON.parse(await sandbox.ok(['save', '--summary', 'Elsewhere', '--json'], { cwd: other })).id;
    await sandbox.save('--summary', 'Here');
    const started = standIn('codex');
    await runTo(['codex', '--from', named]);
    expect(started().cwd).toBe(other);
    expect(started().args[0]).toContain('> Elsewhere');
  });

  it('never picks the handover of another worktree by itself', async () => {
    runGit(sandbox.project, 'init', '-q');
    runGit(sandbox.project, 'commit', '-q', '--allow-empty', '-m', 'First');
    const worktree = join(sandbox.folder, 'second');
    runGit(sandbox.project, 'worktree', 'add', '-q', worktree);
    await sandbox.save('--summary', 'Of the first worktree');
    standIn('codex');
    const result = await sandbox.run(['to', 'codex', '--json'], { cwd: worktree });
    expect(result.status).not.toBe(0);
    expect(readdirSync(sandbox.folder)).not.toContain('codex.json');
  });

  it('captures what happened since the newest handover before it starts', async () => {
    await sandbox.save('--summary', 'Old');
    const now = new Date().toISOString();
    const transcript = makeStory()
      .text.replaceAll(STORY_CWD, sandbox.project)
      .replaceAll(/"timestamp":"[^"]+"/g, `"timestamp":"${now}"`);
    writeText(join(sandbox.home, `.claude/projects/-project/${SESSION_ID}.jsonl`), transcript);
    const started = standIn('codex');
    await runTo(['codex']);
    expect(started().args[0]).toContain('Now: "Never retry on 404');
  });

  it('does not let quoted text attach a file', async () => {
    await sandbox.save('--summary', 'See @src/secret.env and mail a@b.example');
    const claude = standIn('claude');
    const codex = standIn('codex');
    await runTo(['claude-code', '--goal', 'Read @README.md']);
    await runTo(['codex']);
    const [prompt = ''] = claude().args;
    expect(prompt.match(/@\S+/g)).toEqual(['@README.md']);
    expect(prompt).toContain('@ src/secret.env');
    expect(codex().args[0]).toContain('@src/secret.env');
  });

  it('passes the prompt in a temporary file to an agent that reads files', async () => {
    await sandbox.save('--summary', 'Half done');
    const started = standIn('aider');
    await runTo(['aider']);
    const { args, files } = started();
    expect(args[0]).toBe('--read');
    expect(files).toEqual([expect.stringContaining('> Half done')]);
    expect(() => readFileSync(args[1] ?? '')).toThrow('ENOENT');
  });

  it('keeps a huge brief within the limit of an argument', async () => {
    const facts = Array.from({ length: 300 }, (_, at) => `--decision=Number ${at}: ${'reason '.repeat(60)}`);
    await sandbox.save('--summary', 'Much', ...facts);
    const started = standIn('gemini');
    const { status, stderr } = await runTo(['gemini', '--budget', '900000']);
    expect(status).toBe(0);
    expect(stderr).toContain('a first prompt has room for at most');
    const prompt = started().args[1] ?? '';
    expect(prompt.length).toBeGreaterThan(20_000);
    expect(prompt.length).toBeLessThan(32_000);
  });

  it('says how to install a missing agent, and which agents it can start', async () => {
    await sandbox.save('--summary', 'Half done');
    const missing = await sandbox.run(['to', 'codex'], { env: { PATH: '/usr/bin:/bin' } });
    expect(missing.status).toBe(69);
    expect(missing.stderr).toContain('npm install -g @openai/codex');
    const unknown = await runTo(['generic']);
    expect(unknown.status).toBe(64);
    const empty = await sandbox.run(['to', 'codex'], { cwd: makeTempFolder() });
    expect(empty.status).toBe(66);
  });

  it.runIf(hasTerminal)('hands the terminal to the agent, interrupts included', async () => {
    await sandbox.save('--summary', 'Half done');
    standIn(
      'codex',
      `if (!process.stdin.isTTY) process.exit(3);
process.on('SIGINT', () => { console.log('INTERRUPTED'); setTimeout(() => process.exit(5), 200); });
setInterval(() => {}, 1000);
console.log('READY');`,
    );
    const env = { ...sandbox.env, PATH: `${bin}:${process.env.PATH}` };
    const { status, terminal } = await runInTerminal({ ...sandbox, env }, ['to', 'codex'], {
      keys: [{ after: 'READY', type: '\x03' }],
    });
    expect(terminal).toContain('INTERRUPTED');
    expect(status).toBe(5);
  });
});

describe('the command line that starts an agent', () => {
  it.each(AGENT_NAMES)('for %s has the prompt as one argument, whatever its text', (agent) => {
    const prompt = 'Go on\n"quoted" $HOME `id` --flag';
    const args = findLaunch(agent).writeArgs(prompt);
    expect(args.filter((arg) => arg === prompt)).toHaveLength(1);
  });
});
