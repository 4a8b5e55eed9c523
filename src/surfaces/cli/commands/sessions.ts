import type { FoundSession } from '../../../agents/agent.ts';
import { findSessions, type SessionFilter } from '../../../agents/find-session.ts';
import { findStore } from '../../../app/context.ts';
import { bold, dim } from '../../../app/describe/styled-text.ts';
import { parseCount, parseMoment, requireAgent } from '../../../app/parse.ts';
import { describeAge, formatTimestamp } from '../../../model/time.ts';
import { identifyProject } from '../../../platform/project.ts';
import type { CliContext } from '../context.ts';
import { filterFlags, suggestAll, toLimit } from '../filters.ts';
import { command, type FlagValues, json, optionalArgument, text, tuple } from '../flags.ts';

const flags = {
  agent: filterFlags.agent,
  project: text('Only of the project in this folder', 'folder'),
  since: text('Only changed since then: 2h, 7d, 2026-01-31', 'time'),
  limit: filterFlags.limit,
  line: text('With an id: only what was said around this line', 'number'),
  json,
};
type SessionsFlags = FlagValues<typeof flags>;

export const sessions = command('sessions', runSessions, {
  positional: tuple(optionalArgument('Show what was said in this session, with secrets redacted', 'id')),
  flags,
});

const ROWS_FOR_A_PERSON = 20;

async function runSessions(this: CliContext, values: SessionsFlags, id?: string): Promise<void> {
  const { machine } = this;
  if (id !== undefined) return await showSession(this, values, id);
  const filter: SessionFilter = {};
  if (values.agent !== undefined) filter.agent = requireAgent(values.agent);
  if (values.project !== undefined) filter.project = identifyProject(values.project, machine).id;
  if (values.since !== undefined) filter.sinceMs = parseMoment(values.since, machine.clock.now(), 'first');
  const limit = toLimit(values, values.json ? null : ROWS_FOR_A_PERSON);
  const found = await findSessions(machine, filter);
  const shown = limit === null ? found : found.slice(0, limit);
  if (values.json) return await this.out.jsonArray(shown.map(toJson));
  for (const { id: shownId, agent, title, cwd, changedMs } of shown) {
    this.out.line(bold(shownId), `  ${agent.padEnd(12)}  ${title ?? ''}`);
    this.out.line(dim(`  ${cwd ?? 'folder unknown'}, ${describeAge(machine.clock.now() - changedMs)}`));
  }
  if (found.length === 0) this.out.line('no sessions found');
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
