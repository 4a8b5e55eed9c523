import { randomInt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { rollDice } from '../fixtures/secrets/write-secrets.ts';
import { makeRedactor } from '../support/redactor.ts';

describe('a value that was recognised once by its name', () => {
  const seed = randomInt(2 ** 31);
  const dice = rollDice(seed);
  /** Each of them once, so that no chance makes a plain value of it. */
  const shuffle = (alphabet: string): string => {
    const letters = [...alphabet];
    const mixed: string[] = [];
    while (letters.length > 0) mixed.push(...letters.splice(dice(letters.length), 1));
    return mixed.join('');
  };
  /** No two of which stand beside each other in words. */
  const CONSONANTS = 'bdhjkqvwxz';

  it.each([
    ['letters', shuffle(CONSONANTS)],
    ['capitals', shuffle(CONSONANTS.toUpperCase())],
    ['digits', `7${shuffle('345689')}19${shuffle('012')}`],
    ['a word with digits', `hunter${10 + dice(90)}`],
    ['marks', `${shuffle(CONSONANTS)}!?${shuffle(CONSONANTS)}`],
  ])('is redacted everywhere in that session, also if it is made of %s', (_, value) => {
    const redactor = makeRedactor();
    redactor.redactText(`DB_PASSWORD='${value}' npm start`);
    for (const text of [`log in with ${value}.`, `(${value})`, `user:${value}`])
      expect(redactor.redactText(text), `seed ${seed}: ${value}`).not.toContain(value);
  });

  it.each(['production', 'postgres', 'supersecret', 'changeme', '20260131', '12345678', '11111111'])(
    'does not ruin texts that have the same word: %s',
    (value) => {
      const redactor = makeRedactor();
      redactor.redactText(`DB_PASSWORD=${value}\nNODE_ENV=test`);
      const text = `NODE_ENV=${value} and the ${value} server`;
      expect(redactor.redactText(text)).toBe(text);
    },
  );

  it('stays where it is only a part of a longer word or number', () => {
    const redactor = makeRedactor();
    redactor.redactText('DB_PASSWORD=hunter42\nROOT_PASSWORD=739182645');
    const text = 'the hunter4222 and shunter42 at 1739182645123';
    expect(redactor.redactText(text)).toBe(text);
  });

  it('is redacted as text too where a Kubernetes Secret has it in base64', () => {
    const value = `${shuffle(CONSONANTS)}7!`;
    const redactor = makeRedactor();
    redactor.redactText(`kind: Secret\ndata:\n  shop: ${Buffer.from(value).toString('base64')}\n`);
    expect(redactor.redactText(`log in with ${value}`), `seed ${seed}`).not.toContain(value);
  });
});

describe('five hundred values that were learnt', () => {
  it('are found everywhere, and more are let go', () => {
    const redactor = makeRedactor();
    const values = Array.from({ length: 520 }, (_, at) => `Zx${(at * 7919) % 9973}q!${at}Kp`);
    for (const value of values) redactor.redactText(`DB_PASSWORD=${value}`);
    const text = `so ${values.join(' and ')} it is`;
    const left = values.filter((value) => redactor.redactText(text).includes(value));
    expect(left.length).toBe(20);
  });
});
