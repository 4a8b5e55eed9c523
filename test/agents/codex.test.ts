import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as zlib from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { codexAgent } from '../../src/agents/codex/transcript.ts';
import {
  call,
  event,
  exited,
  item,
  legacyStory,
  message,
  meta,
  number,
  output,
  paginatedStory,
  type RolloutRow,
  response,
  row,
  THREAD,
} from '../fixtures/agents/codex.ts';
import { answered, layOut, makeCodex, OTHER, place, read, said, texts } from '../fixtures/agents/codex-home.ts';
import { STORY_CWD, testAgent } from '../support/conformance/agents.ts';
import { readTranscript } from '../support/read-transcript.ts';
import { makeFolder, makeMachine } from '../support/temp-store.ts';
import { expectToSurviveDamage, toJsonLines, writeText } from '../support/transcripts.ts';

describe('a legacy history', () => {
  testAgent({ agent: codexAgent, layOut: () => layOut(legacyStory()) });
});

describe('a paginated history', () => {
  testAgent({ agent: codexAgent, layOut: () => layOut(paginatedStory()) });
});

describe('events of Codex', () => {
  it('carry time, place, branch and model', () => {
    const [prompt] = read(row('turn_context', { cwd: '/elsewhere', model: 'gpt-5.6' }), said('Go on'));
    expect(prompt).toMatchObject({
      cwd: '/elsewhere',
      branch: 'feat/retry',
      model: 'gpt-5.6',
      ref: { line: 3 },
    });
    expect(prompt?.at).toMatch(/^2026-01-31T12:/);
  });

  it('take prompts from the messages when there are no separate rows for them', () => {
    const kinds = { content_item_kinds: ['environments.environment_context'] };
    const events = read(
      message('user', '<environment_context>\n</environment_context>'),
      message('user', 'added by the program', { internal_chat_message_metadata_passthrough: kinds }),
      message('user', 'Add a retry'),
      message('assistant', 'Done.'),
      message('user', '<turn_aborted>\nThe user interrupted the previous turn on purpose.\n</turn_aborted>'),
    );
    expect(events.map(({ type }) => type)).toEqual(['prompt', 'reply']);
    expect(texts(events, 'prompt')).toEqual(['Add a retry']);
  });

  it('leave out what an editor puts in front of what was typed', () => {
    const text = '# Context from my IDE setup:\n\n## Open tabs:\n- a.ts\n\n## My request for Codex:\nFix the test\n';
    expect(texts(read(said(text)), 'prompt')).toEqual(['Fix the test\n']);
  });

  it('mark our own brief as injected', () => {
    const brief = '# Handover 20260131-120000-k3fz\n> Continue.';
    const events = read(
      message('developer', brief, {
        internal_chat_message_metadata_passthrough: { content_item_kinds: ['hooks.additional_context'] },
      }),
      message('developer', 'Some other hook speaks'),
      said(brief),
    );
    expect(events.map(({ type }) => type)).toEqual(['injected', 'injected']);
  });

  it('give the answer to a question as a prompt', () => {
    const question = {
      questions: [{ id: 'q1', header: 'Delay', question: 'How long?', options: [{ label: '1 s' }] }],
    };
    const events = read(
      call('c1', 'request_user_input', question),
      output('c1', '{"answers":{"q1":{"answers":["2 s","user_note: at most"]}}}'),
    );
    expect(events).toMatchObject([
      { type: 'call', action: { kind: 'ask', question: 'How long?' } },
      { type: 'prompt', text: '2 s\nat most' },
    ]);
  });

  it('include a compaction with its summary, if it has one', () => {
    const preamble = 'Another language model started to solve this problem and produced a summary:\n';
    const events = read(
      row('compacted', {
        message: '',
        replacement_history: [{ type: 'compaction', encrypted_content: 'gAAAA' }],
      }),
      event('context_compacted'),
      row('compacted', { message: `${preamble}The upload retries.` }),
      item('ContextCompaction', { id: 'i1' }),
    );
    expect(events).toMatchObject([
      { type: 'compaction', summary: null },
      { type: 'compaction', summary: 'The upload retries.' },
    ]);
  });

  it('include a limit once while it lasts', () => {
    const count = (reached: string | null): RolloutRow =>
      event('token_count', { info: null, rate_limits: { rate_limit_reached_type: reached } });
    const events = read(
      count(null),
      count('weekly_limit'),
      count('weekly_limit'),
      event('error', { message: 'overloaded' }),
    );
    expect(texts(events, 'limit')).toEqual(['weekly_limit', 'overloaded']);
  });

  it('include a proposed plan', () => {
    expect(read(item('Plan', { id: 'p1', text: '1. Retry' }))).toMatchObject([
      { type: 'call', action: { kind: 'propose', text: '1. Retry' } },
    ]);
  });

  it('include web searches and pages, each with its end', () => {
    const events = read(
      response('web_search_call', { id: 'w1', action: { type: 'search', query: 'retry-after header' } }),
      event('web_search_end', { call_id: 'w1', query: 'retry-after header' }),
      response('web_search_call', {
        id: 'w2',
        status: 'failed',
        action: { type: 'open_page', url: 'https://example.org' },
      }),
    );
    expect(events).toMatchObject([
      { type: 'call', call: 'w1', action: { kind: 'search', pattern: 'retry-after header', path: null } },
      { type: 'result', call: 'w1', ok: true },
      { type: 'call', call: 'w2', action: { kind: 'fetch', url: 'https://example.org' } },
      { type: 'result', call: 'w2', ok: false },
    ]);
  });
});

describe('a Codex session copied from another', () => {
  it('keeps its own folder', () => {
    const [prompt] = read(meta({ id: OTHER, cwd: '/elsewhere', git: { branch: 'other' } }), said('Go on'));
    expect(prompt).toMatchObject({ cwd: STORY_CWD, branch: 'feat/retry' });
  });
});

describe('what is said in the middle of a turn of Codex', () => {
  const asked = (...rows: RolloutRow[]): unknown[] =>
    read(...rows).flatMap((made) => (made.type === 'prompt' ? [[made.text, made.steering]] : []));

  it('steers it', () => {
    const turn = [event('task_started'), said('one'), answered('1'), said('faster'), event('task_complete')];
    expect(asked(...turn, event('task_started'), said('two'))).toEqual([
      ['one', undefined],
      ['faster', true],
      ['two', undefined],
    ]);
  });

  it('is a request after a turn that was stopped, and where turns are not recorded', () => {
    const stopped = [event('task_started'), said('one'), event('turn_aborted', { reason: 'interrupted' }), said('two')];
    for (const rows of [stopped, [said('one'), said('two')]])
      expect(asked(...rows)).toEqual([
        ['one', undefined],
        ['two', undefined],
      ]);
  });
});

describe('turns that were undone in Codex', () => {
  it('give no events, while those before and after do', () => {
    const turn = (text: string): RolloutRow[] => [
      event('task_started'),
      said(text),
      call(text, 'exec_command', { cmd: `echo ${text}` }),
      output(text, exited(0, text)),
      answered(`did ${text}`),
    ];
    const events = read(
      ...turn('one'),
      ...turn('two'),
      ...turn('three'),
      event('thread_rolled_back', { num_turns: 2 }),
      ...turn('four'),
      event('thread_rolled_back', { num_turns: 1 }),
      ...turn('five'),
    );
    expect(texts(events, 'prompt')).toEqual(['one', 'five']);
    expect(texts(events, 'reply')).toEqual(['did one', 'did five']);
    expect(events).toHaveLength(8);
  });

  it('begin with a prompt where turns are not marked', () => {
    const events = read(
      said('one'),
      answered('1'),
      said('two'),
      answered('2'),
      event('thread_rolled_back', { num_turns: 1 }),
    );
    expect(texts(events, 'prompt')).toEqual(['one']);
  });

  it('may be more than the session has', () => {
    expect(read(said('one'), event('thread_rolled_back', { num_turns: 1e9 }))).toEqual([]);
  });
});

describe('finding codex sessions', () => {
  it('includes archived ones, and those below the home folder', () => {
    const folder = makeFolder();
    const machine = makeMachine(folder);
    const path = join(folder, 'home', '.codex', 'archived_sessions', `rollout-2026-01-31T12-00-00-${THREAD}.jsonl`);
    writeText(path, toJsonLines(legacyStory()));
    expect([...codexAgent.findSessions(machine)]).toMatchObject([
      { id: THREAD, path, title: 'Make the upload retry when the server is busy' },
    ]);
  });

  it('uses the name of a session as its title', () => {
    const { machine, path } = layOut(legacyStory());
    const names = [
      { id: THREAD, thread_name: 'first' },
      { id: THREAD, thread_name: 'Retry work' },
    ];
    writeText(join(path, '../../../../../session_index.jsonl'), `${toJsonLines(names)}{"id":`);
    expect([...codexAgent.findSessions(machine)][0]?.title).toBe('Retry work');
  });

  it('knows the parent of a sub-agent, whose prompts are not the human’s', () => {
    const { machine, home } = makeCodex();
    const source = { subagent: { thread_spawn: { parent_thread_id: OTHER, depth: 1 } } };
    const path = place(home, [meta({ source }), said('Look into it'), answered('Done')]);
    expect([...codexAgent.findSessions(machine)]).toMatchObject([{ id: THREAD, parent: OTHER }]);
    expect(readTranscript(codexAgent, path).events.map(({ type }) => type)).toEqual(['reply']);
  });

  it('reads a first line that is longer than what is looked at', () => {
    const { machine, home } = makeCodex();
    place(home, [meta({ base_instructions: { text: 'x'.repeat(200_000) } }), said('Go')]);
    expect([...codexAgent.findSessions(machine)]).toMatchObject([{ id: THREAD, cwd: STORY_CWD }]);
  });

  it('skips files that are no rollouts', () => {
    const { machine, home } = makeCodex();
    writeText(join(home, 'sessions', '2026', '01', '31', `rollout-x-${THREAD}.jsonl`), 'nothing');
    writeText(join(home, 'sessions', '2026', '01', '31', `rollout-y-${OTHER}.jsonl`), '');
    writeText(join(home, 'sessions', '2026', 'stray'), 'nothing');
    expect([...codexAgent.findSessions(machine)]).toEqual([]);
  });

  it('lists a session that continues in another file once', () => {
    const { machine, home } = makeCodex();
    place(home, [meta(), said('before')]);
    const later = place(home, [meta(), said('after')], `${THREAD}_${OTHER}`);
    const found = [...codexAgent.findSessions(machine)];
    expect(found).toHaveLength(1);
    expect(found[0]?.path).toBe(later);
  });

  it('lists a compressed session, and reads it where Node can', () => {
    const { machine, home } = makeCodex();
    const compress: unknown = Reflect.get(zlib, 'zstdCompressSync');
    const content = Buffer.from(toJsonLines(legacyStory()));
    const bytes: unknown = typeof compress === 'function' ? compress(content) : Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
    const path = join(home, 'sessions', '2026', '01', '31', `rollout-2026-01-31T12-00-00-${THREAD}.jsonl.zst`);
    writeText(path, Buffer.isBuffer(bytes) ? bytes : '');
    expect([...codexAgent.findSessions(machine)]).toMatchObject([{ id: THREAD, path, cwd: null }]);
    const { events, reading } = readTranscript(codexAgent, path);
    if (typeof compress === 'function') expect(events).toHaveLength(17);
    else expect([events, reading.unreadable]).toEqual([[], 1]);
  });
});

describe('a Codex session that continues another', () => {
  const base = number([meta({ id: OTHER }), said('kept'), answered('kept too'), said('left behind')], 0);

  it.each([
    { end_ordinal_exclusive: 3 },
    { end_ordinal_exclusive: 3, end_byte_offset: toJsonLines(base.slice(0, 3)).length },
  ])('begins with the rows that it took over: %j', (end) => {
    const { home } = makeCodex();
    place(home, base, OTHER);
    const rows = [meta({ history_mode: 'paginated', history_base: { thread_id: OTHER, ...end } }), said('new')];
    const { events, reading } = readTranscript(codexAgent, place(home, number(rows, 3)));
    expect(events).toMatchObject([{ text: 'kept' }, { text: 'kept too' }, { text: 'new' }]);
    expect(reading).toMatchObject({ rows: 5, unreadable: 0, unknown: {} });
  });

  it('can be undone into the rows that it took over', () => {
    const { home } = makeCodex();
    place(home, base, OTHER);
    const rows = [
      meta({ history_base: { thread_id: OTHER, end_ordinal_exclusive: 3 } }),
      event('thread_rolled_back', { num_turns: 1 }),
      said('new'),
    ];
    expect(texts(readTranscript(codexAgent, place(home, number(rows, 3))).events, 'prompt')).toEqual(['new']);
  });

  it('is read alone when the other is missing, or refers back to it', () => {
    const { home } = makeCodex();
    for (const thread of [OTHER, THREAD]) {
      const rows = [meta({ history_base: { thread_id: thread, end_ordinal_exclusive: 3 } }), said('new')];
      const { events, reading } = readTranscript(codexAgent, place(home, rows));
      expect(texts(events, 'prompt')).toEqual(['new']);
      expect(reading.unknown).toEqual({ history_base: 1 });
    }
  });
});

describe('a damaged Codex rollout', () => {
  it('counts what it cannot read and what it does not know', () => {
    const { home } = makeCodex();
    const path = place(home, [
      meta(),
      row('brand_new', {}),
      event('unheard_of'),
      item('Novelty', {}),
      response('gadget', {}),
    ]);
    const content = readFileSync(path, 'utf8');
    writeText(path, `${content}not json\n[1]\n\n{"timestamp":"x","type":"event_msg","payload":{"type":"user_mess`);
    expect(readTranscript(codexAgent, path).reading).toMatchObject({
      rows: 7,
      unreadable: 2,
      unknown: { brand_new: 1, 'event_msg/unheard_of': 1, 'item/Novelty': 1, 'response_item/gadget': 1 },
    });
  });

  it('gives events without broken characters', () => {
    const { home } = makeCodex();
    const path = place(home, [meta()]);
    writeText(path, `${readFileSync(path, 'utf8')}${toJsonLines([said('half')]).replace('half', 'half \\ud800')}`);
    expect(texts(readTranscript(codexAgent, path).events, 'prompt')).toEqual(['half \ufffd']);
  });

  it.each([legacyStory, paginatedStory])('never makes the reader fail', (story) => {
    const { path } = layOut(story());
    const session = codexAgent.inspectFile(path);
    if (session === null) throw new Error('not found');
    expectToSurviveDamage(codexAgent, session, readFileSync(path));
  });
});
