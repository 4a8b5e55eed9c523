import { type StandardJsonSchema, toStandardJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { cleanLine, cutToBytes } from '../../model/text.ts';

type Arguments<E extends v.ObjectEntries> = v.StrictObjectSchema<E, undefined>;

const MAX_SHOWN_BYTES = 60;

/** The JSON Schema that clients see, and a check that reports only the first mistake, in a few words. */
export function describeInput<E extends v.ObjectEntries>(
  schema: Arguments<E>,
): StandardJsonSchema<v.InferInput<Arguments<E>>, v.InferOutput<Arguments<E>>> {
  const { '~standard': standard } = toStandardJsonSchema(schema);
  const known = Object.keys(schema.entries);
  return {
    '~standard': {
      ...standard,
      validate: (given) => {
        const { success, output, issues } = v.safeParse(schema, given, { abortEarly: true });
        return success ? { value: output } : { issues: [{ message: explain(issues[0], known) }] };
      },
    },
  };
}

function explain(issue: v.BaseIssue<unknown>, known: readonly string[]): string {
  const path = (issue.path ?? []).map(({ key }) => String(key)).join('.');
  const named = `"${shorten(path)}"`;
  if (issue.expected === 'never') return `there is no argument ${named}; there are ${known.join(', ')}`;
  if (issue.received === 'undefined') return `${named} is missing`;
  const unit = issue.type === 'min_length' || issue.type === 'max_length' ? ' long' : '';
  const wanted = WANTED.get(issue.type) ?? `${issue.expected ?? 'something else'}${unit}`;
  return `${named} must be ${wanted}, not ${shorten(issue.received)}`;
}

const WANTED: ReadonlyMap<string, string> = new Map([
  ['array', 'a list of texts'],
  ['string', 'a text'],
  ['number', 'a number'],
  ['boolean', 'true or false'],
]);

function shorten(text: string): string {
  return cutToBytes(cleanLine(text.slice(0, 4 * MAX_SHOWN_BYTES)), MAX_SHOWN_BYTES);
}

/** The smallest brief and the usual one. A test holds them to the limits of briefs, which load too much to import. */
export const MIN_TOKENS = 256;
export const DEFAULT_TOKENS = 2000;
const MAX_TOKENS = 20_000;

/** A text of at most so many characters. */
export function text(description: string, most = 4000): v.GenericSchema<string> {
  return v.pipe(v.string(), v.minLength(1), v.maxLength(most), v.description(description));
}

/** A text to be stored: the store itself says when it is too long. */
export function storedText(description: string): v.GenericSchema<string> {
  return v.pipe(v.string(), v.minLength(1), v.description(description));
}

export function toggle(description: string): v.OptionalSchema<v.GenericSchema<boolean>, false> {
  return v.optional(v.pipe(v.boolean(), v.description(description)), false);
}

export const project = v.optional(text('Absolute path of the project’s folder. Default: the folder that you work in.'));

export const budget = v.optional(
  v.pipe(
    v.number(),
    v.integer(),
    v.minValue(MIN_TOKENS),
    v.maxValue(MAX_TOKENS),
    v.description('The maximum number of tokens in the answer.'),
  ),
  DEFAULT_TOKENS,
);

export function limit(usual: number): v.OptionalSchema<v.GenericSchema<number>, number> {
  return v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100), v.description('The maximum number of results.')),
    usual,
  );
}

/** Tools that only read, and tools that write the same when called again. */
export const READS = { readOnlyHint: true, openWorldHint: false } as const;
export const WRITES = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;
