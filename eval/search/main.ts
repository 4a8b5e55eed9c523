import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describeMachine } from '../../src/platform/machine.ts';
import { openSink } from '../../src/platform/streams.ts';
import { openStore } from '../../src/store/store.ts';
import { createOutput } from '../../src/surfaces/cli/output.ts';
import { keepFacts, makeNoise, measureSearch } from './measure.ts';
import { readLabelled } from './queries.ts';
import { formatScores } from './report.ts';

const NOISE = 2000;

const folder = mkdtempSync(join(tmpdir(), 'handover-eval-search-'));
try {
  const labelled = readLabelled(resolve('eval/search/queries.txt'));
  const machine = describeMachine({ ...process.env, HANDOVER_HOME: join(folder, 'store') }, folder);
  const store = openStore(machine);
  keepFacts(store, [...labelled.facts, ...makeNoise(labelled.facts, NOISE)]);
  const scores = await measureSearch(store, labelled);
  createOutput(openSink(1), false).block(formatScores(scores));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
