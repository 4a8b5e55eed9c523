import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import * as v from 'valibot';
import { HandoverError } from '../../src/errors.ts';
import { compareCodeUnits } from '../../src/model/hash.ts';
import { parseJson } from '../../src/model/json.ts';
import { isFolder, pathExists } from '../../src/platform/folders.ts';
import type { LabelledCut, Labels } from '../labels/labels.ts';
import { chooseCuts, listCompactions } from './cuts.ts';
import { parseTranscript, type Transcript } from './transcript.ts';

/** A session to measure on. */
export interface CorpusSession {
  /** Its transcript, seen from the corpus. */
  file: string;
  repository: string;
  /** Which of its compactions count: those at these rows, all, or those with enough work around them. */
  cuts: readonly number[] | 'all' | 'busy';
  /** By the cut. A cut with labels may be anywhere. */
  labels: ReadonlyMap<number, Labels>;
}

const NO_LABELS: CorpusSession['labels'] = new Map();

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

type Indexed = CorpusSession & { cuts: number[] | 'all' };

function readIndex(path: string): CorpusSession[] {
  const parsed = v.safeParse(Index, parseJson(readFileSync(path, 'utf8'), path));
  if (!parsed.success) {
    throw new HandoverError('HANDOVER_INPUT_INVALID', `${path} does not list sessions`, {
      hint: 'Write {"sessions":[{"file":"one.jsonl","repo":"shop"}]}, or remove it to take every *.jsonl',
    });
  }
  const entries = 'sessions' in parsed.output ? parsed.output.sessions : parsed.output.claude_code;
  const sessions = new Map<string, Indexed>();
  for (const { file, repo, cut } of entries) {
    const session: Indexed = sessions.get(file) ?? {
      file,
      repository: repo ?? nameRepository(file),
      cuts: 'all',
      labels: NO_LABELS,
    };
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
    .map((file) => ({ file, repository: nameRepository(file), cuts: 'busy', labels: NO_LABELS }));
}

function nameRepository(file: string): string {
  const folder = basename(dirname(file));
  return folder === '.' || folder === '' ? 'unnamed' : folder;
}

export function readTranscript(folder: string, { file }: CorpusSession): Transcript {
  const path = join(folder, file);
  if (!pathExists(path)) {
    throw new HandoverError('HANDOVER_NOT_FOUND', `there is no ${path}, which is listed`, {
      hint: 'Correct the name in index.json or in the labels; without index.json every *.jsonl is taken',
    });
  }
  const bytes = readFileSync(path);
  return parseTranscript(file.endsWith('.gz') ? gunzipSync(bytes) : bytes);
}

/** The sessions that have labels, each at its labelled cuts only. */
export function selectLabelled(sessions: readonly CorpusSession[], entries: readonly LabelledCut[]): CorpusSession[] {
  const files = [...new Set(entries.map(({ file }) => file))];
  return files.map((file) => {
    const labels = new Map(
      entries.filter((entry) => entry.file === file).map((entry) => [entry.cut, entry.labels] as const),
    );
    const repository = sessions.find((session) => session.file === file)?.repository ?? nameRepository(file);
    return { file, repository, cuts: [...labels.keys()], labels };
  });
}

export function listCuts(session: CorpusSession, transcript: Transcript): readonly number[] {
  if (session.cuts === 'all') return listCompactions(transcript);
  return session.cuts === 'busy' ? chooseCuts(transcript) : session.cuts;
}
