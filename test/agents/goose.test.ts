import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FoundSession, startReadStats } from '../../src/agents/agent.ts';
import { gooseAgent } from '../../src/agents/goose/transcript.ts';
import type { Event } from '../../src/model/event.ts';
import type { Machine } from '../../src/platform/machine.ts';
import { makeDatabase } from '../fixtures/agents/database.ts';
import {
  assistant,
  createSchema,
  hidden,
  insertFirstSession,
  insertSession,
  type MessageFixture,
  request,
  response,
  SESSION_ID,
  type SessionFixture,
  text,
  user,
  writeLines,
} from '../fixtures/agents/goose.ts';
import { STORY_CWD, type Told, testAgent } from '../support/conformance/agents.ts';
import { makeFolder, makeMachine } from '../support/temp-store.ts';
import { tornBytes } from '../support/torn-bytes.ts';

function layOut(...sessions: SessionFixture[]): { machine: Machine; path: string; id: string } {
  const folder = makeFolder();
  const machine = makeMachine(folder);
  const env = { ...machine.env, GOOSE_PATH_ROOT: join(folder, 'goose') };
  const path = join(folder, 'goose', 'data', 'sessions', 'sessions.db');
  mkdirSync(dirname(path), { recursive: true });
  makeDatabase(path, (database) => {
    createSchema(database);
    for (const session of sessions.length === 0 ? [{}] : sessions) insertSession(database, session);
  });
  return { machine: { ...machine, env }, path, id: SESSION_ID };
}

function read(session: FoundSession | null): Event[] {
  if (session === null) throw new Error('no session');
  return [...gooseAgent.readEvents(session, startReadStats())];
}

const readMessages = (...messages: MessageFixture[]): Event[] =>
  read(gooseAgent.inspectFile(layOut({ messages }).path));

/** The list is Markdown with boxes to tick: tasks in progress and tasks not begun look the same. */
function tell(story: readonly Told[]): Told[] {
  return story.map((told) => {
    if (told.type !== 'plan') return told;
    const items = told.items.map((item) =>
      item.status === 'in_progress' ? { ...item, status: 'pending' as const } : item,
    );
    return { ...told, items };
  });
}

testAgent({ agent: gooseAgent, layOut: () => layOut(), tell });

describe('the database of goose', () => {
  it('is read without a file appearing beside it', () => {
    const { path } = layOut();
    expect(read(gooseAgent.inspectFile(path))).not.toEqual([]);
    expect(readdirSync(dirname(path))).toEqual(['sessions.db']);
  });

  it('of the first releases is read though it lacks columns', () => {
    const path = join(makeFolder(), 'sessions.db');
    makeDatabase(path, (database) => {
      createSchema(database, 'first');
      insertFirstSession(database);
    });
    const session = gooseAgent.inspectFile(path);
    expect(session).toMatchObject({ id: SESSION_ID, title: 'Upload retry', cwd: STORY_CWD });
    const types = (events: Event[]): string[] => events.map(({ type }) => type);
    expect(types(read(session))).toEqual(types(read(gooseAgent.inspectFile(layOut().path))));
  });

  it('has the time of each session, and the parent of each sub-agent', () => {
    const { machine } = layOut(
      { id: 'main' },
      { id: 'sub', type: 'sub_agent', parent: 'main' },
      { id: 'copy', parent: 'main' },
      { id: 'orphan', type: 'sub_agent' },
    );
    const sessions = [...gooseAgent.findSessions(machine)];
    const find = (id: string): FoundSession | undefined => sessions.find((session) => session.id === id);
    expect(find('main')).toMatchObject({
      parent: null,
      startedMs: Date.UTC(2026, 0, 31, 12),
      changedMs: Date.UTC(2026, 0, 31, 12, 10, 0, 123),
    });
    expect(find('sub')).toMatchObject({ parent: 'main' });
    expect(find('copy')).toMatchObject({ parent: null });
    expect(find('orphan')).toMatchObject({ parent: 'unknown' });
  });

  it('gives no sessions where there is no SQLite', () => {
    const { machine } = layOut();
    const env = { ...machine.env, HANDOVER_SQLITE: 'none' };
    expect([...gooseAgent.findSessions({ ...machine, env })]).toEqual([]);
  });
});

describe('a session file of goose', () => {
  it('is found and reads like the database', () => {
    const { machine, path } = layOut();
    const fromDatabase = read(gooseAgent.inspectFile(path)).map(({ type }) => type);
    rmSync(path);
    const file = join(dirname(path), 'old.jsonl');
    writeFileSync(file, writeLines());
    const [session, ...others] = [...gooseAgent.findSessions(machine)];
    expect(others).toEqual([]);
    expect(session).toMatchObject({ id: 'old', path: file, cwd: STORY_CWD, title: 'Upload retry' });
    expect(read(session ?? null).map(({ type }) => type)).toEqual(fromDatabase);
  });

  it('is not listed twice once it is in the database', () => {
    const { machine, path } = layOut();
    writeFileSync(join(dirname(path), `${SESSION_ID}.jsonl`), writeLines());
    expect([...gooseAgent.findSessions(machine)].map((session) => session.path)).toEqual([path]);
  });
});

describe('events read from a session of goose', () => {
  it('include a compaction without the copied prompt after it', () => {
    const events = readMessages(
      user(text('work')),
      assistant(text('working')),
      hidden(user(text('Much was done.'))),
      hidden(assistant(text('The previous message is a summary. Continue.'))),
      user(text('work')),
      assistant(text('done')),
      user(text('work')),
    );
    expect(events).toMatchObject([
      { type: 'prompt', text: 'work' },
      { type: 'reply', text: 'working' },
      { type: 'compaction', summary: 'Much was done.' },
      { type: 'reply', text: 'done' },
      { type: 'prompt', text: 'work' },
    ]);
  });

  it('leave out summaries of single calls and hidden messages', () => {
    const events = readMessages(
      hidden(user(text('A tool was called.'))),
      { ...user(text('gone')), metadata: { userVisible: false, agentVisible: false } },
      assistant(text('done')),
    );
    expect(events).toMatchObject([{ type: 'reply', text: 'done' }]);
  });

  it('include failures', () => {
    const failed = {
      type: 'toolResponse',
      id: 'c1',
      toolResult: { status: 'error', error: 'The user has declined to run this tool.' },
    };
    const events = readMessages(
      assistant(request('c1', 'developer__shell', { command: 'rm -rf /' })),
      user(failed),
      assistant(request('c2', 'developer__shell', { command: 'false' })),
      user(response('c2', '\n\nCommand exited with code 1', { isError: true })),
      assistant(text('Ran into this error: Rate limit exceeded.\n\nPlease retry.')),
      assistant({ type: 'systemNotification', notificationType: 'creditsExhausted', msg: 'No credits' }),
      assistant({ type: 'systemNotification', notificationType: 'inlineMessage', msg: 'Compacting' }),
    );
    expect(events.filter(({ type }) => type !== 'call')).toMatchObject([
      { type: 'result', ok: false, exit: null, output: 'The user has declined to run this tool.' },
      { type: 'result', ok: false, exit: 1 },
      { type: 'limit' },
      { type: 'limit', text: 'No credits' },
    ]);
  });

  it('take the version of an answer that the model got', () => {
    const content = [
      { type: 'text', text: 'for the model', annotations: { audience: ['assistant'] } },
      { type: 'text', text: 'for the human', annotations: { audience: ['user'] } },
    ];
    const listed = { type: 'toolResponse', id: 'c1', toolResult: { status: 'success', value: content } };
    expect(readMessages(user(listed))).toMatchObject([{ type: 'result', ok: true, output: 'for the model' }]);
  });

  it('include a question and its answer', () => {
    const ask = { actionType: 'elicitation', id: 'e1', message: 'Which one?', requested_schema: {} };
    const answer = { actionType: 'elicitationResponse', id: 'e1', user_data: { choice: 'the second' } };
    const events = readMessages(
      assistant({ type: 'actionRequired', data: ask }),
      user({ type: 'actionRequired', data: answer }),
    );
    expect(events).toMatchObject([
      { type: 'call', action: { kind: 'ask', question: 'Which one?' } },
      { type: 'prompt', text: 'the second' },
    ]);
  });

  it('mark our own brief as injected', () => {
    expect(readMessages(user(text('# Handover 20260131-120000-k3fz\n\n> Go on.')))).toMatchObject([
      { type: 'injected' },
    ]);
  });
});

describe('goose data of any bytes', () => {
  const consume = (path: string): void => {
    const session = gooseAgent.inspectFile(path);
    if (session !== null) read(session);
    const file = { agent: 'goose', id: SESSION_ID, path, cwd: null, title: null } as const;
    read({ ...file, startedMs: null, changedMs: 0, bytes: 0, parent: null });
  };

  it.each([
    ['a database', '.db', (): Buffer => readFileSync(layOut().path)],
    ['a file', '.jsonl', (): Buffer => Buffer.from(writeLines())],
  ])('is read without an error from %s', (_, extension, make) => {
    const folder = makeFolder();
    let count = 0;
    fc.assert(
      fc.property(tornBytes(make()), (bytes) => {
        const path = join(folder, `${count++}${extension}`);
        writeFileSync(path, bytes);
        consume(path);
      }),
      { numRuns: 200 },
    );
  });
});
