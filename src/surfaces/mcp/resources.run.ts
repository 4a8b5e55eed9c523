import { DEFAULT_BUDGET } from '../../handover/brief/compile.ts';
import { identifyProject } from '../../platform/project.ts';
import { takeRows } from '../../store/catalog.ts';
import { findStore, withCatalog } from '../cli/context.ts';
import { pickHandover } from '../cli/pick.ts';
import type { Call } from './call.ts';
import { briefOf } from './tools/get.run.ts';
import { briefHere } from './tools/resume.run.ts';

export async function tellCurrent(call: Call): Promise<string> {
  const { text, place } = await briefHere(call, { budget: DEFAULT_BUDGET });
  return text === '' ? `# Nothing is kept of ${place.project.name} yet.\n` : text;
}

export async function tellHandover(call: Call, id: string): Promise<string> {
  return briefOf(call, await pickHandover(call, id), DEFAULT_BUDGET);
}

const LISTED = 20;

export async function listHandovers(call: Call): Promise<{ uri: string; name: string; title: string }[]> {
  const { id: project } = identifyProject('.', call.machine);
  const rows = await withCatalog(call, findStore(call), (catalog) =>
    takeRows(catalog.rows({ project: { id: project } }), LISTED),
  );
  return rows.map(({ id, title }) => ({ uri: `handover://handover/${id}`, name: id, title }));
}
