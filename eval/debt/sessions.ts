import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { startReadStats } from '../../src/agents/agent.ts';
import { inspectTranscript } from '../../src/agents/find-session.ts';
import { findAgain, type Successor } from '../../src/app/debt/find-again.ts';
import type { Event } from '../../src/model/event.ts';
import { compareCodeUnits } from '../../src/model/hash.ts';
import { listTranscripts } from '../corpus/corpus.ts';

interface Told {
  session: string;
  cwd: string | null;
  events: Event[];
  from: string;
  to: string;
}

export interface Measured {
  session: string;
  /** The session that it follows: the last one in the same folder that was over when it began. */
  previous: string | null;
  parts: Successor[];
}

/** What the sessions of a corpus found out again. Packed transcripts are unpacked into `folder`. */
export async function measureCorpus(corpus: string, folder: string): Promise<Measured[]> {
  const told: Told[] = [];
  for (const { file } of listTranscripts(corpus)) told.push(await readSession(join(corpus, file), folder));
  return told.map(({ session, cwd, events, from }): Measured => {
    const previous = told
      .filter((other) => other.cwd === cwd && other.to < from)
      .sort((a, b) => compareCodeUnits(b.to, a.to))[0];
    const parts = findAgain({ previous: previous?.events ?? [], own: events, rejected: [] });
    return { session, previous: previous?.session ?? null, parts };
  });
}

async function readSession(path: string, folder: string): Promise<Told> {
  const isPacked = path.endsWith('.gz');
  const plain = isPacked ? join(folder, basename(path, '.gz')) : path;
  if (isPacked) writeFileSync(plain, gunzipSync(readFileSync(path)));
  const { agent, session } = await inspectTranscript(plain);
  const events = [...agent.readEvents(session, startReadStats())];
  const times = events.flatMap(({ at }) => at ?? []);
  const cwd = events.find((event) => event.cwd !== undefined)?.cwd ?? session.cwd;
  return { session: session.id, cwd, events, from: times[0] ?? '', to: times.at(-1) ?? '' };
}
