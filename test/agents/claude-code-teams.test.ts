import { describe, expect, it } from 'vitest';
import { claudeCodeAgent } from '../../src/agents/claude-code/transcript.ts';
import type { Event } from '../../src/model/event.ts';
import { layOut, Transcript } from '../fixtures/agents/claude-code.ts';
import { ofType, readTranscript } from '../support/read-transcript.ts';

function tell(build: (t: Transcript) => void): Event[] {
  const t = new Transcript();
  build(t);
  return readTranscript(claudeCodeAgent, layOut(t.text).path).events;
}

const LEAD =
  '<teammate-message teammate_id="team-lead" color="blue" summary="The task">\nFix the login\n</teammate-message>';

describe('a message of another agent of the team in Claude Code', () => {
  const from = (build: (t: Transcript) => void): [string, string | undefined][] =>
    ofType(tell(build), 'prompt').map((event) => [event.text, event.from]);

  it('is a prompt from that agent', () => {
    const said = from((t) => {
      t.human(LEAD);
      t.human([{ type: 'text', text: LEAD }], { origin: { kind: 'peer' } });
      t.human(
        `Another Claude session sent a message:\n${LEAD}\n<teammate-message teammate_id="qa">\nAlso the logout\n</teammate-message>`,
      );
      t.human('and hurry');
    });
    expect(said).toEqual([
      ['Fix the login', 'team-lead'],
      ['Fix the login', 'team-lead'],
      ['Fix the login', 'team-lead'],
      ['Also the logout', 'qa'],
      ['and hurry', undefined],
    ]);
  });

  it('is not what the programs of the agents tell each other, but is a task that one assigns', () => {
    const said = from((t) => {
      t.human('<teammate-message teammate_id="qa">\n{"type":"idle_notification","from":"qa"}\n</teammate-message>');
      t.human(
        '<teammate-message teammate_id="lead">\n{"type":"task_assignment","subject":"Fix it","description":"All of it"}\n</teammate-message>',
      );
      t.human('<cross-session-message from="x">hello</cross-session-message>');
    });
    expect(said).toEqual([['Fix it\nAll of it', 'lead']]);
  });

  it('comes as an attachment or through the queue, once', () => {
    const said = from((t) => {
      t.human('start');
      t.attach({ type: 'teammate_mailbox', messages: [{ from: 'qa', text: 'It fails' }] });
      t.queue('enqueue', LEAD);
      t.attach({ type: 'queued_command', prompt: LEAD, commandMode: 'prompt', origin: { kind: 'peer' } });
      t.queue('remove', LEAD);
    });
    expect(said).toEqual([
      ['start', undefined],
      ['It fails', 'qa'],
      ['Fix the login', 'team-lead'],
    ]);
  });

  it('names the session', () => {
    const t = new Transcript();
    t.human(LEAD);
    expect(claudeCodeAgent.inspectFile(layOut(t.text).path)?.title).toBe('Fix the login');
  });
});

describe('an interruption in Claude Code', () => {
  it('is an event of its own, before what the user says then', () => {
    const events = tell((t) => {
      t.human('start');
      t.call('a', 'Edit', { file_path: '/a', old_string: 'a', new_string: 'b' });
      t.human([{ type: 'text', text: '[Request interrupted by user for tool use]' }]);
      t.human([
        { type: 'text', text: '[Request interrupted by user]' },
        { type: 'text', text: 'no, the other one' },
      ]);
    });
    expect(events.map((event) => event.type)).toEqual(['prompt', 'call', 'interrupted', 'interrupted', 'prompt']);
  });
});

describe('the continuation of a conversation in Claude Code', () => {
  const text =
    'This session is being continued from a previous conversation that ran out of context. The summary is below.\nSummary:\nAll of it';

  it('is a compaction without its flag too, in whatever form', () => {
    const events = tell((t) => {
      t.human(text, { promptSource: 'typed' });
      t.human([{ type: 'text', text }], { origin: { kind: 'human' } });
      t.human([
        { type: 'text', text },
        { type: 'text', text: 'go on' },
      ]);
      t.attach({ type: 'queued_command', prompt: text, commandMode: 'prompt' });
    });
    expect(events.map((event) => event.type)).toEqual(['compaction', 'compaction', 'compaction', 'prompt']);
    expect(ofType(events, 'compaction').map(({ summary }) => summary)).toEqual(Array(3).fill('Summary:\nAll of it'));
    expect(ofType(events, 'prompt').map((event) => event.text)).toEqual(['go on']);
  });
});

describe('finding a session of Claude Code', () => {
  it('does not depend on the length or the kind of its first rows', () => {
    const long = `Fix this:\n${'x'.repeat(100_000)}`;
    const t = new Transcript();
    t.queue('enqueue', long);
    t.queue('dequeue');
    t.human(long);
    t.say('Done');
    expect(claudeCodeAgent.inspectFile(layOut(t.text).path)).toMatchObject({
      title: expect.stringMatching(/^Fix this:/),
      parent: null,
    });
    const other = new Transcript();
    other.raw({ type: 'something-new', text: long });
    other.raw({ type: 'something-new', text: long });
    other.human('Fix that');
    expect(claudeCodeAgent.inspectFile(layOut(other.text).path)?.title).toBe('Fix that');
  });
});

describe('a sub-agent of Claude Code in the background', () => {
  const launch = (t: Transcript, id: string, task: string): void => {
    t.call(id, 'Agent', { description: 'Look', prompt: `Look for ${id}` });
    t.result(id, [{ type: 'text', text: `Async agent launched successfully.\nagentId: ${task} (internal ID)` }], {
      data: { isAsync: true, status: 'async_launched', agentId: task },
    });
  };
  const outcomes = (build: (t: Transcript) => void): [string, boolean | null][] =>
    ofType(tell(build), 'result').map((event) => [event.call, event.ok]);

  it('runs until a notification, its output or its stop says otherwise', () => {
    const events = tell((t) => launch(t, 'a', 'task1'));
    expect(events).toMatchObject([{ type: 'call', action: { kind: 'delegate', background: true } }]);
    expect(
      outcomes((t) => {
        for (const [id, task] of Object.entries({ a: 'k1', b: 'k2', c: 'k3', d: 'k4', e: 'k5' })) launch(t, id, task);
        t.human(
          '<task-notification>\n<task-id>k1</task-id>\n<status>completed</status>\n<result>found</result>\n</task-notification>',
        );
        t.human('<task-notification>\n<tool-use-id>b</tool-use-id>\n<status>failed</status>\n</task-notification>');
        t.call('o', 'TaskOutput', { task_id: 'k3' });
        t.result('o', '<task_id>k3</task_id>\n<status>running</status>', {
          data: { task: { task_id: 'k3', status: 'running' } },
        });
        t.call('p', 'TaskOutput', { task_id: 'k3' });
        t.result(
          'p',
          '<retrieval_status>success</retrieval_status>\n<task_id>k3</task_id>\n<status>completed</status>\n<output>ok</output>',
        );
        t.call('s', 'TaskStop', { task_id: 'k4' });
        t.result('s', 'Successfully stopped task: k4');
      }).filter(([id]) => 'abcde'.includes(id)),
    ).toEqual([
      ['a', true],
      ['b', false],
      ['c', true],
      ['d', false],
    ]);
  });

  it('is not one that answered at once', () => {
    const events = tell((t) => {
      t.call('a', 'Task', { description: 'Look', prompt: 'Look', run_in_background: true });
      t.result('a', 'Found it', { data: { status: 'completed', content: [] } });
    });
    expect(events).toMatchObject([{ action: { kind: 'delegate', task: 'Look\nLook' } }, { type: 'result', ok: true }]);
    expect(ofType(events, 'call')[0]?.action).not.toHaveProperty('background');
  });
});

describe('a command of Claude Code in the background', () => {
  it.each([
    ['a notification', (t: Transcript, text: string) => t.human(text)],
    ['a notification that still waits', (t: Transcript, text: string) => t.queue('enqueue', text)],
  ])('ends by %s that names only the task, or a call that nobody made', (_, notify) => {
    const names = ['<task-id>b1</task-id>', '<task-id>b1</task-id>\n<tool-use-id>REDACTED</tool-use-id>'];
    for (const name of names) {
      const events = tell((t) => {
        t.call('a', 'Bash', { command: 'build', run_in_background: true });
        t.result('a', 'Command running in background with ID: b1. Output is being written to: /tmp/b1.output');
        const summary = '<summary>Background command "build" failed with exit code 2</summary>';
        notify(t, `<task-notification>\n${name}\n<status>failed</status>\n${summary}\n</task-notification>`);
      });
      expect(ofType(events, 'result').at(-1)).toMatchObject({ call: 'a', ok: false, exit: 2 });
    }
  });

  it('ends with the output that is fetched, and its exit status', () => {
    const results = ofType(
      tell((t) => {
        t.call('a', 'Bash', { command: 'npm test', run_in_background: true });
        t.result('a', 'Command running in background with ID: b1', { data: { backgroundTaskId: 'b1' } });
        t.call('o', 'BashOutput', { bash_id: 'b1' });
        t.result('o', '<status>completed</status>\n<exit_code>1</exit_code>\n<stdout>2 failed</stdout>');
      }),
      'result',
    );
    expect(results.filter(({ call }) => call === 'a').at(-1)).toMatchObject({ ok: false, exit: 1, output: '2 failed' });
  });
});

describe('an edit of a sub-agent of Claude Code', () => {
  const EDIT = { file_path: '/p/a.ts', old_string: 'a', new_string: 'b' };
  const report = (t: Transcript, type: string, block: Record<string, unknown>): string =>
    t.row({ type: 'progress', data: { type: 'agent_progress', message: { type, message: { content: [block] } } } });
  const ways: [string, (t: Transcript, id: string, isError: boolean) => void][] = [
    [
      'a row of its own',
      (t, id, isError) => {
        t.call(id, 'Edit', EDIT, { isSidechain: true });
        t.result(id, 'told', { isError, isSidechain: true });
      },
    ],
    [
      'a report on its progress',
      (t, id, isError) => {
        report(t, 'assistant', { type: 'tool_use', id: `${id}-bash`, name: 'Bash', input: { command: 'ls' } });
        report(t, 'assistant', { type: 'tool_use', id, name: 'Edit', input: EDIT });
        report(t, 'user', { type: 'tool_result', tool_use_id: id, content: 'told', is_error: isError });
      },
    ],
  ];

  it.each(ways)('in %s is read, unless it failed', (_, write) => {
    const events = tell((t) => {
      write(t, 'good', false);
      write(t, 'bad', true);
    });
    expect(ofType(events, 'call')).toMatchObject([{ call: 'good', sidechain: true, action: { kind: 'edit' } }]);
    expect(ofType(events, 'result').map(({ call }) => call)).toEqual(['good']);
  });
});
