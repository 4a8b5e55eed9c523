import { describe, expect, it } from 'vitest';
import {
  agent,
  answer,
  ask,
  distillSession,
  done,
  interruption,
  refused,
  run,
  type Step,
  steer,
  user,
} from '../support/scripted-session.ts';

function rolesOf(...steps: Step[]): [unknown, string][] {
  return distillSession(...steps)
    .filter((fact) => fact.detail?.message !== undefined)
    .map((fact) => [fact.detail?.role, fact.text]);
}

const first = user('Build the shop with a cart, please');
const work = run('npm test');

describe('the current request', () => {
  it('is the last prompt with content of its own', () => {
    expect(rolesOf(first, work, user('Now write the page for the checkout'), work, user('ok'))).toEqual([
      ['first', 'Build the shop with a cart, please'],
      ['current', 'Now write the page for the checkout'],
      ['after', 'ok'],
    ]);
  });

  it.each([
    ['a word', [agent('Shall I go on?'), user('yes')]],
    ['a word before any work', [user('yes')]],
    ['an answer to a question of a tool', [done(ask('Where?'), 'db'), user('In the database that we have already')]],
    ['what is said while the agent works on it', [work, steer('And use the database that we have already')]],
    ['a command to the agent itself', [user('/compact keep the list of all open tasks, please')]],
  ])('is not replaced by %s', (_, steps) => {
    expect(rolesOf(first, ...steps)[0]).toEqual(['current', 'Build the shop with a cart, please']);
  });

  it('is replaced by a request that follows an answer', () => {
    const roles = rolesOf(first, done(ask('Where?'), 'db'), user('db'), user('Now write the page for the checkout'));
    expect(roles.at(-1)).toEqual(['current', 'Now write the page for the checkout']);
  });

  it('may be short in scripts with dense characters', () => {
    expect(rolesOf(user('修复上传失败的问题'), work, user('好')).map(([role]) => role)).toEqual(['current', 'after']);
  });
});

describe('slash commands to the agent', () => {
  it.each(['/compact', '/clear', '/model opus', '/cost', ' /help'])('%j is no request', (text) => {
    expect(rolesOf(first, user(text))).toEqual([['current', 'Build the shop with a cart, please']]);
  });

  it.each([
    '/review src/cart.ts and the tests of it',
    '/init-db with the data of last year',
    '/home/ann/shop is the folder',
  ])('%j is a request', (text) => {
    expect(rolesOf(first, user(text)).at(-1)).toEqual(['current', text]);
  });
});

describe('the first request', () => {
  it('may be a command with something to do, and is no answer to a question', () => {
    const asked = answer('Which area shall we talk about?', 'The cart, the checkout and the list of orders');
    expect(rolesOf(user('/plan 14'), asked, work, user('Now write the page for the checkout'))[0]).toEqual([
      'first',
      '/plan 14',
    ]);
  });
});

describe('what is said on a question that was refused', () => {
  it('answers it, also after an interruption', () => {
    const steps = [first, refused(ask('Which store?')), interruption(), user('Neither, keep the file for now')];
    const [, fact] = distillSession(...steps).filter(({ detail }) => detail?.message !== undefined);
    expect(fact?.detail?.question).toBe('Which store?');
  });
});
