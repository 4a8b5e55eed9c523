import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DAY_MS } from '../../../src/model/time.ts';
import * as cline from '../../fixtures/agents/cline.ts';
import * as codex from '../../fixtures/agents/codex.ts';
import * as copilot from '../../fixtures/agents/copilot.ts';
import { makeDatabase } from '../../fixtures/agents/database.ts';
import * as gemini from '../../fixtures/agents/gemini.ts';
import * as opencode from '../../fixtures/agents/opencode.ts';
import * as qwen from '../../fixtures/agents/qwen.ts';
import { STORIES } from '../../fixtures/agents/stories.ts';
import { makeSandbox, type Sandbox } from '../../support/cli.ts';
import { STORY_CWD } from '../../support/conformance/agents.ts';
import { type RunningAgent, readReceived, startAgent, waitForWorkers } from '../../support/hooks.ts';
import { writeText } from '../../support/transcripts.ts';

/** A sandbox in which an agent has worked through the story of the conformance suite, in the folder of the project. */
function makeStory(agent: string): { sandbox: Sandbox; path: string; hooks: RunningAgent } {
  const sandbox = makeSandbox();
  const story = STORIES.find((one) => one.agent === agent);
  const path = join(sandbox.home, story?.place ?? '');
  if (story !== undefined) writeText(path, story.text.replaceAll(STORY_CWD, sandbox.project));
  return { sandbox, path, hooks: startAgent(sandbox, { agent }) };
}

const expectStory = (text: string | null, reader: string): void => {
  expect(text).toMatch(new RegExp(`^# Handover \\d{8}-\\d{6}-\\w{4} for ${reader}\n`));
  expect(text).toContain('Never retry on 404');
  expect(text).toContain('upload.ts');
};

describe('Codex with hooks', () => {
  const { sandbox, path, hooks } = makeStory('codex');
  const input = (more: object, session = codex.THREAD): object => ({
    session_id: session,
    transcript_path: session === codex.THREAD ? path : null,
    cwd: sandbox.project,
    permission_mode: 'default',
    ...more,
  });

  it('gets the nested JSON format, without extra keys', async () => {
    await hooks.call('Stop', input({ last_assistant_message: null, stop_hook_active: false }));
    await waitForWorkers(sandbox);
    const result = await hooks.call('SessionStart', input({ source: 'compact' }));
    expectStory(readReceived(result), 'Codex');
    const printed: object = JSON.parse(result.stdout);
    expect(printed).toEqual({
      hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: expect.any(String) },
    });
  });

  it('gets the brief of the previous thread after /clear, though no end event was sent', async () => {
    expectStory(await hooks.receive('SessionStart', input({ source: 'clear' }, 'another')), 'Codex');
    await hooks.end();
  });
});

describe('Gemini CLI with hooks', () => {
  const { sandbox, path, hooks } = makeStory('gemini');
  const input = (more: object, session = gemini.SESSION_ID): object => ({
    session_id: session,
    transcript_path: session === gemini.SESSION_ID ? path : join(sandbox.home, 'none.jsonl'),
    cwd: sandbox.project,
    timestamp: '2026-01-31T09:00:00.000Z',
    ...more,
  });

  it('captures nothing before each request', async () => {
    for (let i = 0; i < 3; i++) expect((await hooks.call('PreCompress', input({ trigger: 'auto' }))).stdout).toBe('');
    expect(() => readdirSync(join(sandbox.store, 'spool'))).toThrow('ENOENT');
  });

  it('gets the brief with the prompt after a manual compression, once', async () => {
    await hooks.call(
      'AfterAgent',
      input({ prompt: 'x', prompt_response: 'Understood: no retry on 404, delay below 2000 ms.' }),
    );
    await waitForWorkers(sandbox);
    expect((await hooks.call('PreCompress', input({ trigger: 'manual' }))).stdout).toBe('');
    const given = await hooks.receive('BeforeAgent', input({ prompt: 'go on' }));
    expectStory(given, 'Gemini CLI');
    expect((await hooks.receive('BeforeAgent', input({ prompt: 'and then' }))) ?? '').not.toContain(
      'Never retry on 404',
    );
  });

  it('gets the brief with the prompt after /clear, as what its start hook prints is lost', async () => {
    expect(await hooks.receive('SessionStart', input({ source: 'clear' }, 'another'))).toBeNull();
    expectStory(await hooks.receive('BeforeAgent', input({ prompt: 'go on' }, 'another')), 'Gemini CLI');
  });

  it('treats three end events of one session as one', async () => {
    for (let i = 0; i < 3; i++) await hooks.call('SessionEnd', input({ reason: 'exit' }));
    await waitForWorkers(sandbox);
    expect(await sandbox.json<unknown[]>(['list'])).toHaveLength(1);
    await hooks.end();
  });
});

describe('Qwen Code with hooks', () => {
  const { sandbox, path, hooks } = makeStory('qwen');
  const input = (more: object): object => ({
    session_id: qwen.SESSION_ID,
    transcript_path: path,
    cwd: sandbox.project,
    permission_mode: 'yolo',
    ...more,
  });

  it('gets its brief after compaction, and nothing with empty prompts between tools', async () => {
    await hooks.call('Stop', input({ stop_hook_active: true }));
    await waitForWorkers(sandbox);
    expect(await hooks.receive('UserPromptSubmit', input({ prompt: '' }))).toBeNull();
    expectStory(await hooks.receive('SessionStart', input({ source: 'compact', model: 'm' })), 'Qwen Code');
    expect(await hooks.receive('UserPromptSubmit', input({ prompt: '' }))).toBeNull();
    await hooks.end();
  });
});

describe('Copilot CLI with hooks', () => {
  const { sandbox, path, hooks } = makeStory('copilot');
  const input = (more: object, session = copilot.SESSION): object => ({
    sessionId: session,
    timestamp: 1_769_860_800_000,
    cwd: sandbox.project,
    ...more,
  });

  it('gets the brief at the top level, with the prompt after a compaction, once', async () => {
    await hooks.call('agentStop', input({ transcriptPath: path, stopReason: 'end_turn' }));
    await waitForWorkers(sandbox);
    await hooks.call('preCompact', input({ transcriptPath: path, trigger: 'manual' }));
    const result = await hooks.call('userPromptSubmitted', input({ prompt: 'go on' }));
    expectStory(readReceived(result), 'Copilot CLI');
    const printed: object = JSON.parse(result.stdout);
    expect(Object.keys(printed)).toEqual(['additionalContext']);
    expect((await hooks.receive('userPromptSubmitted', input({ prompt: 'and then' }))) ?? '').not.toContain(
      'Never retry on 404',
    );
  });

  it('counts as cleared when a new session begins in the same process', async () => {
    const given = await hooks.receive('sessionStart', input({ source: 'new', initialPrompt: '' }, 'another'));
    expectStory(given, 'Copilot CLI');
    await hooks.end();
  });
});

describe('Cline with hooks', () => {
  const { sandbox, hooks } = makeStory('cline');
  const folder = join(sandbox.home, '.cline', 'data', 'sessions', cline.SESSION);
  // Of what was done long ago, nothing is told to a new session.
  const days = Math.floor((Date.now() - Date.UTC(2026, 0, 31, 12)) / DAY_MS) * DAY_MS;
  const localise = (value: unknown): string =>
    JSON.stringify(value, (key, member) => (key === 'ts' ? member + days : member)).replaceAll(
      STORY_CWD,
      sandbox.project,
    );
  const input = (more: object, session = cline.SESSION): object => ({
    clineVersion: '',
    taskId: 'conv_1',
    sessionContext: { rootSessionId: session },
    workspaceRoots: [sandbox.project],
    agent_id: 'agent_1',
    parent_agent_id: null,
    ...more,
  });

  it('gets the brief of the previous session with its first tool call, once', async () => {
    writeText(join(folder, `${cline.SESSION}.json`), localise(cline.manifest()));
    writeText(join(folder, `${cline.SESSION}.messages.json`), localise(cline.file(cline.story())));
    await hooks.call('TaskComplete', input({ hookName: 'agent_end', turn: { outputText: 'Understood.' } }));
    await waitForWorkers(sandbox);
    expect((await hooks.call('TaskStart', input({ hookName: 'agent_start' }, 'another'))).stdout).toBe('');
    const first = await hooks.call('PreToolUse', input({ hookName: 'tool_call' }, 'another'));
    expect(readReceived(first)).toMatch(/^# Handover \d{8}-\d{6}-\w{4}: an earlier session here \(cline/);
    const printed: object = JSON.parse(first.stdout);
    expect(Object.keys(printed)).toEqual(['context']);
    expect((await hooks.call('PreToolUse', input({ hookName: 'tool_call' }, 'another'))).stdout).toBe('');
  });

  it('delivers nothing to its sub-agents', async () => {
    rmSync(join(sandbox.store, 'ready', 'given'), { recursive: true, force: true });
    const sub = input({ hookName: 'agent_start', parent_agent_id: 'agent_1' }, 'a sub-agent');
    expect((await hooks.call('TaskStart', sub)).stdout).toBe('');
    expect((await hooks.call('PreToolUse', sub)).stdout).toBe('');
    await hooks.end();
  });
});

describe('OpenCode with hooks', () => {
  const { sandbox, hooks } = makeStory('opencode');
  const path = join(sandbox.home, '.local', 'share', 'opencode', 'opencode.db');
  const input = (more: object = {}, session = opencode.SESSION_ID): object => ({
    session_id: session,
    cwd: sandbox.project,
    ...more,
  });

  it('gets a context for its plugin, again after compaction', async () => {
    mkdirSync(dirname(path), { recursive: true });
    makeDatabase(path, (database) => {
      opencode.createSchema(database);
      opencode.insertSession(database);
    });
    await hooks.call('session.idle', input());
    await waitForWorkers(sandbox);
    const result = await hooks.call('session.compacted', input());
    expectStory(readReceived(result), 'OpenCode');
    const printed: object = JSON.parse(result.stdout);
    expect(Object.keys(printed)).toEqual(['context']);
    expect((await hooks.call('session.compacted', input({ parent_id: 'ses_1' }, 'ses_2'))).stdout).toBe('');
    await hooks.end();
  });
});
