import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dim, yellow } from '../src/app/describe/styled-text.ts';
import { EXIT, type ExitStatus, HandoverError } from '../src/errors.ts';
import type { Machine } from '../src/platform/machine.ts';
import type { Output } from '../src/surfaces/cli/output.ts';
import { reportFailure } from '../src/surfaces/cli/report-failure.ts';
import { type CorpusSession, openCorpus, selectLabelled } from './corpus/corpus.ts';
import { nameCut, type Result } from './evaluate.ts';
import { readLabels } from './labels/labels.ts';
import { HELP, type Options, parseOptions } from './options.ts';
import { aggregate, groupBy } from './report/aggregate.ts';
import { toDocument, toRow } from './report/document.ts';
import { printMisses } from './report/misses.ts';
import { countOf, printTables } from './report/table.ts';
import { evaluateTogether } from './together.ts';

export interface Surroundings {
  machine: Machine;
  processors: number;
  out: Output;
  err: Output;
}

const HOW_TO_LABEL = [
  '',
  'told, claims and stale are not measured without labels: --labels FILE (how to write them: docs/evaluation.md)',
];

/** Runs an evaluation and reports it. Nothing is thrown: every failure is reported here. */
export async function runEvaluation(args: readonly string[], surroundings: Surroundings): Promise<ExitStatus> {
  const { machine, processors, out, err } = surroundings;
  try {
    const options = parseOptions(args, { cwd: machine.cwd, processors });
    if (options === null) out.block(HELP);
    else await evaluateAndReport(options, surroundings);
    return EXIT.done;
  } catch (error) {
    return reportFailure(error, err, args.includes('--json'));
  }
}

async function evaluateAndReport(options: Options, { machine, out, err }: Surroundings): Promise<void> {
  const started = machine.clock.now();
  const sessions = chooseSessions(options);
  const results = await withFolder((folder) => evaluateTogether(sessions, { ...options, folder }, options.jobs));
  if (results.length === 0) throw describeNoCuts(sessions, options);
  const standings = aggregate(results);
  if (options.asJson) out.json(toDocument(standings, options.showMisses ? results : []));
  else {
    for (const line of printTables(standings)) out.line(line);
    if (options.labels === null) for (const line of HOW_TO_LABEL) out.line(line);
    if (options.showMisses) for (const line of printAllMisses(results, options.top)) out.line(line);
  }
  if (options.rows !== null) writeFileSync(options.rows, `${JSON.stringify(results.map(toRow))}\n`);
  if (options.briefs !== null) writeBriefs(results, options.briefs);
  for (const { file, cut, arm, budget, failure } of standings.flatMap(({ failures }) => failures))
    err.line(yellow('failed: '), `${arm} at ${budget} tokens on ${file}, row ${cut}: ${failure}`);
  const seconds = ((machine.clock.now() - started) / 1000).toFixed(1);
  err.line(dim(`${countOf(results.length, 'brief')} from ${countOf(sessions.length, 'session')} in ${seconds} s`));
}

function chooseSessions({ corpus, labels, only }: Options): CorpusSession[] {
  const sessions = openCorpus(corpus);
  const chosen = labels === null ? sessions : selectLabelled(sessions, readLabels(labels));
  return chosen.filter(({ file }) => file.includes(only));
}

async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'handover-eval-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function printAllMisses(results: readonly Result[], top: number): string[] {
  return [...groupBy(results, ({ arm, budget }) => `${arm} at ${budget} tokens`)].flatMap(([name, group]) => [
    '',
    `what ${name} missed`,
    ...printMisses(group, top),
  ]);
}

function writeBriefs(results: readonly Result[], folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const result of results) {
    const name = `${nameCut(result).replace(':', '-')}.${result.arm}.${result.budget}.md`;
    writeFileSync(join(folder, name), result.brief);
  }
}

function describeNoCuts(sessions: readonly CorpusSession[], { corpus, only }: Options): HandoverError {
  if (sessions.length === 0) {
    return new HandoverError('HANDOVER_NOT_FOUND', `no session in ${corpus} has "${only}" in its name`, {
      hint: 'Leave --only away to take them all',
    });
  }
  return new HandoverError(
    'HANDOVER_NOT_FOUND',
    `none of the ${countOf(sessions.length, 'session')} in ${corpus} can be cut`,
    {
      hint: 'Take sessions that were compacted, with 20 tool calls before and 10 after, or list them in index.json',
    },
  );
}
