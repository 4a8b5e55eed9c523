import { describe, expect, it } from 'vitest';
import type { Fact } from '../../src/model/fact.ts';
import {
  agent,
  answer,
  compaction,
  distillSession,
  edit,
  interruption,
  other,
  run,
  type Step,
  steer,
  thought,
  user,
  withRole,
} from '../support/scripted-session.ts';

const first = user('Make the upload retry when the server is busy');
const second = user('Now write a page about the retry in the manual');

function textsOf(role: string, ...steps: Step[]): string[] {
  return withRole(distillSession(...steps), role).map(({ text }) => text);
}

describe('the words of a turn that was not closed', () => {
  const found = 'The queue of the upload holds what the server refused, and nobody takes it out again. '.repeat(3);
  const seen = 'The worker is started twice, which is why the queue is full before the server answers. '.repeat(2);

  it('are the longest of the last ones, and the last that say something', () => {
    expect(
      textsOf('closing', first, agent(found), run('ls'), agent(seen), run('ls'), second, agent('I begin.')),
    ).toEqual([`${found}\n${seen}`.trim()]);
  });

  it.each([
    ['in English', 'Let me look at the worker:'],
    ['in Chinese', '我先看一下：'],
  ])('are without what only announces a call, %s', (_, announced) => {
    expect(textsOf('closing', first, agent(`${found}${announced}`), run('ls'), second, agent('I begin.'))).toEqual([
      found.trim(),
    ]);
    expect(textsOf('working', first, agent(`${found}${announced}`), run('ls'), agent('I go on.'), run('ls'))).toEqual([
      found.trim(),
    ]);
  });
});

describe('the closing words of a turn', () => {
  const isUnfinished = (...steps: Step[]): boolean =>
    withRole(distillSession(first, ...steps), 'stopped')[0]?.detail?.unfinished === true;

  it('are not what the agent marked as said on the way', () => {
    const interim: Step = () => [{ type: 'reply', text: 'Now I start the tests.', interim: true }];
    expect(isUnfinished(run('ls'), interim)).toBe(true);
    expect(isUnfinished(run('ls'), interim, agent('All tests pass.'))).toBe(false);
  });

  it('are still the last where only the user ran a command after them', () => {
    const typed: Step = (call) => [
      {
        type: 'call',
        call,
        tool: 'Bash',
        action: { kind: 'command', command: 'ls', background: false },
        by_human: true,
      },
      { type: 'result', call, ok: null, exit: null, output: '' },
    ];
    expect(isUnfinished(run('npm ci'), agent('Done.'), typed, typed)).toBe(false);
    expect(isUnfinished(typed, agent('Done.'), run('npm ci'))).toBe(true);
  });

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

  it('are all that was said after the last call', () => {
    const parts = [
      'Five commits are made, one for each section.',
      `It is safe to call twice. ${'Nothing else changed. '.repeat(20)}`.trim(),
      'Done.',
    ];
    expect(textsOf('stopped', first, run('npm test'), ...parts.map((part) => agent(part)))).toEqual([parts.join('\n')]);
  });

  it('lose the lines about a commit that was taken back since, also where they shorten its hash', () => {
    const made = run('git commit -m "Add a retry"', '[main 69848231] Add a retry');
    const amended = run('git commit --amend --no-edit', '[main 827a88a4] Add a retry');
    const words = 'The retry waits for two seconds.\nCommitted as `6984823`.';
    expect(textsOf('closing', first, made, agent(words), second, amended, agent('Done.'))).toEqual([
      'The retry waits for two seconds.',
    ]);
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

it('the summary of a compaction is a fact of its own, with the turn that it was made in', () => {
  const facts = distillSession(
    user('Make the upload retry when the server is busy'),
    compaction('The retry waits for two seconds.'),
    agent('Done.'),
  );
  expect(withRole(facts, 'summary').map(({ text, detail }) => [text, detail?.turn])).toEqual([
    ['The retry waits for two seconds.', 1],
  ]);
});

describe('what is said while the agent works', () => {
  it('ends no turn: the closing words are those on its request', () => {
    const facts = distillSession(
      first,
      run('ls'),
      steer('no sleeping, please'),
      run('npm test'),
      agent('It tries again.'),
      second,
    );
    expect(withRole(facts, 'closing').map(({ text, detail }) => [text, detail?.turn])).toEqual([
      ['It tries again.', 1],
    ]);
    expect(facts.find(({ text }) => text === 'no sleeping, please')?.detail?.steers).toBe(1);
  });
});

describe('the last thought', () => {
  it('is kept of a turn that is not over, where nothing was said after it', () => {
    const thoughtOf = (...steps: Step[]): string[] => textsOf('thought', first, ...steps);
    const idea = thought('The client gives up at once, so the queue has to try again.');
    expect(thoughtOf(run('ls'), thought('Where is it?'), idea, run('npm test'))).toEqual([
      'The client gives up at once, so the queue has to try again.',
    ]);
    expect(thoughtOf(idea, agent('I look at the queue.'), run('ls'))).toEqual([]);
    expect(thoughtOf(run('ls'), agent('Done.'), idea)).toEqual([]);
  });
});

describe('what was said on the way', () => {
  it('is why a file was edited, and what a check showed, before what was said last', () => {
    const say = (topic: string): string => `${topic}: ${'this is how it hangs together, and why. '.repeat(5)}`;
    const told = textsOf(
      'working',
      first,
      ...[agent(say('The reason')), edit('src/queue.ts', 'export const queue = [];')],
      ...['A', 'B', 'C', 'D', 'E', 'F', 'G'].flatMap((name) => [agent(say(name)), run('ls')]),
      ...[run('npm test', '3 passed'), agent(say('What the tests show')), run('ls')],
      ...[agent(say('An idea')), run('ls'), agent('Now the last one.'), run('ls')],
    );
    expect(told.map((text) => text.split(':')[0])).toEqual([
      'The reason',
      'E',
      'F',
      'G',
      'What the tests show',
      'An idea',
    ]);
  });

  it('is overtaken where the check it is about ran again, unless it is why a file was edited', () => {
    const say = (topic: string): string => `${topic}: ${'this is how it hangs together, and why. '.repeat(5)}`;
    const told = textsOf(
      'working',
      first,
      ...[run('npm test', '9 failed'), agent(say('Nine fail')), run('ls')],
      ...[
        run('npm test', '4 failed'),
        agent(say('The cause of four')),
        edit('src/queue.ts', 'export const queue = [];'),
      ],
      ...[run('npm test', '1 failed'), agent(say('One is left')), run('ls'), agent('Now that one.'), run('ls')],
    );
    expect(told.map((text) => text.split(':')[0])).toEqual(['The cause of four', 'One is left']);
  });
});
