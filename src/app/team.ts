import { catchIf, HandoverError, isHandoverError, notFoundError, usageError } from '../errors.ts';
import { acceptHandover } from '../exchange/bundle/accept-import.ts';
import { parseContent } from '../exchange/bundle/content.ts';
import { nameBody } from '../exchange/remote/page.ts';
import type { TeamCatalog, TeamEntry } from '../exchange/remote/postgres/search.ts';
import type { Remote } from '../exchange/remote/remote.ts';
import { type Handover, SYNC_FORMAT } from '../model/handover.ts';
import { requireRemote } from '../platform/remote-settings.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import type { SearchHit, SearchQuery } from '../search/query.ts';
import { NEAR } from '../search/rank.ts';
import { type CatalogRow, type Filter, listProjectIds, type ProjectMatch } from '../store/catalog.ts';
import type { Context } from './context.ts';
import { makeNames, type NameProject, withRemote } from './sync.ts';

/* What a team's database says of its handovers, without bringing them here. Nothing of it is signed, and all of it is redacted again. */

type TeamAccess = { catalog: TeamCatalog; remote: Remote; redact: (text: string) => string; nameProject: NameProject };

async function askTeam<T>(context: Context, name: string, work: (access: TeamAccess) => Promise<T>): Promise<T> {
  const { machine } = context;
  const redactor = openRedactor(machine, { folder: machine.cwd, makesKey: false });
  return await withRemote(context, requireRemote(machine, name), async (remote) => {
    const { catalog } = remote;
    if (catalog !== undefined) {
      const redact = (text: string): string => redactor.redactText(text);
      return await work({ catalog, remote, redact, nameProject: makeNames(machine) });
    }
    const message = `${name} cannot list or search by itself: only PostgreSQL can`;
    throw usageError(message, `Bring it here: handover sync ${name}`);
  });
}

const MOST_ROWS = 1000;
const ENCRYPTED = '(encrypted)';

/** Newest by work first. */
export async function listTeam(
  context: Context,
  name: string,
  filter: Filter & { limit: number | null },
): Promise<CatalogRow[]> {
  const { project, agent, limit, idPrefix, query, sinceMs, untilMs } = filter;
  const hint = `Search there: handover search --remote ${name}`;
  if (query !== undefined || sinceMs !== undefined || untilMs !== undefined)
    throw usageError('--remote goes with --project, --agent, --id and --limit', hint);
  const wanted = { project: findProjectId(project), agent, limit: Math.min(limit ?? MOST_ROWS, MOST_ROWS) };
  return await askTeam(context, name, async ({ catalog, redact, nameProject }) => {
    const entries = idPrefix === undefined ? await catalog.list(wanted) : await catalog.find(idPrefix);
    return entries.map((entry): CatalogRow => {
      const none = { root: '', next: [], session: null, terminal: null, noted_at: null, score: null };
      const { handover: id, workedAt: at } = entry;
      return { id, created_at: at, last_at: at, ...describeEntry(entry, redact, nameProject), ...none };
    });
  });
}

function describeEntry({ title, agent, project }: TeamEntry, redact: TeamAccess['redact'], nameProject: NameProject) {
  return {
    title: title === null ? ENCRYPTED : redact(title),
    agent: agent === null ? '-' : redact(agent),
    project: { id: project, name: nameProject(project) },
  };
}

function findProjectId(project: ProjectMatch | undefined): string | undefined {
  const [id] = project === undefined ? [] : listProjectIds(project);
  if (id !== undefined || project === undefined) return id;
  throw usageError('a remote knows projects by their ids only', 'Name the folder of the project, or its id.');
}

/** Best first, by the rules of a search here. Encrypted handovers are not found. */
export async function searchTeam(context: Context, name: string, query: SearchQuery): Promise<SearchHit[]> {
  const { text, limit, project, agent, sinceMs, kinds, file, sessions } = query;
  const hint = `Or bring it here: handover sync ${name}`;
  if (kinds !== undefined || file !== undefined || sessions !== undefined)
    throw usageError('--remote goes with --project, --agent, --since and --limit', hint);
  const wanted = { text, limit, project: findProjectId(project), agent, sinceMs };
  return await askTeam(context, name, async ({ catalog, redact, nameProject }) => {
    const hits = await catalog.search(wanted);
    return hits.map((hit): SearchHit => {
      const { handover, workedAt: at, fact, score, exact } = hit;
      const { agent: by, project: of } = describeEntry(hit, redact, nameProject);
      return {
        ...(fact === null ? { what: 'handover', id: handover } : { what: 'fact', id: fact.id, kind: fact.kind }),
        text: redact(hit.text),
        from: { handover, agent: by, project: of, at, imported: true },
        open: `handover show ${handover} --remote ${name}`,
        ...(exact === NEAR ? { near: true as const } : {}),
        score,
      };
    });
  });
}

function damagedError(name: string, { handover }: TeamEntry): HandoverError {
  const hint = `Nothing of it was taken. Whoever wrote it sends it again with: handover sync --verify`;
  return new HandoverError('HANDOVER_RECORD_DAMAGED', `${name} has ${handover} damaged`, { hint });
}

/** One handover as the remote has it, cleaned and redacted as an import without a signature is. It is not stored. */
export async function readFromTeam(context: Context, name: string, id: string): Promise<Handover> {
  return await askTeam(context, name, async ({ catalog, remote }) => {
    const [entry, ...others] = await catalog.find(id);
    if (entry === undefined)
      throw notFoundError(
        `${name} has no handover whose id begins with ${id}`,
        `List them: handover list --remote ${name}`,
      );
    const hint = `List them: handover list --remote ${name} --id ${id}`;
    if (others.some(({ handover }) => handover !== entry.handover))
      throw usageError(`several handovers of ${name} begin with ${id}`, hint);
    if (entry.title === null)
      throw usageError(`${entry.handover} is encrypted`, `Bring it here: handover sync ${name}`);
    for await (const { bytes } of remote.readBodies(entry.project, [entry.name])) {
      const [handover] = catchIf(isHandoverError, [], () => parseContent(bytes, 1));
      if (handover?.id !== entry.handover || nameBody(handover.id, bytes) !== entry.name)
        throw damagedError(name, entry);
      const redactor = openRedactor(context.machine, { folder: context.machine.cwd, makesKey: false });
      const imported = { format: SYNC_FORMAT, id: handover.id, signer: null };
      return acceptHandover(handover, { imported, inBundle: new Set(), redactor });
    }
    throw notFoundError(`${name} no longer has ${entry.handover}`, `List them: handover list --remote ${name}`);
  });
}
