import { baseName } from '../model/base-name.ts';
import { type Account, findCurrentPrompt } from './account.ts';
import { type Mentions, type NameClass, openNameMaps } from './ledger.ts';

/**
 * How much a later session is likely to gain from meeting a name: a small, explainable model. A name's score is the sum of
 * a few integer features times integer weights, in tenths of a logit; its value is the worth of its class times the
 * probability that the score stands for. Values are in points, so that they can be kept as integers.
 */

interface Features {
  mentions: number;
  age: number;
  edited: number;
  opened: number;
  sibling: number;
  located: number;
  inTask: number;
  inLastPrompt: number;
  inLastReplies: number;
  inGitStatus: number;
  document: number;
  crowd: number;
  defined: number;
  ticked: number;
  length: number;
  files: number;
  recentReply: number;
  snake: number;
  editedThisTurn: number;
  inCommand: number;
  runs: number;
  byUser: number;
  byAgent: number;
  byTool: number;
}

type Weights = Partial<Features> & { bias: number };

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
      const features = describe(kind, name, { mentions, account, surroundings });
      values[kind].set(name, Math.round(WORTH[kind] * probability(features, WEIGHTS[kind])));
      if (kind === 'file') relevance.set(name, Math.round(1000 * probability(features, WEIGHTS.relevance)));
    }
  }
  for (const [name, mentions] of ledger.names.stem) {
    const features = describe('stem', name, { mentions, account, surroundings });
    const ran = WORTH.stem * probability(features, WEIGHTS.stem);
    const named = WORTH.namedStem * probability(features, WEIGHTS.namedStem);
    values.stem.set(name, Math.round(ran + named));
  }
  return { values, relevance };
}

function probability(features: Features, weights: Weights): number {
  let score = weights.bias;
  for (const name of Object.keys(features)) {
    if (isFeature(name)) score += (weights[name] ?? 0) * features[name];
  }
  return 1 / (1 + Math.exp(-score / 10));
}

function isFeature(name: string): name is keyof Features {
  return name !== 'bias';
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

const DOCUMENT = /\.(?:mdx?|txt|json|ya?ml|toml|mod|sum|lock)$/;

interface Context {
  mentions: Mentions;
  account: Account;
  surroundings: Surroundings;
}

function describe(kind: NameClass, name: string, { mentions, account, surroundings }: Context): Features {
  const { ledger, calls } = account;
  const is = (holds: boolean): number => (holds ? 1 : 0);
  const by = (voice: Parameters<typeof mentions.by.get>[0]) => mentions.by.get(voice);
  const isFile = kind === 'file';
  return {
    mentions: log2(mentions.count),
    age: log2(calls - mentions.last),
    edited: is(mentions.by.has('added')),
    opened: is(mentions.by.has('opened')),
    sibling: is(isFile && surroundings.siblings.has(stripTestMark(name))),
    located: is(isFile && ledger.spellings.has(name)),
    inTask: is(surroundings.openTasks.includes(name)),
    inLastPrompt: is(surroundings.lastPrompt.includes(name)),
    inLastReplies: is(isFile && surroundings.lastReplies.includes(name)),
    inGitStatus: is(isFile && surroundings.gitStatus.includes(name)),
    document: is(isFile && DOCUMENT.test(name)),
    crowd: isFile ? Math.min(5, log2((ledger.crowds.get(name) ?? 1) - 1)) : 0,
    defined: is(ledger.defined.has(name)),
    ticked: is(ledger.ticked.has(name)),
    length: Math.floor(Math.min(name.length, 60) / 10),
    files: log2(ledger.homes.get(name)?.size ?? 0),
    recentReply: is(calls - (by('agent')?.last ?? Number.NEGATIVE_INFINITY) <= 15),
    snake: is(name.includes('_') && name === name.toLowerCase()),
    editedThisTurn: is((by('added')?.last ?? -1) >= surroundings.turnStart),
    inCommand: is(mentions.by.has('command')),
    runs: log2(by('command')?.count ?? 0),
    byUser: is(mentions.by.has('user')),
    byAgent: is(mentions.by.has('agent')),
    byTool: is(mentions.by.has('output') || mentions.by.has('content') || mentions.by.has('hits')),
  };
}

/** The whole part of the binary logarithm of n + 1. */
function log2(n: number): number {
  return n <= 0 ? 0 : 31 - Math.clz32(n + 1);
}
