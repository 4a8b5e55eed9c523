import type { Agent, FoundSession } from '../../agents/agent.ts';
import { HANDOVER_SCHEMA, type UnstampedDraft } from '../../model/handover.ts';
import { formatTimestamp } from '../../model/time.ts';
import { isFolder } from '../../platform/folders.ts';
import type { Machine } from '../../platform/machine.ts';
import { abbreviateHome } from '../../platform/paths.ts';
import { describePlace, nameLostProject, type Place } from '../../platform/project.ts';
import { openRedactor } from '../../redact/open-redactor.ts';
import { redactDraft } from '../../redact/redact-draft.ts';
import type { Redactor } from '../../redact/redactor.ts';
import { type Judgement, judgeReading } from './judge-reading.ts';
import { readSession } from './read-session.ts';

export interface Captured {
  draft: UnstampedDraft;
  judgement: Judgement;
  /** How often the session was compacted. */
  compactions: number;
}

export interface CaptureOptions {
  /** Whether to keep what was read, so that the next capture of the session reads only what is new. */
  keepsReading?: boolean;
  /** What the agent said last, which it may not have written down yet. */
  lastReply?: string;
  /** Takes out the secrets; without one, that of the store. */
  redactor?: Redactor;
}

/** Makes a handover of a session, from nothing but what the agent wrote to disk. */
export function captureSession(
  agent: Agent,
  session: FoundSession,
  machine: Machine,
  {
    keepsReading = false,
    lastReply,
    redactor = openRedactorFor(session, machine, keepsReading),
  }: CaptureOptions = {},
): Captured {
  const options = { machine, redactor, ...(lastReply === undefined ? {} : { lastReply }) };
  const first = readSession(agent, session, { ...options, keeps: keepsReading });
  // What a later line taught may stand in an earlier one.
  const { distilled, reading, tally } = redactor.hasLearnt
    ? readSession(agent, session, { ...options, keeps: false, anew: true })
    : first;
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
    title: distilled.title,
    summary: '',
    facts: distilled.facts,
    previous: null,
    quality: null,
    redactions: [],
  };
  return {
    draft: redactDraft(draft, redactor),
    judgement: judgeReading(reading, tally, session.bytes),
    compactions: tally.compactions,
  };
}

function openRedactorFor({ cwd }: FoundSession, machine: Machine, makesKey: boolean): Redactor {
  return openRedactor(machine, { folder: cwd, makesKey });
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
