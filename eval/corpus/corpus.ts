import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import * as v from 'valibot';
import { HandoverError } from '../../src/errors.ts';
import { compareCodeUnits } from '../../src/model/hash.ts';
import { parseJson } from '../../src/model/json.ts';
import { isFolder, pathExists } from '../../src/platform/folders.ts';
import { chooseCuts, listCompactions } from './cuts.ts';
import { parseTranscript, type Transcript } from './transcript.ts';

/** A session to measure on. */
export interface CorpusSession {
  /** Its transcript, seen from the corpus. */
  file: string;
  repository: string;
  /** Which of its compactions count: those at these rows, all, or those with enough work around them. */
  cuts: readonly number[] | 'all' | 'busy';
}

const Count = v.pipe(v.number(), v.integer(), v.minValue(0));
const Entry = v.object({
  file: v.pipe(v.string(), v.minLength(1)),
  repo: v.optional(v.string()),
  cut: v.optional(Count),
});
/** `sessions` lists sessions with all their compactions, `claude_code` single cuts of them. */
const Index = v.union([v.object({ claude_code: v.array(Entry) }), v.object({ sessions: v.array(Entry) })]);

const TRANSCRIPT = /\.jsonl(?:\.gz)?$/;

/** The sessions that a folder holds: those that its index.json names or, without one, all transcripts below it. */
export function openCorpus(folder: string): CorpusSession[] {
  if (!isFolder(folder)) {
    throw new HandoverError('HANDOVER_NOT_FOUND', `there is no folder ${folder}`, {
      hint: 'Give the folder with the transcripts: --corpus DIR',
    });
  }
  const index = join(folder, 'index.json');
  const sessions = pathExists(index) ? readIndex(index) : listTranscripts(folder);
  if (sessions.length > 0) return sessions;
  throw new HandoverError('HANDOVER_NOT_FOUND', `there is no transcript in ${folder}`, {
    hint: 'Put *.jsonl transcripts of Claude Code there; its own are in ~/.claude/projects',
  });
}

function readIndex(path: string): CorpusSession[] {
  const parsed = v.safeParse(Index, parseJson(readFileSync(path, 'utf8'), path));
  if (!parsed.success) {
    throw new HandoverError('HANDOVER_INPUT_INVALID', `${path} does not list sessions`, {
      hint: 'Write {"sessions":[{"file":"one.jsonl","repo":"shop"}]}, or remove it to take every *.jsonl',
    });
  }
  const entries = 'sessions' in parsed.output ? parsed.output.sessions : parsed.output.claude_code;
  const sessions = new Map<string, CorpusSession & { cuts: number[] | 'all' }>();
  for (const { file, repo, cut } of entries) {
    const session = sessions.get(file) ?? { file, repository: repo ?? nameRepository(file), cuts: 'all' };
    if (cut !== undefined) session.cuts = session.cuts === 'all' ? [cut] : [...session.cuts, cut];
    sessions.set(file, session);
  }
  return [...sessions.values()].sort((a, b) => compareCodeUnits(a.file, b.file));
}

/** All transcripts below a folder, whatever an index names. */
export function listTranscripts(folder: string): CorpusSession[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => TRANSCRIPT.test(file))
    .sort(compareCodeUnits)
    .map((file) => ({ file, repository: nameRepository(file), cuts: 'busy' }));
}

function nameRepository(file: string): string {
  const folder = basename(dirname(file));
  return folder === '.' || folder === '' ? 'unnamed' : folder;
}

export function readTranscript(folder: string, { file }: CorpusSession): Transcript {
  const path = join(folder, file);
  if (!pathExists(path)) {
    throw new HandoverError('HANDOVER_NOT_FOUND', `there is no ${path}, which index.json names`, {
      hint: 'Correct the name in index.json, or remove index.json to take every *.jsonl',
    });
  }
  const bytes = readFileSync(path);
  return parseTranscript(file.endsWith('.gz') ? gunzipSync(bytes) : bytes);
}

export function listCuts(session: CorpusSession, transcript: Transcript): readonly number[] {
  if (session.cuts === 'all') return listCompactions(transcript);
  return session.cuts === 'busy' ? chooseCuts(transcript) : session.cuts;
}
