import type { Agent, FoundSession } from '../../agents/agent.ts';
import { catchIf, isFailure } from '../../errors.ts';
import {
  type DeclarableKind,
  type Declaration,
  declareHandover,
  deriveTitle,
  makeFact,
} from '../../handover/declare.ts';
import { addByHand, addsNothing, joinFacts, linkHandover, type Predecessors } from '../../handover/link.ts';
import { keepTime, type Marks, NO_MARKS } from '../../handover/marks.ts';
import { lookAtProcesses } from '../../handover/probes.ts';
import { sealRated } from '../../handover/seal.ts';
import { type Fact, MAX_FACT_TEXT_BYTES } from '../../model/fact.ts';
import { NO_AGENT } from '../../model/fact-roles.ts';
import type { Handover, UnstampedDraft } from '../../model/handover.ts';
import { makeHandoverId } from '../../model/id.ts';
import { countUtf8Bytes } from '../../model/text.ts';
import { formatTimestamp } from '../../model/time.ts';
import type { Machine } from '../../platform/machine.ts';
import type { Place } from '../../platform/project.ts';
import { openRedactor } from '../../redact/open-redactor.ts';
import { redactDraft } from '../../redact/redact-draft.ts';
import type { Redactor } from '../../redact/redactor.ts';
import { findNewestOwn, findPrevious } from '../../store/find-handover.ts';
import { readHistory, readIntact, type SaveResult, saveHandover } from '../../store/handovers.ts';
import { readMarked, readMarks } from '../../store/marks.ts';
import { withCatalogOpener } from '../../store/open-catalog.ts';
import type { Store } from '../../store/store.ts';
import { prepareSaved } from '../automation/prepare-briefs.ts';
import { checkProcess, listOpenSessions } from '../automation/session-state.ts';
import type { Judgement } from './drift.ts';

export type SessionOfAgent = { agent: Agent; session: FoundSession };

interface SaveOptions {
  /** What the human wants of the next session. */
  goal?: string;
  /** The terminal that the session ran in, where that is known. */
  terminal?: string | undefined;
  /** The agent's last reply, which may not be in the transcript yet. */
  lastReply?: string | undefined;
  /** What was declared in the session, besides what its transcript says. */
  declared?: readonly Fact[];
  /** Whether to write a checkpoint, so that the next capture of the session reads only what is new. */
  savesCheckpoint?: boolean;
}

/**
 * What a capture did. `saved`: a new handover; `journalFailure` is set when its journal entry could not be written.
 * `known`: `handover`, the newest of the session, already has everything. `refused`: no event was understood, so nothing
 * was saved. `compactions` counts those of the session; `judgement` says how well its transcript was understood.
 */
export type CaptureResult = { judgement: Judgement } & (
  | {
      outcome: 'saved';
      handover: Handover;
      compactions: number;
      journalFailure: Error | null;
      /** Earlier handovers of the session that were deleted, as a secret in them was recognised only now. */
      forgotten: readonly string[];
    }
  | { outcome: 'known'; handover: Handover; compactions: number }
  | { outcome: 'refused' }
);

/**
 * Captures a session and saves it, linked to the handover that it follows. A session without news is not saved again.
 * Throws when the transcript cannot be read or the store cannot be written.
 */
export async function saveSession(
  store: Store,
  session: SessionOfAgent,
  options: SaveOptions = {},
): Promise<CaptureResult> {
  const { machine } = store;
  const draft = await draftSession(session, { savesCheckpoint: true, ...options, store, machine, makesKey: true });
  if (draft.outcome !== 'new') return draft;
  const { linked, judgement, compactions, redactor } = draft;
  const { forgotten, previous } = findExposed(store, linked, redactor);
  const { handover, journalFailure } = saveHandover(store, (stamp) => sealRated({ ...linked, previous, ...stamp }));
  if (forgotten.length > 0) await (await import('../forget-derived.ts')).forgetExposed(store, forgotten);
  return { outcome: 'saved', handover, judgement, compactions, journalFailure, forgotten };
}

/** The earlier handovers of a session with a value that is known as a secret now, and the newest that a draft can follow without them. */
function findExposed(
  store: Store,
  { session: { id, agent }, previous }: UnstampedDraft,
  redactor: Redactor,
): { forgotten: string[]; previous: string | null } {
  const last = previous === null || !redactor.hasLearnt ? null : readIntact(store, previous);
  if (last === null) return { forgotten: [], previous };
  const chain = [...readHistory(store, last), last];
  const isExposed = ({ session, ...handover }: Handover): boolean =>
    session.id === id && session.agent === agent && redactor.holdsLearnt(handover);
  const forgotten = chain.filter(isExposed).map((handover) => handover.id);
  const kept = chain.findLast((handover) => !forgotten.includes(handover.id));
  return { forgotten, previous: kept?.id ?? chain[0]?.previous ?? null };
}

/** What a draft follows, without what was recognised as a secret since. */
function redactPredecessors({ previous, byHand }: Predecessors, redactor: Redactor): Predecessors {
  const redact = (handover: Handover): Handover => ({
    ...handover,
    title: redactor.redactText(handover.title),
    summary: redactor.redactText(handover.summary),
    facts: handover.facts.map((fact) => redactor.redactFact(fact)),
  });
  return { previous: redact(previous), byHand: byHand === null ? null : redact(byHand) };
}

/** The same, but nothing is written. Without a store, the handover follows none. */
export async function previewSession(
  session: SessionOfAgent,
  options: SaveOptions & { store: Store | null; machine: Machine },
): Promise<
  Exclude<CaptureResult, { outcome: 'saved' }> | { outcome: 'new'; handover: Handover; judgement: Judgement }
> {
  const draft = await draftSession(session, { ...options, savesCheckpoint: false, makesKey: false });
  if (draft.outcome !== 'new') return draft;
  const { clock, random } = options.machine;
  const now = clock.now();
  const stamp = { id: makeHandoverId(now, random.bytes(3)), created_at: formatTimestamp(now) };
  return { outcome: 'new', handover: sealRated({ ...draft.linked, ...stamp }), judgement: draft.judgement };
}

async function draftSession(
  { agent, session }: SessionOfAgent,
  options: SaveOptions & { store: Store | null; machine: Machine; makesKey: boolean },
): Promise<
  | Exclude<CaptureResult, { outcome: 'saved' }>
  | { outcome: 'new'; linked: UnstampedDraft; judgement: Judgement; compactions: number; redactor: Redactor }
> {
  const { store, machine, makesKey, savesCheckpoint = false, goal, terminal, lastReply, declared = [] } = options;
  const redactor = openRedactor(machine, { folder: session.cwd, makesKey });
  const { captureSession } = await import('./capture.ts');
  const { draft, judgement, compactions } = captureSession(agent, session, machine, {
    savesCheckpoint,
    redactor,
    lastReply,
  });
  const goals = goal === undefined ? [] : [redactor.redactText(goal, { byHuman: true })];
  // What was stated on purpose comes first.
  const marks = store === null ? NO_MARKS : readMarks(store, draft.project.id);
  const now = formatTimestamp(machine.clock.now());
  const stated = [
    ...goals.map((text) => makeFact('goal', text, { by: 'human', pinned: false })),
    ...declared.map((fact) => redactor.redactFact(fact)),
  ].map((fact) => (marks.has(fact.id) ? keepTime(fact, now) : fact));
  const complete = { ...draft, facts: joinFacts(stated, draft.facts) };
  const previous =
    store === null
      ? null
      : await withCatalogOpener(store, (open) =>
          findPrevious(store, complete, { open, running: findSideBySide(store, complete) }),
        );
  const safe = previous !== null && redactor.hasLearnt ? redactPredecessors(previous, redactor) : previous;
  const followed = safe === null ? null : { ...safe, previous: lookAtProcesses(safe.previous) };
  const linked = linkHandover(setTerminal(complete, previous, terminal), followed, marks);
  if (judgement.understanding === 'nothing') return { outcome: 'refused', judgement };
  return previous !== null && addsNothing(linked, previous)
    ? { outcome: 'known', handover: previous.previous, judgement, compactions }
    : { outcome: 'new', linked, judgement, compactions, redactor };
}

/** The other sessions of the worktree that run now, each in a process of its own. */
function findSideBySide(store: Store, { session, workspace }: UnstampedDraft): Set<string> {
  const open = listOpenSessions(store.root, workspace.root);
  const own = open.find((one) => one.session === session.id)?.process;
  const others = open.filter(({ process }) => process !== own && checkProcess(process) === 'running');
  return new Set(others.map((one) => one.session));
}

/** Only a hook knows the terminal; a later capture of the same session keeps what the hook knew. */
function setTerminal(
  draft: UnstampedDraft,
  predecessors: Predecessors | null,
  terminal: string | undefined,
): UnstampedDraft {
  const before = predecessors?.previous.session;
  const known = before?.id === draft.session.id ? (before?.terminal ?? null) : null;
  return { ...draft, session: { ...draft.session, terminal: terminal ?? known } };
}

/** What an agent states on purpose while it works. */
export interface AgentDeclaration {
  agent: string;
  facts: readonly { kind: DeclarableKind; text: string }[];
  /** Whether they are to be in every brief until they are resolved. */
  pinned: boolean;
  /** The session that it is stated in; null when that is not known. */
  session: SessionOfAgent | null;
}

/** `saved`: `handover` is new. `known`: `handover`, the newest of the session, already declares all `facts`. */
export interface DeclarationResult {
  outcome: 'saved' | 'known';
  handover: Handover;
  facts: Fact[];
  journalFailure: Error | null;
}

/** Saves the facts with a capture of the session; without a session, as a handover written by hand. */
export async function saveDeclared(
  store: Store,
  declaration: AgentDeclaration,
  place: Place,
): Promise<DeclarationResult> {
  const { session, pinned } = declaration;
  const redactor = openRedactor(store.machine, { folder: place.root, makesKey: true });
  const made = declaration.facts.map(({ kind, text }) =>
    redactor.redactFact(makeFact(kind, text, { by: 'agent', pinned })),
  );
  const facts = [...new Map(made.map((fact) => [fact.id, fact])).values()];
  const newest = await findNewestOf(store, place, session);
  const known = newest === null ? null : readMarked(store, newest);
  if (newest !== null && known !== null && facts.every((fact) => isDeclaredIn(known, fact)))
    return { outcome: 'known', handover: newest, facts, journalFailure: null };
  if (session !== null) {
    const saved = await saveSession(store, session, { declared: facts });
    if (saved.outcome === 'known') return { ...saved, facts, journalFailure: null };
    if (saved.outcome === 'saved') return { ...saved, facts };
  }
  return { outcome: 'saved', facts, ...saveByHand(store, declaration, place, newest) };
}

function isDeclaredIn({ facts }: Handover, { id, pinned = false }: Fact): boolean {
  return facts.some((fact) => fact.id === id && fact.trust === 'declared' && (!pinned || fact.pinned === true));
}

/** The newest handover of the session; without a session, the newest of the worktree. */
async function findNewestOf(
  store: Store,
  { project, workspace }: Place,
  session: SessionOfAgent | null,
): Promise<Handover | null> {
  const worktree = { project: project.id, root: workspace.root };
  return await findNewestOwn(
    store,
    worktree,
    (row) => session === null || (row.session === session.session.id && row.agent.toLowerCase() === session.agent.name),
  );
}

function saveByHand(
  store: Store,
  { agent, facts, pinned }: AgentDeclaration,
  place: Place,
  newest: Handover | null,
): Pick<DeclarationResult, 'handover' | 'journalFailure'> {
  const content = { title: undefined, summary: '', facts: [...facts], files: [], pins: [], pinAll: pinned };
  return saveWritten(store, { ...content, agent, by: 'agent', sessionId: null }, { place, base: newest });
}

/** Words of another agent than that of the work follow it, as a session would; all others are part of it. */
function joinWritten(
  draft: UnstampedDraft & { created_at: string },
  base: Handover,
  { marks, by }: { marks: Marks; by: Declaration['by'] },
): UnstampedDraft {
  const agent = draft.session.agent.toLowerCase();
  const isPart = agent === NO_AGENT || agent === base.session.agent.toLowerCase();
  const isNoteOnNote = base.session.id === null;
  const previous = isNoteOnNote ? noteSummary(base, 'human') : base;
  // The next steps of an agent replace those before them.
  if (!isPart || (isNoteOnNote && by === 'agent')) return linkHandover(draft, { previous, byHand: null }, marks);
  return addByHand(isNoteOnNote ? draft : noteSummary(draft, by), previous, marks);
}

/** A capture replaces the summary of a session: as a fact, a summary by hand lasts until it is resolved. */
function noteSummary<Draft extends UnstampedDraft>(draft: Draft, by: Declaration['by']): Draft {
  const { summary, facts } = draft;
  if (summary === '' || countUtf8Bytes(summary) > MAX_FACT_TEXT_BYTES) return draft;
  return { ...draft, summary: '', facts: [makeFact('note', summary, { by, pinned: false }), ...facts] };
}

/** Saves what was written by hand, as an addition to the handover of the work that it is about, if there is any. */
export function saveWritten(
  store: Store,
  declaration: Declaration,
  { place, base }: { place: Place; base: Handover | null },
): SaveResult {
  const { machine } = store;
  const redactor = openRedactor(machine, { folder: place.root, makesKey: true });
  const redacted = redactDraft(declareHandover(declaration, place, machine), redactor);
  const said = [redacted.summary, ...redacted.facts.map(({ text }) => text)];
  const draft = declaration.title === undefined ? { ...redacted, title: deriveTitle(said) } : redacted;
  const marks = readMarks(store, place.project.id);
  const at = formatTimestamp(machine.clock.now());
  const whole = base === null ? draft : joinWritten({ ...draft, created_at: at }, base, { marks, by: declaration.by });
  return saveByPerson(store, whole, place.root);
}

/** Saves what a person wrote, on the work of a session if it has one, and prepares its brief. */
export function saveByPerson(store: Store, draft: UnstampedDraft, root: string): SaveResult {
  const saved = saveHandover(store, (stamp) => {
    const noted = draft.session.id === null ? {} : { noted_at: stamp.created_at };
    return sealRated({ ...draft, ...stamp, ...noted });
  });
  // It is saved already: without a prepared brief, only hooks do not deliver it.
  catchIf(isFailure, undefined, () => prepareSaved(store, saved.handover, root));
  return saved;
}
