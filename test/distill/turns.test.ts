import { describe, expect, it } from 'vitest';
import type { Fact } from '../../src/model/fact.ts';
import {
  agent,
  answer,
  distillSession,
  edit,
  interruption,
  other,
  run,
  type Step,
  user,
  withRole,
} from '../support/scripted-session.ts';

const first = user('Make the upload retry when the server is busy');
const second = user('Now write a page about the retry in the manual');

function textsOf(role: string, ...steps: Step[]): string[] {
  return withRole(distillSession(...steps), role).map(({ text }) => text);
}

describe('the closing words of a turn', () => {
  it('are what the agent said after its last call, word for word', () => {
    const facts = distillSession(
      first,
      agent('I read the client first.'),
      run('npm test'),
      agent('The upload now waits and tries again, five times at most.'),
      second,
      agent('The page is written.'),
    );
    expect(
      withRole(facts, 'closing').map(({ text, detail, trust, origin }) => [detail?.turn, text, trust, origin]),
    ).toEqual([[1, 'The upload now waits and tries again, five times at most.', 'quoted', 'agent']]);
    expect(withRole(facts, 'stopped').map(({ text, detail }) => [detail?.turn, text])).toEqual([
      [2, 'The page is written.'],
    ]);
  });

  it('are joined with the words before them where they are short', () => {
    expect(
      textsOf('stopped', first, run('npm test'), agent('The retry waits for two seconds.'), agent('Done.')),
    ).toEqual(['The retry waits for two seconds.\nDone.']);
    const long = `The retry waits. ${'It is safe to call it twice. '.repeat(12)}`.trim();
    expect(textsOf('stopped', first, run('npm test'), agent('Some words before.'), agent(long))).toEqual([long]);
  });

  it('of a last turn that goes on are its last words, marked as unfinished', () => {
    const [words] = withRole(distillSession(first, agent('I read the client first.'), run('npm test')), 'stopped');
    expect([words?.text, words?.detail?.unfinished]).toEqual(['I read the client first.', true]);
  });

  it('of an earlier turn without any are the longest of its last words', () => {
    expect(
      textsOf(
        'closing',
        first,
        agent('I read the client.'),
        agent('The client swallows the status of the server, so nothing ever tries again.'),
        agent('I look on.'),
        run('npm test'),
        second,
      ),
    ).toEqual(['The client swallows the status of the server, so nothing ever tries again.']);
  });

  it('are missing where the agent said nothing', () => {
    const facts = distillSession(first, run('npm test'), second);
    expect(withRole(facts, 'closing')).toEqual([]);
    expect(withRole(facts, 'stopped')).toEqual([]);
  });

  it('lose lines about files that were removed and commits that were undone since', () => {
    const closing = textsOf(
      'closing',
      first,
      edit('src/queue.ts', 'export const queue = [];'),
      run('git commit -m wip', '[main 1a2b3c4] wip'),
      agent('The queue is in src/queue.ts.\nIt is committed as 1a2b3c4.\nThe delay is two seconds.'),
      second,
      run('git reset --soft HEAD~1'),
      run('rm src/queue.ts'),
    );
    expect(closing).toEqual(['The delay is two seconds.']);
  });

  it('lose lines about places in files that were edited since, unless they report an edit', () => {
    const reading = agent('The bug is at upload.ts:42.\nIt loses the status of the server.');
    expect(textsOf('closing', first, reading, second, edit('src/upload.ts', 'retry();'))).toEqual([
      'It loses the status of the server.',
    ]);
    expect(
      textsOf('closing', first, edit('src/upload.ts', 'a();'), reading, second, edit('src/upload.ts', 'b();')),
    ).toEqual(['The bug is at upload.ts:42.\nIt loses the status of the server.']);
  });
});

describe('the words on the way', () => {
  const words = `The client swallows the status. ${'This is why nothing tries again. '.repeat(6)}`.trim();

  it('are kept of the last turn where they say something', () => {
    const facts = distillSession(
      first,
      agent(words),
      run('npm test'),
      agent('I look.'),
      run('npm test'),
      agent('Done.'),
    );
    expect(withRole(facts, 'working').map(({ text }) => text)).toEqual([words]);
  });

  it('of earlier turns are not kept', () => {
    expect(textsOf('working', first, agent(words), run('npm test'), agent('Done.'), second, agent('Done.'))).toEqual(
      [],
    );
  });
});

describe('the turns of a session', () => {
  const turnsOf = (...steps: Step[]): unknown[] =>
    distillSession(...steps)
      .filter(({ detail }) => detail?.role === 'closing' || detail?.role === 'stopped')
      .map(({ detail, text }: Fact) => [detail?.turn, text]);

  it('are not begun by an answer to a question that a call asked', () => {
    expect(
      turnsOf(first, answer('How often shall it try?', 'Five times'), run('npm test'), agent('It tries five times.')),
    ).toEqual([[1, 'It tries five times.']]);
  });

  it('begin with what the agent said before any request', () => {
    expect(turnsOf(agent('Welcome to the shop.'), first, agent('It tries five times.'))).toEqual([
      [0, 'Welcome to the shop.'],
      [1, 'It tries five times.'],
    ]);
  });

  it('have what they edited and committed', () => {
    const work = withRole(
      distillSession(
        first,
        edit('src/upload.ts', 'a();'),
        edit('src/retry.ts', 'b();'),
        edit('src/upload.ts', 'c();'),
        run('git commit -m "Add a retry"', '[main 1a2b3c4] Add a retry'),
        second,
        edit('docs/retry.md', 'It tries again.'),
        user('Thank you very much, that is all for today'),
        agent('You are welcome.'),
      ),
      'work',
    );
    expect(work.map(({ detail, text, trust }) => [detail?.turn, text, trust])).toEqual([
      [1, 'edited upload.ts (2), retry.ts (1); committed 1a2b3c4 "Add a retry"', 'observed'],
      [2, 'edited retry.md (1)', 'observed'],
    ]);
  });
});

describe('a message', () => {
  it('of another agent is not taken for one of the user', () => {
    const messages = distillSession(first, other('team-lead', 'Take the tests of the upload, please'), agent('Done.'));
    const [current] = withRole(messages, 'current');
    expect([current?.text, current?.origin, current?.detail?.from]).toEqual([
      'Take the tests of the upload, please',
      'agent',
      'team-lead',
    ]);
  });

  it('is marked where the user stopped the work on it', () => {
    const facts = distillSession(first, agent('I read on.'), interruption(), second, agent('The page is written.'));
    const marks = facts.filter(({ detail }) => detail?.message !== undefined);
    expect(marks.map(({ detail }) => [detail?.message, detail?.interrupted])).toEqual([
      [1, true],
      [2, undefined],
    ]);
  });

  it('that answers a question has the question', () => {
    const facts = distillSession(first, answer('How often shall it try?', 'Five times'));
    expect(facts.find(({ detail }) => detail?.message === 2)?.detail?.question).toBe('How often shall it try?');
  });
});
