import { describe, expect, it } from 'vitest';
import {
  agent,
  ask,
  distillSession,
  done,
  limit,
  ofKind,
  open,
  run,
  type Step,
  user,
} from '../support/scripted-session.ts';

const begin = user('Make the upload retry when the server is busy');

function questionsOf(...steps: Step[]): string[] {
  return ofKind(distillSession(begin, ...steps), 'question').map((fact) => fact.text);
}

function stopsOf(...steps: Step[]): [string, string | undefined][] {
  return ofKind(distillSession(begin, ...steps), 'blocker').map(({ text, status }) => [text, status]);
}

describe('a usage limit', () => {
  it('that stopped the session is a blocker, with the text of the provider', () => {
    expect(stopsOf(agent('The client is read.'), limit('Usage limit reached.\nResets at 5pm'))).toEqual([
      ['the session was stopped: Usage limit reached. Resets at 5pm', 'open'],
    ]);
  });

  it('ends once the agent says or does something', () => {
    expect(stopsOf(limit('Usage limit reached'), agent('Going on with the client.'))).toEqual([]);
    expect(stopsOf(limit('Usage limit reached'), run('npm test'))).toEqual([]);
  });

  it('does not end when the user asks to go on', () => {
    expect(stopsOf(limit('Usage limit reached'), user('go on'))).toHaveLength(1);
  });
});

describe('a question of the agent', () => {
  it('at the end of a session is open until answered', () => {
    const asking = agent('There are two ways. Should the delay be fixed, or grow with each try?');
    expect(questionsOf(asking)).toEqual(['Should the delay be fixed, or grow with each try?']);
    expect(questionsOf(asking, user('let it grow'))).toEqual([]);
  });

  it('is not open when the agent went on without an answer', () => {
    expect(questionsOf(agent('Why does it fail here? I look at the log.'), run('npm test'))).toEqual([]);
    expect(questionsOf(agent('Why does it fail?'), agent('The lock is never released.'))).toEqual([]);
  });

  it.each([
    ['¿Prefieres un retraso fijo? ¿O uno que crece?', ['¿Prefieres un retraso fijo?', '¿O uno que crece?']],
    ['固定の待ち時間にしますか？それとも増やしますか？', ['固定の待ち時間にしますか？', 'それとも増やしますか？']],
    ['هل التأخير ثابت؟', ['هل التأخير ثابت؟']],
    ['1. **Fixed delay?**\n2. Grow with each try?', ['Fixed delay?', 'Grow with each try?']],
  ])('is found in %j', (text, questions) => {
    expect(questionsOf(agent(text))).toEqual(questions);
  });

  it('is not found in code, and is whole where a line was broken by hand', () => {
    expect(questionsOf(agent('```\nconst x = a ? b : c?\n```\nThe delay is fixed now.'))).toEqual([]);
    expect(
      questionsOf(agent('Should the delay between two tries of the upload grow\nwith the number of tries?')),
    ).toEqual(['Should the delay between two tries of the upload grow with the number of tries?']);
  });

  it('asked by a tool is open until its result is there', () => {
    const question = ask('Which database shall be used?');
    expect(questionsOf(open(question))).toEqual(['Which database shall be used?']);
    expect(questionsOf(done(question, 'Postgres'), user('Postgres'))).toEqual([]);
    expect(ofKind(distillSession(begin, open(question)), 'running')).toEqual([]);
  });

  it('is kept if it is one of the last three', () => {
    expect(questionsOf(agent('One? Two? Three? Four?'))).toEqual(['Two?', 'Three?', 'Four?']);
  });
});
