import { HandoverError } from '../../errors.ts';
import { type Handover, isForeign } from '../../model/handover.ts';
import { identifyProject } from '../../platform/project.ts';
import type { Filter } from '../../store/catalog.ts';
import { requireHandover } from '../../store/find-handover.ts';
import { type CliContext, findStore, refuseBoth, withCatalog } from './context.ts';
import { yellow } from './output.ts';
import { pickHandover } from './pick.ts';
import { parseMoment } from './words.ts';

export interface DepartureFlags {
  id?: readonly string[];
  all: boolean;
  since?: string;
}

/** What is to leave, oldest first. What others sent goes on only when it is named. */
export async function pickDepartures(context: CliContext, flags: DepartureFlags): Promise<Handover[]> {
  const { id, all, since } = flags;
  if (id !== undefined && all) throw refuseBoth('--id', '--all');
  if (id !== undefined && since !== undefined) throw refuseBoth('--id', '--since');
  if (!all && since === undefined) return await pickNamed(context, id);
  const { machine } = context;
  const filter: Filter = {
    ...(all ? {} : { project: { id: identifyProject('.', machine).id } }),
    ...(since === undefined ? {} : { sinceMs: parseMoment(since, machine.clock.now(), 'first') }),
  };
  const kept = await readAll(context, filter);
  const own = kept.filter((handover) => !isForeign(handover));
  if (own.length < kept.length)
    context.err.line(
      yellow('note: '),
      `${kept.length - own.length} imported stay here; name them with --id to send them on`,
    );
  if (own.length > 0) return own;
  throw new HandoverError('HANDOVER_NOT_FOUND', 'no handover matches', {
    hint: 'See what is kept: handover list',
  });
}

async function pickNamed(context: CliContext, ids: readonly string[] | undefined): Promise<Handover[]> {
  const picked: Handover[] = [];
  for (const words of ids ?? [undefined]) picked.push(await pickHandover(context, words));
  return sortByAge([...new Map(picked.map((handover) => [handover.id, handover])).values()]);
}

async function readAll(context: CliContext, filter: Filter): Promise<Handover[]> {
  const store = findStore(context);
  return await withCatalog(context, store, async (catalog) => {
    const found: Handover[] = [];
    for await (const { id } of catalog.rows(filter)) found.push(requireHandover(store, id));
    return sortByAge(found);
  });
}

function sortByAge(handovers: Handover[]): Handover[] {
  return handovers.sort((a, b) => (a.created_at + a.id < b.created_at + b.id ? -1 : 1));
}
