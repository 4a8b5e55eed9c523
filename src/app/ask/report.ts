import { markHandover } from '../../handover/link.ts';
import { findMark, isCarriedOver, type Marks } from '../../handover/marks.ts';
import { isChangedFile } from '../../handover/outcome.ts';
import { type Fact, lineOf } from '../../model/fact.ts';
import { isGuess, NO_AGENT } from '../../model/fact-roles.ts';
import { type Handover, isForeign } from '../../model/handover.ts';
import { compareCodeUnits } from '../../model/hash.ts';
import { locateInProject } from '../../model/paths.ts';
import { cleanLine, cutAtWord } from '../../model/text.ts';
import { formatTimestamp, lastWorkOf } from '../../model/time.ts';
import { makeProjectNames } from '../../platform/known-projects.ts';
import { type Filter, listByWork } from '../../store/catalog.ts';
import { hasHandover, readHistory, readIntact } from '../../store/handovers.ts';
import { rememberMarks } from '../../store/marks.ts';
import type { Store } from '../../store/store.ts';
import { type Context, findStore, withCatalog } from '../context.ts';
import type { Side } from '../debt/statistics.ts';
import { findTitle, isRequest } from './session-summary.ts';

/** What the page of `handover report` shows. Each text is one line, cut where it is long: `handover show` has all of it. */
export interface Report {
  generated_at: string;
  handovers: number;
  projects: string[];
  files: { path: string; project: number }[];
  /** The newest first. */
  sessions: ReportSession[];
  open: OpenItem[];
  /** What follow-up sessions found out again, with a brief and without; absent where no session follows another. */
  debt?: Record<'brief' | 'other', Side>;
}

/** A session, or a handover that was written by hand. Numbers stand for places in the lists of the report. */
export interface ReportSession {
  /** Its newest handover, and how many it has. */
  handover: string;
  handovers: number;
  agent: string;
  /** Who signed it, null for nobody; absent where it was not imported. */
  signer?: string | null;
  project: number;
  at: string;
  goal: string;
  requests: string[];
  commits: string[];
  decisions: Decision[];
  passed: string[];
  failed: string[];
  changed: number[];
  read: number[];
  /** The sessions whose work it continues, and those that it took in: notes written by hand, merged lines of work. */
  follows: number[];
  joins: number[];
}

export interface Decision {
  id: string;
  kind: 'decision' | 'rejected';
  text: string;
  trust: string;
  origin: string;
  /** Of its session's transcript; 0 where there is none. */
  line: number;
  handover: string;
  /** What somebody said of it later, and why. */
  mark: string | null;
  because: string | null;
}

export const OPEN_KINDS = ['next', 'task', 'question', 'blocker', 'error'] as const;

/** What the newest handover of a worktree has left. */
export interface OpenItem {
  id: string;
  kind: (typeof OPEN_KINDS)[number];
  text: string;
  status: string | null;
  session: number;
  handover: string;
}

const MAX_TEXT_BYTES = 400;
const MAX_LISTED = 5;

function shorten(text: string): string {
  return cutAtWord(cleanLine(text), MAX_TEXT_BYTES);
}

type Links = { follows: Set<string>; joins: Set<string> };
type SessionDraft = { session: ReportSession; seen: Set<string>; links: Links };

/** Reads the handovers one after the other, so that memory grows with what is shown. */
export async function gatherReport(context: Context, scope: Filter): Promise<Report> {
  const store = findStore(context);
  const tables = openTables(store);
  const sessions = new Map<string, SessionDraft>();
  const byHandover = new Map<string, SessionDraft>();
  const worktrees = new Set<string>();
  const open = new Map<string, { fact: OpenFact; by: SessionDraft }>();
  const progress = context.progress('reading');
  await withCatalog(context, store, async (catalog) => {
    for await (const { id } of listByWork(catalog, scope)) {
      const handover = readIntact(store, id);
      if (handover === null) continue;
      const merged = readMerged(store, handover);
      const { agent, id: own } = handover.session;
      const key = own === null || merged !== null ? id : `${agent}\n${own}`;
      const project = tables.placeProject(handover);
      const begin = (): SessionDraft =>
        merged === null ? startSession(handover, project) : startMerge(handover, project, merged);
      const by = sessions.get(key) ?? begin();
      sessions.set(key, by);
      byHandover.set(id, by);
      addLinks(by, handover);
      if (merged === null) addFacts(by, handover, { tables, known: readKnown(store, handover) });
      const worktree = `${project}\n${handover.workspace.root}`;
      if (!isForeign(handover) && !worktrees.has(worktree)) {
        worktrees.add(worktree);
        for (const fact of listOpen(handover, tables.marksOf(handover)))
          if (!open.has(`${project}\n${fact.id}`)) open.set(`${project}\n${fact.id}`, { fact, by });
      }
      progress?.(byHandover.size);
    }
  });
  progress?.(byHandover.size, byHandover.size);
  const sorted = [...sessions.values()].sort((a, b) => compareCodeUnits(b.session.at, a.session.at));
  const places = new Map(sorted.map((draft, place) => [draft, place]));
  const placeOf = (draft: SessionDraft): number => places.get(draft) ?? -1;
  const findAll = (ids: ReadonlySet<string>, own: SessionDraft): number[] => {
    const found = [...ids].flatMap((id) => byHandover.get(id) ?? []).filter((draft) => draft !== own);
    return [...new Set(found.map(placeOf))];
  };
  return {
    generated_at: formatTimestamp(context.machine.clock.now()),
    handovers: byHandover.size,
    projects: tables.projects,
    files: tables.files,
    sessions: sorted.map((own) => ({
      ...own.session,
      follows: findAll(own.links.follows, own),
      joins: findAll(own.links.joins, own),
    })),
    open: [...open.values()].map(({ fact, by }) => ({ ...fact, session: placeOf(by) })),
  };
}

/** The other line of work, where a handover joins it with that of its own session; null for any other handover. */
function readMerged(store: Store, { chain, session }: Handover): Handover | null {
  const joined = chain?.joined === undefined || session.id === null ? null : readIntact(store, chain.joined);
  return joined === null || joined.session.id === null || joined.session.id === session.id ? null : joined;
}

type Tables = ReturnType<typeof openTables>;

/** Projects and files by their places, so that each is written once; a project under several ids is one. */
function openTables(store: Store) {
  const { machine } = store;
  const projects: string[] = [];
  const files: Report['files'] = [];
  const places = new Map<string, number>();
  const marksOf = rememberMarks(store);
  const nameProject = makeProjectNames(machine);
  const place = <T>(key: string, list: T[], make: () => T): number => {
    const known = places.get(key);
    if (known !== undefined) return known;
    places.set(key, list.length);
    return list.push(make()) - 1;
  };
  const placeProject = ({ project: { id, name } }: Handover): number =>
    place(nameProject(id), projects, () => shorten(name));
  return {
    projects,
    files,
    placeProject,
    placeFile: (fact: Fact, handover: Handover): number => {
      const project = placeProject(handover);
      const path = shorten(locateInProject(fact, handover.workspace, machine.home));
      return place(`${project}\n${path}`, files, () => ({ path, project }));
    },
    marksOf: ({ project }: Handover): Marks => marksOf(project.id),
  };
}

function startSession(newest: Handover, project: number): SessionDraft {
  return start(newest, project, {
    agent: shorten(newest.session.agent),
    at: lastWorkOf(newest),
    goal: shorten(findTitle(newest)),
    requests: shortenLast(newest.facts.filter((fact) => isRequest(fact) && !isCarriedOver(fact))),
  });
}

/** A merge counts as work of its own, at its own time; its facts are listed with the sessions that it joins. */
function startMerge(handover: Handover, project: number, merged: Handover): SessionDraft {
  const goal = shorten(`Took in: ${findTitle(merged)}`);
  return start(handover, project, { agent: NO_AGENT, at: handover.created_at, goal, requests: [] });
}

function start(
  { id, imported }: Handover,
  project: number,
  about: Pick<ReportSession, 'agent' | 'at' | 'goal' | 'requests'>,
): SessionDraft {
  const lists = { commits: [], decisions: [], passed: [], failed: [], changed: [], read: [], follows: [], joins: [] };
  return {
    seen: new Set(),
    links: { follows: new Set(), joins: new Set() },
    session: {
      ...{ handover: id, handovers: 0, project, ...about, ...lists },
      ...(imported?.signer === undefined ? {} : { signer: imported.signer?.name ?? null }),
    },
  };
}

function shortenLast(facts: readonly Fact[]): string[] {
  const inOrder = [...facts].sort((a, b) => lineOf(a) - lineOf(b));
  return inOrder.slice(-MAX_LISTED).map(({ text }) => shorten(text));
}

function addLinks({ session, links }: SessionDraft, { previous, chain }: Handover): void {
  session.handovers++;
  if (previous !== null) links.follows.add(previous);
  if (chain?.joined !== undefined) links.joins.add(chain.joined);
}

/** Where the one before it was forgotten, what the history still has; null where it was not: all that was carried over is there. */
function readKnown(store: Store, handover: Handover): Set<string> | null {
  if (handover.previous === null || hasHandover(store, handover.previous)) return null;
  return new Set(readHistory(store, handover).flatMap(({ facts }) => facts.map(({ id }) => id)));
}

/** Handovers of a session come newest first: a fact of a newer one is not added again. */
function addFacts(
  { session, seen }: SessionDraft,
  handover: Handover,
  { tables, known }: { tables: Tables; known: ReadonlySet<string> | null },
): void {
  for (const fact of handover.facts) {
    if (seen.has(fact.id) || (isCarriedOver(fact) && known?.has(fact.id) !== false)) continue;
    seen.add(fact.id);
    const { kind, text, status, detail } = fact;
    if (kind === 'check' && status === 'ok') session.passed.push(shorten(text));
    else if (kind === 'check' && status === 'failed') session.failed.push(shorten(text));
    else if (isChangedFile(fact)) session.changed.push(tables.placeFile(fact, handover));
    else if (kind === 'file' && status === 'read') session.read.push(tables.placeFile(fact, handover));
    else if (kind === 'reference' && detail?.about === 'commit') session.commits.push(shorten(text));
    else if ((kind === 'decision' || kind === 'rejected') && !isGuess(fact))
      session.decisions.push(describeDecision(fact, kind, { handover, marks: tables.marksOf(handover) }));
  }
}

function describeDecision(
  fact: Fact,
  kind: Decision['kind'],
  { handover, marks }: { handover: Handover; marks: Marks },
): Decision {
  const { id, trust, origin, status, pinned } = fact;
  const found = findMark(fact, handover, marks);
  const sealed = status === 'refuted' ? status : pinned === true ? 'pinned' : null;
  const mark = found === undefined ? sealed : found.mark === 'unpinned' ? null : found.mark;
  const because = found?.because ?? null;
  return {
    ...{
      id,
      kind,
      text: shorten(fact.text),
      trust,
      origin,
      line: isCarriedOver(fact) ? 0 : lineOf(fact),
      handover: handover.id,
      mark,
    },
    because: because === null ? null : shorten(because),
  };
}

const DONE: ReadonlySet<string | undefined> = new Set(['completed', 'cancelled', 'closed', 'refuted']);

type OpenFact = Omit<OpenItem, 'session'>;

function listOpen(handover: Handover, marks: Marks): OpenFact[] {
  return markHandover(handover, marks).facts.flatMap((fact) => {
    const kind = OPEN_KINDS.find((known) => known === fact.kind);
    if (kind === undefined || DONE.has(fact.status) || isGuess(fact)) return [];
    // Of other errors it is not known whether they are still there.
    if (kind === 'error' && fact.status !== 'open' && fact.status !== undefined) return [];
    const { id, text, status = null } = fact;
    return [{ id, kind, text: shorten(text), status, handover: handover.id }];
  });
}
