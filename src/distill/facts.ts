import { computeFactId, type Fact, type FactKind, MAX_FACT_TEXT_BYTES } from '../model/fact.ts';
import { baseName } from '../model/paths.ts';
import { cleanText, cutToBytes, revealControls } from '../model/text.ts';
import { type Mentions, NAME_KINDS, type NameKind, openNameMaps } from './name-index.ts';
import { findCurrentPrompt, type SessionLog } from './session-log.ts';

interface FactParts extends Pick<Fact, 'trust' | 'origin'> {
  text: string;
  line: number;
  /** How many calls before the end. */
  age: number;
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
  const shown = kind === 'file' ? revealControls(parts.text) : cleanText(parts.text);
  const text = cutToBytes(shown.trim(), MAX_FACT_TEXT_BYTES);
  if (text === '') return null;
  return {
    id: computeFactId(kind, parts.subject ?? text),
    kind,
    text,
    ...(parts.status === undefined ? {} : { status: parts.status }),
    trust: parts.trust,
    origin: parts.origin,
    sources: [{ line: parts.line }],
    detail: { ...cleanDetail(parts.detail ?? {}), age: parts.age },
  };
}

/** Texts in details are from outside as well. */
function cleanDetail(detail: Record<string, unknown>): Record<string, unknown> {
  const clean = (value: unknown): unknown => {
    if (typeof value === 'string') return cleanText(value);
    return Array.isArray(value) ? value.map(clean) : value;
  };
  return Object.fromEntries(Object.entries(detail).map(([name, value]) => [name, clean(value)]));
}

/**
 * How much a later session is likely to gain from being shown a file or a command: a small linear model. The score of a name
 * is the sum of integer features times integer weights, in tenths of a logit.
 */
type ScoredName = Surroundings & { name: string; mentions: Mentions; log: SessionLog };

const FEATURES = {
  mentions: ({ mentions }) => log2(mentions.count),
  age: ({ mentions, log }) => log2(log.calls - mentions.last),
  edited: ({ mentions }) => Number(mentions.by.has('edited')),
  opened: ({ mentions }) => Number(mentions.by.has('opened')),
  sibling: ({ name, recentFiles }) => Number(recentFiles.has(stripTestMark(name))),
  located: ({ name, log }) => Number(log.index.paths.has(name)),
  inTask: ({ name, openTasks }) => Number(openTasks.includes(name)),
  inLastPrompt: ({ name, lastPrompt }) => Number(lastPrompt.includes(name)),
  inLastReplies: ({ name, lastReplies }) => Number(lastReplies.includes(name)),
  inGitStatus: ({ name, gitStatus }) => Number(gitStatus.includes(name)),
  listing: ({ name, log }) => Math.min(5, log2((log.index.smallestListing.get(name) ?? 1) - 1)),
  runs: ({ mentions }) => log2(mentions.by.get('command')?.count ?? 0),
  byUser: ({ mentions }) => Number(mentions.by.has('user')),
  byAgent: ({ mentions }) => Number(mentions.by.has('agent')),
} as const satisfies Record<string, (scored: ScoredName) => number>;

type Weights = Partial<Record<keyof typeof FEATURES, number>> & { bias: number };

const MODELS = {
  /** That a file is needed again. */
  file: buildModel({
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
  /** That a command is run again. */
  stem: buildModel({ bias: -24, runs: 12, age: -4, byAgent: 5, byUser: 7 }),
} satisfies Record<NameKind, unknown>;

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

/** By kind and name, the probability in thousandths that it is needed again. */
export type Relevance = Record<NameKind, Map<string, number>>;

export function rateNames(log: SessionLog): Relevance {
  const relevance = openNameMaps<number>();
  const surroundings = describeSurroundings(log);
  for (const kind of NAME_KINDS)
    for (const [name, mentions] of log.index.names[kind])
      relevance[kind].set(name, Math.round(1000 * MODELS[kind]({ name, mentions, log, ...surroundings })));
  return relevance;
}

/** The texts and files that show what is being worked on. */
interface Surroundings {
  openTasks: string;
  lastPrompt: string;
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
