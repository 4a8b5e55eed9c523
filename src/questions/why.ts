import { isChangedFile } from '../handover/changed-files.ts';
import { findMark, isTakenOver, type Marks } from '../handover/marks.ts';
import type { Fact } from '../model/fact.ts';
import type { Handover } from '../model/handover.ts';
import { locateInProject } from '../model/project-path.ts';
import { type AskedPath, makeMentionTest, NEARNESS, type Nearness, testPaths } from './asked-path.ts';
import {
  findGoal,
  type Gathered,
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

export type Standing = 'open' | 'pinned' | 'resolved' | 'refuted';

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
  /** Handovers that may tell of it, the newest first; asked for once for each nearness that is tried. */
  leads(): AsyncIterable<Lead>;
  read(id: string): Handover | null;
  marksOf(project: string): Marks;
  /** What the file was called before. */
  earlierNames: readonly string[];
  limit: number | null;
  home?: string | undefined;
}

/** Why a file is as it is. A path that nothing is told of is looked for by its end, then by its name: files move. */
export async function askWhy(asked: AskedPath, options: WhyOptions): Promise<Why> {
  for (const nearness of NEARNESS) {
    const scene = describeScene(asked, nearness, options);
    const { sessions, hasMore } = await gather(scene, options);
    if (sessions.length > 0)
      return { nearness, sessions: describeSessions(sessions, scene, options), hasMore };
  }
  return { nearness: 'exact', sessions: [], hasMore: false };
}

interface Scene {
  touches(fact: Fact, by: Handover): boolean;
  mentions(text: string): boolean;
  locate(fact: Fact, by: Handover): string;
}

function describeScene(asked: AskedPath, nearness: Nearness, options: WhyOptions): Scene {
  const names = new Set(options.earlierNames);
  const isNear = testPaths(asked, nearness);
  const test = (path: string): boolean => isNear(path) || names.has(path);
  const isMentioned = makeMentionTest(asked, test);
  const { symbol } = asked;
  const locate = (fact: Fact, by: Handover): string => locateInProject(fact, by.workspace, options.home);
  return {
    locate,
    touches: (fact, by) =>
      fact.kind === 'file' && test(locate(fact, by)) && (symbol === null || hasSymbol(fact, symbol)),
    mentions: (text) => (symbol === null ? isMentioned(text) : namesSymbol(text, symbol)),
  };
}

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

async function gather(scene: Scene, { leads, read, limit }: WhyOptions): Promise<Gathered> {
  const accepts = (handover: Handover): boolean =>
    handover.facts.some(
      (fact) =>
        scene.touches(fact, handover) ||
        (isReason(fact) !== null && !isTakenOver(fact) && scene.mentions(fact.text)),
    );
  return await gatherSessions(leads(), { read, accepts, limit });
}

function describeSessions(sessions: readonly ToldSession[], scene: Scene, options: WhyOptions): Involved[] {
  return sessions.map((session) => {
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
      touched: touching.map(({ fact, by }) => describeTouch(fact, scene.locate(fact, by))),
      reasons: listReasons(own, touching, { scene, marks: options.marksOf(newest.project.id) }),
    };
  });
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
  const said = own.filter(({ fact }) => isReason(fact) !== null && scene.mentions(fact.text));
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
