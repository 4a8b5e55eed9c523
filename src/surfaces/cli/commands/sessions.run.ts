import type { FoundSession } from '../../../agents/agent.ts';
import { findSessions, type SessionFilter } from '../../../capture/find-session.ts';
import { describeAge, formatTimestamp } from '../../../model/time.ts';
import { identifyProject } from '../../../workspace/project.ts';
import { requireAgent } from '../agents.ts';
import type { CliContext } from '../context.ts';
import { toLimit } from '../filters.ts';
import { bold, dim, type Output } from '../output.ts';
import { parseMoment } from '../words.ts';
import type { SessionsFlags } from './sessions.ts';

const ROWS_FOR_A_PERSON = 20;

export async function runSessions(this: CliContext, flags: SessionsFlags): Promise<void> {
  const { machine } = this;
  const filter: SessionFilter = {};
  if (flags.agent !== undefined) filter.agent = requireAgent(flags.agent);
  if (flags.project !== undefined) filter.project = identifyProject(flags.project, machine).id;
  if (flags.since !== undefined) filter.sinceMs = parseMoment(flags.since, machine.clock.now(), 'first');
  const limit = toLimit(flags, flags.json ? null : ROWS_FOR_A_PERSON);
  const found = await findSessions(machine, filter);
  const shown = limit === null ? found : found.slice(0, limit);
  if (flags.json) {
    await this.out.jsonArray(shown.map(toJson));
    return;
  }
  for (const session of shown) printSession(this.out, session, machine.clock.now());
  if (found.length === 0) this.out.line('no sessions found');
  if (shown.length < found.length) {
    this.err.line(dim(`${found.length - shown.length} more; all of them: handover sessions --limit 0`));
  }
}

function toJson(session: FoundSession): unknown {
  const { agent, id, path, cwd, title, startedMs, changedMs, bytes } = session;
  const started_at = startedMs === null ? null : formatTimestamp(startedMs);
  return { agent, id, cwd, title, started_at, changed_at: formatTimestamp(changedMs), bytes, path };
}

function printSession(out: Output, session: FoundSession, now: number): void {
  out.line(bold(session.id), `  ${session.agent.padEnd(12)}  ${session.title ?? ''}`);
  out.line(dim(`  ${session.cwd ?? 'folder unknown'}, ${describeAge(now - session.changedMs)}`));
}
