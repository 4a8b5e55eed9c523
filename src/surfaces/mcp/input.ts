import { type StandardJsonSchema, toStandardJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { cleanLine, cutToBytes } from '../../model/text.ts';

type Entries = v.ObjectEntries;
type Arguments<E extends Entries> = v.StrictObjectSchema<E, undefined>;

const MOST_BYTES = 60;

/** Arguments as clients are told of them. The first thing that is wrong is said in a few words, however much it is. */
export function describeInput<E extends Entries>(
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
  const wanted =
    WANTED.get(issue.type) ?? `${issue.expected ?? 'something else'}${UNITS.get(issue.type) ?? ''}`;
  return `${named} must be ${wanted}, not ${shorten(issue.received)}`;
}

const WANTED: ReadonlyMap<string, string> = new Map([
  ['array', 'a list of texts'],
  ['string', 'a text'],
  ['number', 'a number'],
  ['boolean', 'true or false'],
]);

const UNITS: ReadonlyMap<string, string> = new Map([
  ['min_length', ' long'],
  ['max_length', ' long'],
]);

function shorten(text: string): string {
  return cutToBytes(cleanLine(text.slice(0, 4 * MOST_BYTES)), MOST_BYTES);
}
