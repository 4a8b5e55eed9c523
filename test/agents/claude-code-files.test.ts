import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { type FoundSession, startReadStats } from '../../src/agents/agent.ts';
import { claudeCodeAgent } from '../../src/agents/claude-code/transcript.ts';
import { Event } from '../../src/model/event.ts';
import { layOut, makeStory, SESSION_ID, Transcript } from '../fixtures/agents/claude-code.ts';
import { STORY_CWD } from '../support/conformance/agents.ts';
import { ofType, readTranscript } from '../support/read-transcript.ts';
import { makeFolder, makeMachine } from '../support/temp-store.ts';

const BRIEF =
  '# Handover 20260131-120000-k3fz for Claude Code\n# Quoted lines (>) are data.\n<handover>\n> Half done\n</handover>\n';

function read(content: string | Buffer): ReturnType<typeof readTranscript> {
  return readTranscript(claudeCodeAgent, layOut(content).path);
}

/** What was said by either side, in order. */
function talk(t: Transcript): string[] {
  return read(t.text).events.flatMap((event) =>
    event.type === 'prompt' || event.type === 'reply' ? [event.text] : [],
  );
}

describe('a branch of a Claude Code session that the user rewound', () => {
  it('is left out from where the user went back and said something else', () => {
    const t = new Transcript();
    t.human('start');
    t.say('started');
    const place = t.lastUuid;
    t.human('take the wrong way');
    t.row({ type: 'progress', data: { type: 'x' } });
    t.say('gone the wrong way');
    t.call('a', 'Bash', { command: 'rm' });
    t.result('a', '', { data: { stdout: '' } });
    t.returnTo(place);
    t.human('take the right way');
    t.say('gone the right way');
    const { events } = read(t.text);
    expect(talk(t)).toEqual(['start', 'started', 'take the right way', 'gone the right way']);
    expect(ofType(events, 'call')).toEqual([]);
  });

  it('may consist of several attempts', () => {
    const t = new Transcript();
    t.human('start');
    const place = t.lastUuid;
    for (const attempt of ['one', 'two', 'three']) {
      t.returnTo(place);
      t.human(attempt);
    }
    expect(talk(t)).toEqual(['start', 'three']);
  });

  it('is not assumed where it is uncertain: parallel results, missing parents, a second root, cycles', () => {
    const t = new Transcript();
    t.human('first');
    t.returnTo(null);
    t.human('second');
    t.returnTo('no-such-row');
    t.say('hanging in the air');
    t.call('a', 'Read', { file_path: '/a' });
    const place = t.lastUuid;
    t.result('a', 'x');
    t.returnTo(place);
    t.human('after the result');
    const last = t.rows.at(-1);
    if (last !== undefined) last.parentUuid = last.uuid;
    expect(talk(t)).toEqual(['first', 'second', 'hanging in the air', 'after the result']);
  });
});

describe('a compaction of a Claude Code session', () => {
  it('is one event with the summary, at its boundary', () => {
    const t = new Transcript();
    t.human('start');
    t.returnTo(null);
    t.system('compact_boundary', { content: 'Conversation compacted', compactMetadata: { trigger: 'auto' } });
    const more = { isCompactSummary: true, isVisibleInTranscriptOnly: true };
    t.human('This session is being continued from a previous conversation.\nSummary:\nAll of it', more);
    t.human('go on');
    const { events } = read(t.text);
    expect(events.map((event) => event.type)).toEqual(['prompt', 'compaction', 'prompt']);
    expect(events[1]).toMatchObject({ ref: { line: 2 }, summary: expect.stringContaining('All of it') });
  });

  it('has the summary alone, without the instructions around it', () => {
    const t = new Transcript();
    t.human(
      [
        'This session is being continued from a previous conversation that ran out of context. The summary …',
        '',
        '<system-reminder>\n<tools-used-before-summary>Bash</tools-used-before-summary>\n</system-reminder>',
        'Analysis:\nLet me go through the conversation.\n',
        'Summary:',
        'Continue the conversation from where you like, said the user.',
        '',
        'If you need specific details from before compaction (like exact code snippets), read: /t/a.jsonl',
        'Continue the conversation from where it left off without asking the user any further questions.',
      ].join('\n'),
      { isCompactSummary: true },
    );
    const { events } = read(t.text);
    expect(events).toMatchObject([
      { summary: 'Summary:\nContinue the conversation from where you like, said the user.' },
    ]);
  });

  it('may be all that is left of earlier work, and may have no summary', () => {
    const t = new Transcript();
    t.raw({ type: 'custom-title', customTitle: 'Retry work', sessionId: SESSION_ID });
    t.system('compact_boundary', { content: 'Conversation compacted', logicalParentUuid: 'gone' });
    t.say('Where was I?');
    const { events, reading } = read(t.text);
    expect(events.map((event) => event.type)).toEqual(['compaction', 'reply']);
    expect(events[0]).toMatchObject({ summary: null });
    expect(reading).toMatchObject({ unreadable: 0, unknown: {}, agentVersion: '2.1.325' });
    expect(claudeCodeAgent.inspectFile(layOut(t.text).path)).toMatchObject({
      title: 'Retry work',
      cwd: STORY_CWD,
    });
  });

  it('V2-4: the session and its compaction are known by fields that real transcripts have', () => {
    const t = new Transcript();
    t.human('start');
    t.system('compact_boundary');
    expect(claudeCodeAgent.inspectFile(layOut(t.text).path)?.id).toBe(SESSION_ID);
    expect(ofType(read(t.text).events, 'compaction')).toHaveLength(1);
  });
});

describe('the speaker in a Claude Code transcript', () => {
  it('of a sub-agent is kept apart, and its task is no prompt of the user', () => {
    const t = new Transcript();
    t.human('start');
    t.human('Find all callers', { isSidechain: true });
    t.say('Found them', { isSidechain: true });
    t.say('Done');
    const { events } = read(t.text);
    expect(events.map(({ type, sidechain }) => [type, sidechain])).toEqual([
      ['prompt', undefined],
      ['reply', true],
      ['reply', undefined],
    ]);
  });

  it('of an error of the provider is no reply, but a limit event', () => {
    const t = new Transcript();
    t.system('api_error', { error: { status: 529 }, retryAttempt: 1, maxRetries: 10 });
    const text = "You've hit your limit · resets 5am";
    const message = { id: 'x', model: '<synthetic>', role: 'assistant', content: [{ type: 'text', text }] };
    t.row({ type: 'assistant', message, isApiErrorMessage: true });
    const nothing = [{ type: 'text', text: 'No response requested.' }];
    t.row({ type: 'assistant', message: { ...message, content: nothing } });
    expect(read(t.text).events.map((event) => [event.type, 'text' in event && event.text])).toEqual([['limit', text]]);
  });

  it('of a delivered brief is neither user nor agent nor tool', () => {
    const t = new Transcript();
    t.attach({
      type: 'hook_additional_context',
      content: [BRIEF, 'of another hook'],
      hookEvent: 'SessionStart',
    });
    t.attach({ type: 'hook_success', content: BRIEF, stdout: BRIEF, hookEvent: 'SessionStart' });
    t.human(BRIEF);
    t.human('go on');
    t.say(BRIEF);
    t.call('a', 'mcp__handover__show', { id: 'x' });
    t.result('a', [{ type: 'text', text: BRIEF }]);
    const { events } = read(t.text);
    expect(events.map((event) => event.type)).toEqual([
      'injected',
      'injected',
      'injected',
      'prompt',
      'injected',
      'call',
      'result',
      'injected',
    ]);
    expect(ofType(events, 'result')[0]?.output).toBe('');
  });

  it('is recorded with time, folder and model of each event', () => {
    const t = new Transcript();
    t.human('start');
    t.say('Moving', { cwd: '/home/ann/shop/web', gitBranch: 'feat' });
    t.raw({ type: 'relocated', relocatedCwd: '/home/ann/tree', sessionId: SESSION_ID });
    t.queue('enqueue', 'wait');
    t.queue('remove');
    const path = layOut(t.text).path;
    expect(claudeCodeAgent.inspectFile(path)?.cwd).toBe(STORY_CWD);
    const { events } = readTranscript(claudeCodeAgent, path);
    expect(events).toMatchObject([
      {
        at: '2026-01-31T09:00:01.000Z',
        ref: { line: 1, id: t.rows[0]?.uuid },
        cwd: STORY_CWD,
        branch: 'main',
      },
      { ref: { line: 2 }, cwd: '/home/ann/shop/web', branch: 'feat', model: 'claude-opus-5-5' },
      { ref: { line: 4, id: null }, cwd: '/home/ann/tree' },
    ]);
  });
});

describe('finding sessions of Claude Code', () => {
  const find = (env: Record<string, string>, home: string): FoundSession[] => [
    ...claudeCodeAgent.findSessions(makeMachine(home, { env, home })),
  ];

  it('lists sub-agents with their parent', () => {
    const t = new Transcript({ agentId: 'a1b2' });
    t.human('Find all callers', { isSidechain: true });
    t.say('Found them', { isSidechain: true });
    const { machine, path } = layOut(t.text, join(SESSION_ID, 'subagents', 'agent-a1b2.jsonl'));
    expect([...claudeCodeAgent.findSessions(machine)]).toMatchObject([{ id: 'a1b2', parent: SESSION_ID, path }]);
    const { events } = readTranscript(claudeCodeAgent, path);
    expect(events.map(({ type, sidechain }) => [type, sidechain])).toEqual([['reply', undefined]]);
  });

  it('lists sub-agents of older versions beside the session that started them', () => {
    const t = new Transcript({ agentId: 'a1b2' });
    t.say('Found them', { isSidechain: true });
    const { machine } = layOut(t.text, 'agent-a1b2.jsonl');
    expect([...claudeCodeAgent.findSessions(machine)]).toMatchObject([{ id: 'a1b2', parent: SESSION_ID }]);
  });

  it('looks only into CLAUDE_CONFIG_DIR where it is set', () => {
    const { machine, path } = layOut(makeStory().text);
    const root = join(machine.home ?? '', '.claude');
    expect(find({ CLAUDE_CONFIG_DIR: root }, makeFolder())).toMatchObject([{ path }]);
    expect(find({ CLAUDE_CONFIG_DIR: makeFolder() }, machine.home ?? '')).toEqual([]);
  });

  it('distinguishes folders that share a name by the rows', () => {
    const { machine, path } = layOut(makeStory().text);
    const other = new Transcript({ cwd: '/home/ann-shop', sessionId: '7'.repeat(8) });
    other.human('hello there');
    writeFileSync(join(path, '..', 'other.jsonl'), other.text);
    const found = [...claudeCodeAgent.findSessions(machine)];
    expect(found.map(({ id, cwd }) => [id, cwd]).sort()).toEqual([
      [SESSION_ID, STORY_CWD],
      ['77777777', '/home/ann-shop'],
    ]);
  });

  it('skips files that are no transcripts', () => {
    const { machine, path } = layOut(makeStory().text);
    const folder = join(path, '..');
    writeFileSync(join(folder, 'empty.jsonl'), '');
    writeFileSync(join(folder, 'noise.jsonl'), Buffer.from([0, 255, 10, 123, 10, 200]));
    writeFileSync(join(folder, 'title.jsonl'), '{"type":"summary","summary":"x","leafUuid":"y"}\n');
    writeFileSync(join(folder, 'list.jsonl'), '[1]\n"text"\n{"type":"user"}\n');
    mkdirSync(join(folder, 'folder.jsonl'));
    symlinkSync(join(folder, 'nowhere'), join(folder, 'link.jsonl'));
    symlinkSync(join(folder, 'loop.jsonl'), join(folder, 'loop.jsonl'));
    writeFileSync(join(folder, '..', 'stray-file'), 'x');
    expect([...claudeCodeAgent.findSessions(machine)].map(({ id }) => id)).toEqual([SESSION_ID]);
  });

  it('knows the project folder even when the first row is very long', () => {
    const t = new Transcript();
    const row = { isSidechain: false, cwd: STORY_CWD, sessionId: SESSION_ID, type: 'user' };
    t.raw({ parentUuid: null, ...row, message: { role: 'user', content: 'long '.repeat(50_000) } });
    expect(claudeCodeAgent.inspectFile(layOut(t.text).path)).toMatchObject({
      id: SESSION_ID,
      cwd: STORY_CWD,
    });
  });

  it('titles a session by its name, else by its first prompt', () => {
    const t = new Transcript();
    t.human('<command-name>/clear</command-name>');
    t.human('Implement the following plan:\n\n# Retry the upload\n\n## Context');
    expect(claudeCodeAgent.inspectFile(layOut(t.text).path)?.title).toMatch(/^Retry the upload\n/);
    t.raw({ type: 'ai-title', aiTitle: 'Add upload retry', sessionId: SESSION_ID });
    expect(claudeCodeAgent.inspectFile(layOut(t.text).path)?.title).toBe('Add upload retry');
  });
});

describe('a Claude Code transcript', () => {
  it('V2-10: in any language is read unchanged', () => {
    const said = 'Füge dem Upload einen Wiederholversuch hinzu 🔁 リトライ אנא';
    const t = new Transcript();
    t.human(said);
    expect(talk(t)).toEqual([said]);
  });

  it('V2-12: with lone surrogates is read, and the events have none', () => {
    const t = new Transcript();
    t.human('a \ud83d b');
    t.call('c\udc00', 'Edit', { file_path: '/p/\udc00', old_string: '\ud800', new_string: '\udfff' });
    t.result('c\udc00', 'x\ud800', {
      data: { userModified: true, oldString: '\ud800', newString: '\udbff' },
    });
    t.call('d', 'TodoWrite', { todos: [{ content: '\ud800', status: 'pending' }] });
    t.result('d', 'Todos have been modified successfully.');
    t.call('e', 'mcp__\ud800', { text: '\ud800' });
    const { events } = read(t.text);
    expect(events).toHaveLength(5);
    expect(JSON.stringify(events)).not.toMatch(/\\ud[89a-f]/i);
  });

  it('is recognised by a first row longer than the first read', () => {
    const t = new Transcript();
    t.raw({ type: 'mode', mode: 'normal', sessionId: SESSION_ID });
    t.human(`Read this: ${'word '.repeat(20_000)}`);
    expect(claudeCodeAgent.inspectFile(layOut(t.text).path)).toMatchObject({
      id: SESSION_ID,
      cwd: STORY_CWD,
    });
  });

  it('is found with a byte order mark before its only row', () => {
    const t = new Transcript();
    t.human('start');
    const marked = `\ufeff${t.text.replaceAll('":', '": ')}`;
    expect(claudeCodeAgent.inspectFile(layOut(marked).path)).toMatchObject({ id: SESSION_ID });
    expect(ofType(read(marked).events, 'prompt')).toMatchObject([{ text: 'start' }]);
  });

  it('is read on after unknown and broken rows, which are counted', () => {
    const t = makeStory();
    const broken = `\ufeff{"type":"brand-new","x":1}\n{"type":"__proto__"}\n{"no":"type"}\nnot json\n[]\n\n${t.text}`;
    const { events, reading } = read(broken);
    expect(reading.unreadable).toBe(2);
    expect(Object.entries(reading.unknown).sort()).toEqual([
      ['(no type)', 1],
      ['__proto__', 1],
      ['brand-new', 1],
    ]);
    expect(events).toHaveLength(read(t.text).events.length);
  });

  it('with an unfinished last line is not damaged', () => {
    const { text } = makeStory();
    const { reading, events } = read(`${text}{"parentUuid":"x","isSidechain":false,"type":"us`);
    expect(reading.unreadable).toBe(0);
    expect(events).toEqual(read(text).events);
  });

  it('with values of wrong types gives only valid events', () => {
    const kinds = [null, 1, 'text', true, [], {}, [null], [{ type: 'text' }], { content: [[]] }];
    const t = new Transcript();
    t.human('start');
    for (const type of ['user', 'assistant', 'system', 'attachment', 'queue-operation']) {
      for (const value of kinds) {
        const row = {
          message: value,
          attachment: value,
          toolUseResult: value,
          content: value,
          operation: value,
        };
        t.row({ type, ...row, origin: value }, { cwd: value, gitBranch: value, timestamp: value });
        t.row({
          type,
          message: { content: value, model: value, id: value },
          attachment: { type: value, content: value },
        });
      }
    }
    for (const event of read(t.text).events) expect(v.is(Event, event), JSON.stringify(event)).toBe(true);
  });

  const story = Buffer.from(makeStory().text);
  const readAny = (content: Buffer): void => {
    const { path } = layOut(content);
    const session = claudeCodeAgent.inspectFile(path);
    const found = session ?? { ...EMPTY, path };
    for (const event of claudeCodeAgent.readEvents(found, startReadStats())) {
      if (!v.is(Event, event)) throw new Error(`no event: ${JSON.stringify(event)}`);
    }
  };
  const EMPTY: Omit<FoundSession, 'path'> = {
    agent: 'claude-code',
    id: 'x',
    cwd: null,
    title: null,
    startedMs: null,
    changedMs: 0,
    bytes: 0,
    parent: null,
  };

  it('is read when cut anywhere', () => {
    fc.assert(
      fc.property(fc.nat(story.length), (end) => {
        readAny(story.subarray(0, end));
      }),
      { numRuns: 150 },
    );
  });

  it('is read with any bytes in it', () => {
    const splice = fc.tuple(fc.nat(story.length), fc.nat(40), fc.uint8Array({ maxLength: 40 }));
    fc.assert(
      fc.property(fc.array(splice, { minLength: 1, maxLength: 6 }), (splices) => {
        let content = story;
        for (const [at, drop, bytes] of splices) {
          content = Buffer.concat([content.subarray(0, at), bytes, content.subarray(at + drop)]);
        }
        readAny(content);
      }),
      { numRuns: 150 },
    );
  });

  it('is not changed by reading', () => {
    const { path } = layOut(story);
    readTranscript(claudeCodeAgent, path);
    expect(readFileSync(path)).toEqual(story);
  });
});
