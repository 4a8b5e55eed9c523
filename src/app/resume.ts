import * as v from 'valibot';
import { BYTES_PER_TOKEN } from '../handover/brief/block.ts';
import { type Brief, type BriefOptions, compileBrief, SMALLEST_BUDGET } from '../handover/brief/compile.ts';
import type { Reader } from '../handover/brief/reader.ts';
import { findChanges } from '../handover/claims.ts';
import { printMemory, readMemoryPages } from '../memory/briefing.ts';
import { findMemoryDir } from '../memory/runs/run-config.ts';
import type { Handover } from '../model/handover.ts';
import { countUtf8Bytes } from '../model/text.ts';
import { type ChangesSince, GitFacts } from '../model/workspace.ts';
import type { Machine } from '../platform/machine.ts';
import { describePlace, findFolderToWorkIn, type Place } from '../platform/project.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import type { CatalogRow } from '../store/catalog.ts';
import { readMarked } from '../store/marks.ts';
import { type CatchUpResult, catchUpHere } from './capture/catch-up.ts';
import { type Context, findStore } from './context.ts';
import { findNewestHere } from './find-handover.ts';
import { mergeArrived } from './merge.ts';

interface ResumeRequest {
  folder: string;
  /** To read instead of the newest. */
  handover?: Handover | undefined;
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
  const caughtUp = request.handover === undefined ? await catchUpHere(context, place, running) : [];
  const isOver = ({ session }: CatalogRow): boolean => session === null || !running.has(session);
  const newest = request.handover ?? (await findNewestHere(context, place, { accepts: isOver, imports: true }));
  const handover = newest === null || newest === request.handover ? newest : await mergeArrived(context, place, newest);
  const { budget } = options;
  const memory = printProjectMemory(machine, place, { reader, budget, isAlone: handover === null });
  if (handover === null) return { place, found: null, caughtUp, text: memory.text };
  const changes = findChangesHere(handover, place, machine);
  const marked = readMarked(findStore(context), handover);
  const brief = compileBrief(marked, reader, { ...options, budget: memory.left, changes });
  const text = memory.text === '' ? brief.text : `${brief.text}\n${memory.text}`;
  return { place, found: { handover, brief, changes }, caughtUp, text };
}

/** What changed since a handover. Git's current state is redacted as the handover was, so that the two compare. */
export function findChangesHere(handover: Handover, place: Place, machine: Machine): ChangesSince {
  return findChanges(handover, redactPlace(place, machine), machine);
}

/** The same for a handover of any folder on this machine; nothing where that is not there. */
export function findChangesThere(handover: Handover, machine: Machine): { changes?: ChangesSince } {
  const folder = findFolderToWorkIn(handover.workspace, handover.project, machine);
  return folder === null ? {} : { changes: findChangesHere(handover, describePlace(folder, machine), machine) };
}

/** The brief of any handover, with what changed since; the same at any time while nothing has. */
export function briefAgain(
  context: Context,
  handover: Handover,
  { reader, ...options }: BriefOptions & { reader: Reader },
): Brief {
  const { changes } = findChangesThere(handover, context.machine);
  const told = changes === undefined ? {} : { changes: { ...changes, ageMs: null } };
  return compileBrief(readMarked(findStore(context), handover), reader, { ...options, ...told });
}

export function redactPlace(place: Place, machine: Machine): Place {
  const { git } = place.workspace;
  if (git === null) return place;
  const redactor = openRedactor(machine, { folder: place.root, makesKey: false });
  return { ...place, workspace: { ...place.workspace, git: v.parse(GitFacts, redactor.redactValue(git)) } };
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
