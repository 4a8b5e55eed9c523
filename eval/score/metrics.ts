/** Names that must stand on lines of substance. */
export const NAME_METRICS = [
  'nextEdit',
  'nextRead',
  'futEnt',
  'sum.file',
  'sum.ident',
  'sum.error',
  'sum.ref',
  'sum.sym',
  'secFiles',
  'secErr',
  'editedAll',
] as const;
export type NameMetric = (typeof NAME_METRICS)[number];

export const COMMAND_METRICS = ['nextCmd', 'sum.cmd'] as const;
export type CommandMetric = (typeof COMMAND_METRICS)[number];

/** Sections of the summary, by the words that say what they are about. */
export const PROSE_METRICS = ['secGoal', 'secPending', 'secCurrent', 'secNext'] as const;
export type ProseMetric = (typeof PROSE_METRICS)[number];

/** Each is the mean of the parts that a cut has. */
export const FUT_PARTS = ['nextEdit', 'nextRead', 'nextCmd', 'futEnt'] as const;
export const SUM_PARTS = ['sum.file', 'sum.ident', 'sum.error', 'sum.ref', 'sum.cmd', 'sum.sym'] as const;

/** All that is measured, in the order of the table. */
export const METRICS = [
  'tokens',
  'FUT',
  'nextEdit',
  'nextRead',
  'nextCmd',
  'futEnt',
  'SUM',
  'sum.file',
  'sum.ident',
  'sum.error',
  'sum.ref',
  'sum.cmd',
  'sum.sym',
  'secFiles',
  'secErr',
  'secGoal',
  'secPending',
  'secCurrent',
  'secNext',
  'userMsg',
  'lastUser',
  'firstUser',
  'todo',
  'editedAll',
  'rules',
  'openErr',
  'filePrec',
  'useful',
  'ground',
  'stale',
] as const;
export type Metric = (typeof METRICS)[number];

/** A metric for which a cut has nothing to measure is not there, as `todo` where no task was open. */
export type Score = ReadonlyMap<Metric, number>;

/** A value, and what speaks against a better one: what is missing or, for precision, what is too much. */
export interface Measured {
  value: number;
  missed: readonly string[];
}
