import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FoundSession, type ReadStats, startReadStats } from '../../src/agents/agent.ts';
import { piAgent } from '../../src/agents/pi/transcript.ts';
import type { Event } from '../../src/model/event.ts';
import type { Machine } from '../../src/platform/machine.ts';
import {
  assistant,
  call,
  chain,
  entry,
  header,
  result,
  SESSION_ID,
  text,
  user,
  writeRows,
} from '../fixtures/agents/pi.ts';
import { STORY_CWD, testAgent } from '../support/conformance/agents.ts';
import { makeFolder, makeMachine } from '../support/temp-store.ts';
import { tornBytes } from '../support/torn-bytes.ts';

function layOut(content = writeRows()): { machine: Machine; path: string; id: string } {
  const folder = makeFolder();
  const machine = makeMachine(folder);
  const env = { ...machine.env, PI_CODING_AGENT_DIR: join(folder, 'pi') };
  const name = `2026-01-31T12-00-00-000Z_${SESSION_ID}.jsonl`;
  const path = join(folder, 'pi', 'sessions', '--home-ann-shop--', name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return { machine: { ...machine, env }, path, id: SESSION_ID };
}

function read(path: string, reading: ReadStats = startReadStats()): Event[] {
  const session: FoundSession | null = piAgent.inspectFile(path);
  if (session === null) throw new Error('no session');
  return [...piAgent.readEvents(session, reading)];
}

const readRows = (...rows: Record<string, unknown>[]): Event[] => read(layOut(writeRows([header(), ...rows])).path);

const said = (events: Event[]): string[] => events.flatMap((event) => ('text' in event ? event.text : []));

/** Pi has no plans. */
testAgent({
  agent: piAgent,
  layOut: () => layOut(),
  tell: (story) => story.filter(({ type }) => type !== 'plan'),
});

describe('the sessions of pi', () => {
  it('are found in the home folder and where environment variables point', () => {
    const { machine, path } = layOut();
    const sessions = dirname(dirname(path));
    const find = (changes: Partial<Machine>): string[] =>
      [...piAgent.findSessions({ ...machine, env: {}, ...changes })].map((session) => session.path);
    expect(find({ env: { PI_CODING_AGENT_SESSION_DIR: sessions } })).toEqual([path]);
    expect(find({ env: { PI_CODING_AGENT_SESSION_DIR: dirname(path) } })).toEqual([path]);
    expect(find({})).toEqual([]);
    const home = join(makeFolder(), 'home');
    const own = join(home, '.pi', 'agent', 'sessions', '--x--', 'a.jsonl');
    mkdirSync(dirname(own), { recursive: true });
    writeFileSync(own, writeRows());
    expect(find({ home })).toEqual([own]);
  });

  it('have the name that the user set last', () => {
    const named = (name: string): Record<string, unknown> => entry('session_info', name, null, { name });
    const { path } = layOut(writeRows([header(), named('first'), named('second')]));
    expect(piAgent.inspectFile(path)).toMatchObject({
      title: 'second',
      startedMs: Date.UTC(2026, 0, 31, 12),
    });
  });

  it('are not mistaken for other files', () => {
    const path = join(makeFolder(), 'other.jsonl');
    writeFileSync(path, '{"type":"session_meta","payload":{}}\n');
    expect(piAgent.inspectFile(path)).toBeNull();
  });
});

describe('the tree of a session of pi', () => {
  const message = (id: string, parent: string | null, content: string): Record<string, unknown> =>
    entry('message', id, parent, { message: user(content) });

  it('is read along the branch that ends in the last entry', () => {
    const events = readRows(
      message('a', null, 'one'),
      message('b', 'a', 'left'),
      message('c', 'b', 'left too'),
      message('d', 'a', 'two'),
      entry('label', 'e', 'd', { targetId: 'a', label: 'here' }),
      message('f', 'e', 'three'),
    );
    expect(said(events)).toEqual(['one', 'two', 'three']);
  });

  it('is read though a line of it is missing', () => {
    const events = readRows(
      message('a', null, 'one'),
      message('b', 'a', 'left'),
      message('c', 'a', 'two'),
      message('e', 'lost', 'three'),
    );
    expect(said(events)).toEqual(['one', 'two', 'three']);
  });

  it('is read though it has a cycle', () => {
    const events = readRows(message('a', 'b', 'one'), message('b', 'a', 'two'), message('a', 'b', 'three'));
    expect(said(events)).toEqual(['one', 'two', 'three']);
  });

  it('is a plain list in the first version of the format', () => {
    const plain = (content: string): Record<string, unknown> => ({ type: 'message', message: user(content) });
    expect(said(readRows(plain('one'), plain('two')))).toEqual(['one', 'two']);
  });
});

describe('events read from a session of pi', () => {
  it('include compactions and summaries of abandoned branches', () => {
    const events = readRows(
      ...chain(user('work')),
      entry('compaction', 'k', 'e1', { summary: 'Much was done.', firstKeptEntryId: 'e1', tokensBefore: 5 }),
      entry('branch_summary', 'l', 'k', { fromId: 'x', summary: 'A dead end.' }),
    );
    expect(events).toMatchObject([
      { type: 'prompt' },
      { type: 'compaction', summary: 'Much was done.' },
      { type: 'compaction', summary: 'A dead end.' },
    ]);
  });

  it('include of extension messages only our own', () => {
    const custom = (id: string, parentId: string | null, content: unknown): Record<string, unknown> =>
      entry('custom_message', id, parentId, { customType: 'x', content, display: true });
    const events = readRows(
      custom('a', null, '# Handover 20260131-120000-k3fz\n\nGo on.'),
      custom('b', 'a', [text('Something else')]),
    );
    expect(events).toMatchObject([{ type: 'injected' }]);
  });

  it('include commands that the user ran', () => {
    const events = readRows(
      ...chain({ role: 'bashExecution', command: 'ls', output: 'a\nb', exitCode: 2, cancelled: false }),
    );
    expect(events).toMatchObject([
      { type: 'call', action: { kind: 'command', command: 'ls' } },
      { type: 'result', ok: false, exit: 2, output: 'a\nb' },
    ]);
  });

  it('tell errors of the provider from interrupts by the user', () => {
    const stopped = (stopReason: string): Record<string, unknown> => ({
      ...assistant(),
      stopReason,
      errorMessage: '429 rate limit',
    });
    expect(readRows(...chain(stopped('error'), stopped('aborted')))).toMatchObject([
      { type: 'limit', text: '429 rate limit' },
      { type: 'interrupted' },
    ]);
  });

  it('classify tools by what they do', () => {
    const events = readRows(
      ...chain(
        assistant(
          call('c1', 'edit', { path: 'a.ts', oldText: 'x', newText: 'y' }),
          call('c2', 'write', { path: 'a.ts', content: 'z' }),
          call('c3', 'grep', { pattern: 'retry', path: 'src' }),
          call('c4', 'find', { pattern: '*.ts' }),
          call('c5', 'subagent', { agent: 'scout', task: 'Look around' }),
        ),
      ),
    );
    expect(events.flatMap((event) => (event.type === 'call' ? event.action : []))).toEqual([
      { kind: 'edit', edits: [{ path: `${STORY_CWD}/a.ts`, change: 'edited', before: 'x', after: 'y' }] },
      { kind: 'edit', edits: [{ path: `${STORY_CWD}/a.ts`, change: 'edited', before: '', after: 'z' }] },
      { kind: 'search', pattern: 'retry', path: `${STORY_CWD}/src` },
      { kind: 'search', pattern: '*.ts', path: null },
      { kind: 'other', texts: ['scout', 'Look around'] },
    ]);
  });

  it('have no exit status for a stopped command', () => {
    const events = readRows(
      ...chain(
        assistant(call('c1', 'bash', { command: 'sleep 9' })),
        result('c1', 'bash', 'Command timed out after 5 seconds', true),
      ),
    );
    expect(events.at(-1)).toMatchObject({ type: 'result', ok: false, exit: null });
  });

  it('leave out broken and unknown rows, which are counted', () => {
    const { path } = layOut();
    appendFileSync(path, '{"type":"hologram","id":"h","parentId":"e13","timestamp":"x"}\nnot json\n{"type":"mess');
    const reading = startReadStats();
    read(path, reading);
    expect(reading).toMatchObject({ rows: 16, unreadable: 1, unknown: { 'entry hologram': 1 } });
  });
});

describe('a pi session of any bytes', () => {
  it('is read without an error', () => {
    const { path } = layOut();
    const session = piAgent.inspectFile(path);
    if (session === null) throw new Error('no session');
    fc.assert(
      fc.property(tornBytes(Buffer.from(writeRows())), (bytes) => {
        writeFileSync(path, bytes);
        piAgent.inspectFile(path);
        for (const event of piAgent.readEvents(session, startReadStats())) expect(event.ref.line).toBeGreaterThan(0);
      }),
      { numRuns: 300 },
    );
  });
});
