import type { Agent, FoundSession } from '../agents/agent.ts';
import { HANDOVER_SCHEMA, type UnstampedDraft } from '../model/handover.ts';
import { formatTimestamp } from '../model/time.ts';
import { isFolder } from '../platform/folders.ts';
import type { Machine } from '../platform/machine.ts';
import { Redactor } from '../redact/redact.ts';
import { abbreviateHome, describePlace, type Place } from '../workspace/place.ts';
import { nameLostProject } from '../workspace/project.ts';
import { type Judgement, judgeReading } from './judge-reading.ts';
import { readSession } from './read-session.ts';

export interface Captured {
  draft: UnstampedDraft;
  judgement: Judgement;
}

export interface CaptureOptions {
  /** Whether to keep what was read, so that the next capture of the session reads only what is new. */
  keepsReading?: boolean;
}

/** Makes a handover of a session, from nothing but what the agent wrote to disk. */
export function captureSession(
  agent: Agent,
  session: FoundSession,
  machine: Machine,
  { keepsReading = false }: CaptureOptions = {},
): Captured {
  const { distilled, reading, tally } = readSession(agent, session, { machine, keeps: keepsReading });
  const redactor = new Redactor();
  const facts = distilled.facts.map((fact) => redactor.redactFact(fact));
  const title = redactor.redactText(distilled.title);
  const { project, workspace } = locate(distilled.cwd ?? session.cwd, machine);
  const draft: UnstampedDraft = {
    schema: HANDOVER_SCHEMA,
    expires_at: null,
    project,
    session: {
      agent: agent.name,
      id: reading.sessionId ?? session.id,
      terminal: null,
      model: distilled.model,
      transcript: abbreviateHome(session.path, machine),
      started_at:
        distilled.startedAt ?? (session.startedMs === null ? null : formatTimestamp(session.startedMs)),
      ...(distilled.lastAt === null ? {} : { last_at: distilled.lastAt }),
    },
    workspace,
    title,
    summary: '',
    facts,
    previous: null,
    quality: null,
    redactions: redactor.redactions,
  };
  return { draft, judgement: judgeReading(reading, tally, session.bytes) };
}

/** A folder that is gone, or that was never on this machine, still names the project. */
function locate(cwd: string | null, machine: Machine): Pick<Place, 'project' | 'workspace'> {
  if (cwd === null) return describePlace(machine.cwd, machine);
  if (isFolder(cwd)) return describePlace(cwd, machine);
  return {
    project: nameLostProject(cwd),
    workspace: { root: abbreviateHome(cwd, machine), folder: '', worktree: null, git: null },
  };
}
