import { parseArgs } from 'node:util';
import { HandoverError } from '../../src/errors.ts';
import { makeRandom, mutate } from './mutate.ts';
import { openTargets, type Target } from './targets.ts';

const HELP = `npm run fuzz [-- --count N] [-- --seed N] [-- --only NAME]

Feeds changed bundles to the reader and the importer, and changed texts with secrets to the redactor. Each input is refused
with a coded error or read; anything else, an input that takes a second, or a file that was written, is a failure. The same seed gives the same inputs.
`;

const { values: flags } = parseArgs({
  options: {
    count: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

/** Most inputs take a tenth of a millisecond. */
const LONGEST_MS = 1000;

if (flags.help) process.stdout.write(HELP);
else process.exitCode = await fuzz(Number(flags.count), Number(flags.seed));

async function fuzz(count: number, seed: number): Promise<number> {
  const { targets, close } = await openTargets();
  const chosen = targets.filter(({ name }) => flags.only === undefined || name === flags.only);
  let failures = 0;
  for (const target of chosen) failures += await fuzzTarget(target, { count: Math.ceil(count / chosen.length), seed });
  const written = close();
  for (const path of written) process.stdout.write(`written: ${path}\n`);
  return failures + written.length === 0 ? 0 : 1;
}

async function fuzzTarget(target: Target, { count, seed }: { count: number; seed: number }): Promise<number> {
  const random = makeRandom(seed);
  const started = performance.now();
  let [taken, slowest, failures] = [0, 0, 0];
  for (let at = 0; at < count; at++) {
    const input = target.finish(mutate(target.seeds, random));
    const begun = performance.now();
    const outcome = isPolluted() ? 'the prototype of all objects was changed' : await judge(target, input);
    const ms = performance.now() - begun;
    slowest = Math.max(slowest, ms);
    if (outcome === 'taken') taken++;
    if (outcome === 'taken' || (outcome === 'refused' && ms <= LONGEST_MS)) continue;
    failures++;
    const wrong = outcome === 'refused' ? `took ${Math.round(ms)} ms` : outcome;
    process.stdout.write(`${target.name} ${at}: ${wrong}\n  ${input.subarray(0, 4096).toString('base64')}\n`);
  }
  const seconds = (performance.now() - started) / 1000;
  const megabytes = Math.round(process.resourceUsage().maxRSS / 1024);
  process.stdout.write(
    `${target.name}: ${count} inputs, ${taken} taken, ${failures} failures, slowest ${slowest.toFixed(0)} ms, ${seconds.toFixed(1)} s, peak ${megabytes} MB\n`,
  );
  return failures;
}

function isPolluted(): boolean {
  return Object.keys(Object.prototype).length > 0;
}

/** `taken`, `refused`, or what went wrong. */
async function judge(target: Target, input: Buffer): Promise<string> {
  try {
    await target.read(input);
    return 'taken';
  } catch (error) {
    if (error instanceof HandoverError) return 'refused';
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}
