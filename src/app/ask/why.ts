import { findMark, isTakenOver, type Marks } from '../../handover/marks.ts';
import { isChangedFile } from '../../handover/outcome.ts';
import type { Fact, FactKind } from '../../model/fact.ts';
import type { Handover } from '../../model/handover.ts';
import { baseName, locateInProject } from '../../model/paths.ts';
import type { Workspace } from '../../model/workspace.ts';
import type { Standing } from '../../search/hit.ts';
import { type AskedPath, makeMentionTest, NEARNESS, type Nearness, testPaths } from './asked-path.ts';
import { type FactSource, filterFacts, mergeLeads } from './fact-source.ts';
import {
  findGoal,
  gatherSessions,
  type Lead,
  lastMomentOf,
  lineOf,
  listOwnFacts,
  type Telling,
  type ToldSession,
} from './told-session.ts';

/** Something that was settled, and whether it still is. */
export interface Reason {
  id: string;
  kind: Fact['kind'];
  /** The words themselves. */
  text: string;
  trust: Fact['trust'];
  origin: Fact['origin'];
  standing: Standing;
  /** Why it was marked so. */
  because: string | null;
  /** `file`: it speaks of the file. `session`: it was settled in a session that changed the file. */
  about: 'file' | 'session';
  /** The handover by which it can be opened. */
  handover: string;
}

export interface Touch {
  path: string;
  /** created, edited, deleted, read, mentioned, or named by hand. */
  change: string;
  edits: number;
  reads: number;
}

/** A session that had to do with the file. */
export interface Involved {
  handover: string;
  agent: string;
  session: string | null;
  project: { id: string; name: string };
  at: string;
  title: string;
  /** What was asked for. */
  goal: string;
  touched: Touch[];
  reasons: Reason[];
}

export interface Why {
  nearness: Nearness;
  /** The newest first. */
  sessions: Involved[];
  hasMore: boolean;
}

export interface WhyOptions {
  source: FactSource;
  read(id: string): Handover | null;
  /** What the file was called before. */
  earlierNames: readonly string[];
  limit: number | null;
  home?: string | undefined;
}

/** Why a file is as it is. A path that nothing is told of is looked for by its end, then by its name: files move. */
export async function askWhy(asked: AskedPath, options: WhyOptions): Promise<Why> {
  for (const nearness of NEARNESS) {
    const scene = describeScene(asked, nearness, options);
    const leads = await findLeads(asked, scene, options);
    const { sessions, hasMore } = await gatherSessions(leads, {
      read: options.read,
      accepts: (handover) =>
        handover.facts.some((fact) => scene.touches(fact, handover) || scene.settles(fact)),
      limit: options.limit,
    });
    if (sessions.length > 0)
      return { nearness, sessions: await describeSessions(sessions, scene, options), hasMore };
  }
  return { nearness: 'exact', sessions: [], hasMore: false };
}

type Place = Pick<Workspace, 'root' | 'folder'>;

/** What is asked about, as tests of facts. */
interface Scene {
  locate(fact: Pick<Fact, 'text' | 'trust'>, place: Place): string;
  isAt(path: string): boolean;
  mentions(text: string): boolean;
  /** Whether a session did something to the file. */
  touches(fact: Fact, by: Handover): boolean;
  /** Whether something is settled, in so many words, of the file. */
  settles(fact: Fact): boolean;
}

function describeScene(asked: AskedPath, nearness: Nearness, { earlierNames, home }: WhyOptions): Scene {
  const names = new Set(earlierNames);
  const isNear = testPaths(asked, nearness);
  const isAt = (path: string): boolean => isNear(path) || names.has(path);
  const isMentioned = makeMentionTest(asked, isAt);
  const { symbol } = asked;
  const mentions = (text: string): boolean =>
    symbol === null ? isMentioned(text) : namesSymbol(text, symbol);
  const locate: Scene['locate'] = (fact, place) => locateInProject(fact, place, home);
  return {
    locate,
    isAt,
    mentions,
    touches: (fact, by) =>
      fact.kind === 'file' &&
      isAt(locate(fact, by.workspace)) &&
      (symbol === null || hasSymbol(fact, symbol)),
    settles: (fact) => isReason(fact) !== null && !isTakenOver(fact) && mentions(fact.text),
  };
}

const REASONS: readonly FactKind[] = ['decision', 'constraint', 'rejected', 'note', 'goal'];

/** The handovers that tell of files at such a path, or speak of it. */
async function findLeads(
  asked: AskedPath,
  scene: Scene,
  { source, earlierNames }: WhyOptions,
): Promise<AsyncIterable<Lead>> {
  const names = asked.kind === 'file' ? [asked.path, ...earlierNames].map(baseName) : [];
  const filters =
    names.length === 0 ? [{ kinds: FILES }] : [...new Set(names)].map((fileName) => ({ fileName }));
  const touching = filters.map((filter) =>
    filterFacts(source.facts(filter), ({ fact, handover }) => scene.isAt(scene.locate(fact, handover))),
  );
  const words = asked.symbol ?? (names.length === 0 ? asked.typed : names.join(' '));
  const speaking = await source.mentions(words, REASONS);
  return mergeLeads([...touching, filterFacts(speaking, ({ fact }) => scene.mentions(fact.text))]);
}

const FILES: readonly FactKind[] = ['file'];

/** The names that a session worked on in a file are kept with it. */
function hasSymbol({ detail }: Fact, symbol: string): boolean {
  const names = detail?.names;
  if (typeof names !== 'object' || names === null) return false;
  return Object.keys(names).some((name) => name === symbol || lastPart(name) === symbol);
}

function lastPart(name: string): string {
  return name.slice(Math.max(name.lastIndexOf('.'), name.lastIndexOf(':'), name.lastIndexOf('#')) + 1);
}

function namesSymbol(text: string, symbol: string): boolean {
  const name = lastPart(symbol);
  return [...text.matchAll(/[\p{L}_$][\p{L}\p{N}_$]*/gu)].some(([word]) => word === name);
}

/** What is settled, by whom ever; of messages and requests only what a human said of the file itself. */
function isReason({ kind, origin }: Fact): 'settled' | 'said' | null {
  if (kind === 'decision' || kind === 'constraint' || kind === 'rejected') return 'settled';
  return origin === 'human' && (kind === 'note' || kind === 'goal') ? 'said' : null;
}

async function describeSessions(
  sessions: readonly ToldSession[],
  scene: Scene,
  { source }: WhyOptions,
): Promise<Involved[]> {
  const described = sessions.map(async (session): Promise<Involved> => {
    const { newest } = session;
    const own = listOwnFacts(session);
    const touching = own.filter(({ fact, by }) => scene.touches(fact, by));
    return {
      handover: newest.id,
      agent: newest.session.agent,
      session: newest.session.id,
      project: { id: newest.project.id, name: newest.project.name },
      at: lastMomentOf(newest),
      title: newest.title,
      goal: findGoal(newest),
      touched: touching.map(({ fact, by }) => describeTouch(fact, scene.locate(fact, by.workspace))),
      reasons: listReasons(own, touching, { scene, marks: await source.marks(newest.project.id) }),
    };
  });
  return await Promise.all(described);
}

function describeTouch({ status, detail }: Fact, path: string): Touch {
  const count = (value: unknown): number => (typeof value === 'number' ? value : 0);
  return { path, change: status ?? 'named', edits: count(detail?.edits), reads: count(detail?.reads) };
}

/** What else was settled while the file was changed: as much as helps, and not all of a long session. */
const MAX_OF_SESSION = 3;

/** First what speaks of the file, then what was settled nearest to its change; each in the order in which it was said. */
function listReasons(
  own: readonly Telling[],
  touching: readonly Telling[],
  { scene, marks }: { scene: Scene; marks: Marks },
): Reason[] {
  const describe = ({ fact, by }: Telling, about: Reason['about']): Reason => {
    const mark = findMark(fact, by, marks);
    return {
      id: fact.id,
      kind: fact.kind,
      text: fact.text,
      trust: fact.trust,
      origin: fact.origin,
      standing: standingOf(fact, mark?.mark),
      because: mark?.because ?? null,
      about,
      handover: by.id,
    };
  };
  const said = own.filter(({ fact }) => scene.settles(fact));
  const change = touching.find(({ fact }) => isChangedFile(fact));
  const others =
    change === undefined
      ? []
      : own
          .filter((telling) => isReason(telling.fact) === 'settled' && !said.includes(telling))
          .map((telling) => ({ telling, way: Math.abs(lineOf(telling.fact) - lineOf(change.fact)) }))
          .sort((a, b) => a.way - b.way)
          .slice(0, MAX_OF_SESSION)
          .map(({ telling }) => telling);
  return [
    ...said.sort(compareLines).map((telling) => describe(telling, 'file')),
    ...others.sort(compareLines).map((telling) => describe(telling, 'session')),
  ];
}

function standingOf(fact: Fact, mark: string | undefined): Standing {
  if (mark === 'resolved' || mark === 'refuted' || mark === 'pinned') return mark;
  if (mark === 'unpinned') return 'open';
  if (fact.status === 'refuted') return 'refuted';
  return fact.pinned === true ? 'pinned' : 'open';
}

function compareLines(a: Telling, b: Telling): number {
  return lineOf(a.fact) - lineOf(b.fact);
}
