import { describe, expect, it } from 'vitest';
import { claudeCodeAgent } from '../../src/agents/claude-code/transcript.ts';
import type { Event } from '../../src/model/event.ts';
import { layOut, Transcript } from '../fixtures/agents/claude-code.ts';
import { STORY_CWD } from '../support/conformance/agents.ts';
import { ofType, readTranscript } from '../support/read-transcript.ts';

function tell(build: (t: Transcript) => void): Event[] {
  const t = new Transcript();
  build(t);
  return readTranscript(claudeCodeAgent, layOut(t.text).path).events;
}

function prompts(build: (t: Transcript) => void): string[] {
  return ofType(tell(build), 'prompt').map((event) => event.text);
}

describe('prompts queued in Claude Code', () => {
  it('are read from attachments', () => {
    const said = prompts((t) => {
      t.queue('enqueue', 'also bump the version');
      const origin = { kind: 'human' };
      t.attach({ type: 'queued_command', prompt: 'also bump the version', commandMode: 'prompt', origin });
      t.queue('remove', 'also bump the version');
      t.attach({
        type: 'queued_command',
        prompt: [{ type: 'text', text: 'in blocks' }],
        commandMode: 'prompt',
      });
      t.attach({
        type: 'queued_command',
        prompt: '<task-notification>x</task-notification>',
        commandMode: 'prompt',
      });
      t.attach({ type: 'queued_command', prompt: 'ls', commandMode: 'bash' });
    });
    expect(said).toEqual(['also bump the version', 'in blocks']);
  });

  it('are read from rows of their own when taken between two turns', () => {
    const said = prompts((t) => {
      t.queue('enqueue', 'go on');
      t.queue('dequeue');
      t.human('go on');
    });
    expect(said).toEqual(['go on']);
  });

  it('are read from the queue where an older version took them during a turn', () => {
    const events = tell((t) => {
      t.human('start');
      t.queue('enqueue', 'write tests');
      t.queue('enqueue', '<task-notification>done</task-notification>');
      t.queue('enqueue', '/model');
      t.queue('remove');
      t.queue('remove');
      t.queue('remove');
      t.say('I will.');
    });
    expect(events.map((event) => event.type)).toEqual(['prompt', 'prompt', 'reply']);
    expect(events[1]).toMatchObject({ text: 'write tests', ref: { line: 2 }, cwd: STORY_CWD, steering: true });
  });

  it('steer the turn that they are taken in, and are requests where they are taken after it', () => {
    const events = tell((t) => {
      t.human('start');
      t.queue('enqueue', 'faster');
      t.attach({ type: 'queued_command', prompt: 'faster', commandMode: 'prompt' });
      t.queue('remove', 'faster');
      t.say('I will.');
      t.queue('enqueue', 'go on');
      t.queue('dequeue');
      t.human('go on');
    });
    const asked = events.flatMap((event) => (event.type === 'prompt' ? [[event.text, event.steering]] : []));
    expect(asked).toEqual([
      ['start', undefined],
      ['faster', true],
      ['go on', undefined],
    ]);
  });

  it('give one event each, whatever the order of the rows', () => {
    const said = prompts((t) => {
      t.queue('enqueue', 'faster');
      t.queue('remove', 'faster');
      t.attach({ type: 'queued_command', prompt: 'faster', commandMode: 'prompt' });
      t.human('other');
      t.human('faster');
    });
    expect(said).toEqual(['faster', 'other', 'faster']);
  });

  it('give no event when withdrawn, and one when still queued at the end', () => {
    const said = prompts((t) => {
      t.human('start');
      t.queue('enqueue', 'no');
      t.queue('popAll', 'no');
      t.queue('enqueue', 'not yet seen');
      t.queue('enqueue', '{"task_id":"b1","description":"Build"}');
    });
    expect(said).toEqual(['start', 'not yet seen']);
  });
});

describe('what Claude Code thought', () => {
  it('is an event where the transcript has the text', () => {
    const events = tell((t) => {
      t.human('start');
      t.assistant([{ type: 'thinking', thinking: 'The cart is empty.', signature: 's' }]);
      t.assistant([{ type: 'thinking', thinking: '', signature: 's' }]);
    });
    expect(events).toMatchObject([{ type: 'prompt' }, { type: 'thought', text: 'The cart is empty.' }]);
    expect(events).toHaveLength(2);
  });
});
