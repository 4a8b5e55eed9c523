import { baseName } from '../model/paths.ts';
import { type Account, findCurrentPrompt } from './account.ts';
import { type Mentions, type NameClass, openNameMaps } from './ledger.ts';

/**
 * How much a later session is likely to gain from meeting a name: a small, explainable model. A name's score is the sum of
 * a few integer features times integer weights, in tenths of a logit; its value is the worth of its class times the
 * probability that the score stands for. Values are in points, so that they can be kept as integers.
 */

/** A name, with what is known of it and around it. */
interface MetName {
  name: string;
  mentions: Mentions;
  account: Account;
  surroundings: Surroundings;
}

const DOCUMENT = /\.(?:mdx?|txt|json|ya?ml|toml|mod|sum|lock)$/;
const TOOL_VOICES = ['output', 'content', 'hits'] as const;

const FEATURES = {
  mentions: ({ mentions }) => log2(mentions.count),
  age: ({ mentions, account }) => log2(account.calls - mentions.last),
  edited: ({ mentions }) => is(mentions.by.has('added')),
  opened: ({ mentions }) => is(mentions.by.has('opened')),
  sibling: ({ name, surroundings }) => is(surroundings.siblings.has(stripTestMark(name))),
  located: ({ name, account }) => is(account.ledger.spellings.has(name)),
  inTask: ({ name, surroundings }) => is(surroundings.openTasks.includes(name)),
  inLastPrompt: ({ name, surroundings }) => is(surroundings.lastPrompt.includes(name)),
  inLastReplies: ({ name, surroundings }) => is(surroundings.lastReplies.includes(name)),
  inGitStatus: ({ name, surroundings }) => is(surroundings.gitStatus.includes(name)),
  document: ({ name }) => is(DOCUMENT.test(name)),
  crowd: ({ name, account }) => Math.min(5, log2((account.ledger.crowds.get(name) ?? 1) - 1)),
  defined: ({ name, account }) => is(account.ledger.defined.has(name)),
  ticked: ({ name, account }) => is(account.ledger.ticked.has(name)),
  length: ({ name }) => Math.floor(Math.min(name.length, 60) / 10),
  files: ({ name, account }) => log2(account.ledger.homes.get(name)?.size ?? 0),
  recentReply: ({ mentions, account }) =>
    is(account.calls - (mentions.by.get('agent')?.last ?? Number.NEGATIVE_INFINITY) <= 15),
  snake: ({ name }) => is(name.includes('_') && name === name.toLowerCase()),
  editedThisTurn: ({ mentions, surroundings }) =>
    is((mentions.by.get('added')?.last ?? -1) >= surroundings.turnStart),
  inCommand: ({ mentions }) => is(mentions.by.has('command')),
  runs: ({ mentions }) => log2(mentions.by.get('command')?.count ?? 0),
  byUser: ({ mentions }) => is(mentions.by.has('user')),
  byAgent: ({ mentions }) => is(mentions.by.has('agent')),
  byTool: ({ mentions }) => is(TOOL_VOICES.some((voice) => mentions.by.has(voice))),
} as const satisfies Record<string, (met: MetName) => number>;

type Feature = keyof typeof FEATURES;
type Weights = Partial<Record<Feature, number>> & { bias: number };

const WEIGHTS = {
  file: {
    bias: -35,
    mentions: 2,
    age: -3,
    opened: 6,
    sibling: 9,
    located: 14,
    inTask: 15,
    inLastPrompt: 8,
    document: -9,
    crowd: -3,
  },
  relevance: {
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
    crowd: -4,
  },
  symbol: {
    bias: -37,
    mentions: 4,
    age: -3,
    edited: 5,
    defined: 6,
    ticked: 12,
    length: 3,
    files: 5,
    recentReply: 7,
    snake: -7,
    editedThisTurn: 6,
    inCommand: 9,
  },
  qualified: { bias: -64, mentions: 3, age: -1, ticked: 42, recentReply: 14, byUser: 18, edited: 10 },
  stem: { bias: -24, runs: 12, age: -4 },
  namedStem: { bias: -37, runs: 4, byAgent: 20, byUser: 28 },
  reference: { bias: -16, mentions: 2, age: -4, byUser: 21, byAgent: 21, byTool: -6 },
  error: { bias: -57, mentions: 15, byAgent: 20 },
} as const satisfies Record<string, Weights>;

/** The probability that a name is needed. */
type Model = (met: MetName) => number;

const MODELS: Record<keyof typeof WEIGHTS, Model> = {
  file: buildModel(WEIGHTS.file),
  relevance: buildModel(WEIGHTS.relevance),
  symbol: buildModel(WEIGHTS.symbol),
  qualified: buildModel(WEIGHTS.qualified),
  stem: buildModel(WEIGHTS.stem),
  namedStem: buildModel(WEIGHTS.namedStem),
  reference: buildModel(WEIGHTS.reference),
  error: buildModel(WEIGHTS.error),
};

/** Looks at no more of a name than what has a weight: there are thousands of names. */
function buildModel({ bias, ...weights }: Weights): Model {
  const weightOf = new Map(Object.entries(weights));
  const terms = Object.entries(FEATURES).flatMap(([name, measure]) => {
    const weight = weightOf.get(name);
    return weight === undefined ? [] : [{ weight, measure }];
  });
  return (met) => {
    let score = bias;
    for (const { weight, measure } of terms) score += weight * measure(met);
    return 1 / (1 + Math.exp(-score / 10));
  };
}

/** What meeting a name of the class is worth when it is needed, in points. */
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
  values: Record<NameClass, Map<string, number>>;
  /** The probability, in thousandths, that a file matters at all. */
  relevance: Map<string, number>;
}

const PRECISION_POINTS = 1.85;
const LIKELY = 600;

/** What showing a file is worth: a file that probably does not matter costs the reader more than its bytes. */
export function netFilePoints(valuation: Valuation, name: string): number {
  const relevance = valuation.relevance.get(name) ?? 0;
  return Math.round((valuation.values.file.get(name) ?? 0) + PRECISION_POINTS * (relevance - LIKELY));
}

export function valueNames(account: Account, surroundings: Surroundings): Valuation {
  const { ledger } = account;
  const values = openNameMaps<number>();
  const relevance = new Map<string, number>();
  for (const kind of ['symbol', 'qualified', 'error', 'reference', 'file'] as const) {
    for (const [name, mentions] of ledger.names[kind]) {
      const met = { name, mentions, account, surroundings };
      values[kind].set(name, Math.round(WORTH[kind] * MODELS[kind](met)));
      if (kind === 'file') relevance.set(name, Math.round(1000 * MODELS.relevance(met)));
    }
  }
  for (const [name, mentions] of ledger.names.stem) {
    const met = { name, mentions, account, surroundings };
    values.stem.set(
      name,
      Math.round(WORTH.stem * MODELS.stem(met) + WORTH.namedStem * MODELS.namedStem(met)),
    );
  }
  return { values, relevance };
}

/** Texts against which names are held: where they stand tells what is at hand. */
export interface Surroundings {
  openTasks: string;
  lastPrompt: string;
  /** The call at which the last substantive prompt was given. */
  turnStart: number;
  lastReplies: string;
  gitStatus: string;
  /** Stems of files edited or read of late, without test marks. */
  siblings: ReadonlySet<string>;
}

export function describeSurroundings(account: Account): Surroundings {
  const { calls } = account;
  const last = account.prompts[findCurrentPrompt(account)];
  const open = account.plan.filter((item) => item.status === 'pending' || item.status === 'in_progress');
  const siblings = new Set<string>();
  for (const file of account.files.values()) {
    const edited = file.edits > 0 && calls - file.lastEdit <= 30;
    if (edited || (file.reads > 0 && calls - file.lastRead <= 22))
      siblings.add(stripTestMark(baseName(file.path)));
  }
  return {
    openTasks: open.map((item) => `${item.text}\n${item.detail ?? ''}`).join('\n'),
    lastPrompt: last?.text ?? '',
    turnStart: last?.call ?? 0,
    lastReplies: account.replies
      .filter((reply) => reply.text.length > 40)
      .slice(-4)
      .map((reply) => reply.text)
      .join('\n'),
    gitStatus: account.commands
      .slice(-25)
      .filter((ran) => /git (status|diff --stat|diff --name)/.test(ran.command))
      .map((ran) => ran.output.slice(0, 4000))
      .join('\n'),
    siblings,
  };
}

function stripTestMark(name: string): string {
  return name.replace(/\.[^.]*$/, '').replace(/[_.-](?:test|spec)|^test_/, '');
}

function is(holds: boolean): number {
  return holds ? 1 : 0;
}

/** The whole part of the binary logarithm of n + 1. */
function log2(n: number): number {
  return n <= 0 ? 0 : 31 - Math.clz32(n + 1);
}
