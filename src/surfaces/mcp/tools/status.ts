import { toStandardJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { findStore, withCatalog } from '../../../app/context.ts';
import type { Place } from '../../../platform/project.ts';
import { takeRows } from '../../../store/catalog.ts';
import { sortByWork } from '../../../store/newest.ts';
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
  newest: v.array(v.object({ id: v.string(), agent: v.string(), created_at: v.string(), title: v.string() })),
  run: v.object({ status: v.string(), pending: v.array(v.string()) }),
  paused: v.nullable(v.object({ path: v.string(), why: v.nullable(v.string()) })),
});
type Status = v.InferOutput<typeof Status>;

export const registerStatus = defineTool({
  name: 'status',
  title: 'Show what is stored',
  description:
    'Where things stand: which project this is, the newest handovers of it, whether your session is known, whether a run of steps was interrupted, and whether writing is paused. Call it when another tool finds nothing or refuses.',
  inputSchema: describeInput(Arguments),
  outputSchema: toStandardJsonSchema(Status),
  annotations: READS,
  work: describeStatus,
});

async function describeStatus(call: Call): Promise<Answer> {
  const { describePlace } = await import('../../../platform/project.ts');
  const place = describePlace('.', call.machine);
  const status = await readStatus(call, place);
  const { session, newest, run, paused } = status;
  const lines = [
    `# agent-handover ${status.version}: ${place.project.name} (${place.project.id}) in ${place.workspace.root}`,
    DATA_NOT_INSTRUCTIONS,
    ...newest.map(({ id, agent, created_at, title }) => quote(`handover ${id} of ${agent}, ${created_at}: ${title}`)),
    ...(newest.length === 0 ? ['# this project has no handover yet'] : []),
    `# your session: ${session === null ? 'unknown' : `${session.id} of ${session.agent}`}`,
    ...(run.pending.length === 0 ? [] : [`# a run of steps is ${run.status}: ${run.pending.join(', ')} pending`]),
    ...(paused === null ? [] : [`# paused by ${paused.path}: nothing is written`]),
  ];
  return { text: lines.join('\n'), data: status };
}

const NEWEST = 5;

async function readStatus(call: Call, place: Place): Promise<Status> {
  const { findCheckpoint } = await import('../../../app/runs/check.ts');
  const { findUsualPause } = await import('../../../memory/runs/pause-guard.ts');
  const { Checkpoint, listPending } = await import('../../../memory/runs/checkpoint.ts');
  const { findProjectFolder } = await import('../../../platform/project-folder.ts');
  const { findOwnSession } = await import('../own-session.ts');
  const { machine } = call;
  const store = findStore(call);
  const own = await findOwnSession(call, place);
  const rows = await withCatalog(call, store, (catalog) =>
    takeRows(sortByWork(catalog.rows({ project: { id: place.project.id } })), NEWEST),
  );
  const state = new Checkpoint(findCheckpoint(machine), machine).load();
  return {
    version: VERSION,
    project: { id: place.project.id, name: place.project.name, root: place.workspace.root },
    store: store.root,
    session: own === null ? null : { agent: own.agent, id: own.id },
    newest: rows.map(({ id, agent, created_at, title }) => ({ id, agent, created_at, title })),
    run: { status: state.status, pending: listPending(state) },
    paused: findUsualPause(machine, findProjectFolder(place.root)),
  };
}
