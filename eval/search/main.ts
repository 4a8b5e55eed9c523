import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { describeMachine } from '../../src/platform/machine.ts';
import { openSink } from '../../src/platform/streams.ts';
import { openStore } from '../../src/store/store.ts';
import { createOutput } from '../../src/surfaces/cli/output.ts';
import { keepFacts, makeNoise, measureSearch } from './measure.ts';
import { readLabelled } from './queries.ts';
import { formatScores, formatSessionScores } from './report.ts';
import { measureSessions, placeNoise, placeSessions, readSessionQueries } from './sessions.ts';

/*
 * npm run eval:search                                      facts
 * npm run eval:search -- --sessions [--misses]             told sessions, after npm run sessions
 * npm run eval:search -- --sessions --corpus DIR --queries FILE
 */

const NOISE = 2000;

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    sessions: { type: 'boolean', default: false },
    misses: { type: 'boolean', default: false },
    corpus: { type: 'string' },
    queries: { type: 'string' },
  },
});
const out = createOutput(openSink(1), false);
const folder = mkdtempSync(join(tmpdir(), 'handover-eval-search-'));
try {
  const env = { ...process.env, HOME: folder, HANDOVER_HOME: join(folder, 'store') };
  const store = openStore(describeMachine(env, folder));
  if (values.sessions) {
    const told = placeSessions(folder, resolve(values.corpus ?? 'test/fixtures/sessions'));
    if (told.length === 0) throw new Error('there are no sessions; write the told ones first: npm run sessions');
    if (values.corpus === undefined) placeNoise(folder, told);
    const queries = readSessionQueries(resolve(values.queries ?? 'eval/search/session-queries.txt'));
    const { scores, misses } = await measureSessions(store, queries);
    out.block(formatSessionScores(scores));
    if (values.misses)
      for (const { query, place, found } of misses)
        out.line(`${query.sort}: ${query.text} (${query.session} at ${place + 1}) ${found.slice(0, 3).join(' ')}`);
  } else {
    const labelled = readLabelled(resolve('eval/search/queries.txt'));
    keepFacts(store, [...labelled.facts, ...makeNoise(labelled.facts, NOISE)]);
    out.block(formatScores(await measureSearch(store, labelled)));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
