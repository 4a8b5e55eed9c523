import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { search } from '../../src/search/search.ts';
import type { Store } from '../../src/store/store.ts';
import { Transcript } from '../../test/fixtures/agents/claude-code.ts';
import { listTranscripts } from '../corpus/corpus.ts';
import { makeChoice } from './measure.ts';

/** What somebody types who looks for a session, and which sort of typing it is. */
export interface SessionQuery {
  sort: string;
  text: string;
  /** The name of the session's file, or the beginning of it. */
  session: string;
}

/** Reads `# session`, and below it `sort: query`. */
export function readSessionQueries(path: string): SessionQuery[] {
  const queries: SessionQuery[] = [];
  let session = '';
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const [, name] = /^# (\S+)$/.exec(line) ?? [];
    const [, sort, text] = /^(\w+): (.+)$/.exec(line) ?? [];
    if (name !== undefined) session = name;
    else if (sort !== undefined && text !== undefined) queries.push({ sort, text, session });
    else if (line !== '') throw new Error(`not understood: ${line}`);
  }
  return queries;
}

const DAY_SECONDS = 86_400;
const FIRST_DAY = Date.parse('2026-01-01T00:00:00Z') / 1000;

/** Puts the transcripts below a folder where the agents keep theirs, one a day. Answers with their texts. */
export function placeSessions(home: string, folder: string): string[] {
  return listTranscripts(folder).map(({ file }, day) => {
    const bytes = readFileSync(join(folder, file));
    const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
    writeSession(home, { name: basename(file).replace(/\.gz$/, ''), text, day });
    return text;
  });
}

function writeSession(home: string, { name, text, day }: { name: string; text: string; day: number }): void {
  const isCodex = text.slice(0, 200).includes('session_meta');
  const folder = join(home, isCodex ? '.codex/sessions/2026/01/01' : '.claude/projects/-eval');
  mkdirSync(folder, { recursive: true });
  const path = join(folder, isCodex ? `rollout-2026-01-01T00-00-00-${name}` : name);
  writeFileSync(path, text);
  utimesSync(path, FIRST_DAY + day * DAY_SECONDS, FIRST_DAY + day * DAY_SECONDS);
}

const NOISE_SESSIONS = 120;
const NOISE_MESSAGES = 40;

/** Sessions that say nothing, in the plain words of those that are looked for: the same for the same ones. */
export function placeNoise(home: string, texts: readonly string[]): void {
  const words = texts.flatMap((text) => text.split(/\\n|[\s"]+/)).filter((word) => /^[a-z]{2,}$/.test(word));
  const next = makeChoice();
  const tell = (): string => Array.from({ length: 8 + next(40) }, () => words[next(words.length)]).join(' ');
  for (let day = 0; day < NOISE_SESSIONS; day++) {
    const t = new Transcript({ sessionId: `00000000-0000-4000-8000-${String(day).padStart(12, '0')}`, cwd: '/noise' });
    for (let at = 0; at < NOISE_MESSAGES; at++) at % 2 === 0 ? t.human(tell()) : t.say(tell());
    writeSession(home, { name: `noise-${day}.jsonl`, text: t.text, day });
  }
}

export interface SessionScore {
  queries: number;
  /** The shares of queries whose session is the first hit, and among the first five. */
  first: number;
  five: number;
}

export interface SessionScores {
  /** By sort of query; `all` is over all of them. */
  scores: Map<string, SessionScore>;
  misses: { query: SessionQuery; place: number; found: string[] }[];
}

const LOOKED_AT = 10;

export async function measureSessions(store: Store, queries: readonly SessionQuery[]): Promise<SessionScores> {
  const asked: SessionScores['misses'] = [];
  for (const query of queries) {
    const { hits } = await search({ store }, { text: query.text, sessions: true, limit: LOOKED_AT });
    const found = hits.map(({ from }) => basename(from.transcript ?? '').replace(/^rollout-[-T0-9]{20}/, ''));
    asked.push({ query, found, place: found.findIndex((name) => name.startsWith(query.session)) });
  }
  const sorts = [...new Set(queries.map(({ sort }) => sort))];
  const groups = [...sorts.map((sort) => asked.filter(({ query }) => query.sort === sort)), asked];
  return {
    scores: new Map(groups.map((group, at) => [sorts[at] ?? 'all', scorePlaces(group.map(({ place }) => place))])),
    misses: asked.filter(({ place }) => place !== 0),
  };
}

function scorePlaces(places: readonly number[]): SessionScore {
  const share = (most: number): number =>
    places.filter((place) => place >= 0 && place < most).length / Math.max(1, places.length);
  return { queries: places.length, first: share(1), five: share(5) };
}
