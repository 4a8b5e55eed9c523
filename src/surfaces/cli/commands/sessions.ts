import { buildCommand, type Command } from '@stricli/core';
import type { FoundSession } from '../../../agents/agent.ts';
import { findSessions, type SessionFilter } from '../../../app/capture/find-session.ts';
import { describeAge, formatTimestamp } from '../../../model/time.ts';
import { identifyProject } from '../../../platform/project.ts';
import { requireAgent } from '../agents.ts';
import { type CliContext, findStore } from '../context.ts';
import { toLimit } from '../filters.ts';
import { bold, dim, type Output } from '../output.ts';
import { parseCount, parseMoment } from '../words.ts';

export interface SessionsFlags {
  agent?: string;
  project?: string;
  since?: string;
  limit?: string;
  line?: string;
  json: boolean;
}

const text = (input: string): string => input;

export const sessions: Command<CliContext> = buildCommand<SessionsFlags, [string?], CliContext>({
  func: runSessions,
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        {
          parse: text,
          optional: true,
          brief: 'Show what was said in the session with this id, without secrets',
          placeholder: 'id',
        },
      ],
    },
    flags: {
      agent: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Only of this agent',
        placeholder: 'name',
      },
      project: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Only of the project in this folder',
        placeholder: 'folder',
      },
      since: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Only changed since then: 2h, 7d, 2026-01-31',
        placeholder: 'time',
      },
      limit: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'At most so many; 0 for all',
        placeholder: 'count',
      },
      line: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Of the session that is shown, only what stands around this line',
        placeholder: 'number',
      },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: {
    brief: 'List the sessions that agents keep on this machine, newest first, or show the text of one',
  },
});

const ROWS_FOR_A_PERSON = 20;

export async function runSessions(this: CliContext, flags: SessionsFlags, id?: string): Promise<void> {
  const { machine } = this;
  if (id !== undefined) return await showSession(this, flags, id);
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

async function showSession(context: CliContext, flags: SessionsFlags, id: string): Promise<void> {
  const { openSession } = await import('../../../search/sessions/open-session.ts');
  const { printSession, sessionToJson } = await import('../print-session.ts');
  const line = flags.line === undefined ? null : parseCount(flags.line, 0);
  const session = await openSession(findStore(context), id);
  if (flags.json) context.out.json(sessionToJson(session, line));
  else printSession(context, session, line);
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
