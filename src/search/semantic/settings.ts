import * as v from 'valibot';
import type { Machine } from '../../platform/machine.ts';
import { parseSection, readUserConfig } from '../../platform/settings-file.ts';

const Text = v.pipe(v.string(), v.minLength(1), v.maxLength(1000));
const Variable = v.pipe(v.string(), v.regex(/^[A-Za-z_]\w{0,99}$/, 'is not the name of a variable'));
const Prefix = v.optional(v.pipe(v.string(), v.maxLength(200)), '');

const SemanticSection = v.strictObject({
  enabled: v.optional(v.boolean(), true),
  /** The base of `/embeddings`, such as `http://localhost:11434/v1`. */
  url: Text,
  model: Text,
  /** The environment variable or the file with the key. */
  key_variable: v.exactOptional(Variable),
  key_file: v.exactOptional(Text),
  /** In seconds, for one request. */
  timeout: v.optional(v.pipe(v.number(), v.minValue(0.1), v.maxValue(600)), 5),
  batch: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(128)), 32),
  /** What some models expect before a question and before a text. */
  query_prefix: Prefix,
  text_prefix: Prefix,
});
export type SemanticSettings = v.InferOutput<typeof SemanticSection>;

const SearchSection = v.strictObject({ meaning: v.exactOptional(SemanticSection) });

/** Null unless the user has enabled it. Settings of a project are ignored: texts must not be sent where a project says. */
export function readSemanticSettings(machine: Machine): SemanticSettings | null {
  const { meaning } = parseSection(readUserConfig(machine), 'search', SearchSection);
  return meaning?.enabled === true ? meaning : null;
}
