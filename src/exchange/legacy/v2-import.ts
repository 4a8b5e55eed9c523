import { isAbsolute } from 'node:path';
import { rateScore } from '../../handover/quality.ts';
import { computeFactId, type Fact, type FactKind, MAX_FACT_TEXT_BYTES } from '../../model/fact.ts';
import { HANDOVER_SCHEMA, type HandoverDraft } from '../../model/handover.ts';
import { canonicalize, shortHash } from '../../model/hash.ts';
import { formatIdTime } from '../../model/id.ts';
import { cleanLine, cleanText, cutToBytes } from '../../model/text.ts';
import { formatTimestamp } from '../../model/time.ts';
import type { Machine } from '../../platform/machine.ts';
import { abbreviateHome } from '../../platform/paths.ts';
import { toRelativePath } from '../../platform/project.ts';
import type { LocatedProject } from './import-record.ts';
import { makeWellFormed } from './session-handoff-record.ts';
import type { V2Record } from './v2-envelope.ts';
import { V2_FORMAT } from './v2-view.ts';

type V2Origin = LocatedProject & { machine: Machine };

/** The envelope as a handover. Its checksum needs no key, so every fact is marked imported, none as said by the user. */
export function readV2Record(record: V2Record, origin: V2Origin): HandoverDraft {
  const { resume_snapshot: snapshot } = record;
  const createdMs = Date.parse(snapshot.created_at);
  const transcript = (snapshot.n_1_transcript_path ?? snapshot.transcript_path) || null;
  const score = snapshot.quality_score ?? null;
  return {
    schema: HANDOVER_SCHEMA,
    id: `${formatIdTime(createdMs)}-${deriveSuffix(record)}`,
    created_at: formatTimestamp(createdMs),
    expires_at: snapshot.expires_at ? formatTimestamp(Date.parse(snapshot.expires_at)) : null,
    project: origin.project,
    session: {
      agent: 'claude-code',
      id: cleanLine(snapshot.source_session_id) || null,
      terminal: cleanLine(snapshot.terminal_id) || null,
      model: null,
      transcript: transcript === null ? null : shortenPath(transcript, origin),
      started_at: null,
    },
    workspace: { root: origin.shownRoot, folder: '', worktree: null, git: null },
    title: cleanText(snapshot.current_task).trim() || 'untitled',
    summary: '',
    facts: listFacts(record, origin),
    previous: null,
    quality: score === null ? null : { score, rating: rateScore(score), axes: {} },
    redactions: [],
    imported: {
      format: V2_FORMAT,
      id: snapshot.snapshot_id.toWellFormed(),
      detail: keepRest(record, origin),
    },
  };
}

/** Independent of the status. */
function deriveSuffix({ resume_snapshot }: V2Record): string {
  const { snapshot_id, terminal_id, source_session_id, created_at } = resume_snapshot;
  const marks = [snapshot_id, terminal_id, source_session_id, created_at].map((text) => text.toWellFormed());
  return shortHash(canonicalize(marks), 4);
}

/** The fields that a handover has no place for. */
function keepRest(record: V2Record, origin: V2Origin): Record<string, unknown> {
  const { resume_snapshot: snapshot, environment_context, checksum } = record;
  const previous = snapshot.n_2_transcript_path ?? null;
  return {
    checksum,
    created_at: snapshot.created_at,
    expires_at: snapshot.expires_at ?? null,
    progress_percent: snapshot.progress_percent,
    progress_state: cleanText(snapshot.progress_state),
    previous_transcript: previous === null ? null : shortenPath(previous, origin),
    session_chain: makeWellFormed(snapshot.session_chain ?? []),
    ...(environment_context === undefined ? {} : { environment: makeWellFormed(environment_context) }),
  };
}

const NO_GOAL = 'Unknown task';
/** Marks the user's last message. */
const LAST = { last: true };
const ADVISORY = /^\(advisory\)\s*/;

function listFacts(record: V2Record, origin: V2Origin): Fact[] {
  const { resume_snapshot: snapshot } = record;
  const { goal, next_step, message_intent, goal_origin, last_user_message } = snapshot;
  const marks = { intent: message_intent, origin: goal_origin };
  const isLast = goal === last_user_message;
  const facts = [
    goal === NO_GOAL ? null : makeFact('goal', goal, { detail: isLast ? { ...marks, ...LAST } : marks }),
    isLast ? null : makeFact('note', last_user_message ?? '', { detail: LAST }),
    makeFact('next', next_step.replace(ADVISORY, ''), { detail: { step: next_step } }),
    ...snapshot.blockers.map(({ type, summary }) => makeFact('blocker', summary, { detail: { type } })),
    ...listDecisions(record),
    ...(snapshot.tasks_snapshot ?? []).map(({ id, title, subject, status }) =>
      makeFact('task', title ?? subject ?? '', { status, detail: { id } }),
    ),
    ...(snapshot.open_questions ?? []).map((question) => makeFact('question', question)),
    ...snapshot.pending_operations.map(({ type, target, state }) =>
      makeFact('running', target, { status: state, detail: { type } }),
    ),
    ...listFiles(record, origin),
  ].filter((fact) => fact !== null);
  return [...new Map(facts.map((fact) => [fact.id, fact])).values()];
}

const KINDS = {
  constraint: 'constraint',
  settled_decision: 'decision',
  blocker_rule: 'blocker',
  anti_goal: 'rejected',
} as const satisfies Record<V2Record['decision_register'][number]['kind'], FactKind>;

function listDecisions({ decision_register }: V2Record): (Fact | null)[] {
  return decision_register.map((decision) => {
    const { id, kind, summary, priority, applies_when, bridge_token, source_refs } = decision;
    const details = decision.details === summary ? null : decision.details;
    const detail = { id, kind, details, priority, applies_when, bridge_token };
    const fact = makeFact(KINDS[kind], summary, { detail });
    return fact === null ? null : { ...fact, sources: source_refs?.map((ref) => ({ ref })) ?? [] };
  });
}

function listFiles({ resume_snapshot, evidence_index }: V2Record, origin: V2Origin): (Fact | null)[] {
  const active = new Set(resume_snapshot.active_files);
  const proven = evidence_index
    .filter(({ type }) => type !== 'transcript')
    .map(({ id, type, label, path, content_hash }) => {
      const kind = type === 'file' ? 'file' : 'reference';
      const text = shortenPath(path, origin);
      const fact = makeFact(kind, text, { detail: { id, type, label, active: active.has(path) } });
      if (fact === null || type !== 'file') return fact;
      return { ...fact, probe: { path: text, sha256: content_hash?.slice('sha256:'.length) ?? null } };
    });
  const others = resume_snapshot.active_files.map((path) =>
    makeFact('file', shortenPath(path, origin), { detail: { active: true } }),
  );
  const known = new Set(proven.map((fact) => fact?.id));
  return [...proven, ...others.filter((fact) => !known.has(fact?.id))];
}

/** Relative to the project if inside it, else with `~` for the home folder. */
function shortenPath(path: string, { root, machine }: V2Origin): string {
  const kept = path.toWellFormed();
  const inside = root === null || !isAbsolute(kept) ? '..' : toRelativePath(root, kept);
  const isInside = inside !== '' && inside !== '..' && !inside.startsWith('../') && !isAbsolute(inside);
  return isInside ? inside : abbreviateHome(kept, machine);
}

type Marks = { status?: string | null | undefined; detail?: Record<string, unknown> };
const EXACT: ReadonlySet<FactKind> = new Set(['file', 'reference']);

/** Null where there is no text. */
function makeFact(kind: FactKind, text: string, { status, detail = {} }: Marks = {}): Fact | null {
  const cleaned = EXACT.has(kind) ? text.toWellFormed() : cleanText(text).trim();
  if (cleaned === '') return null;
  const short = cutToBytes(cleaned, MAX_FACT_TEXT_BYTES);
  const entries = Object.entries({ ...detail, whole: short === cleaned ? null : cleaned })
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([key, value]) => [key, makeWellFormed(value)]);
  return {
    id: computeFactId(kind, cleaned),
    kind,
    text: short,
    ...(status === undefined || status === null ? {} : { status: cleanLine(status) }),
    trust: 'imported',
    origin: 'import',
    sources: [],
    ...(entries.length === 0 ? {} : { detail: Object.fromEntries(entries) }),
  };
}
