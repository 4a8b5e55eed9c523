import { DEFAULT_FRESHNESS_MS } from '../../handover/expiry.ts';
import { type Fact, type FactKind, getFileProbe } from '../../model/fact.ts';
import { FILE_CHANGES, isGuess } from '../../model/fact-roles.ts';
import type { Handover } from '../../model/handover.ts';
import { sha256Hex } from '../../model/hash.ts';
import { baseName } from '../../model/paths.ts';
import { cutAtWord } from '../../model/text.ts';
import { formatTimestamp } from '../../model/time.ts';
import type { Machine } from '../../platform/machine.ts';
import { expandHome } from '../../platform/paths.ts';
import { computeV2Checksum, type V2Envelope } from './v2-envelope.ts';

type V2Snapshot = V2Envelope['resume_snapshot'];
type V2Evidence = V2Envelope['evidence_index'][number];

/** The facts of these kinds, latest first, without what an agent only said. */
function listLatest(handover: Handover, ...kinds: readonly FactKind[]): Fact[] {
  return handover.facts
    .filter((fact) => kinds.includes(fact.kind) && !isGuess(fact))
    .sort((a, b) => ageOf(a) - ageOf(b));
}

/** How many tool calls ago; 0 for declared facts. */
function ageOf({ detail }: Fact): number {
  return typeof detail?.age === 'number' ? detail.age : 0;
}

function isCurrent(fact: Fact): boolean {
  return ageOf(fact) <= 10;
}

function textIn(fact: Fact, key: string): string | null {
  const value = fact.detail?.[key];
  return typeof value === 'string' ? value : null;
}

/** The declared goal, else the current one, else the latest. */
function findGoal(handover: Handover): string | null {
  const goals = listLatest(handover, 'goal');
  const given = goals.find((fact) => fact.trust === 'declared');
  const current = goals.find((fact) => textIn(fact, 'role') === 'current');
  return (given ?? current ?? goals[0])?.text ?? null;
}

/** The user's last message; null when unknown. */
function findLastMessage(handover: Handover): string | null {
  const messages = handover.facts.filter((fact) => typeof fact.detail?.message === 'number');
  const [last] = messages.sort((a, b) => Number(b.detail?.message) - Number(a.detail?.message));
  const imported = handover.facts.find((fact) => fact.detail?.last === true);
  return (last ?? imported)?.text ?? null;
}

/** From the tasks if there are any, else the fixed percentages of handoff V2. */
function rateProgress(handover: Handover): Pick<V2Snapshot, 'progress_percent' | 'progress_state'> {
  const tasks = listLatest(handover, 'task');
  const done = tasks.filter((task) => task.status === 'completed' || task.status === 'done').length;
  const isPending = listPending(handover).length > 0;
  const isBlocked = listLatest(handover, 'blocker').some(isCurrent);
  const isOpen = isPending || tasks.length > done;
  const started = findGoal(handover) === null ? 0 : 35;
  const percent = tasks.length === 0 ? undefined : Math.floor((100 * done) / tasks.length);
  return {
    progress_percent: percent ?? (isPending ? 65 : started),
    progress_state: isBlocked ? 'blocked' : isOpen ? 'in_progress' : 'ready',
  };
}

const MAX_STEP_BYTES = 200;

/** The tool marks every step that the user did not confirm. */
function findNextStep(handover: Handover): string {
  const task = findOpenTask(handover, 'in_progress');
  const [next] = listLatest(handover, 'next').filter(isCurrent);
  const [running] = listLatest(handover, 'running');
  const stopped = handover.facts.find((fact) => textIn(fact, 'role') === 'stopped');
  const line = stopped?.text.split('\n').find((text) => text.trim().length >= 12);
  const [label, step] =
    [
      ['Task in progress', task?.text],
      ['Next step', next?.text],
      ['Next task', findOpenTask(handover, 'pending')?.text],
      ['Previous session had pending', running?.text],
      ['Previous session context', line],
      ['Previous session goal', findGoal(handover)],
    ].find(([, text]) => typeof text === 'string') ?? [];
  if (typeof step !== 'string') return 'Ask the user what to work on next.';
  return `(advisory) ${label}: ${cutAtWord(step.replace(/\s+/g, ' ').trim(), MAX_STEP_BYTES)}`;
}

function findOpenTask(handover: Handover, status: string): Fact | undefined {
  return handover.facts.find((fact) => fact.kind === 'task' && fact.status === status);
}

const CORRECTION =
  /^(?:no[,.]|that'?s (?:not|wrong|incorrect)|you(?:'re| are) wrong|you misunderstood|i (?:didn'?t|did not) (?:ask|mean)|let me clarify|correction:|actually,|wait,|hold on,)/i;

/** Looks only at the end and at a few English openings, so that it works for any language. */
function readIntent(message: string): 'question' | 'instruction' | 'correction' {
  if (CORRECTION.test(message.trim())) return 'correction';
  return /[?？؟]\s*$/.test(message) ? 'question' : 'instruction';
}

function readGoalOrigin(goal: string): string {
  const command = /^\/[a-z][\w:-]*(\s+\S)?/.exec(goal.trim());
  if (command === null) return 'user_message';
  return command[1] === undefined ? 'slash_command_bare' : 'slash_command_with_args';
}

export const V2_FORMAT = 'handoff-v2';

/** The format has no limits; these keep an envelope readable for a session. */
const MAX_GOAL_BYTES = 4000;
const MAX_MESSAGE_BYTES = 8000;
const MAX_TEXT_BYTES = 600;
const MAX_FILES = 50;
const MAX_FILES_AS_EVIDENCE = 20;
const MAX_DECISIONS = 20;
const MAX_TASKS = 50;
const MAX_OPERATIONS = 5;
const MAX_QUESTIONS = 5;

/** A handover as an envelope that handoff V2 accepts. `history` has the earlier ones of its chain, oldest first. */
export function writeV2Envelope(
  handover: Handover,
  { machine, history }: { machine: Machine; history: readonly Handover[] },
): V2Envelope {
  const transcriptOf = (source: Handover | undefined): string | null =>
    source?.session.transcript ? expandHome(source.session.transcript, machine) : null;
  const message = findLastMessage(handover);
  const evidence = listEvidence(handover, transcriptOf(handover));
  const decisions = listDecisions(handover, evidence);
  const envelope: Omit<V2Envelope, 'checksum'> = {
    schema_version: 1,
    resume_snapshot: {
      ...describeSession(handover),
      ...describeWork(handover),
      decision_refs: decisions.map((decision) => decision.id),
      evidence_refs: evidence.map((item) => item.id),
      // Always a string, unlike the next one. Without a transcript handoff V2 cannot resume from it.
      n_1_transcript_path: transcriptOf(handover) ?? '',
      n_2_transcript_path: transcriptOf(history.at(-1)),
      message_intent: readIntent(findGoal(handover) ?? ''),
      goal_origin: readGoalOrigin(findGoal(handover) ?? ''),
      ...describeMore(handover),
      session_chain: [...new Set([...history, handover].map(nameSession))],
      ...(message === null ? {} : { last_user_message: cutAtWord(message, MAX_MESSAGE_BYTES) }),
    },
    decision_register: decisions,
    evidence_index: evidence,
  };
  return { ...envelope, checksum: computeV2Checksum(envelope) };
}

function nameSession({ session, id }: Handover): string {
  return session.id ?? id;
}

function describeSession(handover: Handover) {
  const { created_at, imported } = handover;
  const expires_at = handover.expires_at ?? formatTimestamp(Date.parse(created_at) + DEFAULT_FRESHNESS_MS);
  return {
    schema_version: 2,
    snapshot_id: imported?.format === V2_FORMAT ? imported.id : deriveSnapshotId(handover.id),
    terminal_id: handover.session.terminal ?? 'handover',
    source_session_id: nameSession(handover),
    created_at: formatV2Time(created_at),
    expires_at: formatV2Time(expires_at),
    status: 'pending',
  } as const;
}

function describeWork(handover: Handover) {
  const goal = findGoal(handover) ?? 'Unknown task';
  return {
    goal: cutAtWord(goal, MAX_GOAL_BYTES),
    current_task: shorten(goal),
    ...rateProgress(handover),
    blockers: listLatest(handover, 'blocker')
      .filter(isCurrent)
      .map((fact) => ({ type: textIn(fact, 'type') ?? 'awaiting_approval', summary: shorten(fact.text) })),
    active_files: listFiles(handover)
      .slice(0, MAX_FILES)
      .map((fact) => fact.text),
    pending_operations: listPending(handover).slice(0, MAX_OPERATIONS),
    next_step: findNextStep(handover),
  };
}

/** A call in the log of a session, with the first of its arguments. */
const OPEN_CALL = /^Tool: \S+ \{"\w+": "(.{1,400}?)"[,}].*\n {2}(?:begun, no result seen|no result yet)$/gm;

/** What runs in the background, and the last calls if they have no result. */
function listPending(handover: Handover): V2Snapshot['pending_operations'] {
  const describe = (target: string, type = 'command') => ({
    type,
    target: shorten(target),
    state: 'in_progress' as const,
  });
  const running = listLatest(handover, 'running').map((fact) => describe(fact.text, textIn(fact, 'type') ?? undefined));
  const log = handover.facts.find((fact) => textIn(fact, 'role') === 'log')?.text ?? '';
  const open = Array.from(log.matchAll(OPEN_CALL), ([, target = '']) =>
    describe(target.replaceAll('\\n', ' ').replaceAll('\\"', '"')),
  );
  return [...running, ...open];
}

function describeMore(handover: Handover) {
  const tasks = handover.facts.filter((fact) => fact.kind === 'task').slice(0, MAX_TASKS);
  const questions = listLatest(handover, 'question').filter(isCurrent).slice(0, MAX_QUESTIONS);
  const more: Pick<V2Snapshot, 'quality_score' | 'tasks_snapshot' | 'open_questions'> = {};
  // Three digits are printed the same by every language that may check the sum.
  if (handover.quality !== null) more.quality_score = Math.round(handover.quality.score * 1000) / 1000;
  if (tasks.length > 0)
    more.tasks_snapshot = tasks.map(({ id, text, status = 'pending' }) => {
      return { id, title: shorten(text), status };
    });
  if (questions.length > 0) more.open_questions = questions.map((fact) => shorten(fact.text));
  return more;
}

/** Files that were changed or declared, then files that were read; the latest first. */
function listFiles(handover: Handover): Fact[] {
  const files = listLatest(handover, 'file').filter((fact) => fact.status !== 'mentioned');
  const isChanged = ({ status }: Fact): boolean => status === undefined || FILE_CHANGES.has(status);
  return [...files.filter(isChanged), ...files.filter((fact) => !isChanged(fact))];
}

const OUTSIDE = /^(?:[/~\\]|\.\.(?:[/\\]|$)|[A-Za-z]:)/;

/** Hashes only for files in the project: handoff V2 rejects an envelope that has others. */
function listEvidence(handover: Handover, transcript: string | null): V2Evidence[] {
  const evidence: V2Evidence[] = [];
  if (transcript !== null) {
    const id = deriveId('ev', handover, 'transcript');
    const label = 'Session transcript';
    evidence.push({ id, type: 'transcript', label, path: transcript, content_hash: null });
  }
  for (const fact of listFiles(handover).slice(0, MAX_FILES_AS_EVIDENCE)) {
    const { text: path } = fact;
    const hash = OUTSIDE.test(path) ? null : (getFileProbe(fact)?.sha256 ?? null);
    const id = deriveId('ev', handover, fact.id);
    const proof = hash === null ? {} : { content_hash: `sha256:${hash}` };
    evidence.push({ id, type: 'file', label: baseName(path), path, ...proof });
  }
  return evidence;
}

const DECISION_KINDS = new Map<FactKind, V2Envelope['decision_register'][number]['kind']>([
  ['constraint', 'constraint'],
  ['decision', 'settled_decision'],
  ['blocker', 'blocker_rule'],
  ['rejected', 'anti_goal'],
]);

/** Decisions of humans first, then the latest. */
function listDecisions(handover: Handover, evidence: readonly V2Evidence[]): V2Envelope['decision_register'] {
  const source_refs = evidence.filter((item) => item.type === 'transcript').map((item) => item.id);
  const facts = listLatest(handover, ...DECISION_KINDS.keys());
  const byHumans = facts.filter((fact) => fact.origin === 'human');
  const byOthers = facts.filter((fact) => fact.origin !== 'human');
  return [...byHumans, ...byOthers].slice(0, MAX_DECISIONS).flatMap((fact) => {
    const kind = DECISION_KINDS.get(fact.kind);
    if (kind === undefined) return [];
    return {
      id: deriveId('dec', handover, fact.id),
      kind,
      summary: shorten(fact.text),
      details: cutAtWord(fact.text, MAX_TEXT_BYTES),
      priority: kind === 'constraint' || kind === 'blocker_rule' ? 'high' : 'medium',
      applies_when: 'Continue the current task after compact.',
      source_refs,
    };
  });
}

function shorten(text: string): string {
  return cutAtWord(text.replace(/\s+/g, ' ').trim(), MAX_TEXT_BYTES);
}

/** With microseconds and an offset. */
function formatV2Time(timestamp: string): string {
  return timestamp.replace(/Z$/, '000+00:00');
}

function deriveId(prefix: 'dec' | 'ev', handover: Handover, subject: string): string {
  return `${prefix}_${sha256Hex(`${handover.id}\n${subject}`).slice(0, 32)}`;
}

/** Has the form of a random UUID, but is derived from the handover's id. */
export function deriveSnapshotId(id: string): string {
  const hex = sha256Hex(id);
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  const [time, rest] = [`${hex.slice(0, 8)}-${hex.slice(8, 12)}`, hex.slice(20, 32)];
  return `${time}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${rest}`;
}
