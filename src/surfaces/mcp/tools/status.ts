import type { McpServer } from '@modelcontextprotocol/server';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { findUsualPause } from '../../../memory/runs/brake.ts';
import { listPending } from '../../../memory/runs/checkpoint.ts';
import { describePlace, type Place } from '../../../platform/place.ts';
import { findProjectFolder } from '../../../platform/project-file.ts';
import { takeRows } from '../../../store/catalog.ts';
import { VERSION } from '../../../version.ts';
import { openCheckpoint } from '../../cli/commands/check.ts';
import { findStore, withCatalog } from '../../cli/context.ts';
import { project } from '../arguments.ts';
import { type Answer, answer, type Call } from '../call.ts';
import type { Connection } from '../connection.ts';
import { describeInput } from '../input.ts';
import { findOwnSession } from '../own-session.ts';
import { DATA_NOT_ORDERS, quote } from '../page.ts';

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
export type Status = v.InferOutput<typeof Status>;

export function registerStatus(server: McpServer, connection: Connection): void {
  server.registerTool(
    'status',
    {
      title: 'What is kept here',
      description:
        'Where things stand: which project this is, the newest handovers of it, whether your session is known, whether a run of steps was interrupted, and whether writing is paused. Call it when another tool finds nothing or refuses.',
      inputSchema: describeInput(Arguments),
      outputSchema: toStandardJsonSchema(Status),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ project: folder }, context) =>
      answer({ connection, context, project: folder }, (call) => tellStatus(call)),
  );
}

export async function tellStatus(call: Call): Promise<Answer> {
  const place = describePlace('.', call.machine);
  const status = await readStatus(call, place);
  const { session, newest, run, paused } = status;
  const lines = [
    `# agent-handover ${status.version}: ${place.project.name} (${place.project.id}) in ${place.workspace.root}`,
    DATA_NOT_ORDERS,
    ...newest.map(({ id, agent, created_at, title }) =>
      quote(`handover ${id} of ${agent}, ${created_at}: ${title}`),
    ),
    ...(newest.length === 0 ? ['# nothing is kept of this project yet'] : []),
    `# your session: ${session === null ? 'not known' : `${session.id} of ${session.agent}`}`,
    ...(run.pending.length === 0
      ? []
      : [`# a run of steps is ${run.status}: ${run.pending.join(', ')} pending`]),
    ...(paused === null ? [] : [`# paused by ${paused.path}: nothing is written`]),
  ];
  return { text: lines.join('\n'), data: status };
}

const NEWEST = 5;

async function readStatus(call: Call, place: Place): Promise<Status> {
  const { machine } = call;
  const store = findStore(call);
  const own = await findOwnSession(call, place);
  const rows = await withCatalog(call, store, (catalog) =>
    takeRows(catalog.rows({ project: { id: place.project.id } }), NEWEST),
  );
  const state = openCheckpoint({ machine }, undefined).load();
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
