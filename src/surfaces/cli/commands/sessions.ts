import type { FoundSession } from '../../../agents/agent.ts';
import { dateSessions, findSessions, type SessionFilter, titleSessions } from '../../../agents/find-session.ts';
import { findStore } from '../../../app/context.ts';
import { dim } from '../../../app/describe/styled-text.ts';
import { suggestNext } from '../../../app/find-handover.ts';
import { parseCount, parseMoment, requireAgent } from '../../../app/parse.ts';
import { describeAge, formatTimestamp } from '../../../model/time.ts';
import type { Machine } from '../../../platform/machine.ts';
import { abbreviateHome } from '../../../platform/paths.ts';
import { identifyProject } from '../../../platform/project.ts';
import type { CliContext } from '../context.ts';
import { filterFlags, suggestAll, toLimit } from '../filters.ts';
import { command, type FlagValues, json, optionalArgument, text, tuple } from '../flags.ts';
import { showItem } from '../output.ts';

/** For lists of the agents' own sessions. */
export const sessionFlags = {
  agent: filterFlags.agent,
  project: text('Only the project in this folder', 'folder'),
  since: text('Only changed since then: yesterday, 7d, 2026-01-31', 'time'),
} as const;

export function toSessionFilter(
  { agent, project, since }: FlagValues<typeof sessionFlags>,
  machine: Machine,
): SessionFilter {
  return {
    agent: agent === undefined ? undefined : requireAgent(agent),
    project: project === undefined ? undefined : identifyProject(project, machine).id,
    sinceMs: since === undefined ? undefined : parseMoment(since, machine.clock.now(), 'first'),
  };
}

const flags = {
  ...sessionFlags,
  limit: filterFlags.limit,
  line: text('With an id: only what was said around this line', 'number'),
  json,
};
type SessionsFlags = FlagValues<typeof flags>;

export const sessions = command('sessions', runSessions, {
  positional: tuple(optionalArgument('Show what was said in this session, with secrets redacted', 'session')),
  flags,
});

const ROWS_FOR_A_PERSON = 20;

async function runSessions(this: CliContext, values: SessionsFlags, id?: string): Promise<void> {
  const { machine } = this;
  if (id !== undefined) return await showSession(this, values, id);
  const filter = toSessionFilter(values, machine);
  const limit = toLimit(values, values.json ? null : ROWS_FOR_A_PERSON);
  const { sinceMs = 0 } = filter;
  const found = dateSessions(await findSessions(machine, filter)).filter(({ changedMs }) => changedMs >= sinceMs);
  const shown = await titleSessions(limit === null ? found : found.slice(0, limit), machine);
  if (values.json) return await this.out.jsonArray(shown.map(toJson));
  for (const { id: shownId, agent, title, cwd, changedMs } of shown) {
    const age = describeAge(machine.clock.now() - changedMs);
    const about = dim(`  ${cwd === null ? 'folder unknown' : abbreviateHome(cwd, machine)}, ${age}`);
    this.out.line(...showItem(this.out, { id: shownId, agent, title: title ?? 'nothing asked yet' }), about);
  }
  if (found.length === 0) {
    this.out.line('no sessions found');
    this.err.line(dim('next: '), await suggestNext(findStore(this), { folder: values.project }));
  }
  if (shown.length < found.length)
    this.err.line(dim(`${found.length - shown.length} more; show all: ${suggestAll('sessions', values)}`));
}

async function showSession(context: CliContext, values: SessionsFlags, id: string): Promise<void> {
  const { openSession } = await import('../../../search/sessions/read-session.ts');
  const { describeSession, sessionToJson } = await import('../../../app/describe/session.ts');
  const line = values.line === undefined ? null : parseCount(values.line, 0);
  const session = await openSession(findStore(context), id);
  if (values.json) context.out.json(sessionToJson(session, line));
  else context.out.lines(describeSession(session, line, context.machine));
}

function toJson(session: FoundSession): unknown {
  const { agent, id, path, cwd, title, startedMs, changedMs, bytes } = session;
  const started_at = startedMs === null ? null : formatTimestamp(startedMs);
  return { agent, id, cwd, title, started_at, changed_at: formatTimestamp(changedMs), bytes, path };
}
