import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { parseCount } from '../src/app/parse.ts';
import { HandoverError } from '../src/errors.ts';
import { DEFAULT_BUDGET, SMALLEST_BUDGET } from '../src/handover/brief/compile.ts';
import { cleanLine } from '../src/model/text.ts';
import { ARM_NAMES, type ArmName, isArmName, USUAL_ARMS } from './arms/table.ts';

export interface Options {
  corpus: string;
  /** The file with labels. */
  labels: string | null;
  budgets: readonly number[];
  arms: readonly ArmName[];
  /** Only sessions whose file name has this in it. */
  only: string;
  asJson: boolean;
  showMisses: boolean;
  top: number;
  /** Where to write what was measured at each cut; null for nowhere. */
  rows: string | null;
  /** The folder for the briefs themselves. */
  briefs: string | null;
  jobs: number;
}

export const HELP = `Measures briefs on real sessions, at the moments at which they were compacted. No model is asked.

  npm run eval -- --corpus DIR [--budget N]… [--labels FILE] [--arm NAME]… [--misses] [--json]

  --corpus DIR   transcripts of Claude Code (*.jsonl or *.jsonl.gz), with or without an index.json
  --labels FILE  what a brief must tell at some cuts of them, as JSON: only these are measured then
  --budget N     tokens of a brief, a quarter of its bytes (${DEFAULT_BUDGET}); may be given several times
  --arm NAME     one of ${ARM_NAMES.join(', ')} (all but the last); may be given several times
  --only TEXT    only sessions whose file name has this in it
  --misses       what was not told, what is claimed and wrong, what is stale, with the cuts
  --top N        so many misses of each metric (25)
  --json         the figures in JSON, and the misses if they are asked for
  --rows FILE    what was measured at each cut, as JSON
  --briefs DIR   every brief as a file of its own
  --jobs N       so many sessions at a time (as many as there are processors)
  --help         this

What the metrics mean: docs/evaluation.md
`;

/** Null when help is asked for. */
export function parseOptions(
  args: readonly string[],
  surroundings: { cwd: string; processors: number },
): Options | null {
  const flags = parseFlags(args);
  if (flags.help) return null;
  const { corpus, labels, rows, briefs } = flags;
  if (corpus === undefined) {
    throw new HandoverError('HANDOVER_USAGE', 'which sessions to measure on is not said', {
      hint: 'Give a folder with transcripts: npm run eval -- --corpus DIR',
    });
  }
  const at = (path: string | undefined): string | null => (path === undefined ? null : resolve(surroundings.cwd, path));
  return {
    corpus: resolve(surroundings.cwd, corpus),
    labels: at(labels),
    budgets: unique((flags.budget ?? [String(DEFAULT_BUDGET)]).map((text) => parseCount(text, SMALLEST_BUDGET))),
    arms: unique((flags.arm ?? [...USUAL_ARMS]).map(requireArm)),
    only: flags.only ?? '',
    asJson: flags.json ?? false,
    showMisses: flags.misses ?? false,
    top: flags.top === undefined ? 25 : parseCount(flags.top, 1),
    rows: at(rows),
    briefs: at(briefs),
    jobs: flags.jobs === undefined ? surroundings.processors : parseCount(flags.jobs, 1),
  };
}

function parseFlags(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        corpus: { type: 'string' },
        labels: { type: 'string' },
        budget: { type: 'string', multiple: true },
        arm: { type: 'string', multiple: true },
        only: { type: 'string' },
        misses: { type: 'boolean' },
        top: { type: 'string' },
        json: { type: 'boolean' },
        rows: { type: 'string' },
        briefs: { type: 'string' },
        jobs: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new HandoverError('HANDOVER_USAGE', cause.message, {
      hint: 'See the flags: npm run eval -- --help',
      cause,
    });
  }
}

function requireArm(text: string): ArmName {
  if (isArmName(text)) return text;
  throw new HandoverError('HANDOVER_USAGE', `"${cleanLine(text)}" is not an arm`, {
    hint: `Give one of: ${ARM_NAMES.join(', ')}.`,
  });
}

function unique<T>(items: readonly T[]): T[] {
  return [...new Set(items)];
}
