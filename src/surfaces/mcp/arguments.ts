import * as v from 'valibot';

/** The smallest that a brief needs, and what is usual; a test holds them to those of the briefs. */
export const SMALLEST = 256;
export const USUAL = 2000;
const MOST = 20_000;

/** A text that an agent gives, of at most so many characters. */
export function text(description: string, most = 4000): v.GenericSchema<string> {
  return v.pipe(v.string(), v.minLength(1), v.maxLength(most), v.description(description));
}

/** A text to be kept: the store says itself when it is more than that can be. */
export function keptText(description: string): v.GenericSchema<string> {
  return v.pipe(v.string(), v.minLength(1), v.description(description));
}

export const project = v.optional(
  text('Absolute path of the project’s folder. Leave it out for the folder that you work in.'),
);

export const budget = v.optional(
  v.pipe(
    v.number(),
    v.integer(),
    v.minValue(SMALLEST),
    v.maxValue(MOST),
    v.description('Tokens that the answer may take at most.'),
  ),
  USUAL,
);

export function limit(usual: number): v.OptionalSchema<v.GenericSchema<number>, number> {
  return v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100), v.description('How many at most.')),
    usual,
  );
}
