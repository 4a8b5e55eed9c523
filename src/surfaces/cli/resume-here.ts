import type { CatchUpResult } from '../../app/capture/catch-up.ts';
import {
  type Brief,
  type BriefOptions,
  compileBrief,
  SMALLEST_BUDGET,
} from '../../handover/brief/compile.ts';
import type { Reader } from '../../handover/brief/reader.ts';
import { BYTES_PER_TOKEN } from '../../handover/brief/weight.ts';
import { printMemory, readMemoryPages } from '../../memory/briefing.ts';
import { findMemoryDir } from '../../memory/runs/run-config.ts';
import type { Handover } from '../../model/handover.ts';
import { countUtf8Bytes } from '../../model/text.ts';
import type { ChangesSince } from '../../model/workspace.ts';
import type { Machine } from '../../platform/machine.ts';
import { describePlace, type Place } from '../../platform/project.ts';
import { readMarked } from '../../store/marks.ts';
import { findChangesHere } from './changes-here.ts';
import { type Context, findStore } from './context.ts';
import { catchUpHere, findNewestHere } from './newest-here.ts';

export interface ResumeRequest {
  folder: string;
  reader: Reader;
  options: BriefOptions & { budget: number };
  /** Sessions that are not over, such as the one that asks. */
  running: ReadonlySet<string>;
}

export interface Resumed {
  place: Place;
  /** The brief of the newest handover here; null where none is kept. */
  found: { handover: Handover; brief: Brief; changes: ChangesSince } | null;
  caughtUp: CatchUpResult[];
  /** The brief with what stands in the project's own files; empty where there is neither. */
  text: string;
}

/** What somebody needs who goes on here. */
export async function resumeHere(desk: Context, request: ResumeRequest): Promise<Resumed> {
  const { reader, options, running } = request;
  const store = findStore(desk);
  const place = describePlace(request.folder, desk.machine);
  const caughtUp = await catchUpHere(desk, place, running);
  const handover = await findNewestHere(desk, place, running);
  const room = { reader, budget: options.budget, isAlone: handover === null };
  const memory = printProjectMemory(desk.machine, place, room);
  if (handover === null) return { place, found: null, caughtUp, text: memory.text };
  const changes = findChangesHere(handover, place, desk.machine);
  const brief = compileBrief(readMarked(store, handover), reader, {
    ...options,
    budget: memory.left,
    changes,
  });
  const text = memory.text === '' ? brief.text : `${brief.text}\n${memory.text}`;
  return { place, found: { handover, brief, changes }, caughtUp, text };
}

/** At most this part of a brief is for what stands in the project's own files. */
const MEMORY_PERCENT = 30;

/** What the project's own files tell, and the tokens that are left for the handover. */
function printProjectMemory(
  machine: Machine,
  { project, root, workspace }: Place,
  { reader, budget, isAlone }: { reader: Reader; budget: number; isAlone: boolean },
): { text: string; left: number } {
  const whole = Math.min(budget * BYTES_PER_TOKEN, reader.maxCharacters ?? Number.POSITIVE_INFINITY);
  const most = isAlone
    ? whole
    : Math.min((whole * MEMORY_PERCENT) / 100, whole - SMALLEST_BUDGET * BYTES_PER_TOKEN);
  const pages = readMemoryPages({
    folder: root,
    memoryDir: findMemoryDir(machine, root),
    machine,
    ...(isAlone ? { alone: { git: workspace.git } } : {}),
  });
  const text = printMemory(project.name, pages, most);
  if (text === '') return { text, left: budget };
  return { text, left: Math.floor((whole - countUtf8Bytes(text) - 1) / BYTES_PER_TOKEN) };
}
