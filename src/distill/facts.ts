import { computeFactId, type Fact, type FactKind, MAX_FACT_TEXT_BYTES } from '../model/fact.ts';
import { baseName } from '../model/paths.ts';
import { cleanText, cutToBytes } from '../model/text.ts';
import { type Mentions, NAME_KINDS, type NameKind, openNameMaps } from './name-index.ts';
import { findBackticked, findNames } from './names.ts';
import { findCurrentPrompt, type SessionLog } from './session-log.ts';
import { findStems } from './shell.ts';

interface FactParts extends Pick<Fact, 'trust' | 'origin'> {
  text: string;
  line: number;
  /** What a brief weighs it by: its own value, how many calls ago it was, and the values of the names in it. */
  weight: { points: number; age: number; names?: Record<string, number> };
  status?: string;
  detail?: Record<string, unknown>;
  /** What the id is computed from, if not the text. */
  subject?: string;
}

export const OBSERVED = { trust: 'observed', origin: 'tool' } as const;
export const BY_GIT = { trust: 'observed', origin: 'git' } as const;
export const BY_AGENT = { trust: 'quoted', origin: 'agent' } as const;
export const BY_HUMAN = { trust: 'quoted', origin: 'human' } as const;

/** Null where nothing is left of the text after cleaning. */
export function draftFact(kind: FactKind, parts: FactParts): Fact | null {
  const text = cutToBytes(cleanText(parts.text).trim(), MAX_FACT_TEXT_BYTES);
  if (text === '') return null;
  return {
    id: computeFactId(kind, parts.subject ?? text),
    kind,
    text,
    ...(parts.status === undefined ? {} : { status: parts.status }),
    trust: parts.trust,
    origin: parts.origin,
    sources: [{ line: parts.line }],
    detail: { ...parts.detail, ...parts.weight },
  };
}

/**
 * How much a later session is likely to gain from a name: a small linear model. The score of a name is the sum of integer
 * features times integer weights, in tenths of a logit; its value is the worth of its kind times the probability that the
 * score stands for, rounded to whole points.
 */
type ScoredName = Surroundings & { name: string; mentions: Mentions; log: SessionLog };

const DOCUMENT = /\.(?:mdx?|txt|json|ya?ml|toml|mod|sum|lock)$/;
const TOOL_SOURCES = ['output', 'content', 'hits'] as const;

const FEATURES = {
  mentions: ({ mentions }) => log2(mentions.count),
  age: ({ mentions, log }) => log2(log.calls - mentions.last),
  edited: ({ mentions }) => Number(mentions.by.has('added')),
  opened: ({ mentions }) => Number(mentions.by.has('opened')),
  sibling: ({ name, recentFiles }) => Number(recentFiles.has(stripTestMark(name))),
  located: ({ name, log }) => Number(log.index.paths.has(name)),
  inTask: ({ name, openTasks }) => Number(openTasks.includes(name)),
  inLastPrompt: ({ name, lastPrompt }) => Number(lastPrompt.includes(name)),
  inLastReplies: ({ name, lastReplies }) => Number(lastReplies.includes(name)),
  inGitStatus: ({ name, gitStatus }) => Number(gitStatus.includes(name)),
  document: ({ name }) => Number(DOCUMENT.test(name)),
  listing: ({ name, log }) => Math.min(5, log2((log.index.smallestListing.get(name) ?? 1) - 1)),
  defined: ({ name, log }) => Number(log.index.defined.has(name)),
  backticked: ({ name, log }) => Number(log.index.backticked.has(name)),
  length: ({ name }) => Math.floor(Math.min(name.length, 60) / 10),
  files: ({ name, log }) => log2(log.index.editedIn.get(name)?.size ?? 0),
  recentReply: ({ mentions, log }) =>
    Number(log.calls - (mentions.by.get('agent')?.last ?? Number.NEGATIVE_INFINITY) <= 15),
  snake: ({ name }) => Number(name.includes('_') && name === name.toLowerCase()),
  editedThisTurn: ({ mentions, turnStart }) => Number((mentions.by.get('added')?.last ?? -1) >= turnStart),
  inCommand: ({ mentions }) => Number(mentions.by.has('command')),
  runs: ({ mentions }) => log2(mentions.by.get('command')?.count ?? 0),
  byUser: ({ mentions }) => Number(mentions.by.has('user')),
  byAgent: ({ mentions }) => Number(mentions.by.has('agent')),
  byTool: ({ mentions }) => Number(TOOL_SOURCES.some((source) => mentions.by.has(source))),
} as const satisfies Record<string, (scored: ScoredName) => number>;

type Weights = Partial<Record<keyof typeof FEATURES, number>> & { bias: number };

/** The probability that a name is needed. `relevance` is that of a file to matter at all. */
const MODELS = {
  file: buildModel({
    bias: -35,
    mentions: 2,
    age: -3,
    opened: 6,
    sibling: 9,
    located: 14,
    inTask: 15,
    inLastPrompt: 8,
    document: -9,
    listing: -3,
  }),
  relevance: buildModel({
    bias: -21,
    mentions: 4,
    age: -4,
    edited: 57,
    opened: 8,
    sibling: 7,
    located: 11,
    inTask: 35,
    inLastPrompt: 11,
    inLastReplies: 5,
    inGitStatus: 12,
    listing: -4,
  }),
  symbol: buildModel({
    bias: -37,
    mentions: 4,
    age: -3,
    edited: 5,
    defined: 6,
    backticked: 12,
    length: 3,
    files: 5,
    recentReply: 7,
    snake: -7,
    editedThisTurn: 6,
    inCommand: 9,
  }),
  qualified: buildModel({ bias: -64, mentions: 3, age: -1, backticked: 42, recentReply: 14, byUser: 18, edited: 10 }),
  stem: buildModel({ bias: -24, runs: 12, age: -4 }),
  namedStem: buildModel({ bias: -37, runs: 4, byAgent: 20, byUser: 28 }),
  reference: buildModel({ bias: -16, mentions: 2, age: -4, byUser: 21, byAgent: 21, byTool: -6 }),
  error: buildModel({ bias: -57, mentions: 15, byAgent: 20 }),
};

/** Computes only the features that have a weight: there are thousands of names. */
function buildModel({ bias, ...weights }: Weights): (scored: ScoredName) => number {
  const weightOf = new Map(Object.entries(weights));
  const terms = Object.entries(FEATURES).flatMap(([name, measure]) => {
    const weight = weightOf.get(name);
    return weight === undefined ? [] : [{ weight, measure }];
  });
  return (scored) => {
    let score = bias;
    for (const { weight, measure } of terms) score += weight * measure(scored);
    return 1 / (1 + Math.exp(-score / 10));
  };
}

const WORTH = {
  file: 20_510,
  symbol: 7500,
  qualified: 2600,
  stem: 30_000,
  namedStem: 8000,
  reference: 16_000,
  error: 25_000,
} as const;

export interface Valuation {
  values: Record<NameKind, Map<string, number>>;
  /** The probability, in thousandths, that a file matters at all. */
  relevance: Map<string, number>;
}

export function valueNames(log: SessionLog): Valuation {
  const values = openNameMaps<number>();
  const relevance = new Map<string, number>();
  const surroundings = describeSurroundings(log);
  for (const kind of NAME_KINDS)
    for (const [name, mentions] of log.index.names[kind]) {
      const scored = { name, mentions, log, ...surroundings };
      const named = kind === 'stem' ? WORTH.namedStem * MODELS.namedStem(scored) : 0;
      values[kind].set(name, Math.round(WORTH[kind] * MODELS[kind](scored) + named));
      if (kind === 'file') relevance.set(name, Math.round(1000 * MODELS.relevance(scored)));
    }
  return { values, relevance };
}

/** The texts and files that show what is being worked on. */
interface Surroundings {
  openTasks: string;
  lastPrompt: string;
  /** The call at which the current request was made. */
  turnStart: number;
  lastReplies: string;
  gitStatus: string;
  /** Base names of files edited or read recently, without extension and test marks. */
  recentFiles: ReadonlySet<string>;
}

function describeSurroundings(log: SessionLog): Surroundings {
  const current = log.prompts[findCurrentPrompt(log)];
  const recent = [...log.files.values()].filter(
    ({ edits, lastEdit, reads, lastRead }) =>
      (edits > 0 && log.calls - lastEdit <= 30) || (reads > 0 && log.calls - lastRead <= 22),
  );
  return {
    openTasks: log.plan
      .filter(({ status }) => status === 'pending' || status === 'in_progress')
      .map((item) => `${item.text}\n${item.detail ?? ''}`)
      .join('\n'),
    lastPrompt: current?.text ?? '',
    turnStart: current?.call ?? 0,
    lastReplies: log.replies
      .filter((reply) => reply.text.length > 40)
      .slice(-4)
      .map((reply) => reply.text)
      .join('\n'),
    gitStatus: log.commands
      .slice(-25)
      .filter((run) => /git (status|diff --stat|diff --name)/.test(run.command))
      .map((run) => run.output.slice(0, 4000))
      .join('\n'),
    recentFiles: new Set(recent.map((file) => stripTestMark(baseName(file.path)))),
  };
}

function stripTestMark(name: string): string {
  return name.replace(/\.[^.]*$/, '').replace(/[_.-](?:test|spec)|^test_/, '');
}

/** The whole part of the binary logarithm of n + 1. */
function log2(n: number): number {
  return n <= 0 ? 0 : 31 - Math.clz32(n + 1);
}

const PRECISION_POINTS = 1.85;
const LIKELY = 600;

/** What showing a file is worth. Negative where it probably does not matter: it costs the reader more than its bytes. */
export function netFilePoints(valuation: Valuation, name: string): number {
  const relevance = valuation.relevance.get(name) ?? 0;
  return Math.round((valuation.values.file.get(name) ?? 0) + PRECISION_POINTS * (relevance - LIKELY));
}

/** The names in a text that are worth something, with their values. Files by base name, commands by stem. */
export function weighNames(text: string, valuation: Valuation): Record<string, number> {
  const { values } = valuation;
  const weights = new Map<string, number>();
  const add = (kind: NameKind, name: string): void => {
    const points = values[kind].get(name) ?? 0;
    if (points > 0) weights.set(name, Math.max(points, weights.get(name) ?? 0));
  };
  const { paths, symbols, qualified, errors, references } = findNames(text);
  for (const name of symbols) add('symbol', name);
  for (const name of qualified) add('qualified', name);
  for (const name of errors) add('error', name);
  for (const name of references) add('reference', name);
  for (const name of paths.map(baseName)) if (values.file.has(name)) weights.set(name, netFilePoints(valuation, name));
  for (const quoted of findBackticked(text)) {
    add('qualified', quoted);
    if (quoted.includes(' ')) for (const stem of findStems(quoted)) add('stem', stem);
  }
  return Object.fromEntries(weights);
}
