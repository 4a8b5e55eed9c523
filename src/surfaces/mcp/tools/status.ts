import { toStandardJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { findStore, withCatalog } from '../../../app/context.ts';
import { NO_AGENT } from '../../../model/fact-roles.ts';
import { isForeign } from '../../../model/handover.ts';
import { countNouns } from '../../../model/text.ts';
import { isSavedByHand } from '../../../model/time.ts';
import type { Place } from '../../../platform/project.ts';
import { type CatalogRow, listByWork, takeRows, timeOfChange } from '../../../store/catalog.ts';
import { VERSION } from '../../../version.ts';
import { type Answer, type Call, defineTool } from '../call.ts';
import { describeInput, project, READS } from '../input.ts';
import { DATA_NOT_INSTRUCTIONS, quote } from '../page.ts';

const Arguments = v.strictObject({ project });

const Status = v.object({
  version: v.string(),
  project: v.object({ id: v.string(), name: v.string(), root: v.string() }),
  store: v.string(),
  session: v.nullable(v.object({ agent: v.string(), id: v.string() })),
  newest: v.array(
    v.object({ id: v.string(), agent: v.string(), created_at: v.string(), worked_at: v.string(), title: v.string() }),
  ),
  run: v.object({ status: v.string(), pending: v.array(v.string()) }),
  paused: v.nullable(v.object({ path: v.string(), why: v.nullable(v.string()) })),
  debt: v.nullable(v.string()),
});
type Status = v.InferOutput<typeof Status>;

export const registerStatus = defineTool({
  name: 'status',
  title: 'Show what is stored',
  description:
    'Where things stand: which project this is, the newest handovers of it, whether your session is known, whether a run of steps was interrupted, whether writing is paused, and whether handovers help. Call it when another tool finds nothing or refuses.',
  inputSchema: describeInput(Arguments),
  outputSchema: toStandardJsonSchema(Status),
  annotations: READS,
  work: describeStatus,
});

async function describeStatus(call: Call): Promise<Answer> {
  const { describePlace } = await import('../../../platform/project.ts');
  const place = describePlace('.', call.machine);
  const status = await readStatus(call, place);
  const { session, newest, run, paused, debt } = status;
  const lines = [
    `# agent-handover ${status.version}: ${place.project.name} (${place.project.id}) in ${place.workspace.root}`,
    DATA_NOT_INSTRUCTIONS,
    ...newest.map(({ id, agent, worked_at, title }) => quote(`handover ${id} of ${agent}, ${worked_at}: ${title}`)),
    ...(newest.length === 0 ? ['# this project has no handover yet'] : []),
    `# your session: ${session === null ? 'unknown' : `${session.id} of ${session.agent}`}`,
    ...(run.pending.length === 0 ? [] : [`# a run of steps is ${run.status}: ${run.pending.join(', ')} pending`]),
    ...(paused === null ? [] : [`# paused by ${paused.path}: nothing is written`]),
    ...(debt === null ? [] : [`# of the last ${DEBT_SESSIONS} sessions, ${debt}`]),
  ];
  return { text: lines.join('\n'), data: status };
}

const NEWEST = 5;

/** The newest handovers of a project. The title of one that came in a bundle says so. */
export async function listNewest(call: Call, project: string, count: number): Promise<CatalogRow[]> {
  const { readIntact } = await import('../../../store/handovers.ts');
  const store = findStore(call);
  const rows = await withCatalog(call, store, (catalog) =>
    takeRows(listByWork(catalog, { project: { id: project } }), count),
  );
  return rows.map((row) => {
    const isImported = isForeign(readIntact(store, row.id) ?? {});
    return isImported ? { ...row, title: `(imported, unverified) ${row.title}` } : row;
  });
}

async function readStatus(call: Call, place: Place): Promise<Status> {
  const { findCheckpoint } = await import('../../../app/runs/check.ts');
  const { findUsualPause } = await import('../../../memory/runs/run-config.ts');
  const { Checkpoint, listPending } = await import('../../../memory/runs/checkpoint.ts');
  const { findProjectFolder } = await import('../../../platform/project-folder.ts');
  const { findOwnSession } = await import('../own-session.ts');
  const { machine } = call;
  const store = findStore(call);
  const own = await findOwnSession(call, place);
  const rows = await listNewest(call, place.project.id, NEWEST);
  const state = new Checkpoint(findCheckpoint(machine), machine).load();
  return {
    version: VERSION,
    project: { id: place.project.id, name: place.project.name, root: place.workspace.root },
    store: store.root,
    session: own === null ? null : { agent: own.agent, id: own.id },
    newest: rows.map((row) => {
      const { id, created_at, title } = row;
      const agent = isSavedByHand(row) ? NO_AGENT : row.agent;
      return { id, agent, created_at, worked_at: timeOfChange(row), title };
    }),
    run: { status: state.status, pending: listPending(state) },
    paused: findUsualPause(machine, findProjectFolder(place.root)),
    debt: await readDebt(call, place),
  };
}

const DEBT_SESSIONS = 10;
/** How long reading transcripts may take; the others are not read. */
const DEBT_MS = 300;

async function readDebt(call: Call, { project }: Place): Promise<string | null> {
  const { gatherDebts } = await import('../../../app/debt/gather.ts');
  const { summariseDebt } = await import('../../../app/debt/statistics.ts');
  const { debts, unread } = await gatherDebts(
    { ...call, notify: () => undefined },
    {
      store: findStore(call),
      scope: { project: { id: project.id } },
      limit: DEBT_SESSIONS,
      untilMs: call.machine.clock.now() + DEBT_MS,
    },
  );
  const summary = summariseDebt(debts);
  return summary === null || unread === 0 ? summary : `${summary}; ${countNouns(unread, 'session')} not read`;
}
