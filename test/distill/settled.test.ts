import { describe, expect, it } from 'vitest';
import {
  agent,
  answer,
  ask,
  distillSession,
  done,
  interruption,
  ofKind,
  open,
  refused,
  run,
  type Step,
  user,
  withRole,
} from '../support/scripted-session.ts';

const first = user('Make the upload retry when the server is busy');

function settledOf(...steps: Step[]): [unknown, string][] {
  return ofKind(distillSession(first, ...steps), 'decision').map(({ text, detail }) => [detail?.role, text]);
}

describe('an answer of the user', () => {
  it('is settled with its question', () => {
    expect(settledOf(answer('How often shall it try?', 'Five times at most'))).toEqual([
      ['answer', 'How often shall it try? → Five times at most'],
    ]);
  });

  it('to several questions is settled question by question', () => {
    const text = 'How often shall it try? → Five times\nWhere is the delay kept? → In the settings\nand in the manual';
    expect(settledOf(answer('How often shall it try?\nWhere is the delay kept?', text))).toEqual([
      ['answer', 'How often shall it try? → Five times'],
      ['answer', 'Where is the delay kept? → In the settings\nand in the manual'],
    ]);
  });

  it('is not one that came after another call', () => {
    const asked = done({ kind: 'ask', question: 'How often shall it try?' }, 'nobody is there');
    expect(settledOf(asked, run('npm test'), user('Now write the page about it, please'))).toEqual([]);
  });

  it('settles nothing where it asks in turn, or was taken back before anything came of it', () => {
    const tries = answer('How often shall it try?', 'Five times');
    expect(settledOf(tries, answer('How often shall it try?', 'What does each try cost us?'))).toEqual([]);
    const asked = refused(ask('How often shall it try?'));
    const words = 'So the best is five times, is it not';
    expect(settledOf(asked, user(words), interruption(), user('I asked the others first'))).toEqual([]);
    expect(settledOf(asked, user(words), agent('Then five.'), interruption(), user('Go on then'))).toHaveLength(1);
  });

  it('is said by the user', () => {
    const [fact] = ofKind(distillSession(first, answer('How often shall it try?', 'Five times')), 'decision');
    expect([fact?.origin, fact?.trust]).toEqual(['human', 'quoted']);
  });
});

describe('an option of several', () => {
  const options = agent(
    'I see three ways.\n\n1. Wait for a fixed time\n2. Wait longer each time\n3. Put it into a queue\n\nWhich one shall it be?',
  );

  it('is settled by its number, with the ones that were not taken', () => {
    expect(settledOf(options, user('2'))).toEqual([
      [
        'choice',
        'Which one shall it be? → "2", in its list: 2. Wait longer each time (the others: 1. Wait for a fixed time · 3. Put it into a queue)',
      ],
    ]);
  });

  it('is settled together with others', () => {
    expect(settledOf(options, user('1 and 3'))[0]?.[1]).toMatch(
      / → "1 and 3", in its list: .*1\. Wait for a fixed time \+ 3\. Put it into a queue \(the others: 2\. Wait longer each time\)$/,
    );
  });

  it('is settled by its letter', () => {
    const lettered = agent('A) Wait for a fixed time\nB) Wait longer each time\n\nA or B?');
    expect(settledOf(lettered, user('B'))[0]?.[1]).toContain('in its list: B) Wait longer each time');
  });

  it.each([
    ['a question', 'What does 2 cost?'],
    ['a long message', `2 is fine, but then ${'we have to look at the whole of the server again. '.repeat(4)}`],
    ['a number that is no option', 'At most 7'],
    ['a version', 'Use v2.1 of the library'],
    ['an issue', 'See #2'],
    ['words alone', 'yes, do it'],
    ['a number among words', 'not 2'],
    ['a number that counts something', 'wait 3 minutes'],
    ['words in another script', '1 不行'],
  ])('is not settled by %s', (_, text) => {
    expect(settledOf(options, user(text))).toEqual([]);
  });

  it('is not settled where the agent asked nothing', () => {
    const report = agent('What was done:\n\n1. The client waits\n2. The tests are green');
    expect(settledOf(report, user('2 is nice'))).toEqual([]);
  });
});

describe('a plan', () => {
  const plan = { kind: 'propose', text: 'Add a retry to the client\nTest it with a slow server' } as const;

  it('is settled once it was approved', () => {
    expect(settledOf(done(plan, 'The user approved the plan'))).toEqual([['plan', plan.text]]);
  });

  it('is not settled while it waits, or where it was refused', () => {
    expect(settledOf(open(plan))).toEqual([]);
    expect(settledOf(refused(plan))).toEqual([]);
  });

  it('is replaced by the next one', () => {
    const later = { kind: 'propose', text: 'Put all uploads into a queue' } as const;
    expect(settledOf(done(plan), done(later))).toEqual([['plan', later.text]]);
    expect(settledOf(done(plan), refused(later))).toEqual([['plan', plan.text]]);
  });
});

describe('what the agent said', () => {
  it.each([
    'We use exponential backoff instead of a queue.',
    'I decided against Redis because it may lose keys.',
    'The next step is to write the tests.',
    'This is blocked by the firewall of the office.',
  ])('is quoted and never made into a claim: %s', (text) => {
    const facts = distillSession(first, run('npm test'), agent(text));
    const kinds = facts.filter((fact) => fact.text.includes(text)).map(({ kind, detail }) => [kind, detail?.role]);
    expect(kinds).toContainEqual(['note', 'stopped']);
    expect(kinds.filter(([kind]) => kind !== 'note')).toEqual([]);
  });
});

describe('a choice among options', () => {
  const choose = (closing: string, said: string): string[] =>
    withRole(distillSession(first, agent(closing), user(said)), 'choice').map(({ text }) => text);

  it('is among those of the last list only, with labels of the same kind', () => {
    const closing =
      '1. The order holds.\n2. The files are right.\n\nThe ways:\nA) Skip it\nB) Ask\nC) Add a flag\n\nWhich one?';
    expect(choose(closing, 'C)')).toEqual([
      'Which one? → "C)", in its list: C) Add a flag (the others: A) Skip it · B) Ask)',
    ]);
    const lists = '1. It was slow.\n2. It is fast.\n\nNow:\n1. Ship it\n2. Wait\n\nWhich one?';
    expect(choose(lists, '2')).toEqual(['Which one? → "2", in its list: 2. Wait (the others: 1. Ship it)']);
  });
});

describe('what the user says while refusing a call', () => {
  it('is quoted with that call, and is neither a new request nor a decision', () => {
    const facts = distillSession(
      user('Make a branch for the retry and start with the tests of it'),
      refused({ kind: 'command', command: 'git checkout -b retry', background: false }),
      user('we are on a branch already, check its parent'),
      run('git log --oneline main..'),
    );
    expect(withRole(facts, 'current').map(({ text }) => text)).toEqual([
      'Make a branch for the retry and start with the tests of it',
    ]);
    expect(withRole(facts, 'after').map(({ text, detail }) => [text, detail?.refused])).toEqual([
      ['we are on a branch already, check its parent', 'tool git checkout -b retry'],
    ]);
    expect(ofKind(facts, 'decision')).toEqual([]);
  });

  it('is an answer to the question where the call was one', () => {
    const facts = distillSession(
      user('Let users share a file with each other'),
      refused(ask('How do users find each other?')),
      user('by public key, but explain the trade-offs first'),
      run('git log'),
    );
    expect(withRole(facts, 'answer').map(({ text }) => text)).toEqual([
      'How do users find each other? → by public key, but explain the trade-offs first',
    ]);
  });

  it('is a new request where the user stopped the agent first', () => {
    const facts = distillSession(
      first,
      refused({ kind: 'command', command: 'npm test', background: false }),
      interruption(),
      user('Leave the retry alone and look at the login instead'),
    );
    expect(withRole(facts, 'current').map(({ text }) => text)).toEqual([
      'Leave the retry alone and look at the login instead',
    ]);
  });
});
