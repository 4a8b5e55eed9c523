import { describe, expect, it } from 'vitest';
import { traceEvents } from '../../../src/app/capture/trace.ts';
import type { Event } from '../../../src/model/event.ts';
import { computeFactId, type Fact, type FactKind } from '../../../src/model/fact.ts';
import { makeRedactor } from '../../support/redactor.ts';

const OPTIONS = { session: null, redactor: makeRedactor(), wasRedacted: false };

const at = (line: number): Pick<Event, 'at' | 'ref'> => ({ at: null, ref: { line, id: `row-${line}` } });
const prompt = (line: number, text: string): Event => ({ type: 'prompt', ...at(line), text });
const ran = (line: number, call: string, command: string): Event => ({
  type: 'call',
  ...at(line),
  call,
  tool: 'sh',
  action: { kind: 'command', command, background: false },
});
const ended = (line: number, call: string, output: string): Event => ({
  type: 'result',
  ...at(line),
  call,
  ok: false,
  exit: 1,
  output,
});

function makeFact(kind: FactKind, text: string, more: Partial<Fact>): Fact {
  const id = computeFactId(kind, text);
  return { id, kind, text, trust: 'observed', origin: 'tool', sources: [], ...more };
}

/** Fails whoever asks for more events than these. */
function* only(...events: Event[]): Generator<Event> {
  yield* events;
  throw new Error('one event too many was asked for');
}

describe('tracing facts to events', () => {
  it('stops after the last line that a fact refers to', () => {
    const fact = makeFact('goal', 'Go on', { sources: [{ line: 2 }] });
    const traced = traceEvents(only(prompt(1, 'Begin'), prompt(2, 'Go on'), prompt(3, 'x')), [fact], OPTIONS);
    expect(traced.facts[0]?.sources).toMatchObject([{ state: 'told', events: [{ text: 'Go on' }] }]);
  });

  it('reads nothing when no fact has a source line', () => {
    expect(traceEvents(only(), [makeFact('note', 'Here', { sources: [{ line: 0 }] })], OPTIONS).facts).toMatchObject([
      { sources: [{ state: 'unplaced', events: [] }] },
    ]);
  });

  it('knows a commit by its hash, however short its subject is', () => {
    const commit = makeFact('reference', 'commit 1a2b3c4: Add b', {
      detail: { about: 'commit' },
      sources: [{ line: 1 }],
    });
    const events = [ran(1, 'a', 'git commit -m "$MESSAGE"'), ended(2, 'a', '[main 1a2b3c4] Add b\n 1 file changed')];
    const state = (facts: Fact[]): unknown => traceEvents(events, facts, OPTIONS).facts[0]?.sources[0]?.state;
    expect(state([commit])).toBe('told');
    expect(state([{ ...commit, text: 'commit 2b3c4d5: Add b' }])).toBe('changed');
  });

  it('includes the result of a command', () => {
    const fact = makeFact('error', 'TypeError: retry is not a function', {
      status: 'open',
      sources: [{ line: 1 }],
    });
    const events = only(
      ran(1, 'a', 'npm test'),
      ran(2, 'b', 'ls'),
      ended(3, 'b', 'TypeError: retry is not a function, says another'),
      ended(4, 'a', 'FAIL\nTypeError: retry is not a function\n'),
    );
    const [traced] = traceEvents(events, [fact], OPTIONS).facts;
    expect(traced?.sources[0]?.events.map((event) => event.ref.line)).toEqual([1, 4]);
  });

  it('finds an event that comes later than its line', () => {
    const fact = makeFact('goal', 'Queued words', { sources: [{ line: 2 }] });
    const events = [prompt(1, 'a'), prompt(5, 'b'), prompt(2, 'Queued words'), prompt(6, 'c')];
    expect(traceEvents(only(...events), [fact], OPTIONS).facts[0]?.sources[0]?.state).toBe('told');
  });

  it('finds rows by their own ids', () => {
    const fact = makeFact('goal', 'Go on', { sources: [{ ref: 'row-2' }] });
    expect(traceEvents([prompt(1, 'a'), prompt(2, 'Go on')], [fact], OPTIONS).facts[0]?.sources).toMatchObject([
      { ref: 'row-2', state: 'told' },
    ]);
  });

  it.each([
    ['cut at its end', `git commit -m 'one two'…`, `cd /a && git commit -m "one two three"`],
    [
      'with a here-document left out',
      'cat > notes.md <<EOF …" then run the build and the tests',
      'cat > notes.md <<EOF\nsecret words\nEOF\nthen run the build\nand the tests',
    ],
    [
      'told to run elsewhere',
      'git read-tree HEAD',
      'cd /a; GIT_INDEX_FILE=x git -C "$dir" read-tree HEAD 2>&1 | tail -5',
    ],
    ['in another script', '最多五次', '上传失败时请重试，最多五次'],
  ])('recognises a text that was %s', (_, text, command) => {
    const fact = makeFact('command', text, { status: 'unknown', sources: [{ line: 1 }] });
    expect(traceEvents([ran(1, 'a', command)], [fact], OPTIONS).facts[0]?.sources[0]?.state).toBe('told');
  });

  it('recognises a list item that carries its lead-in', () => {
    const reply: Event = { type: 'reply', ...at(1), text: '**Still to do:**\n\n- write it\n- `test` it\n' };
    const fact = (text: string): Fact =>
      makeFact('next', text, { trust: 'quoted', origin: 'agent', sources: [{ line: 1 }] });
    const states = ['Still to do: `test` it', 'Still to do: burn it'].map(
      (text) => traceEvents([reply], [fact(text)], OPTIONS).facts[0]?.sources[0]?.state,
    );
    expect(states).toEqual(['told', 'changed']);
  });

  it('does not take a few common words for the same text', () => {
    const fact = makeFact('command', 'npm test', { status: 'unknown', sources: [{ line: 1 }] });
    const traced = traceEvents([ran(1, 'a', 'npm run build; then test it')], [fact], OPTIONS);
    expect(traced.facts[0]?.sources[0]?.state).toBe('changed');
  });

  it('recognises a command by the folder that its call names', () => {
    const action = { kind: 'command', command: 'git push', background: false, folder: '/home/ann/other' } as const;
    const call: Event = { type: 'call', ...at(1), call: 'a', tool: 'shell', action };
    const states = ['cd …/other && git push', 'cd …/another && git push'].map((text) => {
      const fact = makeFact('command', text, { status: 'unknown', sources: [{ line: 1 }] });
      return traceEvents([call], [fact], OPTIONS).facts[0]?.sources[0]?.state;
    });
    expect(states).toEqual(['told', 'changed']);
  });
});
