import { HandoverError, notFoundError, usageError } from '../errors.ts';
import { cutToBytes, findFirstLine, quoteInput } from '../model/text.ts';
import { readTail, statFile } from '../platform/external-file.ts';
import { isFolder, pathExists } from '../platform/folders.ts';
import { listAliases } from '../platform/known-projects.ts';
import type { Machine } from '../platform/machine.ts';
import { type IdentifiedProject, identifyLost, identifyProject } from '../platform/project.ts';
import type { Redactor } from '../redact/redactor.ts';
import {
  AGENT_NAMES,
  type Agent,
  type AgentName,
  type FoundSession,
  type RecallSession,
  startReadStats,
} from './agent.ts';
import { toTitleText } from './shared/message-text.ts';
import { findAgentSessions, loadAgent } from './table.ts';

export interface SessionFilter {
  agent?: AgentName | undefined;
  /** Only sessions that worked in this project, known by its id. */
  project?: string | undefined;
  /** Only sessions that worked in the worktree with this real path. */
  root?: string;
  sinceMs?: number | undefined;
}

/**
 * Every session on this machine that fits, newest first, with secrets taken out of the title. Sub-agents' sessions belong to
 * the one that started them. What is recalled was found by this function before.
 */
export async function findSessions(
  machine: Machine,
  filter: SessionFilter = {},
  recall?: RecallSession,
): Promise<FoundSession[]> {
  const names = filter.agent === undefined ? AGENT_NAMES : AGENT_NAMES.filter((name) => name === filter.agent);
  if (names.length === 0)
    throw usageError(`unknown agent ${quoteInput(String(filter.agent))}`, `Use one of: ${AGENT_NAMES.join(', ')}.`);
  const projectOf = rememberProjects(machine);
  const projects = new Set(filter.project === undefined ? [] : listAliases(machine, filter.project));
  const found = names
    .flatMap((name) => [...findAgentSessions(name, machine, recall ?? skipOld(filter))])
    .filter((session) => session.parent === null)
    .filter((session) => filter.sinceMs === undefined || session.changedMs >= filter.sinceMs)
    .filter((session) => isOfPlace(session, filter, { projectOf, projects }))
    .sort((a, b) => b.changedMs - a.changedMs || (a.id < b.id ? -1 : 1));
  const isNew = ({ title, path }: FoundSession): boolean => title !== null && title !== recall?.(path)?.title;
  if (!found.some(isNew)) return found;
  const redactor = await openTitleRedactor(machine);
  return found.map((session) => (isNew(session) ? { ...session, title: makeTitle(session.title, redactor) } : session));
}

/** A log that was not written to since the time that is asked for need not be opened. */
function skipOld({ sinceMs }: SessionFilter): RecallSession | undefined {
  if (sinceMs === undefined) return undefined;
  const old = { id: '', cwd: null, title: null, startedMs: null, changedMs: 0, bytes: 0, parent: null } as const;
  return (path) => {
    const changedMs = path.endsWith('.jsonl') ? statFile(path)?.changedMs : undefined;
    return changedMs === undefined || changedMs >= sinceMs ? null : { ...old, agent: AGENT_NAMES[0], path };
  };
}

/** Loaded only for titles that are new. */
async function openTitleRedactor(machine: Machine): Promise<Redactor> {
  const { openRedactor } = await import('../redact/open-redactor.ts');
  return openRedactor(machine, { folder: null, makesKey: false });
}

const MAX_TITLE_BYTES = 120;

/** One line, without secrets: cut last, since half a secret is not found. */
function makeTitle(text: string | null, redactor: Redactor): string | null {
  const said = toTitleText(text);
  if (said === null) return null;
  return cutToBytes(findFirstLine(redactor.redactText(said, { byHuman: true })), MAX_TITLE_BYTES) || null;
}

/** The session with this id, or the only one whose id begins so or ends so; null for none. */
export function pickSession<T extends { id: string }>(sessions: readonly T[], words: string): T | null {
  const wanted = words.trim();
  const exact = sessions.find(({ id }) => id === wanted);
  if (exact !== undefined || wanted === '') return exact ?? null;
  const starting = sessions.filter(({ id }) => id.startsWith(wanted));
  const alike =
    starting.length > 0 || wanted.length < MIN_END ? starting : sessions.filter(({ id }) => id.endsWith(wanted));
  const candidates = [...new Set(alike.map(({ id }) => id))];
  if (candidates.length < 2) return alike[0] ?? null;
  const message = `${quoteInput(wanted)} is part of ${candidates.length} session ids`;
  const hint = `Type more of the id: ${candidates.slice(0, 3).join(', ')} …`;
  throw new HandoverError('HANDOVER_ID_AMBIGUOUS', message, { hint, data: { candidates: candidates.slice(0, 10) } });
}

const MIN_END = 4;

/** The same sessions, each with a title if anything was asked in it: the head of a transcript does not always show it. */
export async function titleSessions(sessions: readonly FoundSession[], machine: Machine): Promise<FoundSession[]> {
  if (sessions.every(({ title }) => title !== null)) return [...sessions];
  const redactor = await openTitleRedactor(machine);
  const named: FoundSession[] = [];
  for (const session of sessions)
    named.push(session.title === null ? { ...session, title: await findRequest(session, redactor) } : session);
  return named;
}

const TAIL_BYTES = 16 * 1024;
const TIME = /"timestamp":\s?"(\d{4}-\d\d-\d\dT[\d:.]{8,15}Z)"/g;

/** The same sessions by the time of their last event, the newest first. Where the end of the transcript does not show it, by the file's. */
export function dateSessions(sessions: readonly FoundSession[]): FoundSession[] {
  return listByLastEvent(sessions).map(({ session, lastMs }) => ({ ...session, changedMs: lastMs }));
}

/** Sessions with the time of their last event, the newest first: a copied or restored transcript is a new file of old work. */
export function listByLastEvent<Session extends Pick<FoundSession, 'id' | 'path' | 'changedMs'>>(
  sessions: readonly Session[],
): { session: Session; lastMs: number }[] {
  return sessions
    .map((session) => ({ session, lastMs: findLastEvent(session) }))
    .sort((a, b) => b.lastMs - a.lastMs || (a.session.id < b.session.id ? -1 : 1));
}

function findLastEvent({ path, changedMs }: Pick<FoundSession, 'path' | 'changedMs'>): number {
  const tail = path.endsWith('.jsonl') ? (readTail(path, TAIL_BYTES) ?? '') : '';
  const last = Date.parse([...tail.matchAll(TIME)].at(-1)?.[1] ?? '');
  return last < changedMs ? last : changedMs;
}

async function findRequest(session: FoundSession, redactor: Redactor): Promise<string | null> {
  const agent = await loadAgent(session.agent);
  for (const event of agent.readEvents(session, startReadStats())) {
    const title = event.type === 'prompt' && !event.sidechain ? makeTitle(event.text, redactor) : null;
    if (title !== null) return title;
  }
  return null;
}

function isOfPlace(
  { cwd }: FoundSession,
  { project, root }: SessionFilter,
  { projectOf, projects }: { projectOf: (cwd: string) => IdentifiedProject | null; projects: ReadonlySet<string> },
): boolean {
  if (project === undefined && root === undefined) return true;
  const place = cwd === null ? null : projectOf(cwd);
  if (place === null || (project !== undefined && !projects.has(place.id))) return false;
  return root === undefined || place.root === root;
}

/** Asking git about a folder costs a process, and most sessions share a few. Null where nothing is left of a folder. */
export function rememberProjects(machine: Machine): (cwd: string) => IdentifiedProject | null {
  const known = new Map<string, IdentifiedProject | null>();
  return (cwd) => {
    if (!known.has(cwd)) known.set(cwd, (isFolder(cwd) ? identifyProject : identifyLost)(cwd, machine));
    return known.get(cwd) ?? null;
  };
}

/** The session in a file, and the agent that wrote it; all agents are tried when none is named. */
export async function inspectTranscript(
  path: string,
  name?: AgentName,
): Promise<{ agent: Agent; session: FoundSession }> {
  const hint = 'List sessions: handover sessions';
  if (!pathExists(path)) throw notFoundError(`there is no file ${path}`, hint);
  for (const candidate of name === undefined ? AGENT_NAMES : [name]) {
    const agent = await loadAgent(candidate);
    const session = agent.inspectFile(path);
    if (session !== null) return { agent, session };
  }
  const whose = name === undefined ? ' that is known here' : ` of ${name}`;
  throw new HandoverError('HANDOVER_INPUT_INVALID', `${path} is not a transcript${whose}`, { hint });
}
