import { HandoverError } from '../errors.ts';
import { cleanLine } from '../model/text.ts';
import { isFolder, pathExists } from '../platform/folders.ts';
import type { Machine } from '../platform/machine.ts';
import { type IdentifiedProject, identifyProject } from '../platform/project.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import { AGENT_NAMES, type Agent, type AgentName, type FoundSession } from './agent.ts';
import { hasTranscripts, loadAgent } from './table.ts';

export interface SessionFilter {
  agent?: AgentName;
  /** Only sessions that worked in this project, known by its id. */
  project?: string;
  /** Only sessions that worked in the worktree with this real path. */
  root?: string;
  sinceMs?: number;
}

/** Every session on this machine that fits, newest first. Sub-agents' sessions belong to the one that started them. */
export async function findSessions(machine: Machine, filter: SessionFilter = {}): Promise<FoundSession[]> {
  const names = filter.agent === undefined ? AGENT_NAMES : AGENT_NAMES.filter((name) => name === filter.agent);
  if (names.length === 0)
    throw new HandoverError('HANDOVER_USAGE', `unknown agent "${cleanLine(String(filter.agent))}"`, {
      hint: `Use one of: ${AGENT_NAMES.join(', ')}.`,
    });
  const agents = await Promise.all(names.filter((name) => hasTranscripts(name, machine)).map(loadAgent));
  if (agents.length === 0) return [];
  const projectOf = rememberProjects(machine);
  const redactor = openRedactor(machine, { folder: null, makesKey: false });
  return agents
    .flatMap((agent) => [...agent.findSessions(machine)])
    .filter((session) => session.parent === null)
    .filter((session) => filter.sinceMs === undefined || session.changedMs >= filter.sinceMs)
    .filter((session) => isOfPlace(session, filter, projectOf))
    .sort((a, b) => b.changedMs - a.changedMs || (a.id < b.id ? -1 : 1))
    .map((session) => ({
      ...session,
      title: session.title === null ? null : redactor.redactText(session.title, { byHuman: true }),
    }));
}

function isOfPlace(
  { cwd }: FoundSession,
  { project, root }: SessionFilter,
  projectOf: (cwd: string) => IdentifiedProject | null,
): boolean {
  if (project === undefined && root === undefined) return true;
  const place = cwd === null ? null : projectOf(cwd);
  if (place === null || (project !== undefined && place.id !== project)) return false;
  return root === undefined || place.root === root;
}

/** Asking git about a folder costs a process; most sessions share a few folders. */
function rememberProjects(machine: Machine): (cwd: string) => IdentifiedProject | null {
  const known = new Map<string, IdentifiedProject | null>();
  return (cwd) => {
    if (!known.has(cwd)) known.set(cwd, isFolder(cwd) ? identifyProject(cwd, machine) : null);
    return known.get(cwd) ?? null;
  };
}

/** The session in a file, and the agent that wrote it; all agents are tried when none is named. */
export async function inspectTranscript(
  path: string,
  name?: AgentName,
): Promise<{ agent: Agent; session: FoundSession }> {
  const hint = 'List sessions: handover sessions';
  if (!pathExists(path)) throw new HandoverError('HANDOVER_NOT_FOUND', `there is no file ${path}`, { hint });
  for (const candidate of name === undefined ? AGENT_NAMES : [name]) {
    const agent = await loadAgent(candidate);
    const session = agent.inspectFile(path);
    if (session !== null) return { agent, session };
  }
  const whose = name === undefined ? ' that is known here' : ` of ${name}`;
  throw new HandoverError('HANDOVER_INPUT_INVALID', `${path} is not a transcript${whose}`, { hint });
}
