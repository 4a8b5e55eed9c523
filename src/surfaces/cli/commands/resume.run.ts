import { compileBrief, countTokens, SMALLEST_BUDGET } from '../../../brief/compile.ts';
import type { Reader } from '../../../brief/reader.ts';
import { BYTES_PER_TOKEN } from '../../../brief/weighed.ts';
import { findChanges } from '../../../handover/find-changes.ts';
import { printMemory, readMemoryPages } from '../../../memory/briefing.ts';
import type { ChangesSince } from '../../../model/changes-since.ts';
import { countUtf8Bytes } from '../../../model/text.ts';
import { findMemoryDir } from '../../../run/run-config.ts';
import { readMarked } from '../../../store/marks.ts';
import { describePlace, type Place } from '../../../workspace/place.ts';
import { listRunningSessions } from '../agents.ts';
import { type CliContext, findStore } from '../context.ts';
import { catchUpHere, findNewestHere, refuseUnknown } from '../newest-here.ts';
import { readBriefFlags } from '../readers.ts';
import type { ResumeFlags } from './resume.ts';

export async function runResume(this: CliContext, flags: ResumeFlags, folder = '.'): Promise<void> {
  const { reader, options } = readBriefFlags(flags);
  const store = findStore(this);
  const place = describePlace(folder, this.machine);
  const running = listRunningSessions(this.machine.env);
  const caughtUp = await catchUpHere(this, place, running);
  const memory = printProjectMemory(this, place, { reader, budget: options.budget });
  const handover = await findNewestHere(this, place, running);
  if (handover === null) {
    if (memory.text === '') throw refuseUnknown(place);
    if (flags.json)
      this.out.json({ id: null, target: reader.agent, budget: options.budget, text: memory.text });
    else this.out.block(memory.text);
    return;
  }
  const changes = findChanges(handover, place, this.machine);
  const budget = memory.left;
  const brief = compileBrief(readMarked(store, handover), reader, { ...options, budget, changes });
  const text = memory.text === '' ? brief.text : `${brief.text}\n${memory.text}`;
  if (!flags.json) {
    this.out.block(text);
    return;
  }
  this.out.json({
    id: handover.id,
    target: reader.agent,
    budget: options.budget,
    tokens: countTokens(text),
    left_out: brief.leftOut.map((fact) => fact.id),
    changed: changesToJson(changes),
    caught_up: caughtUp.map(({ session, kept }) => ({
      agent: session.agent,
      session: session.id,
      outcome: kept.outcome,
      id: kept.outcome === 'refused' ? null : kept.handover.id,
    })),
    text,
  });
}

/** At most this part of a brief is for what stands in the project's own files. */
const MEMORY_PERCENT = 30;

/** What the project's own files tell, and the tokens that are left for the handover. */
function printProjectMemory(
  { machine }: CliContext,
  { project, root }: Place,
  { reader, budget }: { reader: Reader; budget: number },
): { text: string; left: number } {
  const whole = Math.min(budget * BYTES_PER_TOKEN, reader.maxCharacters ?? Number.POSITIVE_INFINITY);
  const most = Math.min((whole * MEMORY_PERCENT) / 100, whole - SMALLEST_BUDGET * BYTES_PER_TOKEN);
  const pages = readMemoryPages({ folder: root, memoryDir: findMemoryDir(machine, root), machine });
  const text = printMemory(project.name, pages, most);
  if (text === '') return { text, left: budget };
  return { text, left: Math.floor((whole - countUtf8Bytes(text) - 1) / BYTES_PER_TOKEN) };
}

function changesToJson({ ageMs, branch, head, files }: ChangesSince): unknown {
  return { age_seconds: Math.floor(ageMs / 1000), branch, head, files };
}
