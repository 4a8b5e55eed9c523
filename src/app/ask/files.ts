import { resolve } from 'node:path';
import { compareCodeUnits } from '../../model/hash.ts';
import { locateInProject } from '../../model/paths.ts';
import { pathExists } from '../../platform/folders.ts';
import { makeProjectNames } from '../../platform/known-projects.ts';
import type { Machine } from '../../platform/machine.ts';
import { expandHome } from '../../platform/paths.ts';
import {
  authorOf,
  type FactDocument,
  type FilePage,
  type FileWorth,
  isPassedOn,
  sessionOf,
  timeOf,
} from '../../search/finder.ts';

/** How often sessions worked on a file. */
export interface FileActivity {
  /** Relative to the root of its project. */
  path: string;
  project: { id: string; name: string };
  /** All sessions, and how many of them did what. */
  sessions: number;
  created: number;
  edited: number;
  /** Committed, and no edit was seen. */
  committed: number;
  deleted: number;
  read: number;
  /** Sessions that only mentioned it, and handovers that name it. */
  named: number;
  agents: string[];
  first_at: string;
  last_at: string;
  /** What was done to it last, and the handover that says so. */
  last: string;
  handover: string;
}

/** The status of a file that no call touched. It may only look like one, so that it counts if it is there. */
const MENTIONED = 'mentioned';
const TOUCHES = ['created', 'edited', 'committed', 'deleted', 'read'] as const;

type FileCount = FileActivity & { seen: Set<string> };

/** The files in these facts, which must come newest first; those that most sessions changed first. */
export async function countFiles(
  facts: AsyncIterable<FactDocument> | Iterable<FactDocument>,
  machine: Machine,
): Promise<FileActivity[]> {
  const { home } = machine;
  const nameProject = makeProjectNames(machine);
  const known = new Map<string, boolean>();
  const exists = (path: string): boolean => {
    const isThere = known.get(path) ?? pathExists(path);
    known.set(path, isThere);
    return isThere;
  };
  const files = new Map<string, FileCount>();
  for await (const found of facts) {
    const { fact, handover } = found;
    if (fact.kind !== 'file' || isPassedOn(fact)) continue;
    const path = locateInProject(fact, handover, home);
    if (fact.status === MENTIONED && !exists(resolve(expandHome(handover.root, machine), expandHome(path, machine))))
      continue;
    const key = `${nameProject(handover.project.id)}\n${path}`;
    const file = files.get(key) ?? startCount(path, found);
    files.set(key, file);
    countSession(file, found);
  }
  return [...files.values()]
    .sort((a, b) => compareWorth(worthOf(a), worthOf(b)))
    .map(({ seen: _, ...file }) => ({ ...file, agents: file.agents.sort(compareCodeUnits) }));
}

/** The first files; `more` is how many others there are, null for some. No more facts are read than that takes. */
export async function countFirstFiles(
  pages: AsyncIterable<FilePage>,
  limit: number,
  machine: Machine,
): Promise<{ files: FileActivity[]; more: number | null }> {
  let files: FileActivity[] = [];
  for await (const { facts, rest } of pages) {
    files = [...files, ...(await countFiles(facts, machine))].sort((a, b) => compareWorth(worthOf(a), worthOf(b)));
    const last = files[limit - 1];
    const isCertain = last !== undefined && rest !== null && compareWorth(worthOf(last), rest) <= 0;
    if (isCertain && files.length > limit) return { files: files.slice(0, limit), more: null };
  }
  return { files: files.slice(0, limit), more: Math.max(0, files.length - limit) };
}

function startCount(path: string, found: FactDocument): FileCount {
  const { fact, handover } = found;
  return {
    path,
    project: handover.project,
    sessions: 0,
    created: 0,
    edited: 0,
    committed: 0,
    deleted: 0,
    read: 0,
    named: 0,
    agents: [],
    first_at: timeOf(found),
    last_at: timeOf(found),
    last: fact.status ?? 'named',
    handover: handover.id,
    seen: new Set(),
  };
}

/** The newest handover of a session counts. */
function countSession(file: FileCount, found: FactDocument): void {
  const { fact, handover } = found;
  const [at, agent, session] = [timeOf(found), authorOf(found), sessionOf(found)];
  if (at < file.first_at) file.first_at = at;
  if (at > file.last_at) Object.assign(file, { last_at: at, last: fact.status ?? 'named', handover: handover.id });
  if (file.seen.has(session)) return;
  file.seen.add(session);
  file.sessions++;
  file[TOUCHES.find((touch) => touch === fact.status) ?? 'named']++;
  if (!file.agents.includes(agent)) file.agents.push(agent);
}

function worthOf({ created, edited, committed, deleted, sessions, last_at, path }: FileActivity): FileWorth {
  return { changes: created + edited + committed + deleted, sessions, lastMs: Date.parse(last_at), path };
}

function compareWorth(a: FileWorth, b: FileWorth): number {
  return b.changes - a.changes || b.sessions - a.sessions || b.lastMs - a.lastMs || compareCodeUnits(a.path, b.path);
}
