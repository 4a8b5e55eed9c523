import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { DEBT_KINDS } from '../../src/app/debt/find-again.ts';
import { findMedian } from '../../src/app/debt/statistics.ts';
import { openSink } from '../../src/platform/streams.ts';
import { createOutput } from '../../src/surfaces/cli/output.ts';
import { readLabels, scoreLabels } from './labels.ts';
import { measureCorpus } from './sessions.ts';

const HELP = `Counts what the sessions of a corpus found out again, and how much of that is so by labels.

  npm run eval -- --debt --corpus DIR [--labels FILE] [--show] [--json]

  --corpus DIR   transcripts (*.jsonl or *.jsonl.gz), of any agent
  --labels FILE  what a person found when looking at what was counted (test/eval/debt-labels.json)
  --show         each thing that was counted, by session and line
  --json         the figures in JSON
`;

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    debt: { type: 'boolean' },
    corpus: { type: 'string' },
    labels: { type: 'string', default: 'test/eval/debt-labels.json' },
    show: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const out = createOutput(openSink(1), false);
if (values.help || values.corpus === undefined) {
  out.block(HELP);
  if (!values.help) process.exitCode = 2;
} else await report(resolve(values.corpus));

async function report(corpus: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'handover-eval-debt-'));
  try {
    const measured = await measureCorpus(corpus, folder);
    const parts = measured.flatMap(({ session, parts: own }) => own.map((part) => ({ session, ...part })));
    const counted = parts.flatMap(({ session, part, found }) => found.map((item) => ({ ...item, session, part })));
    const edits = parts.flatMap(({ first_edit }) => first_edit ?? []);
    const figures = {
      sessions: measured.length,
      following: measured.filter(({ previous }) => previous !== null).length,
      successors: parts.length,
      with_debt: parts.filter(({ found }) => found.length > 0).length,
      found: Object.fromEntries(DEBT_KINDS.map((kind) => [kind, counted.filter((one) => one.kind === kind).length])),
      calls_before_first_edit: findMedian(edits.map(({ calls }) => calls)),
      minutes_before_first_edit: findMedian(edits.map(({ minutes }) => minutes)),
      labels: scoreLabels(
        readLabels(resolve(values.labels)),
        measured.map(({ session }) => session),
        counted,
      ),
    };
    if (values.json) return out.json(figures);
    out.line(
      `${figures.sessions} sessions, ${figures.following} of which follow another; ${figures.successors} successors`,
    );
    out.line(`${figures.with_debt} successors found something out again`);
    for (const { kind, right, wrong, unlabelled, lost } of figures.labels) {
      const share = right + wrong === 0 ? '-' : (right / (right + wrong)).toFixed(2);
      const precision = `precision ${share} (${right} right, ${wrong} wrong, ${unlabelled} unlabelled, ${lost} lost)`;
      out.line(`  ${kind.padEnd(10)}${String(figures.found[kind]).padStart(4)}  ${precision}`);
    }
    const [calls, minutes] = [figures.calls_before_first_edit, figures.minutes_before_first_edit];
    out.line(
      `before the first edit: ${calls?.median} calls (${calls?.low} to ${calls?.high}), ${minutes?.median} minutes`,
    );
    if (values.show)
      for (const { session, part, kind, line, text } of counted)
        out.line(`${session} ${part} ${kind} ${line}  ${text}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
