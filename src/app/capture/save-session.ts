import type { Agent, FoundSession } from '../../agents/agent.ts';
import { type DeclarableKind, declareHandover, makeFact } from '../../handover/declare.ts';
import { addsNothing, linkHandover, type Predecessors } from '../../handover/link.ts';
import { NO_MARKS } from '../../handover/marks.ts';
import { sealRated } from '../../handover/seal.ts';
import type { Fact } from '../../model/fact.ts';
import { type Handover, isForeign, type UnstampedDraft } from '../../model/handover.ts';
import { makeHandoverId } from '../../model/id.ts';
import { cleanLine, cutAtWord } from '../../model/text.ts';
import { formatTimestamp } from '../../model/time.ts';
import type { Machine } from '../../platform/machine.ts';
import type { Place } from '../../platform/project.ts';
import { openRedactor } from '../../redact/open-redactor.ts';
import { redactDraft } from '../../redact/redact-draft.ts';
import { findNewest, findPrevious } from '../../store/find-handover.ts';
import { readIntact, saveHandover } from '../../store/handovers.ts';
import { readMarks } from '../../store/marks.ts';
import { withCatalogOpener } from '../../store/open-catalog.ts';
import type { Store } from '../../store/store.ts';
import { captureSession } from './capture.ts';
import type { Judgement } from './drift.ts';

export type SessionOfAgent = { agent: Agent; session: FoundSession };

interface SaveOptions {
  /** What the human wants of the next session. */
  goal?: string;
  /** The terminal that the session ran in, where that is known. */
  terminal?: string;
  /** The agent's last reply, which may not be in the transcript yet. */
  lastReply?: string;
  /** What was declared in the session, besides what its transcript says. */
  declared?: readonly Fact[];
}

/**
 * What a capture did. `saved`: a new handover; `journalFailure` is set when its journal entry could not be written.
 * `known`: `handover`, the newest of the session, already has everything. `refused`: no event was understood, so nothing
 * was saved. `compactions` counts those of the session; `judgement` says how well its transcript was understood.
 */
export type CaptureResult = { judgement: Judgement } & (
  | { outcome: 'saved'; handover: Handover; compactions: number; journalFailure: Error | null }
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
  const draft = await draftSession(session, { ...options, store, machine, savesCheckpoint: true });
  if (draft.outcome !== 'new') return draft;
  const { linked, judgement, compactions } = draft;
  const { handover, journalFailure } = saveHandover(store, (stamp) => sealRated({ ...linked, ...stamp }));
  return { outcome: 'saved', handover, judgement, compactions, journalFailure };
}

/** The same, but nothing is written. Without a store, the handover follows none. */
export async function previewSession(
  session: SessionOfAgent,
  options: SaveOptions & { store: Store | null; machine: Machine },
): Promise<
  Exclude<CaptureResult, { outcome: 'saved' }> | { outcome: 'new'; handover: Handover; judgement: Judgement }
> {
  const draft = await draftSession(session, { ...options, savesCheckpoint: false });
  if (draft.outcome !== 'new') return draft;
  const { clock, random } = options.machine;
  const now = clock.now();
  const stamp = { id: makeHandoverId(now, random.bytes(3)), created_at: formatTimestamp(now) };
  return { outcome: 'new', handover: sealRated({ ...draft.linked, ...stamp }), judgement: draft.judgement };
}

async function draftSession(
  { agent, session }: SessionOfAgent,
  options: SaveOptions & { store: Store | null; machine: Machine; savesCheckpoint: boolean },
): Promise<
  | Exclude<CaptureResult, { outcome: 'saved' }>
  | { outcome: 'new'; linked: UnstampedDraft; judgement: Judgement; compactions: number }
> {
  const { store, machine, savesCheckpoint, goal, terminal, lastReply, declared = [] } = options;
  const redactor = openRedactor(machine, { folder: session.cwd, makesKey: savesCheckpoint });
  const reading = { savesCheckpoint, redactor, ...(lastReply === undefined ? {} : { lastReply }) };
  const { draft, judgement, compactions } = captureSession(agent, session, machine, reading);
  const goals = goal === undefined ? [] : [redactor.redactText(goal, { byHuman: true })];
  const complete = addFirst(draft, [
    ...goals.map((text) => makeFact('goal', text, { by: 'human', pinned: false })),
    ...declared.map((fact) => redactor.redactFact(fact)),
  ]);
  const previous =
    store === null ? null : await withCatalogOpener(store, (open) => findPrevious(store, complete, open));
  const marks = store === null ? NO_MARKS : readMarks(store, complete.project.id);
  const linked = linkHandover(setTerminal(complete, previous, terminal), previous, marks);
  if (judgement.understanding === 'nothing') return { outcome: 'refused', judgement };
  return previous !== null && addsNothing(linked, previous)
    ? { outcome: 'known', handover: previous.previous, judgement, compactions }
    : { outcome: 'new', linked, judgement, compactions };
}

/** What was stated on purpose comes first. */
function addFirst(draft: UnstampedDraft, facts: readonly Fact[]): UnstampedDraft {
  const ids = new Set(facts.map((fact) => fact.id));
  return { ...draft, facts: [...facts, ...draft.facts.filter((fact) => !ids.has(fact.id))] };
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
  if (newest !== null && facts.every((fact) => isDeclaredIn(newest, fact)))
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

/** The newest handover of the session; without a session, the newest of the worktree, if that was written by hand. */
async function findNewestOf(
  store: Store,
  { project, workspace }: Place,
  session: SessionOfAgent | null,
): Promise<Handover | null> {
  const row = await withCatalogOpener(store, async (open) =>
    findNewest(store, await open(), {
      project: { id: project.id },
      root: workspace.root,
      fits: (row) =>
        session === null || (row.session === session.session.id && row.agent.toLowerCase() === session.agent.name),
    }),
  );
  if (row === null || (session === null && row.session !== null)) return null;
  const handover = readIntact(store, row.id);
  return handover === null || isForeign(handover) ? null : handover;
}

const MAX_TITLE_BYTES = 100;

function saveByHand(
  store: Store,
  { agent, facts, pinned }: AgentDeclaration,
  place: Place,
  newest: Handover | null,
): Pick<DeclarationResult, 'handover' | 'journalFailure'> {
  const title = cutAtWord(cleanLine(facts[0]?.text ?? ''), MAX_TITLE_BYTES);
  const content = { title, summary: '', facts: [...facts], files: [], pins: [], pinAll: pinned };
  const declared = declareHandover({ ...content, agent, by: 'agent', sessionId: null }, place, store.machine);
  const redactor = openRedactor(store.machine, { folder: place.root, makesKey: true });
  const previous = newest === null || newest.session.id !== null ? null : { previous: newest, byHand: null };
  const draft = linkHandover(redactDraft(declared, redactor), previous, readMarks(store, place.project.id));
  return saveHandover(store, (stamp) => sealRated({ ...draft, ...stamp }));
}
