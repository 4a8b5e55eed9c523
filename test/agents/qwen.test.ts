import { join } from 'node:path';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { type FoundSession, startReadStats } from '../../src/agents/agent.ts';
import { claudeCodeAgent } from '../../src/agents/claude-code/transcript.ts';

import { qwenAgent } from '../../src/agents/qwen/transcript.ts';
import { Event } from '../../src/model/event.ts';
import { layOut as layOutClaude, makeStory as makeClaudeStory } from '../fixtures/agents/claude-code.ts';
import { Chat, frameShellOutput, layOut, makeStory, SESSION_ID } from '../fixtures/agents/qwen.ts';
import { STORY_CWD, testAgent } from '../support/conformance/agents.ts';
import { ofType, readTranscript } from '../support/read-transcript.ts';
import { makeFolder, makeMachine } from '../support/temp-store.ts';
import { tornBytes } from '../support/torn-bytes.ts';

testAgent({ agent: qwenAgent, layOut: () => layOut(makeStory().text) });

const BRIEF = '# Handover 20260131-120000-k3fz for Qwen Code\n> Half done\n';

function tell(build: (chat: Chat) => void): Event[] {
  const chat = new Chat();
  build(chat);
  return readTranscript(qwenAgent, layOut(chat.text).path).events;
}

function talk(events: Event[]): string[] {
  return events.flatMap((event) => (event.type === 'prompt' || event.type === 'reply' ? [event.text] : []));
}

describe('a prompt of the user in Qwen Code', () => {
  it('has the typed text without files and hooks, also when typed during a turn', () => {
    const events = tell((chat) => {
      const parts = [
        { text: 'Explain @a.ts' },
        { text: '\n--- Content from referenced files ---' },
        { text: `<qwen:user-prompt-submit-context>\n${BRIEF}</qwen:user-prompt-submit-context>` },
      ];
      chat.human('', { message: { role: 'user', parts } });
      chat.human('\n[User message received during tool execution]: save logs', {
        subtype: 'mid_turn_user_message',
      });
      const systemPayload = { displayText: 'as it was typed', hookContext: '' };
      chat.human('as it was sent', { systemPayload });
    });
    expect(talk(events)).toEqual(['Explain @a.ts', 'save logs', 'as it was typed']);
    expect(ofType(events, 'injected')).toHaveLength(1);
  });

  it('is not a notification, a timer, a goal or a bare command', () => {
    const events = tell((chat) => {
      chat.human('Task done', { subtype: 'notification', provenance: 'system' });
      chat.human('Wake up', { subtype: 'cron' });
      chat.human('Go on with the goal', { provenance: 'goal_runtime' });
      chat.human('/compress');
      chat.system('slash_command', { phase: 'invocation', rawCommand: '/about', sentToModel: false });
    });
    expect(events).toEqual([]);
  });

  it('may be a command with arguments, and gives one event', () => {
    const events = tell((chat) => {
      chat.system('slash_command', {
        phase: 'invocation',
        rawCommand: '/review this branch',
        sentToModel: true,
      });
      chat.human('You are a reviewer. Review: this branch');
      chat.system('slash_command', { phase: 'result', rawCommand: '/review this branch' });
      chat.human('go on');
    });
    expect(talk(events)).toEqual(['/review this branch', 'go on']);
  });

  it('may be an answer to a question', () => {
    const events = tell((chat) => {
      chat.call('a', 'ask_user_question', { questions: [{ question: 'Which?', header: 'Store' }] });
      chat.result('a', 'ask_user_question', 'User has provided the following answers:\n\n**Store**: SQLite');
    });
    expect(events.map((event) => event.type)).toEqual(['call', 'result', 'prompt']);
    expect(talk(events)).toEqual(['SQLite']);
  });
});

describe('events of Qwen Code', () => {
  it('leave out what was rewound', () => {
    const events = tell((chat) => {
      chat.human('start');
      chat.say('started');
      const place = chat.lastUuid;
      chat.human('the wrong way');
      chat.say('gone wrong');
      chat.rewind(place);
      chat.human('the right way');
    });
    expect(talk(events)).toEqual(['start', 'started', 'the right way']);
    const all = tell((chat) => {
      chat.human('start');
      chat.rewind(null);
      chat.human('again');
      chat.rewind('no-such-row');
    });
    expect(talk(all)).toEqual(['again']);
  });

  it('include compactions and each error once, with sub-agents kept apart', () => {
    const events = tell((chat) => {
      const uiEvent = {
        'event.name': 'qwen-code.api_error',
        error_message: 'Too many requests',
        status_code: 429,
      };
      chat.system('ui_telemetry', { uiEvent });
      chat.system('ui_telemetry', { uiEvent });
      const told = '<summary>All of it</summary>\n\nResume the prior task using the summary above. Go on.';
      const compressedHistory = [{ role: 'user', parts: [{ text: told }] }];
      chat.system('chat_compression', { info: {}, compressedHistory });
      chat.model([{ text: 'Found it' }], { isSidechain: true, agentId: 'x' });
    });
    expect(events).toMatchObject([
      { type: 'limit', text: '429 Too many requests' },
      { type: 'compaction', summary: '<summary>All of it</summary>' },
      { type: 'reply', sidechain: true, model: 'qwen3-coder', branch: 'main' },
    ]);
  });

  it('have from the result the status, exit status and whether a file was new', () => {
    const events = tell((chat) => {
      chat.call('a', 'run_shell_command', { command: 'x' });
      chat.result('a', 'run_shell_command', frameShellOutput('x', 'one\nError: two', 3));
      chat.call('b', 'read_file', { file_path: 'b.ts' });
      chat.result('b', 'read_file', 'File not found', { status: 'error' });
      chat.call('c', 'write_file', { file_path: 'c.ts', content: 'new' });
      chat.result('c', 'write_file', 'Successfully overwrote file: c.ts', {
        resultDisplay: { originalContent: 'old', newContent: 'new' },
      });
    });
    expect(ofType(events, 'result').map(({ ok, exit, output }) => [ok, exit, output])).toEqual([
      [false, 3, 'one\nError: two'],
      [false, null, 'File not found'],
      [true, null, 'Successfully overwrote file: c.ts'],
    ]);
    const path = `${STORY_CWD}/c.ts`;
    expect(ofType(events, 'call').at(-1)?.action).toEqual({
      kind: 'edit',
      edits: [{ path, change: 'edited', before: 'old', after: 'new' }],
    });
  });
});

describe('finding sessions of Qwen Code', () => {
  it('lists sub-agents with their parent', () => {
    const chat = new Chat();
    chat.human('Find it', { isSidechain: true, agentId: 'explore-1' });
    chat.model([{ text: 'Found it' }], { isSidechain: true, agentId: 'explore-1' });
    const { machine, path } = layOut(chat.text, join('subagents', SESSION_ID, 'agent-explore-1.jsonl'));
    expect([...qwenAgent.findSessions(machine)]).toMatchObject([{ id: 'explore-1', parent: SESSION_ID, path }]);
    expect(readTranscript(qwenAgent, path).events).toMatchObject([{ type: 'reply', text: 'Found it' }]);
  });

  it('looks into QWEN_RUNTIME_DIR where it is set', () => {
    const { machine, path } = layOut(makeStory().text);
    const home = makeFolder();
    const env = { QWEN_RUNTIME_DIR: join(machine.home ?? '', '.qwen') };
    expect([...qwenAgent.findSessions(makeMachine(home, { env, home }))]).toMatchObject([{ path }]);
  });

  it('distinguishes its files from those of Claude Code', () => {
    expect(claudeCodeAgent.inspectFile(layOut(makeStory().text).path)).toBeNull();
    const chat = new Chat();
    chat.model([{ text: 'Found it' }], { isSidechain: true });
    expect(claudeCodeAgent.inspectFile(layOut(chat.text).path)).toBeNull();
    expect(qwenAgent.inspectFile(layOutClaude(makeClaudeStory().text).path)).toBeNull();
  });

  it('knows the project folder even when the first row is very long', () => {
    const chat = new Chat();
    chat.human('long '.repeat(50_000));
    expect(qwenAgent.inspectFile(layOut(chat.text).path)).toMatchObject({ id: SESSION_ID, cwd: STORY_CWD });
  });
});

describe('a Qwen Code transcript', () => {
  it('is read with any bytes in it', () => {
    const none = { cwd: null, title: null, startedMs: null, changedMs: 0, bytes: 0, parent: null };
    fc.assert(
      fc.property(tornBytes(Buffer.from(makeStory().text)), (content) => {
        const { path } = layOut(content);
        const session: FoundSession = qwenAgent.inspectFile(path) ?? {
          agent: 'qwen',
          id: 'x',
          path,
          ...none,
        };
        for (const event of qwenAgent.readEvents(session, startReadStats())) expect(v.is(Event, event)).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  it('with values of wrong types gives only valid events', () => {
    const kinds = [
      null,
      1,
      'text',
      true,
      [],
      {},
      [null],
      [{ text: 1 }],
      { parts: [[], { functionCall: { id: 'x' } }] },
    ];
    const events = tell((chat) => {
      chat.human('start');
      for (const type of ['user', 'assistant', 'tool_result', 'system', 'else']) {
        for (const value of kinds) {
          chat.row(type, {
            message: value,
            toolCallResult: value,
            systemPayload: value,
            subtype: 'chat_compression',
          });
          chat.row(type, { message: { parts: value }, model: value, isSidechain: value });
        }
      }
      chat.call('l\ud800', 'edit', { file_path: '\ud800', old_string: '\ud800', new_string: '\ud800' });
      chat.result('l\ud800', 'edit', '\ud800');
    });
    for (const event of events) expect(v.is(Event, event), JSON.stringify(event)).toBe(true);
    expect(JSON.stringify(events)).not.toMatch(/\\ud[89a-f]/i);
  });
});
