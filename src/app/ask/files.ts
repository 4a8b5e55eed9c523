import { compareCodeUnits } from '../../model/hash.ts';
import { locateInProject } from '../../model/paths.ts';
import type { FactDocument } from '../../search/finder.ts';

/** How often sessions worked on a file. */
export interface FileActivity {
  /** Relative to the root of its project. */
  path: string;
  project: { id: string; name: string };
  /** All sessions, and how many of them did what. */
  sessions: number;
  created: number;
  edited: number;
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

const TOUCHES = ['created', 'edited', 'deleted', 'read'] as const;

type FileCount = FileActivity & { seen: Set<string> };

/** The files in these facts, which must come newest first; those that most sessions changed first. */
export async function countFiles(
  facts: AsyncIterable<FactDocument>,
  home: string | undefined,
): Promise<FileActivity[]> {
  const files = new Map<string, FileCount>();
  for await (const found of facts) {
    const { fact, handover } = found;
    const isCarriedOver = fact.from !== null || (fact.trust === 'declared' && fact.ref !== null);
    if (fact.kind !== 'file' || isCarriedOver) continue;
    const path = locateInProject(fact, handover, home);
    const key = `${handover.project.id}\n${path}`;
    const file = files.get(key) ?? startCount(path, found);
    files.set(key, file);
    countSession(file, found);
  }
  return [...files.values()]
    .sort(compareFiles)
    .map(({ seen: _, ...file }) => ({ ...file, agents: file.agents.sort(compareCodeUnits) }));
}

function startCount(path: string, { fact, handover }: FactDocument): FileCount {
  return {
    path,
    project: handover.project,
    sessions: 0,
    created: 0,
    edited: 0,
    deleted: 0,
    read: 0,
    named: 0,
    agents: [],
    first_at: handover.at,
    last_at: handover.at,
    last: fact.status ?? 'named',
    handover: handover.id,
    seen: new Set(),
  };
}

/** The newest handover of a session counts. */
function countSession(file: FileCount, { fact, handover }: FactDocument): void {
  file.first_at = handover.at;
  const session = handover.session === null ? handover.id : `${handover.agent}\n${handover.session}`;
  if (file.seen.has(session)) return;
  file.seen.add(session);
  file.sessions++;
  file[TOUCHES.find((touch) => touch === fact.status) ?? 'named']++;
  if (!file.agents.includes(handover.agent)) file.agents.push(handover.agent);
}

function compareFiles(a: FileActivity, b: FileActivity): number {
  const changesOf = ({ created, edited, deleted }: FileActivity): number => created + edited + deleted;
  return (
    changesOf(b) - changesOf(a) ||
    b.sessions - a.sessions ||
    compareCodeUnits(b.last_at, a.last_at) ||
    compareCodeUnits(a.path, b.path)
  );
}
