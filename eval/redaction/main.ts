import { randomInt } from 'node:crypto';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openSink } from '../../src/platform/streams.ts';
import { createOutput } from '../../src/surfaces/cli/output.ts';
import type { LabelledSecret } from '../../test/fixtures/secrets/write-secrets.ts';
import { listTranscripts, readTranscript } from '../corpus/corpus.ts';
import { countRedactions, startTally } from './count.ts';
import { measureCuts, measureNamed, measurePlacements } from './recall.ts';
import { compareSpeed } from './speed.ts';

const HELP = `Plants secrets of all kinds in all surroundings, filled at random, and counts what redaction leaves of them.
With a corpus, counts what it takes out of transcripts that hold no secrets, or whose secrets are known.

  npm run eval:redaction -- [--seed N] [--tries N] [--show]
  npm run eval:redaction -- --corpus DIR [--show] [--against CHECKOUT]

  --seed N             the same secrets again
  --tries N            how many values under names (20000)
  --corpus DIR         transcripts (*.jsonl or *.jsonl.gz)
  --against CHECKOUT   how fast that source redacts the same transcripts, in turn with this one
  --show               each secret that is left, or each place with what stands around it
`;

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    corpus: { type: 'string' },
    against: { type: 'string' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    tries: { type: 'string', default: '20000' },
    show: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const out = createOutput(openSink(1), false);
if (values.help) out.block(HELP);
else if (values.corpus === undefined) recall(Number(values.seed), Number(values.tries));
else if (values.against === undefined) measure(resolve(values.corpus), values.show);
else {
  const readClock = (): number => process.cpuUsage().user;
  await compareSpeed(resolve(values.corpus), { print: (line) => out.line(line), readClock });
}

function recall(seed: number, tries: number): void {
  out.line(`seed ${seed}`);
  const { secrets, recall: placed } = measurePlacements(seed);
  const kinds = new Set(secrets.map(({ kind }) => kind));
  const forms = new Set(secrets.map(({ form }) => form));
  out.line(`${secrets.length} placements of ${kinds.size} kinds in ${forms.size} surroundings`);
  const report = (what: string, { tried, left }: { tried: number; left: readonly LabelledSecret[] }): void => {
    out.line(`${what}: ${tried - left.length} of ${tried} redacted, ${((tried - left.length) / tried).toFixed(5)}`);
    if (values.show)
      for (const { kind, form, text } of left) out.line(`  ${kind}, ${form}: ${JSON.stringify(text.slice(-700))}`);
  };
  report('placements', placed);
  worst('kind', secrets, placed.left, ({ kind }) => kind);
  worst('surroundings', secrets, placed.left, ({ form }) => form);
  report('cut', measureCuts(seed));
  const named = measureNamed(seed, tries);
  report('named', named);
  for (const of of ['kind', 'form'] as const) {
    const counts = new Map<string, number>();
    for (const secret of named.left) counts.set(secret[of], (counts.get(secret[of]) ?? 0) + 1);
    for (const [name, count] of [...counts].sort(([, a], [, b]) => b - a).slice(0, 12))
      out.line(`  ${name}: ${count} left`);
  }
}

/** Names those of which more than one in two hundred is left. */
function worst(
  what: string,
  all: readonly LabelledSecret[],
  left: readonly LabelledSecret[],
  of: (secret: LabelledSecret) => string,
): void {
  const count = (secrets: readonly LabelledSecret[], name: string): number =>
    secrets.filter((secret) => of(secret) === name).length;
  const names = [...new Set(all.map(of))];
  const shares = names.map((name) => [name, 1 - count(left, name) / count(all, name)] as const);
  const low = shares.filter(([, share]) => share < 0.995).sort(([, a], [, b]) => a - b);
  out.line(`by ${what}: ${names.length - low.length} of ${names.length} at .995 or more`);
  for (const [name, share] of low.slice(0, 40)) out.line(`  ${name}: ${share.toFixed(3)}`);
}

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
