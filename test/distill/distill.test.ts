import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { distillEvents } from '../../src/distill/distill.ts';
import type { Event } from '../../src/model/event.ts';
import { STORY, type Told } from '../support/conformance/agents.ts';
import {
  agent,
  distillSession,
  edit,
  fail,
  inBackground,
  ofKind,
  open,
  run,
  type Step,
  scriptSession,
  user,
  withRole,
} from '../support/scripted-session.ts';

/** The story of the conformance suite as a stream of events: a result belongs to the call before it. */
function playStory(): Event[] {
  let call = '';
  const steps = STORY.map(
    (event: Told): Step =>
      (id) => {
        switch (event.type) {
          case 'prompt':
          case 'reply':
          case 'plan':
            return [event];
          case 'call':
            call = id;
            return [{ ...event, call, tool: 'tool' }];
          case 'result':
            return [{ ...event, call }];
          default:
            throw new Error(event.type);
        }
      },
  );
  return scriptSession(...steps);
}

describe('distilling a session', () => {
  const { facts, title } = distillEvents(playStory());

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

  it('keeps the last outcome of a check, and closes errors that a later success resolved', () => {
    expect(ofKind(facts, 'check').map((check) => [check.text, check.status])).toEqual([['npm test', 'ok']]);
    expect(ofKind(facts, 'error').map((error) => [error.text, error.status])).toEqual([
      ['FAIL upload.test.ts', 'closed'],
    ]);
  });

  it('quotes the agent’s words, and makes no claim of them', () => {
    const words = withRole(facts, 'closing').map((fact) => [fact.kind, fact.text, fact.trust, fact.origin]);
    expect(words).toEqual([
      [
        'note',
        'The function does not exist yet, so I add it. We use exponential backoff instead of a queue.',
        'quoted',
        'agent',
      ],
    ]);
    expect(facts.filter(({ kind }) => ['decision', 'rejected', 'next', 'blocker'].includes(kind))).toEqual([]);
  });

  it('points each fact to the line it came from', () => {
    expect(facts.every((fact) => (fact.sources[0]?.line ?? -1) >= 0)).toBe(true);
  });

  it('gives the same facts for the same events', () => {
    const events = playStory();
    expect(distillEvents(events)).toEqual(distillEvents(events));
  });
});

describe('distilling, where handoff V2 failed', () => {
  it('V2-3: takes a call with a result as finished, one without as running', () => {
    const facts = distillSession(run('make all'), inBackground('make deploy', 'bash_1'));
    expect(ofKind(facts, 'running').map((fact) => fact.text)).toEqual(['make deploy']);
  });

  it('V2-5: keeps the newest files, however many there were before', () => {
    const edits = Array.from({ length: 40 }, (_, i) => edit(`src/file${i}.ts`, `const value${i} = 1;`));
    const files = ofKind(distillSession(...edits), 'file').map((file) => file.text);
    expect(files).toContain('src/file39.ts');
    expect(files).toHaveLength(40);
  });

  it('V2-6: uses the newest of very many entries', () => {
    const old = Array.from({ length: 20_000 }, (_, i) => agent(`Step ${i} is done.`));
    const facts = distillSession(user('Begin with the parser, please'), ...old, user('Now port it to Windows, too'));
    expect(ofKind(facts, 'goal').at(-1)?.text).toBe('Now port it to Windows, too');
  });

  it.each(['Refactor this network module', 'Add a copyright header to this file', 'fix it', '/review src/upload.ts'])(
    'V2-7, V2-8: %j is a request like any other',
    (text) => {
      expect(ofKind(distillSession(user(text)), 'goal').map((goal) => goal.text)).toEqual([text]);
    },
  );

  it('V2-9: does not take an explanation for a plan awaiting approval', () => {
    expect(ofKind(distillSession(user('Give me an explanation of the airplane module')), 'blocker')).toEqual([]);
  });

  it.each(['上传失败时请重试，最多五次', 'Загрузка должна повторяться', 'Bitte die Übertragung wiederholen 🙏'])(
    'V2-10: %j is kept as it is',
    (text) => {
      expect(ofKind(distillSession(user(text)), 'goal')[0]?.text).toBe(text);
    },
  );

  it('V2-12: handles lone surrogates and hostile names', () => {
    const facts = distillSession(
      user('broken \ud800 text'),
      agent('`__proto__` and constructor and toString() and hasOwnProperty()'),
    );
    expect(JSON.stringify(facts).isWellFormed()).toBe(true);
    expect(facts.every((fact) => !Object.hasOwn(fact.detail ?? {}, '__proto__'))).toBe(true);
  });
});

describe('errors in a session', () => {
  it('stay open until the same command succeeds', () => {
    const failing = fail('cargo test', 'error[E0308]: mismatched types in src/lib.rs');
    const failed = distillSession(failing, run('cargo fmt'));
    expect(ofKind(failed, 'error').map((error) => [error.text, error.status])).toEqual([
      ['error[E0308]: mismatched types in src/lib.rs', 'open'],
    ]);
    const healed = distillSession(failing, run('cargo test', 'ok'));
    expect(ofKind(healed, 'error').map((error) => error.status)).toEqual(['closed']);
  });

  it('are found though a pipe hides the exit status', () => {
    const facts = distillSession(run('pytest 2>&1 | tail -5', 'FAILED tests/test_a.py::test_b\n1 failed, 3 passed'));
    expect(ofKind(facts, 'check').map((check) => check.status)).toEqual(['failed']);
  });
});

describe('facts distilled from any events', () => {
  const text = fc.string({ unit: 'binary', maxLength: 80 });
  const calls = fc.constantFrom('a', 'b');
  const anyStep: fc.Arbitrary<Step> = fc.oneof(
    text.map(user),
    text.map(agent),
    fc.tuple(calls, text).map(
      ([id, command]) =>
        () =>
          open({ kind: 'command', command, background: false })(id),
    ),
    fc.tuple(calls, fc.boolean(), text).map(([call, ok, output]) => () => [
      { type: 'result' as const, call, ok, exit: ok ? 0 : 1, output },
    ]),
    fc.tuple(text, text).map(([path, after]) => edit(path, after)),
  );

  it('can be sealed', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 12 }), (steps) => {
        const facts = distillSession(...steps);
        expect(JSON.stringify(facts).isWellFormed()).toBe(true);
        expect(new Set(facts.map((fact) => fact.id)).size).toBe(facts.length);
        expect(facts.every((fact) => fact.text.trim() !== '')).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
