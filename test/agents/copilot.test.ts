import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copilotAgent } from '../../src/agents/copilot/transcript.ts';
import type { Event } from '../../src/model/event.ts';
import type { Machine } from '../../src/platform/machine.ts';
import {
  answered,
  type CopilotRow,
  called,
  gave,
  ran,
  row,
  SESSION,
  said,
  sql,
  start,
  story,
} from '../fixtures/agents/copilot.ts';
import { STORY_CWD, testAgent } from '../support/conformance/agents.ts';
import { ofType, readTranscript } from '../support/read-transcript.ts';
import { makeFolder, makeMachine } from '../support/temp-store.ts';
import { expectToSurviveDamage, toJsonLines, writeText } from '../support/transcripts.ts';

function layOut(rows: readonly CopilotRow[]): { machine: Machine; path: string; id: string } {
  const folder = makeFolder();
  const machine = makeMachine(folder);
  const home = join(folder, 'copilot');
  const path = writeText(join(home, 'session-state', SESSION, 'events.jsonl'), toJsonLines(rows));
  return { machine: { ...machine, env: { ...machine.env, COPILOT_HOME: home } }, path, id: SESSION };
}

function read(...rows: readonly CopilotRow[]): Event[] {
  return readTranscript(copilotAgent, layOut([start(), ...rows]).path).events;
}

const prompts = (events: readonly Event[]): string[] => ofType(events, 'prompt').map(({ text }) => text);

testAgent({ agent: copilotAgent, layOut: () => layOut(story()) });

describe('copilot events', () => {
  it('carry place, branch and model, which may change', () => {
    const events = read(
      said('one'),
      row('session.context_changed', { cwd: '/elsewhere', branch: 'main' }),
      row('session.model_change', { newModel: 'other' }),
      said('two'),
    );
    expect(events).toMatchObject([
      { cwd: STORY_CWD, branch: 'feat/retry', model: 'gpt-5.6', ref: { line: 2 } },
      { cwd: '/elsewhere', branch: 'main', model: 'other', ref: { line: 5 } },
    ]);
  });

  it('are prompts only when the user wrote them', () => {
    const events = read(
      said('typed'),
      said('typed while it worked', { delivery: 'steering', source: 'user' }),
      said('a skill speaks', { source: 'skill-review' }),
      said('another session speaks', { inputOrigin: 'authenticated-cross-session' }),
      { ...said('an agent speaks'), agentId: 'a1' },
    );
    expect(prompts(events)).toEqual(['typed', 'typed while it worked']);
  });

  it('mark our own brief as injected', () => {
    const output = { additionalContext: '# Handover 20260131-120000-k3fz\nContinue.' };
    const events = read(row('hook.end', { hookType: 'sessionStart', success: true, output }));
    expect(events).toMatchObject([{ type: 'injected', text: output.additionalContext }]);
  });

  it('of sub-agents are kept apart from the main session', () => {
    const events = read(
      { ...answered('found it'), agentId: 'a1' },
      { ...called('c1', 'view', { path: '/a' }), agentId: 'a1' },
    );
    expect(events.map(({ sidechain }) => sidechain)).toEqual([true, true]);
  });

  it('give the answer to a question as a prompt', () => {
    const events = read(
      called('c1', 'ask_user', { question: 'How long?', choices: ['1 s', '2 s'] }),
      gave('c1', 'User responded: at most 2 s'),
    );
    expect(events).toMatchObject([
      { type: 'call', action: { kind: 'ask', question: 'How long?' } },
      { type: 'prompt', text: 'at most 2 s' },
    ]);
  });

  it('include a compaction that worked, and errors of the provider', () => {
    const events = read(
      row('session.compaction_start', { trigger: 'manual' }),
      row('session.compaction_complete', { success: false, error: 'no' }),
      row('session.compaction_complete', { success: true, summaryContent: 'The upload retries.' }),
      row('session.error', { errorType: 'rate_limit', message: 'Too many requests' }),
    );
    expect(events).toMatchObject([
      { type: 'compaction', summary: 'The upload retries.' },
      { type: 'limit', text: 'Too many requests' },
    ]);
  });

  it('give the exit status from the row or from the text', () => {
    const events = read(
      ...ran('c1', 'false', 1, 'no'),
      called('c2', 'bash', { command: 'npm start', mode: 'async' }),
      gave('c2', 'yes\n<exited with exit code 3>'),
      called('c3', 'view', { path: 'a.ts' }),
      row('tool.execution_complete', {
        toolCallId: 'c3',
        success: false,
        error: { message: 'no such file' },
      }),
    );
    expect(ofType(events, 'result')).toMatchObject([
      { ok: false, exit: 1, output: 'no' },
      { ok: false, exit: 3, output: 'yes' },
      { ok: false, exit: null, output: 'no such file' },
    ]);
    expect(ofType(events, 'call').map(({ action }) => action)).toMatchObject([
      { background: false },
      { background: true },
      { kind: 'read', path: `${STORY_CWD}/a.ts` },
    ]);
  });

  it('recognise the other tools', () => {
    const patch = '*** Begin Patch\n*** Delete File: old.ts\n*** End Patch';
    const events = read(
      called('c1', 'glob', { pattern: '**/*.ts' }),
      called('c2', 'rg', { pattern: 'retry', path: 'src' }),
      called('c3', 'web_fetch', { url: 'https://example.org' }),
      called('c4', 'task', { prompt: 'Look into it', agent_type: 'explore' }),
      called('c5', 'apply_patch', patch),
      called('c6', 'str_replace_editor', { command: 'insert', path: '/a', insert_line: 1, new_str: 'x' }),
      called('c7', 'probe-ping', { note: 'hello', deep: { more: ['there'] } }),
    );
    expect(ofType(events, 'call').map(({ action }) => action)).toMatchObject([
      { kind: 'search', pattern: '**/*.ts', path: null },
      { kind: 'search', pattern: 'retry', path: `${STORY_CWD}/src` },
      { kind: 'fetch', url: 'https://example.org' },
      { kind: 'delegate', task: 'Look into it' },
      { kind: 'edit', edits: [{ path: `${STORY_CWD}/old.ts`, change: 'deleted' }] },
      { kind: 'edit', edits: [{ path: '/a', change: 'edited', after: 'x' }] },
      { kind: 'other', texts: ['hello', 'there'] },
    ]);
  });
});

describe('the to-do list of copilot', () => {
  const list = (...rows: CopilotRow[]): unknown => ofType(read(...rows), 'plan').at(-1)?.items;

  it('follows what is written to its table', () => {
    const rows = [
      ...sql(
        'c1',
        "INSERT INTO todos (id, title, description) VALUES ('a', 'It''s one', 'more; of it'), ('b', 'Two', '')",
      ),
      ...sql('c2', "UPDATE todos SET status = 'done' WHERE id IN ('a', 'b')"),
      ...sql('c3', "INSERT INTO todos (id, title, status) VALUES ('c', 'Three', 'blocked')"),
      ...sql('c4', "DELETE FROM todos WHERE id = 'b'"),
      ...sql('c5', "UPDATE todos SET status = 'in_progress' WHERE status = 'blocked'"),
    ];
    expect(list(...rows)).toEqual([
      { text: "It's one", detail: 'more; of it', status: 'completed' },
      { text: 'Three', status: 'in_progress' },
    ]);
  });

  it('ignores failed statements and queries', () => {
    const events = read(
      called('c1', 'sql', { query: "INSERT INTO todos (id, title) VALUES ('a', 'One')" }),
      gave('c1', '', { success: false }),
      ...sql('c2', 'SELECT * FROM todos'),
      ...sql('c3', 'UPDATE todos SET'),
    );
    expect(events.map(({ type }) => type)).toEqual(['call', 'result']);
  });

  it('is a list of boxes in older versions', () => {
    expect(list(called('c1', 'update_todo', { todos: '- [x] One\n- [ ] Two' }), gave('c1', 'ok'))).toEqual([
      { text: 'One', status: 'completed' },
      { text: 'Two', status: 'pending' },
    ]);
  });
});

describe('what was undone in Copilot', () => {
  it('gives no events', () => {
    const first = said('wrong');
    const events = read(
      said('kept'),
      first,
      answered('done wrong'),
      row('session.snapshot_rewind', { upToEventId: first.id, eventsRemoved: 2 }),
      said('right'),
    );
    expect(events.map((event) => 'text' in event && event.text)).toEqual(['kept', 'right']);
  });

  it('may be listed event by event, and may be missing', () => {
    const gone = answered('gone');
    const events = read(
      said('kept'),
      gone,
      row('session.snapshot_rewind', { upToEventId: 'nowhere', eventIds: [gone.id, 7] }),
      row('session.snapshot_rewind', {}),
    );
    expect(events).toMatchObject([{ type: 'prompt', text: 'kept' }]);
  });
});

describe('finding copilot sessions', () => {
  it('takes the name from the session’s folder', () => {
    const { machine, path } = layOut(story());
    writeText(join(path, '../workspace.yaml'), `id: ${SESSION}\ncwd: /x\nname: "Retry \\"work\\""\nlist:\n  - a: 1\n`);
    expect([...copilotAgent.findSessions(machine)]).toMatchObject([{ title: 'Retry "work"', cwd: STORY_CWD }]);
  });

  it('looks below the home folder, and skips files that are no transcripts', () => {
    const folder = makeFolder();
    const states = join(folder, 'home', '.copilot', 'session-state');
    writeText(join(states, 'empty', 'events.jsonl'), '');
    writeText(join(states, 'other', 'events.jsonl'), '{"type":"message"}\n');
    writeText(join(states, 'file'), 'x');
    const old = writeText(join(states, `${SESSION}.jsonl`), toJsonLines(story()));
    expect([...copilotAgent.findSessions(makeMachine(folder))]).toMatchObject([{ id: SESSION, path: old }]);
  });
});

describe('a damaged copilot transcript', () => {
  it('counts what it cannot read and what it does not know', () => {
    const { path } = layOut([start(), row('session.brand_new')]);
    writeText(path, `${readFileSync(path, 'utf8')}not json\n7\n{"type":"user.message","data":{"content":"ha`);
    expect(readTranscript(copilotAgent, path).reading).toMatchObject({
      rows: 4,
      unreadable: 2,
      unknown: { 'session.brand_new': 1 },
      agentVersion: '1.0.102',
    });
  });

  it('never makes the reader fail', () => {
    const wrong = said('wrong');
    const { path } = layOut([...story(), wrong, row('session.snapshot_rewind', { upToEventId: wrong.id })]);
    const session = copilotAgent.inspectFile(path);
    if (session === null) throw new Error('not found');
    expectToSurviveDamage(copilotAgent, session, readFileSync(path));
  });
});
