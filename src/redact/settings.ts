import * as v from 'valibot';
import { HandoverError } from '../errors.ts';
import type { Machine } from '../platform/machine.ts';
import {
  type ConfigFile,
  parseSection,
  readNearestConfig,
  readUserConfig,
} from '../platform/settings-file.ts';
import { boundPattern } from './user-pattern.ts';

/** What a user adds to the rules, and what is never taken out. */
export interface RedactSettings {
  rules: readonly { kind: string; pattern: RegExp }[];
  allow: ReadonlySet<string>;
  /** The same for the same settings. */
  identity: string;
}

export const NO_SETTINGS: RedactSettings = { rules: [], allow: new Set(), identity: '' };

const MAX_RULES = 100;
const Kind = v.pipe(
  v.string(),
  v.regex(/^[a-z][a-z0-9-]{0,39}$/, 'a kind is small letters, digits and dashes'),
);
const Pattern = v.pipe(
  v.string(),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const bounded = boundPattern(dataset.value);
    if (typeof bounded !== 'string') return bounded;
    addIssue({ message: bounded });
    return NEVER;
  }),
);
const Rules = v.pipe(v.array(v.strictObject({ kind: Kind, pattern: Pattern })), v.maxLength(MAX_RULES));

const UserSection = v.strictObject({
  rules: v.optional(Rules, []),
  allow: v.optional(v.pipe(v.array(v.pipe(v.string(), v.minLength(4))), v.maxLength(1000)), []),
});

/** A project may ask for more to be taken out, never for less. */
const ProjectSection = v.strictObject({ rules: v.optional(Rules, []) });

/** The settings of the user, and of the project that `folder` belongs to. */
export function readRedactSettings(machine: Machine, folder: string | null): RedactSettings {
  const user = parseSection(readOwnConfig(machine), 'redact', UserSection);
  const project =
    folder === null ? { rules: [] } : parseSection(readNearestConfig(folder), 'redact', ProjectSection);
  const rules = [...user.rules, ...project.rules];
  if (rules.length === 0 && user.allow.length === 0) return NO_SETTINGS;
  const identity = JSON.stringify([rules.map(({ kind, pattern }) => [kind, pattern.source]), user.allow]);
  return { rules, allow: new Set(user.allow), identity };
}

/** Who only looks may do so without a home, and then has no settings. */
function readOwnConfig(machine: Machine): ConfigFile {
  try {
    return readUserConfig(machine);
  } catch (error) {
    if (error instanceof HandoverError && error.code === 'HANDOVER_HOME_UNKNOWN')
      return { path: '', sections: new Map() };
    throw error;
  }
}
