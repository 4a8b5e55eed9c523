import { listPending } from '../../../memory/runs/checkpoint.ts';
import { findUsualPause } from '../../../memory/runs/pause-guard.ts';
import { describePlace, type Place } from '../../../platform/project.ts';
import { findProjectFolder } from '../../../platform/project-file.ts';
import { takeRows } from '../../../store/catalog.ts';
import { VERSION } from '../../../version.ts';
import { openCheckpoint } from '../../cli/commands/check.run.ts';
import { findStore, withCatalog } from '../../cli/context.ts';
import type { Answer, Call } from '../call.ts';
import { findOwnSession } from '../own-session.ts';
import { DATA_NOT_ORDERS, quote } from '../page.ts';
import type { Status } from './status.ts';

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
