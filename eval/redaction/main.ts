import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openSink } from '../../src/platform/streams.ts';
import { createOutput } from '../../src/surfaces/cli/output.ts';
import { listTranscripts, readTranscript } from '../corpus/corpus.ts';
import { countRedactions, startTally } from './count.ts';

const HELP = `Counts what redaction takes out of transcripts that hold no secrets, or whose secrets are known.

  npm run eval:redaction -- --corpus DIR [--show]

  --corpus DIR   transcripts (*.jsonl or *.jsonl.gz)
  --show         each place with what stands around it, to be judged by eye
`;

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    corpus: { type: 'string' },
    show: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const out = createOutput(openSink(1), false);
if (values.help || values.corpus === undefined) out.block(HELP);
else measure(resolve(values.corpus), values.show);

function measure(folder: string, shows: boolean): void {
  const tally = startTally();
  for (const session of listTranscripts(folder)) countRedactions(readTranscript(folder, session).rows, tally);
  const kinds = [...tally.places].sort(([, a], [, b]) => b.length - a.length);
  let total = 0;
  for (const [kind, places] of kinds) {
    total += places.length;
    out.line(`${String(places.length).padStart(6)}  ${kind}, ${new Set(places).size} different`);
    if (shows)
      for (const place of new Set(places))
        out.line(`${String(places.filter((other) => other === place).length).padStart(12)}  ${place}`);
  }
  const per = (count: number): string => ((total / count) * 1000).toFixed(3);
  out.line(
    `${total} places in ${tally.rows} rows and ${tally.lines} lines of text: ${per(tally.rows)} per 1,000 rows, ${per(tally.lines)} per 1,000 lines`,
  );
}
