import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Agent } from '../../src/agents/agent.ts';
import { claudeCodeAgent } from '../../src/agents/claude-code/transcript.ts';
import { clineAgent } from '../../src/agents/cline/transcript.ts';
import { codexAgent } from '../../src/agents/codex/transcript.ts';
import { copilotAgent } from '../../src/agents/copilot/transcript.ts';
import { geminiAgent } from '../../src/agents/gemini/transcript.ts';
import { opencodeAgent } from '../../src/agents/opencode/transcript.ts';
import { qwenAgent } from '../../src/agents/qwen/transcript.ts';
import { TouchedFiles } from '../../src/agents/shared/files.ts';
import { describeMcpFileCall } from '../../src/agents/shared/mcp-files.ts';
import type { Event } from '../../src/model/event.ts';
import * as claude from '../fixtures/agents/claude-code.ts';
import * as cline from '../fixtures/agents/cline.ts';
import * as codex from '../fixtures/agents/codex.ts';
import * as copilot from '../fixtures/agents/copilot.ts';
import * as gemini from '../fixtures/agents/gemini.ts';
import * as opencode from '../fixtures/agents/opencode.ts';
import * as qwen from '../fixtures/agents/qwen.ts';
import { ofType, readTranscript } from '../support/read-transcript.ts';
import { makeFolder } from '../support/temp-store.ts';
import { toJsonLines, writeText } from '../support/transcripts.ts';

function read(agent: Agent, place: string, text: string): Event[] {
  return readTranscript(agent, writeText(join(makeFolder(), place), text)).events;
}

function readClaude(build: (t: claude.Transcript) => void): Event[] {
  const t = new claude.Transcript();
  build(t);
  return readTranscript(claudeCodeAgent, claude.layOut(t.text).path).events;
}

const readCodex = (...rows: codex.RolloutRow[]): Event[] =>
  read(codexAgent, `rollout-2026-01-31T12-00-00-${codex.THREAD}.jsonl`, toJsonLines([codex.meta(), ...rows]));
const readCopilot = (...rows: copilot.CopilotRow[]): Event[] =>
  read(copilotAgent, 'events.jsonl', toJsonLines([copilot.start(), ...rows]));

type Input = Record<string, unknown>;

/** A call of the tool of a server named `files`, as each agent writes it. */
const CALLS: Readonly<Record<string, (tool: string, input: Input) => Event[]>> = {
  'claude-code': (tool, input) => readClaude((t) => t.call('a', `mcp__files__${tool}`, input)),
  codex: (tool, input) =>
    readCodex(
      codex.response('function_call', {
        name: tool,
        namespace: 'mcp__files',
        arguments: JSON.stringify(input),
        call_id: 'a',
      }),
    ),
  'older codex': (tool, input) => readCodex(codex.call('a', `mcp__files__${tool}`, input)),
  gemini: (tool, input) => {
    const chat = new gemini.Chat();
    chat.call(`mcp_files_${tool}`, input, 'done');
    return readTranscript(geminiAgent, gemini.layOut(chat.text).path).events;
  },
  qwen: (tool, input) => {
    const chat = new qwen.Chat();
    chat.call('a', `mcp__files__${tool}`, input);
    return readTranscript(qwenAgent, qwen.layOut(chat.text).path).events;
  },
  copilot: (tool, input) =>
    readCopilot(
      copilot.row('tool.execution_start', {
        toolCallId: 'a',
        toolName: `files-${tool}`,
        arguments: input,
        mcpServerName: 'files',
        mcpToolName: tool,
      }),
    ),
  cline: (tool, input) => {
    const text = JSON.stringify(
      cline.file([cline.said('go'), cline.answered(cline.use('a', `files__${tool}`, input))]),
    );
    return read(clineAgent, `s/${cline.SESSION}.messages.json`, text);
  },
  opencode: (tool, input) => {
    const messages = [opencode.assistant(opencode.tool(`files_${tool}`, { input, output: 'done' }))];
    return read(opencodeAgent, 'export.json', opencode.exportSession(messages));
  },
};

describe.each(Object.entries(CALLS))('a file server of MCP in %s', (_, call) => {
  const path = '/work/a.ts';
  const actionOf = (tool: string, input: Input): unknown => ofType(call(tool, input), 'call')[0]?.action;

  it('edits files, and reads them', () => {
    expect(actionOf('write_file', { path, content: 'x' })).toEqual({
      kind: 'edit',
      edits: [{ path, change: 'created', before: '', after: 'x' }],
    });
    expect(actionOf('edit_file', { path, edits: [{ oldText: 'a', newText: 'b' }] })).toEqual({
      kind: 'edit',
      edits: [{ path, change: 'edited', before: 'a', after: 'b' }],
    });
    expect(actionOf('move_file', { source: path, destination: '/work/b.ts' })).toMatchObject({
      kind: 'edit',
      edits: [{ path, change: 'moved', to: '/work/b.ts' }],
    });
    expect(actionOf('read_text_file', { path })).toEqual({ kind: 'read', path });
  });
});

describe('a tool that is named like one of a file server', () => {
  it('is none without a file on this machine', () => {
    const describeCall = (tool: string, input: Input): unknown =>
      describeMcpFileCall({ tool, input, cwd: '/work' }, new TouchedFiles());
    expect(describeCall('mcp__github__create_file', { path: 'a', content: 'x', owner: 'o', repo: 'r' })).toBeNull();
    expect(describeCall('mcp__files__edit_file', { path: 'a', edits: [{ oldText: 'a' }], dryRun: true })).toBeNull();
    expect(describeCall('database_insert', { path: 'users', text: 'Ann' })).toBeNull();
    expect(describeCall('mcp__editor__insert', { path: 'a', insert_line: 3, new_str: 'x' })).toMatchObject({
      edits: [{ path: '/work/a', change: 'edited', after: 'x' }],
    });
    expect(describeCall('mcp__files__list_directory', { path: '.' })).toBeNull();
  });
});

describe('a result that comes before its call', () => {
  const order = (events: Event[]): string[] =>
    events.flatMap((event) =>
      event.type === 'call' || event.type === 'result' ? [`${event.type} ${event.call}`] : [],
    );

  it('is put behind it', () => {
    const events = readClaude((t) => {
      t.result('a', 'fine', { data: { stdout: 'fine' } });
      t.human('go on');
      t.call('a', 'Bash', { command: 'ls' });
      t.call('b', 'Bash', { command: 'pwd' });
      t.result('b', '/');
    });
    expect(order(events)).toEqual(['call a', 'result a', 'call b', 'result b']);
    expect(order(readCodex(codex.output('a', 'x'), codex.call('a', 'exec_command', { cmd: 'ls' })))).toEqual([
      'call a',
      'result a',
    ]);
  });

  it('stays without a call that never comes, and holds back nothing else', () => {
    const events = readClaude((t) => {
      t.result('lost', 'fine');
      t.call('a', 'Bash', { command: 'ls' });
      t.result('a', 'fine');
    });
    expect(order(events)).toEqual(['call a', 'result a', 'result lost']);
  });
});

describe('an interruption by the user', () => {
  it('is an event in Codex, Copilot CLI and Gemini CLI', () => {
    const types = (events: Event[]): string[] => events.map((event) => event.type);
    expect(
      types(
        readCodex(
          codex.event('turn_aborted', { turn_id: 't', reason: 'interrupted' }),
          codex.event('turn_aborted', { turn_id: 't', reason: 'replaced' }),
        ),
      ),
    ).toEqual(['interrupted']);
    expect(
      types(
        readCopilot(copilot.row('abort', { reason: 'user_initiated' }), copilot.row('abort', { reason: 'failure' })),
      ),
    ).toEqual(['interrupted']);
    const chat = new gemini.Chat();
    chat.human('start');
    chat.message('info', 'Request cancelled.');
    expect(types(readTranscript(geminiAgent, gemini.layOut(chat.text).path).events)).toEqual(['prompt', 'interrupted']);
  });
});
