import { join } from 'node:path';
import * as v from 'valibot';
import { type Agent, type FoundSession, type ReadStats, startReadStats } from '../../agents/agent.ts';
import { toMessageText } from '../../agents/shared/message-text.ts';
import {
  type Checkpoint,
  holdsSecret,
  packCheckpoint,
  readCheckpoint,
  type TranscriptFile,
  writeCheckpoint,
} from '../../agents/transcript-checkpoint.ts';
import { type Distillation, distillLog } from '../../distill/distill.ts';
import { closeSessionLog, flushSessionLog, logEvent } from '../../distill/log-events.ts';
import { SessionLog } from '../../distill/session-log.ts';
import { HandoverError } from '../../errors.ts';
import type { Event } from '../../model/event.ts';
import { HANDOVER_SCHEMA, type UnstampedDraft } from '../../model/handover.ts';
import { formatTimestamp } from '../../model/time.ts';
import { statFile } from '../../platform/external-file.ts';
import { isFolder } from '../../platform/folders.ts';
import type { Machine } from '../../platform/machine.ts';
import { abbreviateHome } from '../../platform/paths.ts';
import { describePlace, nameLostProject, type Place } from '../../platform/project.ts';
import { openRedactor } from '../../redact/open-redactor.ts';
import { redactDraft } from '../../redact/redact-draft.ts';
import { redactEvent } from '../../redact/redact-event.ts';
import type { Redactor } from '../../redact/redactor.ts';
import { openStore, TRANSCRIPT_CHECKPOINTS } from '../../store/store.ts';
import { countEvent, type EventCount, type Judgement, judgeReading, startEventCount } from './drift.ts';

export interface Capture {
  draft: UnstampedDraft;
  judgement: Judgement;
  compactions: number;
}

interface CaptureOptions {
  /** Whether to write a checkpoint, so that the next capture of the session reads only what is new. */
  savesCheckpoint?: boolean;
  /** The agent's last reply, which may not be in the transcript yet. */
  lastReply?: string;
  /** Takes out the secrets; the one of the store by default. */
  redactor?: Redactor;
}

/** Makes a handover of a session, without its secrets, from nothing but what the agent wrote to disk. */
export function captureSession(
  agent: Agent,
  session: FoundSession,
  machine: Machine,
  {
    savesCheckpoint = false,
    lastReply,
    redactor = openRedactor(machine, { folder: session.cwd, makesKey: savesCheckpoint }),
  }: CaptureOptions = {},
): Capture {
  const options = { machine, redactor, ...(lastReply === undefined ? {} : { lastReply }) };
  const first = readSession(agent, session, { ...options, savesCheckpoint });
  // A later line may have revealed a secret in an earlier one.
  const { distilled, reading, count } = redactor.hasLearnt
    ? readSession(agent, session, { ...options, savesCheckpoint: false, ignoresCheckpoint: true })
    : first;
  const startedAt = session.startedMs === null ? null : formatTimestamp(session.startedMs);
  const draft: UnstampedDraft = {
    schema: HANDOVER_SCHEMA,
    expires_at: null,
    ...locate(distilled.cwd ?? session.cwd, machine),
    session: {
      agent: agent.name,
      id: reading.sessionId ?? session.id,
      terminal: null,
      model: distilled.model,
      transcript: abbreviateHome(session.path, machine),
      started_at: distilled.startedAt ?? startedAt,
      ...(distilled.lastAt === null ? {} : { last_at: distilled.lastAt }),
    },
    title: distilled.title,
    summary: '',
    facts: distilled.facts,
    previous: null,
    quality: null,
    redactions: [],
  };
  const judgement = judgeReading(reading, count, session.bytes);
  return { draft: redactDraft(draft, redactor), judgement, compactions: count.compactions };
}

/** A folder that is gone, or that was never on this machine, still names the project. */
function locate(cwd: string | null, machine: Machine): Pick<Place, 'project' | 'workspace'> {
  if (cwd !== null && !isFolder(cwd)) {
    const root = abbreviateHome(cwd, machine);
    return { project: nameLostProject(cwd), workspace: { root, folder: '', worktree: null, git: null } };
  }
  const { project, workspace } = describePlace(cwd ?? machine.cwd, machine);
  return { project, workspace };
}

export type ReadResult = { distilled: Distillation; reading: ReadStats; count: EventCount };

interface ReadOptions {
  machine: Machine;
  savesCheckpoint: boolean;
  redactor: Redactor;
  /** The agent's last reply: added at the end, unless the transcript has it. */
  lastReply?: string;
  ignoresCheckpoint?: boolean;
}

/** What was read so far, as a checkpoint holds it. */
const ReadState = v.object({
  reading: v.object({
    rows: v.number(),
    unreadable: v.number(),
    unknown: v.record(v.string(), v.number()),
    agentVersion: v.nullable(v.string()),
    sessionId: v.nullable(v.string()),
  }),
  count: v.object({ total: v.number(), byAgent: v.number(), compactions: v.number() }),
  log: v.custom<SessionLog>(isSessionLog),
  /** The redactor's marks for the secrets found so far, and which redactor made them. */
  found: v.map(v.string(), v.set(v.string())),
  redactor: v.string(),
});
type ReadState = v.InferOutput<typeof ReadState>;

/** Checks the fields only. Their content is what this build wrote: the checkpoint's checksum covers both. */
function isSessionLog(value: unknown): value is SessionLog {
  if (typeof value !== 'object' || value === null) return false;
  return Object.keys(new SessionLog()).every((key) => key in value);
}

/** Without its secrets. Of a transcript that has grown only the new part is read, with the same result. */
export function readSession(
  agent: Agent,
  session: FoundSession,
  { machine, savesCheckpoint, redactor, lastReply, ignoresCheckpoint = false }: ReadOptions,
): ReadResult {
  const folder = findCheckpointFolder(machine);
  const stat = agent.openTranscript === undefined || folder === null ? null : statFile(session.path);
  const finish = ({ log, reading, count }: ReadState): ReadResult => {
    logLastReply(log, lastReply, redactor);
    closeSessionLog(log);
    return { distilled: distillLog(log), reading, count };
  };
  if (folder === null || stat === null) return finish(readWhole(agent, session, redactor));
  const file = { agent, session, stat };
  const isCurrent = (value: unknown): value is ReadState =>
    v.is(ReadState, value) && value.redactor === identifyRedactor(redactor, value.found);
  const known = ignoresCheckpoint ? null : readCheckpoint(folder, file, isCurrent);
  const keep = savesCheckpoint ? (data: Buffer) => writeCheckpoint(folder, file, data) : null;
  return finish(
    (known === null ? null : readFrom(file, redactor, { known, keep })) ??
      readFrom(file, redactor, { keep }) ??
      readFrom(file, redactor, { keep, lookAhead: true }) ??
      readWhole(agent, session, redactor),
  );
}

/** Null where there is no place for a store: a session can be looked at without one. */
function findCheckpointFolder(machine: Machine): string | null {
  try {
    return join(openStore(machine).root, TRANSCRIPT_CHECKPOINTS);
  } catch (error) {
    if (error instanceof HandoverError) return null;
    throw error;
  }
}

/** Placeholders stay valid only with the key that they were made with; without any, only the settings matter. */
function identifyRedactor(redactor: Redactor, found: ReadState['found']): string {
  return found.size === 0 ? redactor.settingsIdentity : redactor.identity;
}

function startState(): ReadState {
  const [reading, count, log] = [startReadStats(), startEventCount(), new SessionLog()];
  return { reading, count, log, found: new Map(), redactor: '' };
}

function logRedacted({ count, log }: ReadState, event: Event, redactor: Redactor): void {
  countEvent(count, event);
  logEvent(log, redactEvent(event, redactor));
}

function readWhole(agent: Agent, session: FoundSession, redactor: Redactor): ReadState {
  const state = startState();
  redactor.resume(state.found);
  for (const event of agent.readEvents(session, state.reading)) logRedacted(state, event, redactor);
  return state;
}

/** Null when it cannot be done from there. */
function readFrom(
  file: TranscriptFile,
  redactor: Redactor,
  start: { known?: Checkpoint<ReadState>; keep: ((data: Buffer) => void) | null; lookAhead?: boolean },
): ReadState | null {
  const { known, keep, lookAhead = false } = start;
  const { agent, session, stat } = file;
  const state = known?.state ?? startState();
  redactor.resume(state.found);
  const { reading } = state;
  const from = known === undefined ? {} : { from: known.bookmark };
  const transcript = agent.openTranscript?.({ session, stats: reading, until: stat.size, lookAhead, ...from });
  const log = (event: Event): void => logRedacted(state, event, redactor);
  if (!transcript?.read(log)) return null;
  flushSessionLog(state.log);
  const bookmark = keep === null ? null : transcript.mark();
  const { found } = redactor;
  // Packed before it is finished, which changes the state. No secret that the reader still holds is written.
  const packed =
    bookmark === null || holdsSecret([bookmark.state, reading], redactor)
      ? null
      : packCheckpoint(file, { bookmark, state: { ...state, found, redactor: identifyRedactor(redactor, found) } });
  if (!transcript.finish(log)) return null;
  if (packed !== null && !redactor.hasLearnt) keep?.(packed);
  return state;
}

/** Adds the agent's last reply, if the transcript is behind and does not have it. */
function logLastReply(log: SessionLog, text: string | undefined, redactor: Redactor): void {
  if (text === undefined) return;
  const event: Event = { type: 'reply', at: log.lastAt, ref: { line: 0, id: null }, text: toMessageText(text) };
  const reply = redactEvent(event, redactor);
  const squeeze = (words: string): string => words.replace(/\s+/g, ' ').trim();
  const said = reply.type === 'reply' ? squeeze(reply.text) : '';
  const last = squeeze(log.replies.at(-1)?.text ?? '');
  if (said === '' || (last !== '' && (said.includes(last) || last.includes(said)))) return;
  logEvent(log, reply);
}
