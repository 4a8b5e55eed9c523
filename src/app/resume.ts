import { HandoverError } from '../errors.ts';
import { BYTES_PER_TOKEN } from '../handover/brief/block.ts';
import { type Brief, type BriefOptions, compileBrief, SMALLEST_BUDGET } from '../handover/brief/compile.ts';
import type { Reader } from '../handover/brief/reader.ts';
import { findChanges } from '../handover/changes-since.ts';
import { printMemory, readMemoryPages } from '../memory/briefing.ts';
import { findUsualPause } from '../memory/runs/pause-guard.ts';
import { findMemoryDir } from '../memory/runs/run-config.ts';
import type { Handover } from '../model/handover.ts';
import { countUtf8Bytes } from '../model/text.ts';
import type { ChangesSince } from '../model/workspace.ts';
import type { Machine } from '../platform/machine.ts';
import { describePlace, type Place } from '../platform/project.ts';
import { findProjectFolder } from '../platform/project-folder.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import type { CatalogRow } from '../store/catalog.ts';
import { readMarked } from '../store/marks.ts';
import { type CatchUpResult, catchUp } from './capture/catch-up.ts';
import { type Context, findStore } from './context.ts';
import { findNewestHere } from './find-handover.ts';
import { listDriftNotices, listJournalNotices } from './notices.ts';

interface ResumeRequest {
  folder: string;
  reader: Reader;
  options: BriefOptions & { budget: number };
  /** Open sessions, such as the one that asks. */
  running: ReadonlySet<string>;
}

export interface Resumption {
  place: Place;
  /** The brief of the newest handover here; null without a handover. */
  found: { handover: Handover; brief: Brief; changes: ChangesSince } | null;
  caughtUp: CatchUpResult[];
  /** The brief and the project's own memory files; empty when there is neither. */
  text: string;
}

/** Captures what sessions of this worktree did since the last capture, then briefs from its newest handover. */
export async function resumeHere(context: Context, request: ResumeRequest): Promise<Resumption> {
  const { reader, options, running } = request;
  const { machine } = context;
  const place = describePlace(request.folder, machine);
  const caughtUp = await catchUpHere(context, place, running);
  const isOver = ({ session }: CatalogRow): boolean => session === null || !running.has(session);
  const handover = await findNewestHere(context, place, isOver);
  const { budget } = options;
  const memory = printProjectMemory(machine, place, { reader, budget, isAlone: handover === null });
  if (handover === null) return { place, found: null, caughtUp, text: memory.text };
  const changes = findChangesHere(handover, place, machine);
  const marked = readMarked(findStore(context), handover);
  const brief = compileBrief(marked, reader, { ...options, budget: memory.left, changes });
  const text = memory.text === '' ? brief.text : `${brief.text}\n${memory.text}`;
  return { place, found: { handover, brief, changes }, caughtUp, text };
}

/** Captures what sessions of this worktree did since they were last captured. Nothing while there is a PAUSE file. */
export async function catchUpHere(
  context: Context,
  { project, root }: Place,
  except: ReadonlySet<string> = new Set(),
): Promise<CatchUpResult[]> {
  const pause = findUsualPause(context.machine, findProjectFolder(root));
  if (pause !== null) {
    context.notify({ level: 'info', text: `paused by ${pause.path}: no session is captured` });
    return [];
  }
  const caughtUp = await catchUp(findStore(context), { project: project.id, root }, except);
  for (const { session, result } of caughtUp) {
    for (const notice of listDriftNotices(session.agent, result.judgement)) context.notify(notice);
    if (result.outcome !== 'saved') continue;
    for (const notice of listJournalNotices(result)) context.notify(notice);
    const text = `saved handover ${result.handover.id} from a session of ${session.agent} that had not been captured`;
    context.notify({ level: 'info', text });
  }
  return caughtUp;
}

export function nothingHereError({ project, workspace }: Place): HandoverError {
  return new HandoverError('HANDOVER_NOT_FOUND', `no handover of ${project.name} in ${workspace.root}`, {
    hint: 'List handovers: handover list; make one: handover save --summary "where things stand"',
  });
}

/** What changed since a handover. Git's current state is redacted as the handover was, so that the two compare. */
export function findChangesHere(handover: Handover, place: Place, machine: Machine): ChangesSince {
  const { git } = place.workspace;
  if (git === null) return findChanges(handover, place, machine);
  const redactor = openRedactor(machine, { folder: place.root, makesKey: false });
  const redacted = {
    ...git,
    branch: git.branch === null ? null : redactor.redactText(git.branch),
    commits: git.commits.map((commit) => ({ ...commit, subject: redactor.redactText(commit.subject) })),
  };
  return findChanges(handover, { ...place, workspace: { ...place.workspace, git: redacted } }, machine);
}

/** At most this share of a brief is for the project's own memory files. */
const MEMORY_PERCENT = 30;

/** The project's own memory files, and the tokens that are left for the handover. */
function printProjectMemory(
  machine: Machine,
  { project, root, workspace }: Place,
  { reader, budget, isAlone }: { reader: Reader; budget: number; isAlone: boolean },
): { text: string; left: number } {
  const whole = Math.min(budget * BYTES_PER_TOKEN, reader.maxCharacters ?? Number.POSITIVE_INFINITY);
  const most = isAlone ? whole : Math.min((whole * MEMORY_PERCENT) / 100, whole - SMALLEST_BUDGET * BYTES_PER_TOKEN);
  const alone = isAlone ? { alone: { git: workspace.git } } : {};
  const pages = readMemoryPages({ folder: root, memoryDir: findMemoryDir(machine, root), machine, ...alone });
  const text = printMemory(project.name, pages, most);
  if (text === '') return { text, left: budget };
  return { text, left: Math.floor((whole - countUtf8Bytes(text) - 1) / BYTES_PER_TOKEN) };
}
