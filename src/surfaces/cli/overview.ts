import { join, sep } from 'node:path';
import type { FoundSession } from '../../agents/agent.ts';
import { findStore, withCatalog } from '../../app/context.ts';
import { bold, dim, type Line, yellow } from '../../app/describe/styled-text.ts';
import { answerCheck } from '../../app/runs/check.ts';
import { NO_AGENT } from '../../model/fact-roles.ts';
import { cleanLine, countNouns } from '../../model/text.ts';
import { DAY_MS, describeAge, isSavedByHand } from '../../model/time.ts';
import { isFolder, listFolder, resolveRealPath } from '../../platform/folders.ts';
import { abbreviateHome } from '../../platform/paths.ts';
import { findPause, suggestUnpause } from '../../platform/pause.ts';
import { type IdentifiedProject, identifyProject } from '../../platform/project.ts';
import { findProjectFolder } from '../../platform/project-folder.ts';
import { type CatalogRow, listByWork, timeOfChange, withAliases } from '../../store/catalog.ts';
import { skipForgotten } from '../../store/journal.ts';
import { HOOK_RECEIPTS } from '../../store/store.ts';
import type { CliContext } from './context.ts';
import { withOpenSteps } from './filters.ts';
import { writeQuestions } from './help.ts';
import { QUESTIONS } from './help-texts.ts';
import { describeRowAge, wrap } from './output.ts';

const STEPS_SHOWN = 3;
const LABEL = 9;

/** `handover` alone: where things stand in this folder, what to type, and the commands of every day. */
export async function printOverview(context: CliContext): Promise<void> {
  const { machine, out, width } = context;
  const project = identifyProject('.', machine);
  const root = abbreviateHome(project.root, machine);
  const newest = await findNewestRow(context, project, root);
  out.line(bold(project.name), dim(`  ${root}`));
  const fields =
    newest === null ? await describeStart(context, project) : await describeNewest(context, newest, project);
  for (const [label, ...texts] of [...fields, ...listWaiting(context)]) out.lines(writeField(label, texts, width));
  out.line();
  const isOpen = ([, , name]: (typeof QUESTIONS)[number]): boolean => name !== 'init' || !hasHooks(context);
  out.lines(writeQuestions(width, QUESTIONS.filter(isOpen)));
  out.line();
  out.lines(wrap('more: handover help COMMAND, handover help --all', width, 0).map((line) => [dim(line)]));
}

/**
 * By the list alone: hardly a handover is read, so that it is there at once. That of this folder, or else of another of the project, as
 * after a move. One dated more than a day ahead has a wrong clock.
 */
async function findNewestRow(context: CliContext, { id }: IdentifiedProject, root: string): Promise<CatalogRow | null> {
  const store = findStore(context);
  const filter = withAliases(store, { project: { id }, untilMs: context.machine.clock.now() + DAY_MS });
  return await withCatalog(context, store, async (catalog) => {
    let elsewhere: CatalogRow | null = null;
    for await (const row of withOpenSteps(store, listByWork(catalog, filter))) {
      if (row.root === root) return row;
      elsewhere ??= row;
    }
    return elsewhere;
  });
}

function hasHooks(context: CliContext): boolean {
  return listFolder(join(findStore(context).root, HOOK_RECEIPTS)).length > 0;
}

type Field = readonly [label: string, ...texts: string[]];

/** Where nothing is kept: `resume` reads what agents have written here, and hooks keep what they will write. */
async function describeStart(context: CliContext, { id }: IdentifiedProject): Promise<Field[]> {
  const store = findStore(context);
  const { findSessions } = await import('../../agents/find-session.ts');
  const { length } = [...skipForgotten(store, await findSessions(context.machine, { project: id }))];
  const isSetUp = hasHooks(context);
  const kept = isSetUp ? 'nothing saved yet, hooks are set up' : 'nothing saved here yet';
  const begin = isSetUp ? 'doctor     check that they work' : 'init       then work as usual: every session is saved';
  const left = length === 0 ? '' : `; found ${countNouns(length, 'earlier session')}`;
  const read = length === 0 ? [] : ['handover resume     read where the newest one stopped'];
  return [
    ['last', `${kept}${left}`],
    ['type', ...read, `handover ${begin}`],
  ];
}

async function describeNewest(context: CliContext, row: CatalogRow, { root }: IdentifiedProject): Promise<Field[]> {
  const { machine } = context;
  const newer = await findNewer(context, row, root);
  const steps = row.next.slice(0, STEPS_SHOWN).map(cleanLine);
  return [
    ['last', newer ?? describeSaved(row, machine.clock.now())],
    ...(steps.length === 0 ? [] : [['next', ...steps] as const]),
    ...(await listOpen(context, row)),
    ['type', 'handover resume     read it, with what changed since', `handover to AGENT   continue in another agent`],
  ];
}

function describeSaved(row: CatalogRow, now: number): string {
  const author = isSavedByHand(row) ? '' : `${row.agent === NO_AGENT ? 'by hand' : row.agent}, `;
  return `${author}${describeRowAge(row, now)}: ${cleanLine(row.title)}`;
}

/** A session of this worktree that went on after the newest handover: no hook has saved it, or not to its end. */
async function findNewer(context: CliContext, row: CatalogRow, root: string): Promise<string | null> {
  const { machine } = context;
  const { findSessions, listByLastEvent, titleSessions } = await import('../../agents/find-session.ts');
  const isHere = ({ cwd }: FoundSession): boolean => {
    const folder = cwd === null ? null : resolveRealPath(cwd);
    // To ask git about every folder takes long.
    if (folder === null || folder === root) return folder !== null;
    return folder.startsWith(`${root}${sep}`) && isFolder(folder) && identifyProject(folder, machine).root === root;
  };
  const found = await findSessions(machine, { sinceMs: Date.parse(row.created_at) });
  const [newest] = listByLastEvent(skipForgotten(findStore(context), found.filter(isHere)));
  if (newest === undefined || newest.lastMs <= Date.parse(timeOfChange(row))) return null;
  const [session = newest.session] = await titleSessions([newest.session], machine);
  const state = session.id === row.session ? '' : ', not saved yet';
  const age = describeAge(machine.clock.now() - newest.lastMs);
  return `${session.agent}, ${age}${state}: ${session.title ?? 'nothing asked yet'}`;
}

/** Tasks of the plan and checks that were left open. What was marked since does not count as open. */
async function listOpen(context: CliContext, row: CatalogRow): Promise<Field[]> {
  const { readIntact } = await import('../../store/handovers.ts');
  const { readMarked } = await import('../../store/marks.ts');
  const store = findStore(context);
  const sealed = readIntact(store, row.id);
  if (sealed === null) return [];
  const { facts } = readMarked(store, sealed);
  const tasks = facts.filter(({ kind, status }) => kind === 'task' && OPEN_TASKS.has(status));
  const failing = facts.flatMap(({ kind, status, detail }) =>
    kind === 'error' && status === 'open' && typeof detail?.run === 'string' ? [cleanLine(detail.run)] : [],
  );
  const fields = [
    ['open', cutList(tasks.map(({ text }) => cleanLine(text)))],
    ['failing', cutList([...new Set(failing)])],
  ] as const;
  return fields.flatMap(([label, texts]): Field[] => (texts.length === 0 ? [] : [[label, ...texts]]));
}

const OPEN_TASKS: ReadonlySet<string | undefined> = new Set(['pending', 'in_progress']);

function cutList(texts: readonly string[]): string[] {
  const more = texts.length - STEPS_SHOWN;
  return [...texts.slice(0, STEPS_SHOWN), ...(more > 0 ? [`and ${more} more`] : [])];
}

/** What needs a person: a run that was interrupted, and automation that is paused. */
function listWaiting({ machine }: CliContext): Field[] {
  const { cwd, env } = machine;
  const pause = findPause(machine, findProjectFolder(cwd));
  const waiting = [
    ...(answerCheck([], { cwd, env }) === 1 ? ['a run was interrupted; finish it: handover run --resume'] : []),
    ...(pause === null ? [] : [`automation is paused; go on: ${suggestUnpause(pause.path)}`]),
  ];
  return waiting.length === 0 ? [] : [['waiting', ...waiting]];
}

function writeField(label: string, texts: readonly string[], width: number): Line[] {
  const lines = texts.flatMap((text) => wrap(text, width, LABEL + 2).map((line) => line.slice(LABEL + 2)));
  const show = label === 'waiting' ? yellow : dim;
  return lines.map((line, at) => [show(`  ${(at === 0 ? label : '').padEnd(LABEL)}`), line]);
}
