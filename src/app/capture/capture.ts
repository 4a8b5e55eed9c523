import { join, resolve } from 'node:path';
import * as v from 'valibot';
import { type Agent, type FoundSession, type ReadStats, startReadStats } from '../../agents/agent.ts';
import { toMessageText } from '../../agents/shared/message-text.ts';
import * as checkpoints from '../../agents/transcript-checkpoint.ts';
import { type Distillation, distillLog, nameQuietCommits } from '../../distill/distill.ts';
import { closeSessionLog, flushSessionLog, logEvent } from '../../distill/log-events.ts';
import { SessionLog } from '../../distill/session-log.ts';
import { catchIf, isHandoverError } from '../../errors.ts';
import { addProbes } from '../../handover/probes.ts';
import type { Event } from '../../model/event.ts';
import type { Fact } from '../../model/fact.ts';
import { HANDOVER_SCHEMA, type UnstampedDraft } from '../../model/handover.ts';
import { countUtf8Bytes, cutAtWord, findFirstLine } from '../../model/text.ts';
import { formatTimestamp } from '../../model/time.ts';
import { statFile } from '../../platform/external-file.ts';
import { isFolder, pathExists } from '../../platform/folders.ts';
import type { Machine } from '../../platform/machine.ts';
import { abbreviateHome, expandHome } from '../../platform/paths.ts';
import { describePlace, identifyLost, nameLostProject, type Place } from '../../platform/project.ts';
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
  lastReply?: string | undefined;
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
  const options = { machine, redactor, lastReply };
  const first = readSession(agent, session, { ...options, savesCheckpoint });
  // A later line may have revealed a secret in an earlier one.
  const { distilled, reading, count } = redactor.hasLearnt
    ? readSession(agent, session, { ...options, savesCheckpoint: false, ignoresCheckpoint: true })
    : first;
  const { project, workspace } = locate([distilled.cwd, session.cwd], machine);
  const folder = distilled.cwd ?? session.cwd;
  const endedMs = distilled.lastAt === null ? session.changedMs : Date.parse(distilled.lastAt);
  const startedMs = distilled.startedAt === null ? (session.startedMs ?? 0) : Date.parse(distilled.startedAt);
  // Git knows whole seconds.
  const times = { startedMs: startedMs - SECOND_MS, endedMs: endedMs + SECOND_MS };
  const quiet = nameQuietCommits(distilled, workspace.git?.commits ?? [], times);
  const facts = [...distilled.facts.filter((fact) => !isNoFile(fact, folder, machine)), ...quiet];
  const startedAt = session.startedMs === null ? null : formatTimestamp(session.startedMs);
  const draft: UnstampedDraft = {
    schema: HANDOVER_SCHEMA,
    expires_at: null,
    project,
    workspace,
    session: {
      agent: agent.name,
      id: session.id,
      terminal: null,
      model: distilled.model,
      transcript: abbreviateHome(session.path, machine),
      started_at: distilled.startedAt ?? startedAt,
      ...(distilled.lastAt === null ? {} : { last_at: distilled.lastAt }),
    },
    title: nameWork(session.title === null ? null : redactor.redactText(session.title, { byHuman: true }), distilled),
    summary: '',
    facts: folder === null || !isFolder(folder) ? facts : addProbes(facts, { folder, startedMs, endedMs, machine }),
    previous: null,
    quality: null,
    redactions: [],
  };
  const judgement = judgeReading(reading, count, session.bytes);
  return { draft: redactDraft(draft, redactor), judgement, compactions: count.compactions };
}

const SECOND_MS = 1000;
const MAX_TITLE_BYTES = 100;

/**
 * What a session is about: the title that its agent gave it, or what it was first asked, as lists of sessions show it; its
 * latest request is often a detail. A greeting or "continue" says nothing.
 */
function nameWork(title: string | null, { title: latest, facts }: ReadResult['distilled']): string {
  const asked = facts
    .filter(
      ({ kind, detail, sources: [source] }) => kind === 'goal' && detail?.message !== undefined && !source?.session,
    )
    .sort((a, b) => (a.sources[0]?.line ?? 0) - (b.sources[0]?.line ?? 0))
    .map(({ text }) => text);
  const names = [...(title === null ? [] : [title]), ...asked].map(findFirstLine);
  return cutAtWord(names.find(saysSomething) ?? latest, MAX_TITLE_BYTES);
}

function saysSomething(text: string): boolean {
  if (/^\/\S+$/.test(text)) return false;
  return countUtf8Bytes(text) >= 12 || text.split(' ').length > 2;
}

/** Whether words only look like the path of a file: no call touched it, and it is not in the session's folder. */
function isNoFile({ kind, status, text }: Fact, cwd: string | null, machine: Machine): boolean {
  if (kind !== 'file' || status !== 'mentioned' || cwd === null || !isFolder(cwd)) return false;
  return !pathExists(resolve(cwd, expandHome(text, machine)));
}

/**
 * Where a session worked: its last folder, or what remains of the repository around it, or its first folder. A folder
 * that is gone or was never on this machine still names the project.
 */
function locate(folders: readonly (string | null)[], machine: Machine): Pick<Place, 'project' | 'workspace'> {
  const [last = machine.cwd, ...others] = folders.filter((folder) => folder !== null);
  const lost = isFolder(last) ? null : identifyLost(last, machine);
  const folder = isFolder(last) ? last : (lost?.root ?? others.find((other) => isFolder(other)));
  if (folder === undefined) {
    const root = abbreviateHome(last, machine);
    return { project: nameLostProject(last), workspace: { root, folder: '', worktree: null, git: null } };
  }
  const { project, workspace } = describePlace(folder, machine);
  return { project, workspace };
}

export type ReadResult = { distilled: Distillation; reading: ReadStats; count: EventCount };

interface ReadOptions {
  machine: Machine;
  savesCheckpoint: boolean;
  redactor: Redactor;
  /** The agent's last reply: added at the end, unless the transcript has it. */
  lastReply?: string | undefined;
  ignoresCheckpoint?: boolean;
}

/** What was read so far, as a checkpoint holds it. */
const ReadState = v.object({
  reading: v.object({
    rows: v.number(),
    unreadable: v.number(),
    unknown: v.record(v.string(), v.number()),
    agentVersion: v.nullable(v.string()),
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
  // Null without a place for a store: a session can be read without one.
  const folder = catchIf(isHandoverError, null, () => join(openStore(machine).root, TRANSCRIPT_CHECKPOINTS));
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
  const known = ignoresCheckpoint ? null : checkpoints.readCheckpoint(folder, file, isCurrent);
  const keep = savesCheckpoint ? (data: Buffer) => checkpoints.writeCheckpoint(folder, file, data) : null;
  return finish(
    (known === null ? null : readFrom(file, redactor, { known, keep })) ??
      readFrom(file, redactor, { keep }) ??
      readFrom(file, redactor, { keep, lookAhead: true }) ??
      readWhole(agent, session, redactor),
  );
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
  file: checkpoints.TranscriptFile,
  redactor: Redactor,
  start: { known?: checkpoints.Checkpoint<ReadState>; keep: ((data: Buffer) => void) | null; lookAhead?: boolean },
): ReadState | null {
  const { known, keep, lookAhead = false } = start;
  const { agent, session, stat } = file;
  const state = known?.state ?? startState();
  redactor.resume(state.found);
  const { reading } = state;
  const from = known?.bookmark;
  const transcript = agent.openTranscript?.({ session, stats: reading, until: stat.size, lookAhead, from });
  const log = (event: Event): void => logRedacted(state, event, redactor);
  if (!transcript?.read(log)) return null;
  flushSessionLog(state.log);
  const bookmark = keep === null ? null : transcript.mark();
  const { found } = redactor;
  // Packed before it is finished, which changes the state. No secret that the reader still holds is written.
  const packed =
    bookmark === null || checkpoints.holdsSecret([bookmark.state, reading], redactor)
      ? null
      : checkpoints.packCheckpoint(file, {
          bookmark,
          state: { ...state, found, redactor: identifyRedactor(redactor, found) },
        });
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
