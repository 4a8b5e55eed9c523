import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FoundSession, type ReadStats, startReadStats } from '../../src/agents/agent.ts';
import { aiderAgent } from '../../src/agents/aider/transcript.ts';
import type { Event } from '../../src/model/event.ts';
import type { Machine } from '../../src/platform/machine.ts';
import { block, human, model, note, SESSION_ID, STORY_TEXT, start } from '../fixtures/agents/aider.ts';
import { STORY_CWD, type Told, testAgent } from '../support/conformance/agents.ts';
import { makeFolder, makeMachine } from '../support/temp-store.ts';
import { tornBytes } from '../support/torn-bytes.ts';

const HISTORY = '.aider.chat.history.md';

function layOut(content = STORY_TEXT): { machine: Machine; path: string; id: string; cwd: string } {
  const cwd = makeFolder();
  const path = join(cwd, HISTORY);
  writeFileSync(path, content);
  return { machine: makeMachine(cwd), path, id: SESSION_ID, cwd };
}

function read(session: FoundSession | null, reading: ReadStats = startReadStats()): Event[] {
  if (session === null) throw new Error('no session');
  return [...aiderAgent.readEvents(session, reading)];
}

/** The events after a first prompt, without which there would be no session. */
const readText = (content: string): Event[] =>
  read(aiderAgent.inspectFile(layOut(start() + human('go') + content).path)).slice(1);

/** A history has the words, the edits and the names of commands: no files read, no plans, nothing that commands gave. */
function tell(story: readonly Told[], cwd: string): Told[] {
  const told: Told[] = [];
  let last: Told | null = null;
  for (const event of story) {
    const isEdit = last?.type === 'call' && last.action.kind === 'edit';
    const isKept = event.type === 'call' ? event.action.kind !== 'read' : event.type !== 'result' || isEdit;
    last = event;
    if (!isKept || event.type === 'plan') continue;
    if (event.type !== 'call' || event.action.kind !== 'edit') {
      told.push(event);
      continue;
    }
    const edits = event.action.edits.map((edit) => ({ ...edit, path: edit.path.replace(STORY_CWD, cwd) }));
    told.push({ type: 'call', action: { kind: 'edit', edits } });
  }
  return told;
}

testAgent({ agent: aiderAgent, layOut: () => layOut(), tell });

describe('the history of aider', () => {
  it('is looked for in the current folder and in the root of its repository', () => {
    const { machine, cwd, path } = layOut();
    const inner = join(cwd, 'packages', 'a');
    mkdirSync(inner, { recursive: true });
    const find = (): unknown[] => [...aiderAgent.findSessions({ ...machine, cwd: inner })];
    expect(find()).toEqual([]);
    mkdirSync(join(cwd, '.git'));
    expect(find()).toMatchObject([{ path, cwd }]);
    writeFileSync(join(inner, HISTORY), STORY_TEXT);
    expect(find()).toMatchObject([{ cwd: inner }, { cwd }]);
  });

  it('is looked for where AIDER_CHAT_HISTORY_FILE says', () => {
    const { machine, cwd } = layOut();
    writeFileSync(join(cwd, 'log.md'), STORY_TEXT);
    const env = { ...machine.env, AIDER_CHAT_HISTORY_FILE: 'log.md' };
    expect([...aiderAgent.findSessions({ ...machine, env })]).toMatchObject([{ path: join(cwd, 'log.md'), cwd }]);
  });

  it('holds many sessions, of which empty ones are left out', () => {
    const content = [
      start('2026-01-30 09:00:00') + human('first'),
      start('2026-01-30 10:00:00') + human('second'),
      start('2026-01-30 10:00:00') + human('third'),
      start('2026-01-31 11:00:00'),
    ];
    const { machine, path } = layOut(content.join(''));
    const sessions = [...aiderAgent.findSessions(machine)];
    expect(sessions.map(({ id }) => id)).toEqual(['20260130-090000', '20260130-100000', '20260130-100000-2']);
    expect(sessions.map((session) => read(session))).toMatchObject([
      [{ text: 'first' }],
      [{ text: 'second' }],
      [{ text: 'third' }],
    ]);
    // The blank line before a session's heading belongs to the session before.
    expect(sessions[0]?.bytes).toBe(content[0]?.length);
    expect(sessions[0]?.changedMs).toBe(sessions[1]?.startedMs);
    expect(aiderAgent.inspectFile(path)).toMatchObject({ id: '20260130-100000-2' });
  });

  it('is not mistaken for other files', () => {
    const path = join(makeFolder(), 'README.md');
    writeFileSync(path, '# Read me\n\n#### Heading  \n');
    expect(aiderAgent.inspectFile(path)).toBeNull();
  });
});

describe('events read from a session of aider', () => {
  it('join a prompt of many lines into one', () => {
    expect(readText(human('one', '', 'three') + human('next'))).toMatchObject([
      { type: 'prompt', text: 'one\n\nthree' },
      { type: 'prompt', text: 'next' },
    ]);
  });

  it('attribute headings and quotes in a reply to the model', () => {
    const answer = '#### Steps\n\n> as they say\n\nDone.';
    expect(readText(model(answer))).toMatchObject([{ type: 'reply', text: answer }]);
  });

  it('take from slash commands only what they ask for or run', () => {
    const content = [
      '/add src/a.ts',
      '/ask why is that?',
      '/run npm test',
      '/undo',
      '!ls',
      '/git status',
      '/tmp/x is full',
    ]
      .map((line) => human(line))
      .join('');
    expect(
      readText(content).map((event) =>
        event.type === 'call' && event.action.kind === 'command'
          ? `run ${event.action.command}`
          : 'text' in event && event.text,
      ),
    ).toEqual(['why is that?', 'run npm test', 'run ls', 'run git status', '/tmp/x is full']);
  });

  it('record whether edits were applied', () => {
    const events = readText(
      model(`${block('a.ts', 'x\n', 'y\n')}\n\n${block('b.ts', 'x\n', 'y\n')}`) +
        note('The LLM did not conform to the edit format.') +
        model(block('**a.ts**', 'x\n', 'y\n')) +
        note('Applied edit to a.ts', 'Applied edit to c.ts'),
    );
    const results = events.flatMap((event) => (event.type === 'result' ? event.ok : []));
    expect(results).toEqual([false, false, true, true]);
    expect(events.filter(({ type }) => type === 'call')).toHaveLength(4);
  });

  it('take a block without an end for text', () => {
    const torn = 'a.ts\n```ts\n<<<<<<< SEARCH\nx\n=======\ny';
    expect(readText(model(torn))).toMatchObject([{ type: 'reply', text: torn }]);
  });

  it('include errors of the provider', () => {
    expect(readText(note('litellm.RateLimitError: slow down', 'Retrying in 0.2 seconds...'))).toMatchObject([
      { type: 'limit', text: 'litellm.RateLimitError: slow down' },
    ]);
  });

  it('carry the version of aider and the model', () => {
    const reading = startReadStats();
    const events = read(aiderAgent.inspectFile(layOut().path), reading);
    expect(reading).toMatchObject({ agentVersion: '0.86.1', unreadable: 0 });
    expect(events[0]).toMatchObject({ model: 'fake-model', at: null });
  });
});

describe('an aider history of any bytes', () => {
  it('is read without an error', () => {
    const { path } = layOut();
    const session = aiderAgent.inspectFile(path);
    fc.assert(
      fc.property(tornBytes(Buffer.from(STORY_TEXT)), (bytes) => {
        writeFileSync(path, bytes);
        aiderAgent.inspectFile(path);
        for (const event of read(session)) expect(event.ref.line).toBeGreaterThan(0);
      }),
      { numRuns: 300 },
    );
  });
});
