import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FoundSession, startReadStats } from '../../src/agents/agent.ts';
import { opencodeAgent } from '../../src/agents/opencode/transcript.ts';
import type { Event } from '../../src/model/event.ts';
import type { Machine } from '../../src/platform/machine.ts';
import { makeDatabase, openDatabase } from '../fixtures/agents/database.ts';
import {
  assistant,
  createSchema,
  exportSession,
  insertSession,
  type MessageFixture,
  SESSION_ID,
  type SessionFixture,
  text,
  tool,
  user,
} from '../fixtures/agents/opencode.ts';
import { STORY_CWD, testAgent } from '../support/conformance/agents.ts';
import { makeFolder, makeMachine } from '../support/temp-store.ts';
import { tornBytes } from '../support/torn-bytes.ts';

function layOut(...sessions: SessionFixture[]): { machine: Machine; path: string; id: string } {
  const machine = makeMachine(makeFolder());
  const path = join(machine.home ?? '', '.local', 'share', 'opencode', 'opencode.db');
  mkdirSync(dirname(path), { recursive: true });
  makeDatabase(path, (database) => {
    createSchema(database);
    for (const session of sessions.length === 0 ? [{}] : sessions) insertSession(database, session);
  });
  return { machine, path, id: SESSION_ID };
}

function read(session: FoundSession | null): Event[] {
  if (session === null) throw new Error('no session');
  return [...opencodeAgent.readEvents(session, startReadStats())];
}

const readMessages = (...messages: MessageFixture[]): Event[] =>
  read(opencodeAgent.inspectFile(layOut({ messages }).path));

testAgent({ agent: opencodeAgent, layOut: () => layOut() });

describe('the database of opencode', () => {
  it('is read without a file appearing beside it', () => {
    const { path } = layOut();
    const folder = dirname(path);
    expect(readdirSync(folder)).toEqual(['opencode.db']);
    expect(read(opencodeAgent.inspectFile(path))).not.toEqual([]);
    expect(readdirSync(folder)).toEqual(['opencode.db']);
  });

  it('is read with what a running OpenCode has just written', () => {
    const { path, machine } = layOut();
    const running = openDatabase(path);
    insertSession(running, { id: 'ses_running', messages: [user(text('Still here?'))] });
    const sessions = [...opencodeAgent.findSessions(machine)];
    expect(sessions.map(({ id }) => id).sort()).toEqual([SESSION_ID, 'ses_running'].sort());
    const found = sessions.find(({ id }) => id === 'ses_running') ?? null;
    expect(read(found)).toMatchObject([{ type: 'prompt', text: 'Still here?' }]);
    const link = join(makeFolder(), 'linked.db');
    symlinkSync(path, link);
    expect(read(found === null ? null : { ...found, path: link })).toEqual(read(found));
    running.close();
  });

  it('gives the newest session that is not of a sub-agent', () => {
    const { path } = layOut(
      { id: 'ses_old', updated: 1 },
      { id: 'ses_new', updated: 3 },
      { id: 'ses_sub', updated: 4, parent: 'ses_new' },
    );
    expect(opencodeAgent.inspectFile(path)).toMatchObject({ id: 'ses_new' });
  });

  it('has the parent of a sub-agent, and the name of a session', () => {
    const { machine } = layOut(
      { id: 'ses_main' },
      { id: 'ses_sub', parent: 'ses_main', title: 'New session - 2026-01-31T12:00:00.000Z' },
    );
    const sessions = [...opencodeAgent.findSessions(machine)];
    expect(sessions.find(({ id }) => id === 'ses_main')).toMatchObject({
      parent: null,
      title: 'Upload retry',
    });
    expect(sessions.find(({ id }) => id === 'ses_sub')).toMatchObject({ parent: 'ses_main', title: null });
  });

  it('gives no sessions where there is no SQLite', () => {
    const { machine } = layOut();
    const env = { ...machine.env, HANDOVER_SQLITE: 'none' };
    expect([...opencodeAgent.findSessions({ ...machine, env })]).toEqual([]);
  });

  it('is found where OPENCODE_DB or XDG_DATA_HOME say', () => {
    const { machine, path } = layOut();
    const find = (env: Record<string, string>): string[] =>
      [...opencodeAgent.findSessions({ ...machine, home: undefined, env })].map((session) => session.path);
    expect(find({ OPENCODE_DB: path })).toEqual([path]);
    expect(find({ XDG_DATA_HOME: dirname(dirname(path)) })).toEqual([path]);
    expect(find({})).toEqual([]);
  });

  it('is not confused with the database of another program', () => {
    const path = join(makeFolder(), 'other.db');
    makeDatabase(path, (database) => database.exec('CREATE TABLE session (id TEXT)'));
    expect(opencodeAgent.inspectFile(path)).toBeNull();
  });
});

describe('the export of opencode', () => {
  const write = (content: string): string => {
    const path = join(makeFolder(), 'export.json');
    writeFileSync(path, content);
    return path;
  };

  it('gives the same events as the database it came from', () => {
    const fromExport = read(opencodeAgent.inspectFile(write(exportSession())));
    const fromDatabase = read(opencodeAgent.inspectFile(layOut().path));
    expect(fromExport).toEqual(fromDatabase);
    expect(fromExport.length).toBeGreaterThan(10);
  });

  it('has the id of its session', () => {
    const path = write(exportSession());
    expect(opencodeAgent.inspectFile(path)).toMatchObject({ id: SESSION_ID, path, cwd: STORY_CWD });
  });

  it('is not confused with other JSON', () => {
    expect(opencodeAgent.inspectFile(write('{"info":1,"messages":[]}'))).toBeNull();
    expect(opencodeAgent.inspectFile(write('[]'))).toBeNull();
    expect(opencodeAgent.inspectFile(join(makeFolder(), 'none'))).toBeNull();
  });

  it('ends at the message the session was reverted to', () => {
    const messages = [user(text('one')), assistant(text('first'), text('second')), user(text('two'))];
    const revertTo = (revert: object): unknown[] =>
      read(opencodeAgent.inspectFile(write(exportSession(messages, { revert })))).map((event) =>
        'text' in event ? event.text : event.type,
      );
    expect(revertTo({ messageID: 'msg_XN2J_0003' })).toEqual(['one', 'first', 'second']);
    expect(revertTo({ messageID: 'msg_XN2J_0002' })).toEqual(['one']);
    expect(revertTo({ messageID: 'msg_XN2J_0002', partID: 'prt_msg_XN2J_0002_0003' })).toEqual(['one', 'first']);
  });
});

describe('events read from a session of opencode', () => {
  it('include of synthetic text only our own brief', () => {
    const events = readMessages(
      user(
        text('# Handover 20260131-120000-k3fz\n\nGo on.', { synthetic: true }),
        text('Called the Read tool', { synthetic: true }),
        text('Go on', {}),
      ),
    );
    expect(events.map(({ type }) => type)).toEqual(['injected', 'prompt']);
  });

  it('include a compaction with its summary, without its instructions', () => {
    const summary = assistant(text('We did much.'));
    const events = readMessages(
      user(text('work')),
      user({ type: 'compaction', auto: true }),
      { ...summary, info: { ...summary.info, mode: 'compaction', summary: true } },
      user(text('Continue if you have next steps', { synthetic: true })),
      user({ type: 'compaction', auto: false }),
      user(text('more')),
    );
    expect(events).toMatchObject([
      { type: 'prompt' },
      { type: 'compaction', summary: 'We did much.' },
      { type: 'compaction', summary: null },
      { type: 'prompt', text: 'more' },
    ]);
  });

  it('tell errors of the provider from interrupts by the user', () => {
    const failed = (error: object): MessageFixture => {
      const message = assistant();
      return { ...message, info: { ...message.info, error } };
    };
    const events = readMessages(
      failed({ name: 'APIError', data: { message: 'Rate limit reached', statusCode: 429 } }),
      failed({ name: 'MessageAbortedError', data: { message: 'aborted' } }),
      assistant({ type: 'retry', attempt: 1, error: { name: 'APIError', data: { message: 'Overloaded' } } }),
    );
    expect(events).toMatchObject([
      { type: 'limit', text: 'Rate limit reached' },
      { type: 'interrupted' },
      { type: 'limit', text: 'Overloaded' },
    ]);
  });

  it('include a question and its answer', () => {
    const events = readMessages(
      assistant(
        tool('question', {
          input: { questions: [{ question: 'Which one?', header: 'x', options: [] }] },
          output: 'User has answered your questions: "Which one?"="The second".',
          metadata: { answers: [['The second']] },
        }),
      ),
    );
    expect(events).toMatchObject([
      { type: 'call', action: { kind: 'ask', question: 'Which one?' } },
      { type: 'prompt', text: 'The second' },
    ]);
  });

  it('classify tools by what they do', () => {
    const patchText = [
      '*** Begin Patch',
      '*** Add File: new.ts',
      '+one',
      '*** Update File: /abs/old.ts',
      '*** Move to: moved.ts',
      '@@',
      ' same',
      '-before',
      '+after',
      '*** Delete File: gone.ts',
      '*** End Patch',
    ].join('\n');
    const events = readMessages(
      assistant(
        tool('apply_patch', { input: { patchText } }),
        tool('grep', { input: { pattern: 'retry', path: 'src' } }),
        tool('webfetch', { input: { url: 'https://example.org', format: 'text' } }),
        tool('task', { input: { description: 'Look', prompt: 'Look around', subagent_type: 'explore' } }),
        tool('probe_ping', { input: { note: 'hi', nested: { list: ['there', 1] } } }),
        tool('bash', { input: { command: 'sleep 9' }, error: 'Tool execution aborted' }),
      ),
    );
    const actions = events.flatMap((event) => (event.type === 'call' ? event.action : []));
    expect(actions).toEqual([
      {
        kind: 'edit',
        edits: [
          { path: `${STORY_CWD}/new.ts`, change: 'created', before: '', after: 'one\n' },
          {
            path: '/abs/old.ts',
            change: 'moved',
            before: 'before',
            after: 'after',
            to: `${STORY_CWD}/moved.ts`,
          },
          { path: `${STORY_CWD}/gone.ts`, change: 'deleted', before: '', after: '' },
        ],
      },
      { kind: 'search', pattern: 'retry', path: `${STORY_CWD}/src` },
      { kind: 'fetch', url: 'https://example.org' },
      { kind: 'delegate', task: 'Look around' },
      { kind: 'other', texts: ['hi', 'there'] },
      { kind: 'command', command: 'sleep 9', background: false },
    ]);
    expect(events.at(-1)).toMatchObject({
      type: 'result',
      ok: false,
      exit: null,
      output: 'Tool execution aborted',
    });
  });

  it('leave out unknown kinds, which are counted', () => {
    const { path } = layOut({ messages: [user({ type: 'hologram' }, { type: 'hologram' })] });
    const session = opencodeAgent.inspectFile(path);
    const reading = startReadStats();
    if (session === null) throw new Error('no session');
    expect([...opencodeAgent.readEvents(session, reading)]).toEqual([]);
    expect(reading).toMatchObject({ unknown: { 'part hologram': 2 }, agentVersion: '1.18.33' });
  });
});

describe('OpenCode data of any bytes', () => {
  const consume = (path: string): void => {
    const session = opencodeAgent.inspectFile(path);
    if (session !== null) read(session);
    const file = { agent: 'opencode', id: SESSION_ID, path, cwd: null, title: null } as const;
    read({ ...file, startedMs: null, changedMs: 0, bytes: 0, parent: null });
  };

  it('is read without an error from an export', () => {
    const folder = makeFolder();
    const torn = tornBytes(Buffer.from(exportSession()));
    fc.assert(
      fc.property(torn, (bytes) => {
        writeFileSync(join(folder, 'export.json'), bytes);
        consume(join(folder, 'export.json'));
      }),
      { numRuns: 300 },
    );
  });

  it('is read without an error from a database', () => {
    const folder = makeFolder();
    const torn = tornBytes(readFileSync(layOut().path));
    let count = 0;
    fc.assert(
      fc.property(torn, (bytes) => {
        const path = join(folder, `${count++}.db`);
        writeFileSync(path, bytes);
        consume(path);
      }),
      { numRuns: 200 },
    );
  });
});
