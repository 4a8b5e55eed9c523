import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { distilEvents } from '../../src/distil/distil.ts';
import type { Action, Event } from '../../src/model/event.ts';
import type { Fact, FactKind } from '../../src/model/fact.ts';
import { STORY, STORY_CWD, type Told } from '../conformance/agents.ts';

let line = 0;
const base = (): Pick<Event, 'at' | 'ref' | 'cwd'> => ({
  at: null,
  ref: { line: ++line, id: null },
  cwd: STORY_CWD,
});
const prompt = (text: string): Event => ({ type: 'prompt', ...base(), text });
const reply = (text: string): Event => ({ type: 'reply', ...base(), text });
const call = (id: string, action: Action): Event => ({
  type: 'call',
  ...base(),
  call: id,
  tool: 't',
  action,
});
const result = (id: string, ok: boolean, output: string): Event => ({
  type: 'result',
  ...base(),
  call: id,
  ok,
  exit: ok ? 0 : 1,
  output,
});
const run = (id: string, command: string, ok: boolean, output = ''): Event[] => [
  call(id, { kind: 'command', command, background: false }),
  result(id, ok, output),
];
const edit = (id: string, path: string, after: string, before = ''): Event[] => [
  call(id, { kind: 'edit', edits: [{ path: `${STORY_CWD}/${path}`, change: 'edited', before, after }] }),
  result(id, true, ''),
];

function ofKind(facts: readonly Fact[], kind: FactKind): Fact[] {
  return facts.filter((fact) => fact.kind === kind);
}

/** The story of the conformance suite as a stream of events. */
function playStory(): Event[] {
  const ids: string[] = [];
  return STORY.map((told: Told, index): Event => {
    switch (told.type) {
      case 'prompt':
      case 'reply':
        return { type: told.type, ...base(), text: told.text };
      case 'call':
        ids.push(`c${index}`);
        return { type: 'call', ...base(), call: `c${index}`, tool: 't', action: told.action };
      case 'result':
        return {
          type: 'result',
          ...base(),
          call: ids.at(-1) ?? '',
          ok: told.ok,
          exit: told.exit,
          output: told.output,
        };
      case 'plan':
        return { type: 'plan', ...base(), items: told.items };
      default:
        throw new Error(told.type);
    }
  });
}

describe('distilling a session', () => {
  const { facts, title } = distilEvents(playStory());

  it('keeps the request word for word, the first and the current one', () => {
    const goals = ofKind(facts, 'goal');
    expect(goals.map((goal) => [goal.detail?.role, goal.text, goal.origin, goal.trust])).toEqual([
      ['first', 'Make the upload retry when the server is busy', 'human', 'quoted'],
      ['current', 'Never retry on 404, and keep the delay below 2000 ms', 'human', 'quoted'],
    ]);
    expect(title).toBe('Never retry on 404, and keep the delay below 2000 ms');
  });

  it('keeps tasks with their true status', () => {
    expect(ofKind(facts, 'task').map((task) => [task.text, task.status])).toEqual([
      ['Add a retry to the upload', 'completed'],
      ['Test the retry', 'in_progress'],
    ]);
  });

  it('keeps files with what was done to them and what the edits brought in', () => {
    const files = ofKind(facts, 'file').map((file) => [file.text, file.status, file.detail?.edits]);
    expect(files).toContainEqual(['src/upload.ts', 'edited', 1]);
    expect(files).toContainEqual(['src/retry.ts', 'created', 1]);
  });

  it('keeps the last outcome of a check, and closes errors that a later success healed', () => {
    expect(ofKind(facts, 'check').map((check) => [check.text, check.status])).toEqual([['npm test', 'ok']]);
    expect(ofKind(facts, 'error').map((error) => [error.text, error.status])).toEqual([
      ['TypeError: retry is not a function', 'closed'],
    ]);
  });

  it('keeps what was rejected, as said by the agent', () => {
    const rejected = ofKind(facts, 'rejected').map((fact) => [fact.text, fact.trust, fact.origin]);
    expect(rejected).toEqual([['We use exponential backoff instead of a queue.', 'quoted', 'agent']]);
  });

  it('points each fact to the line it came from', () => {
    expect(facts.every((fact) => (fact.sources[0]?.line ?? -1) >= 0)).toBe(true);
  });

  it('gives the same facts for the same events', () => {
    const events = playStory();
    expect(distilEvents(events)).toEqual(distilEvents(events));
  });
});

describe('weaknesses of handoff V2 that distilling does not share', () => {
  it('V2-3: a call with its result is finished, one without is still running', () => {
    const events = [
      ...run('a', 'make all', true),
      call('b', { kind: 'command', command: 'make deploy', background: true }),
    ];
    expect(ofKind(distilEvents(events).facts, 'running').map((fact) => fact.text)).toEqual(['make deploy']);
  });

  it('V2-5: the newest files are kept, however many there were before', () => {
    const events = Array.from({ length: 40 }, (_, i) =>
      edit(`e${i}`, `src/file${i}.ts`, `const value${i} = 1;`),
    ).flat();
    const files = ofKind(distilEvents(events).facts, 'file').map((file) => file.text);
    expect(files).toContain('src/file39.ts');
    expect(files).toHaveLength(40);
  });

  it('V2-6: the newest of very many entries decides', () => {
    const old = Array.from({ length: 20_000 }, (_, i) => reply(`Step ${i} is done.`));
    const { facts } = distilEvents([
      prompt('Begin with the parser, please'),
      ...old,
      prompt('Now port it to Windows, too'),
    ]);
    expect(ofKind(facts, 'goal').at(-1)?.text).toBe('Now port it to Windows, too');
  });

  it.each([
    'Refactor this network module',
    'Add a copyright header to this file',
    'fix it',
    '/review src/upload.ts',
  ])('V2-7, V2-8: %j is a request like any other', (text) => {
    expect(ofKind(distilEvents([prompt(text)]).facts, 'goal').map((goal) => goal.text)).toEqual([text]);
  });

  it('V2-9: an explanation is no plan that waits for approval', () => {
    expect(
      ofKind(distilEvents([prompt('Give me an explanation of the airplane module')]).facts, 'blocker'),
    ).toEqual([]);
  });

  it.each([
    '上传失败时请重试，最多五次',
    'Загрузка должна повторяться',
    'Bitte die Übertragung wiederholen 🙏',
  ])('V2-10: %j is kept as it is', (text) => {
    expect(ofKind(distilEvents([prompt(text)]).facts, 'goal')[0]?.text).toBe(text);
  });

  it('V2-12: lone surrogates and hostile names are kept from doing harm', () => {
    const events = [
      prompt('broken \ud800 text'),
      reply('`__proto__` and constructor and toString() and hasOwnProperty()'),
    ];
    const { facts } = distilEvents(events);
    expect(JSON.stringify(facts).isWellFormed()).toBe(true);
    expect(facts.every((fact) => !Object.hasOwn(fact.detail ?? {}, '__proto__'))).toBe(true);
  });
});

describe('errors', () => {
  it('stay open until the same command succeeds', () => {
    const failing = run('a', 'cargo test', false, 'error[E0308]: mismatched types in src/lib.rs');
    const open = distilEvents([...failing, ...run('b', 'cargo fmt', true)]).facts;
    expect(ofKind(open, 'error').map((error) => [error.text, error.status])).toEqual([
      ['error[E0308]: mismatched types in src/lib.rs', 'open'],
    ]);
    const healed = distilEvents([...failing, ...run('b', 'cargo test', true, 'ok')]).facts;
    expect(ofKind(healed, 'error').map((error) => error.status)).toEqual(['closed']);
  });

  it('show through a pipe that hides the exit status', () => {
    const { facts } = distilEvents(
      run('a', 'pytest 2>&1 | tail -5', true, 'FAILED tests/test_a.py::test_b\n1 failed, 3 passed'),
    );
    expect(ofKind(facts, 'check').map((check) => check.status)).toEqual(['failed']);
  });
});

describe('any events', () => {
  const text = fc.string({ unit: 'binary', maxLength: 80 });
  const anyEvent: fc.Arbitrary<Event> = fc.oneof(
    text.map(prompt),
    text.map(reply),
    fc
      .tuple(fc.constantFrom('a', 'b'), text)
      .map(([id, command]) => call(id, { kind: 'command', command, background: false })),
    fc.tuple(fc.constantFrom('a', 'b'), fc.boolean(), text).map(([id, ok, output]) => result(id, ok, output)),
    fc
      .tuple(text, text)
      .map(([path, after]) =>
        call('e', { kind: 'edit', edits: [{ path, change: 'edited', before: '', after }] }),
      ),
  );

  it('give facts that can be sealed', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 12 }), (events) => {
        const { facts } = distilEvents(events);
        expect(JSON.stringify(facts).isWellFormed()).toBe(true);
        expect(new Set(facts.map((fact) => fact.id)).size).toBe(facts.length);
        expect(facts.every((fact) => fact.text.trim() !== '')).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
