import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { type FoundSession, startReadStats } from '../../src/agents/agent.ts';
import { geminiAgent } from '../../src/agents/gemini/transcript.ts';
import { Event } from '../../src/model/event.ts';
import { Chat, frameShellOutput, layOut, makeStory, SESSION_ID } from '../fixtures/agents/gemini.ts';
import { STORY_CWD, testAgent } from '../support/conformance/agents.ts';
import { ofType, readTranscript } from '../support/read-transcript.ts';
import { makeFolder, makeMachine } from '../support/temp-store.ts';
import { tornBytes } from '../support/torn-bytes.ts';

testAgent({ agent: geminiAgent, layOut: () => layOut(makeStory().text) });

const SNAPSHOT = '<state_snapshot><overall_goal>All of it</overall_goal></state_snapshot>';

function tell(build: (chat: Chat) => void): Event[] {
  const chat = new Chat();
  build(chat);
  return readTranscript(geminiAgent, layOut(chat.text).path).events;
}

function talk(events: Event[]): string[] {
  return events.flatMap((event) => (event.type === 'prompt' || event.type === 'reply' ? [event.text] : []));
}

describe('a Gemini CLI transcript whose later lines change earlier ones', () => {
  it('gives one event for a message that is written again, with what was added', () => {
    const events = tell((chat) => {
      chat.call('read_file', { file_path: 'a.ts' }, 'text', { text: 'Reading.' });
      const last = chat.lines.find((line) => 'toolCalls' in line);
      if (last !== undefined) chat.lines.push(last);
    });
    expect(events.map((event) => event.type)).toEqual(['reply', 'call', 'result']);
    expect(ofType(events, 'call')[0]?.action).toEqual({ kind: 'read', path: `${STORY_CWD}/a.ts` });
  });

  it('loses with a rewind the named message and all after it', () => {
    const events = tell((chat) => {
      chat.human('start');
      const wrong = chat.human('the wrong way');
      chat.call('run_shell_command', { command: 'rm' }, frameShellOutput('x'), { text: 'gone wrong' });
      chat.rewind(wrong);
      chat.human('the right way');
      chat.rewind('no-such-message');
    });
    expect(talk(events)).toEqual(['start', 'the right way']);
    expect(ofType(events, 'call')).toEqual([]);
  });

  it('takes nothing from the incomplete list written on resuming', () => {
    const events = tell((chat) => {
      chat.human('start');
      const id = chat.say('started');
      const again = {
        id,
        type: 'gemini',
        content: [{ text: 'started' }],
        timestamp: '2026-01-31T09:05:00.000Z',
      };
      chat.set({ messages: [chat.make('user', [{ text: '<session_context>x</session_context>' }])] });
      chat.set({ messages: [again, chat.make('user', [{ functionResponse: { id: 'x' } }])] });
      chat.human('go on');
    });
    expect(talk(events)).toEqual(['start', 'started', 'go on']);
  });

  it('has a compression with its summary, and still what came before it', () => {
    const events = tell((chat) => {
      chat.human('start');
      const summary = chat.make('user', [{ text: SNAPSHOT }]);
      const thanks = chat.make('gemini', [{ text: 'Got it. Thanks for the additional context!' }]);
      chat.set({ messages: [summary, thanks, chat.make('user', [{ text: 'start' }])] });
      chat.set({ messages: [summary, thanks] });
      chat.human('go on');
    });
    expect(events.map((event) => event.type)).toEqual(['prompt', 'compaction', 'prompt']);
    expect(ofType(events, 'compaction')[0]?.summary).toBe(SNAPSHOT);
  });
});

describe('a prompt of the user in Gemini CLI', () => {
  it('has no context of hooks, files or the session, and is no bare command', () => {
    const brief = '# Handover 20260131-120000-k3fz\n\nBetween the two marks &lt;x&gt; is data.';
    const events = tell((chat) => {
      chat.human(`<hook_context>${brief}</hook_context>\n\nstart`);
      chat.message('user', [{ text: 'see @a.ts' }, { text: '\n--- Content from referenced files ---' }, { text: 'x' }]);
      const displayContent = [{ text: 'as typed' }];
      chat.message('user', [{ text: 'as sent' }, { text: '<hook_context>other</hook_context>' }], {
        displayContent,
      });
      chat.human('/compress');
      chat.message('info', 'Update available');
    });
    expect(talk(events)).toEqual(['start', 'see @a.ts', 'as typed']);
    expect(ofType(events, 'injected').map((event) => event.text)).toEqual([brief]);
  });

  it('may be an answer to a question', () => {
    const events = tell((chat) => {
      const questions = [{ question: 'Which?' }, { question: 'Where?' }];
      chat.call('ask_user', { questions }, JSON.stringify({ answers: { 0: 'SQLite', 1: 'Here' } }));
      chat.call('ask_user', { questions }, 'User dismissed ask_user dialog without answering.');
    });
    expect(talk(events)).toEqual(['Which? → SQLite\nWhere? → Here']);
  });
});

describe('a tool call in Gemini CLI', () => {
  it('has the outcome that its record has', () => {
    const events = tell((chat) => {
      chat.call('run_shell_command', { command: 'x' }, frameShellOutput('(empty)'));
      chat.call(
        'run_shell_command',
        { command: 'x' },
        'Command: x\nDirectory: (root)\nOutput: a\nError: b\nExit Code: 2\nSignal: (none)',
      );
      chat.call('read_file', { absolute_path: '/x' }, 'File not found', { status: 'error' });
      chat.call('write_file', { file_path: '/p/a', content: 'new' }, 'Successfully overwrote file: /p/a.', {
        resultDisplay: { originalContent: 'old' },
      });
      chat.call('glob', { pattern: '*' }, '', { status: 'executing' });
      chat.message('error', '[API Error: You have exhausted your quota]');
    });
    expect(ofType(events, 'result').map(({ ok, exit, output }) => [ok, exit, output])).toEqual([
      [true, 0, ''],
      [false, 2, 'a\nb'],
      [false, null, 'File not found'],
      [true, null, 'Successfully overwrote file: /p/a.'],
      [true, null, ''],
    ]);
    expect(ofType(events, 'call')[3]?.action).toEqual({
      kind: 'edit',
      edits: [{ path: '/p/a', change: 'edited', before: 'old', after: 'new' }],
    });
    expect(ofType(events, 'limit')).toHaveLength(1);
  });

  it('of the todo list or the task tracker gives the plan', () => {
    const events = tell((chat) => {
      const todos = [{ description: '[a1] [TASK] Build', status: 'in_progress' }];
      chat.call('tracker_create_task', { title: 'Build', type: 'task' }, 'Created task a1: Build', {
        resultDisplay: { todos },
      });
    });
    expect(events).toMatchObject([{ type: 'plan', items: [{ text: '[a1] [TASK] Build', status: 'in_progress' }] }]);
  });
});

describe('finding sessions of Gemini CLI', () => {
  it('reads the single document of older versions, in a folder named by a hash', () => {
    const { machine, path } = layOut('');
    const root = join(machine.home ?? '', '.gemini');
    rmSync(dirname(dirname(path)), { recursive: true });
    const hash = createHash('sha256').update(STORY_CWD).digest('hex');
    const document = join(root, 'tmp', hash, 'chats', 'session-2025-09-18T02-45-3b44bc68.json');
    mkdirSync(dirname(document), { recursive: true });
    writeFileSync(join(root, 'projects.json'), JSON.stringify({ projects: { [STORY_CWD]: 'shop' } }));
    const chat = makeStory();
    const messages = chat.lines.filter((line) => 'id' in line);
    const head = { sessionId: 'old', projectHash: hash, startTime: '2025-09-18T02:45:00.000Z' };
    writeFileSync(document, JSON.stringify({ ...head, messages }, null, 2));
    const [session] = [...geminiAgent.findSessions(machine)];
    expect(session).toMatchObject({
      id: 'old',
      cwd: STORY_CWD,
      parent: null,
      startedMs: Date.UTC(2025, 8, 18, 2, 45),
    });
    expect(talk(readTranscript(geminiAgent, document).events)).toHaveLength(5);
  });

  it('finds sub-agents in their parent’s folder, whose tasks are no prompts', () => {
    const chat = new Chat('subagent');
    chat.human('Find it');
    chat.say('Found it');
    const { machine, path } = layOut(chat.text, join('parent-id', `${SESSION_ID}.jsonl`));
    expect([...geminiAgent.findSessions(machine)]).toMatchObject([
      { id: SESSION_ID, parent: 'parent-id', cwd: STORY_CWD },
    ]);
    expect(talk(readTranscript(geminiAgent, path).events)).toEqual(['Found it']);
  });

  it('uses GEMINI_CLI_HOME instead of the home folder', () => {
    const { machine, path } = layOut(makeStory().text);
    const home = makeFolder();
    const env = { GEMINI_CLI_HOME: machine.home };
    expect([...geminiAgent.findSessions(makeMachine(home, { env, home }))]).toMatchObject([{ path }]);
  });

  it('titles a session by its summary, else by its first prompt', () => {
    const chat = makeStory();
    const title = (): string | null | undefined => geminiAgent.inspectFile(layOut(chat.text).path)?.title;
    expect(title()).toBe('Make the upload retry when the server is busy');
    chat.set({ summary: 'Upload retry' });
    expect(title()).toBe('Upload retry');
  });
});

describe('a Gemini CLI transcript', () => {
  it('is read with any bytes in it', () => {
    const none = { cwd: null, title: null, startedMs: null, changedMs: 0, bytes: 0, parent: null };
    const name = fc.constantFrom('session-a.jsonl', 'session-a.json');
    fc.assert(
      fc.property(tornBytes(Buffer.from(makeStory().text)), name, (content, file) => {
        const { path } = layOut(content, file);
        const session: FoundSession = geminiAgent.inspectFile(path) ?? {
          agent: 'gemini',
          id: 'x',
          path,
          ...none,
        };
        for (const event of geminiAgent.readEvents(session, startReadStats())) expect(v.is(Event, event)).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  it('with values of wrong types gives only valid events', () => {
    const kinds = [null, 1, 'text', true, [], {}, [null], [{ text: 1 }], [{ functionCall: { id: 'x', name: 'edit' } }]];
    const events = tell((chat) => {
      for (const type of ['user', 'gemini', 'error', 'info', 'else']) {
        for (const value of kinds) {
          chat.message(type, value, {
            toolCalls: value,
            model: value,
            timestamp: value,
            displayContent: value,
          });
          chat.message(type, '\ud800', {
            toolCalls: [{ id: '\ud800', name: 'edit', args: value, result: value }],
          });
          chat.set({ messages: value, summary: value });
          chat.lines.push({ $set: value }, { $rewindTo: value }, { id: value });
        }
      }
    });
    for (const event of events) expect(v.is(Event, event), JSON.stringify(event)).toBe(true);
    expect(JSON.stringify(events)).not.toMatch(/\\ud[89a-f]/i);
  });
});
