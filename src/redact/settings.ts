import * as v from 'valibot';
import { catchIf, HandoverError } from '../errors.ts';
import type { Machine } from '../platform/machine.ts';
import { type ConfigFile, parseSection, readNearestConfig, readUserConfig } from '../platform/settings-file.ts';

const MAX_LENGTH = 500;
const MAX_REPEATS = 256;
/** The number of ways to match at one place, which bounds the time per place. */
const MAX_WAYS = 4096;
const MIN_LITERAL = 3;
const BEGINNING = new RegExp(`^[A-Za-z0-9_@#%~/:=<>"'-]{${MIN_LITERAL}}(?![*+?{])`);

const TOO_MANY_WAYS =
  'the pattern can match in too many ways: limit how often parts repeat, and how many there are to choose from';

const TOKEN =
  /\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|\(\?(?:<?[=!]|:|<[A-Za-z]\w*>)|\(|\)|(?:[*+?]|\{\d+(?:,\d*)?\})\??|[\s\S]/g;

/** A pattern, how many ways it may match at one place, and what takes all of the line where that would take too long. */
interface BoundPattern {
  pattern: RegExp;
  ways: number;
  crowded: RegExp;
}

/**
 * A user's pattern, bounded to linear time, or the message of what is wrong with it. It begins with three plain characters; `*`
 * and `+` match at most 256 times; repetitions are not nested; there are no back references and no lookaround.
 */
export function boundPattern(source: string): BoundPattern | string {
  if (source.length > MAX_LENGTH) return `a pattern may have at most ${MAX_LENGTH} characters`;
  if (!BEGINNING.test(source) || (source.includes('|') && hasOuterChoice(source)))
    return `a pattern must begin with ${MIN_LITERAL} plain characters`;
  const bounded = boundTokens(source);
  if (typeof bounded === 'string') return bounded;
  const isBroken = (error: unknown): boolean => error instanceof SyntaxError;
  return catchIf(isBroken, 'this is not a regular expression', () => ({
    pattern: new RegExp(bounded.tokens.join(''), 'g'),
    ways: bounded.ways,
    crowded: new RegExp(`${source.slice(0, MIN_LITERAL)}[^\\n]{0,${MAX_REPEATS}}`, 'g'),
  }));
}

function hasOuterChoice(source: string): boolean {
  let depth = 0;
  for (const [token] of source.matchAll(TOKEN)) {
    if (token.startsWith('(')) depth++;
    if (token === ')') depth--;
    if (token === '|' && depth === 0) return true;
  }
  return false;
}

function boundTokens(source: string): { tokens: string[]; ways: number } | string {
  const tokens: string[] = [];
  const open: { repeats: boolean; choices: number }[] = [];
  let closed: { repeats: boolean } | null = null;
  let ways = 1;
  for (const [token] of source.matchAll(TOKEN)) {
    if (/^\\[1-9k]/.test(token)) return 'a pattern may not have back references';
    const repeat = readRepeat(token);
    if (repeat !== null) {
      if (closed?.repeats === true) return 'a repetition may not be inside another repetition';
      if (repeat.most > MAX_REPEATS) return `nothing may repeat more than ${MAX_REPEATS} times`;
      ways *= repeat.most - repeat.least + 1;
      if (ways > MAX_WAYS) return TOO_MANY_WAYS;
      for (const group of open) group.repeats = true;
      tokens.push(repeat.text);
      closed = null;
      continue;
    }
    closed = null;
    if (token.startsWith('(')) {
      if (/^\(\?<?[=!]/.test(token)) return 'a pattern may not have lookarounds';
      open.push({ repeats: false, choices: 1 });
    }
    if (token === ')') {
      const group = open.pop() ?? null;
      closed = group;
      ways *= group?.choices ?? 1;
      if (ways > MAX_WAYS) return TOO_MANY_WAYS;
    }
    const group = token === '|' ? open.at(-1) : undefined;
    if (group !== undefined) group.choices++;
    if (token === '|') for (const group of open) group.repeats = true;
    tokens.push(token);
  }
  return { tokens, ways };
}

function readRepeat(token: string): { text: string; least: number; most: number } | null {
  const [, mark, from, comma, to] = /^(?:([*+?])|\{(\d+)(,)?(\d*)\})\??$/.exec(token) ?? [];
  if (mark === '?') return { text: '?', least: 0, most: 1 };
  if (mark !== undefined) {
    const least = mark === '+' ? 1 : 0;
    return { text: `{${least},${MAX_REPEATS}}`, least, most: MAX_REPEATS };
  }
  if (from === undefined) return null;
  const least = Number(from);
  const most = comma === undefined ? least : to === '' || to === undefined ? MAX_REPEATS : Number(to);
  return { text: `{${least},${most}}`, least, most };
}

/** The user's and the project's own rules, and values that are never redacted. */
export interface RedactSettings {
  rules: readonly { kind: string; pattern: BoundPattern }[];
  allow: ReadonlySet<string>;
  /** Equal for equal settings. */
  identity: string;
}

export const NO_SETTINGS: RedactSettings = { rules: [], allow: new Set(), identity: '' };

const MAX_RULES = 100;
const KIND = /^[a-z][a-z0-9-]{0,39}$/;
const Kind = v.pipe(v.string(), v.regex(KIND, 'a kind has only lower-case letters, digits and dashes'));
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

/** A project may add rules, but allow nothing. */
const ProjectSection = v.strictObject({ rules: v.optional(Rules, []) });

/** The settings of the user, and of the project that `folder` belongs to. */
export function readRedactSettings(machine: Machine, folder: string | null): RedactSettings {
  const user = parseSection(readOwnConfig(machine), 'redact', UserSection);
  const project = folder === null ? { rules: [] } : parseSection(readNearestConfig(folder), 'redact', ProjectSection);
  const rules = [...user.rules, ...project.rules];
  if (rules.length === 0 && user.allow.length === 0) return NO_SETTINGS;
  const identity = JSON.stringify([rules.map(({ kind, pattern: { pattern } }) => [kind, pattern.source]), user.allow]);
  return { rules, allow: new Set(user.allow), identity };
}

/** Reading commands work without a home folder, and then there are no settings. */
function readOwnConfig(machine: Machine): ConfigFile {
  const isHomeless = (error: unknown): boolean =>
    error instanceof HandoverError && error.code === 'HANDOVER_HOME_UNKNOWN';
  return catchIf(isHomeless, { path: '', sections: new Map() }, () => readUserConfig(machine));
}
