import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findAgain, type Successor } from '../../../src/app/debt/find-again.ts';
import type { Event } from '../../../src/model/event.ts';
import {
  agent,
  answer,
  compaction,
  done,
  edit,
  fail,
  plan,
  read,
  run,
  type Step,
  scriptSession,
  user,
  useTool,
} from '../../support/scripted-session.ts';

const CART = 'const cart = [];\nexport const total = 0;';
const again = compaction('summary');

/** The successors in a session that follows another one. Each event is a minute after the one before. */
function measure(previous: readonly Step[], own: readonly Step[], rejected: { text: string; at: string }[] = []) {
  const dated = (steps: readonly Step[], from: string): Event[] =>
    scriptSession(...steps).map((event, at) => ({
      ...event,
      at: new Date(Date.parse(from) + at * 60_000).toISOString(),
    }));
  return findAgain({
    previous: dated(previous, '2026-01-30T09:00:00.000Z'),
    own: dated(own, '2026-01-31T09:00:00.000Z'),
    rejected,
  });
}

/** What was found out again, as `kind text`. */
function list(parts: readonly Successor[]): string[] {
  return parts.flatMap(({ found }) => found.map(({ kind, text }) => `${kind} ${text}`));
}

const FOUND = ['file /home/ann/shop/src/cart.ts'];
const look = read('src/cart.ts', CART);

describe('a file that is read again', () => {
  it('is counted once in a session that follows, with the lines of both reads', () => {
    const [part, ...more] = measure([user('Go on'), look], [user('Go on'), look, look]);
    expect(more).toEqual([]);
    expect(part).toMatchObject({
      part: 0,
      calls: 2,
      found: [{ kind: 'file', line: 2, before: { line: 2, in: 'previous' } }],
    });
  });

  it('is counted after a compaction of the same session, and in each part once', () => {
    const parts = measure([], [look, again, look, again, look]);
    expect(parts.map(({ part, found }) => [part, found.length])).toEqual([
      [1, 1],
      [2, 1],
    ]);
    expect(parts[0]?.found[0]?.before).toEqual({ line: 1, in: 'same' });
  });

  it('is counted when parts of it are read that other reads had shown', () => {
    const halves = CART.split('\n').map((line) => read('src/cart.ts', line));
    expect(list(measure(halves, [look]))).toEqual(FOUND);
    expect(list(measure([look], halves))).toEqual(FOUND);
    expect(list(measure(halves.slice(1), [look]))).toEqual([]);
  });

  it.each<[string, Step]>([
    ['it was edited', edit('src/cart.ts', 'x')],
    ['a command wrote it', run('sed -i s/a/b/ src/cart.ts')],
    ['a command wrote it by redirection', run('echo x > src/cart.ts')],
    ['others may have changed it', run('git pull --rebase')],
    ['another branch was checked out', run('git checkout main')],
    ['others put it back', run('git reset origin/main --hard')],
    ['a formatter ran', run('npm run format')],
    ['a script may have changed it', run('python3 - <<EOF\nprint(1)\nEOF')],
    ['the user pointed to it', user('Have a look at cart.ts')],
  ])('is not counted when %s in between', (_, between) => {
    expect(list(measure([look, between], [look]))).toEqual([]);
    expect(list(measure([look], [between, look]))).toEqual([]);
    expect(list(measure([between, look], [look]))).toEqual(FOUND);
  });

  it.each<[string, Step]>([
    ['another file was edited', edit('src/till.ts', 'x')],
    ['another file was written', run('cp a.txt b.txt')],
    ['a command only looked', run('git merge-base main HEAD')],
    ['the index was reset', run('git reset HEAD')],
    ['a check ran', run('npm test', '12 passed')],
    ['output went nowhere', run('ls 2>/dev/null')],
  ])('is counted when %s in between', (_, between) => {
    expect(list(measure([look, between], [look]))).toEqual(FOUND);
  });

  it('is not counted when it has changed, when the session goes on to edit it, or on another branch', () => {
    expect(list(measure([look], [read('src/cart.ts', 'const cart = {};')]))).toEqual([]);
    expect(list(measure([look], [look, edit('src/cart.ts', 'x')]))).toEqual([]);
    const [before, now] = [scriptSession(look), scriptSession(look)];
    const onBranch = (events: readonly Event[], branch: string): Event[] =>
      events.map((event) => ({ ...event, branch }));
    const sources = { previous: onBranch(before, 'main'), rejected: [] };
    expect(list(findAgain({ ...sources, own: onBranch(now, 'main') }))).toEqual(FOUND);
    expect(list(findAgain({ ...sources, own: onBranch(now, 'topic') }))).toEqual([]);
  });
});

describe('a command that is run again', () => {
  it('is counted where it only looks and tells the same', () => {
    const list1 = run('ls  src', 'cart.ts');
    expect(list(measure([list1], [run('ls src', 'cart.ts')]))).toEqual(['command ls src']);
    expect(list(measure([list1], [run('ls src', 'cart.ts\ntill.ts')]))).toEqual([]);
    expect(list(measure([list1, edit('src/till.ts', 'x')], [list1]))).toEqual([]);
  });

  it('is counted for what a tool tells of itself, whatever was edited', () => {
    const help = run('gh pr --help', 'Work with pull requests');
    expect(list(measure([help, edit('src/till.ts', 'x')], [help]))).toEqual(['command gh pr --help']);
    const own = run('npm run cli -- --help', 'Usage');
    expect(list(measure([own, edit('src/cli.ts', 'x')], [own]))).toEqual([]);
  });

  it('is counted for the state of git only where nothing was done in between', () => {
    const status = run('git status', 'clean');
    expect(list(measure([], [status, again, status]))).toEqual(['command git status']);
    expect(list(measure([], [status, again, user('And now?'), status]))).toEqual([]);
    expect(list(measure([], [status, again, run('npm test'), status]))).toEqual([]);
    expect(list(measure([status], [status]))).toEqual([]);
  });

  it('is not counted where it does something, asks others, or checks the work', () => {
    for (const command of ['npm test', 'npm run build', 'git push', 'gh pr checks', 'curl localhost', 'make deploy'])
      expect(list(measure([run(command, 'done')], [run(command, 'done')]))).toEqual([]);
  });

  it('is counted for a search', () => {
    const search = done({ kind: 'search', pattern: 'total', path: null }, 'src/cart.ts');
    expect(list(measure([search], [search, search]))).toEqual(['command total']);
    expect(list(measure([search, edit('src/cart.ts', 'x')], [search]))).toEqual([]);
  });
});

describe('an error that is met again', () => {
  const error = "error: unrecognized subcommand 'bun'";
  const failed = fail('rtk bun install', error);

  it('is counted once where it had been solved', () => {
    const solved = [failed, run('rtk bun --version', '1.2')];
    expect(list(measure(solved, [failed, failed]))).toEqual([`error ${error}`]);
    expect(list(measure([], [...solved, again, failed]))).toEqual([`error ${error}`]);
  });

  it('is not counted where it never went away, for another error, or for a check', () => {
    expect(list(measure([failed], [failed]))).toEqual([]);
    expect(list(measure([failed, run('rtk bun install | tail', error)], [failed]))).toEqual([]);
    const solved = [failed, run('rtk bun --version', '1.2')];
    expect(list(measure(solved, [fail('rtk bun install', 'error: no space left on device')]))).toEqual([]);
    const check = fail('npm test', 'FAIL: cart > adds');
    expect(list(measure([check, run('npm test', '12 passed')], [check]))).toEqual([]);
  });

  it('is counted for other tools by the same input', () => {
    const refusal = done({ kind: 'other', texts: ['a.png'] }, 'Error: no dialog is open now', false, 'upload');
    expect(list(measure([refusal, useTool('upload', 'a.png')], [refusal]))).toEqual([
      'error Error: no dialog is open now',
    ]);
    expect(list(measure([refusal, useTool('upload', 'b.png')], [refusal]))).toEqual([]);
  });
});

describe('a rejected idea', () => {
  const rejected = [{ text: 'Keep carts in Redis', at: '2026-01-30T12:00:00.000Z' }];
  const item = (text: string): Step => plan({ text, status: 'pending' });

  it('is counted once where it is planned again, word for word', () => {
    expect(list(measure([look], [item('keep carts in  redis.'), item('Keep carts in Redis')], rejected))).toEqual([
      'rejected Keep carts in Redis',
    ]);
    expect(list(measure([look], [item('Keep carts in Redis, maybe')], rejected))).toEqual([]);
  });

  it('is counted where a command in it is run, and not before it was rejected', () => {
    const text = 'Do not use `npm install --force`: it breaks the lock file';
    const steps = [run('npm install --force')];
    expect(list(measure([look], steps, [{ text, at: '2026-01-30T12:00:00.000Z' }]))).toEqual([`rejected ${text}`]);
    expect(list(measure([look], steps, [{ text, at: '2026-02-01T00:00:00.000Z' }]))).toEqual([]);
  });
});

describe('a question to the user', () => {
  it('is counted when it is asked again, whatever its white space and case', () => {
    const asked = answer('Which database?', 'Postgres');
    expect(list(measure([asked], [answer('which  database?', 'Postgres, as I said')]))).toEqual([
      'question which  database?',
    ]);
    expect(list(measure([asked], [answer('Which port?', '80')]))).toEqual([]);
    expect(list(measure([], [asked, asked]))).toEqual([]);
  });
});

describe('the way to the first edit', () => {
  it('is counted in calls, and in minutes without those that the user took', () => {
    const steps = [user('Go on'), look, agent('Which one?'), user('The first'), look, edit('src/cart.ts', 'x')];
    const [part] = measure([look], steps);
    // Of eight minutes up to the end of the edit, one passed before the user's answer.
    expect(part?.first_edit).toEqual({ line: 8, calls: 2, minutes: 7, tokens: null });
  });

  it('leaves out a call for which somebody had to approve overnight', () => {
    const events = scriptSession(user('Go on'), look, edit('src/cart.ts', 'x'));
    const from = Date.parse('2026-01-31T22:00:00.000Z');
    // A minute each; the result of the look came in the morning.
    const own = events.map((event, at) => ({
      ...event,
      at: new Date(from + at * 60_000 + (at < 2 ? 0 : 11 * 3_600_000)).toISOString(),
    }));
    const [part] = findAgain({ previous: scriptSession(look), own, rejected: [] });
    expect(part?.first_edit?.minutes).toBe(3);
  });

  it('is unknown where nothing was edited, and starts anew after a compaction', () => {
    const parts = measure([], [edit('src/cart.ts', 'x'), again, look, again, look, edit('src/cart.ts', 'y')]);
    expect(parts.map(({ first_edit }) => first_edit?.calls ?? null)).toEqual([null, 1]);
  });
});

describe('what others do in a session', () => {
  const by = (step: Step, more: { sidechain?: true; by_human?: true }): Step => {
    return (call) =>
      step(call).map((event) => ({ ...event, ...(event.type === 'call' || !more.by_human ? more : {}) }));
  };

  it.each<[string, { sidechain?: true; by_human?: true }]>([
    ['a sub-agent', { sidechain: true }],
    ['the user', { by_human: true }],
  ])('is no call of the agent where it is %s, but may change files', (_, more) => {
    expect(list(measure([look], [by(look, more)]))).toEqual([]);
    expect(list(measure([by(look, more)], [look]))).toEqual([]);
    expect(list(measure([look, by(edit('src/cart.ts', 'x'), more)], [look]))).toEqual([]);
    const [part] = measure([look], [by(look, more), look]);
    expect(part).toMatchObject({ calls: 1, found: [{ line: 3 }] });
  });

  it('is not taken for a part that begins before a call has come back', () => {
    const [begun, ended] = look('call-0').map(
      (event): Step =>
        () => [event],
    );
    if (begun === undefined || ended === undefined) throw new Error('a read has a call and a result');
    expect(list(measure([look], [begun, again, ended, user('Go on')]))).toEqual([]);
  });
});

describe('a session that follows nothing', () => {
  it('has no successor in it', () => {
    expect(measure([], [look, look])).toEqual([]);
    expect(measure([user('Hello')], [look])).toEqual([]);
  });
});

describe('any session', () => {
  const steps: Step[] = [
    look,
    read('src/till.ts', 'till'),
    run('ls', 'a'),
    run('git status', 'clean'),
    fail('rtk bun x', 'error: unrecognized subcommand'),
    run('rtk bun --version'),
    edit('src/cart.ts', 'x'),
    run('git pull'),
    answer('Which?', 'This'),
    plan({ text: 'Keep carts in Redis', status: 'pending' }),
    user('Go on'),
    again,
  ];
  const session = fc.array(fc.constantFrom(...steps), { maxLength: 40 });

  it('finds nothing twice, nothing without a call of its own, and never more than it has calls', () => {
    const rejected = [{ text: 'Keep carts in Redis', at: '2026-01-01T00:00:00.000Z' }];
    fc.assert(
      fc.property(session, session, (previous, own) => {
        for (const { found, calls, line, first_edit } of measure(previous, own, rejected)) {
          expect(found.length).toBeLessThanOrEqual(calls);
          expect(new Set(found.map(({ kind, text }) => `${kind} ${text}`)).size).toBe(found.length);
          expect(found.every((item) => item.line >= line)).toBe(true);
          expect(first_edit?.calls ?? 0).toBeLessThan(calls);
        }
      }),
    );
  });
});
