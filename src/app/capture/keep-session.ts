import type { Agent, FoundSession } from '../../agents/agent.ts';
import { makeFact } from '../../handover/declare.ts';
import { addsNothing, linkHandover, type Predecessors } from '../../handover/link.ts';
import { NO_MARKS } from '../../handover/marks.ts';
import { sealRated } from '../../handover/seal.ts';
import type { Fact } from '../../model/fact.ts';
import type { Handover, UnstampedDraft } from '../../model/handover.ts';
import { makeHandoverId } from '../../model/id.ts';
import { formatTimestamp } from '../../model/time.ts';
import type { Machine } from '../../platform/machine.ts';
import { openRedactor } from '../../redact/open-redactor.ts';
import type { Redactor } from '../../redact/redactor.ts';
import { findPrevious } from '../../store/find-previous.ts';
import { saveHandover } from '../../store/handovers.ts';
import { readMarks } from '../../store/marks.ts';
import { withCatalogOpener } from '../../store/open-catalog.ts';
import type { Store } from '../../store/store.ts';
import { captureSession } from './capture.ts';
import type { Judgement } from './judge-reading.ts';

/** A session with the agent whose it is. */
export interface SessionOfAgent {
  agent: Agent;
  session: FoundSession;
}

export interface SaveOptions {
  /** What the human wants of the next session. */
  goal?: string;
  /** The terminal that the session ran in, where that is known. */
  terminal?: string;
  /** What the agent said last, which it may not have written down yet. */
  lastReply?: string;
  /** What was declared in the session, besides what its transcript tells. */
  declared?: readonly Fact[];
}

/**
 * What became of a session. `kept`: a new handover of it is in the store. `known`: it tells nothing that the handover
 * does not tell already. `refused`: nothing in it was understood, and nothing was kept.
 */
export type CaptureResult =
  | {
      outcome: 'kept';
      handover: Handover;
      judgement: Judgement;
      compactions: number;
      journalFailure: Error | null;
    }
  | { outcome: 'known'; handover: Handover; judgement: Judgement; compactions: number }
  | { outcome: 'refused'; judgement: Judgement };

/** Captures a session and keeps it, as what follows the handover before it. The same session read twice is kept once. */
export async function saveSession(
  store: Store,
  captured: SessionOfAgent,
  options: SaveOptions = {},
): Promise<CaptureResult> {
  const prepared = await prepareSession(captured, {
    ...options,
    store,
    machine: store.machine,
    keepsReading: true,
  });
  const { judgement, known, linked, compactions } = prepared;
  if (judgement.understanding === 'nothing') return { outcome: 'refused', judgement };
  if (known !== null) return { outcome: 'known', handover: known, judgement, compactions };
  const { handover, journalFailure } = saveHandover(store, (stamp) => sealRated({ ...linked, ...stamp }));
  return { outcome: 'kept', handover, judgement, compactions, journalFailure };
}

/** The same, but nothing is kept. Without a store, nothing is followed either. */
export async function previewSession(
  captured: SessionOfAgent,
  { store, machine, ...options }: SaveOptions & { store: Store | null; machine: Machine },
): Promise<
  Exclude<CaptureResult, { outcome: 'kept' }> | { outcome: 'new'; handover: Handover; judgement: Judgement }
> {
  const prepared = await prepareSession(captured, { ...options, store, machine, keepsReading: false });
  const { judgement, known, linked, compactions } = prepared;
  if (judgement.understanding === 'nothing') return { outcome: 'refused', judgement };
  if (known !== null) return { outcome: 'known', handover: known, judgement, compactions };
  const now = machine.clock.now();
  const stamp = { id: makeHandoverId(now, machine.random.bytes(3)), created_at: formatTimestamp(now) };
  return { outcome: 'new', handover: sealRated({ ...linked, ...stamp }), judgement };
}

interface Prepared {
  judgement: Judgement;
  linked: UnstampedDraft;
  /** The handover that tells all of it already. */
  known: Handover | null;
  compactions: number;
}

interface Preparation extends SaveOptions {
  store: Store | null;
  machine: Machine;
  keepsReading: boolean;
}

async function prepareSession(
  { agent, session }: SessionOfAgent,
  { store, machine, keepsReading, goal, terminal, lastReply, declared = [] }: Preparation,
): Promise<Prepared> {
  const redactor = openRedactor(machine, { folder: session.cwd, makesKey: keepsReading });
  const { draft, judgement, compactions } = captureSession(agent, session, machine, {
    keepsReading,
    redactor,
    ...(lastReply === undefined ? {} : { lastReply }),
  });
  const wanted = goal === undefined ? [] : [redactGoal(goal, redactor)];
  const told = addFirst(draft, [...wanted, ...declared.map((fact) => redactor.redactFact(fact))]);
  const line =
    store === null ? null : await withCatalogOpener(store, (open) => findPrevious(store, told, open));
  const marks = store === null ? NO_MARKS : readMarks(store, told.project.id);
  const linked = linkHandover(placeInTerminal(told, line, terminal), line, marks);
  const known = line !== null && addsNothing(linked, line) ? line.previous : null;
  return { judgement, linked, known, compactions };
}

/** What the human wants of the next session is a fact like any other. */
function redactGoal(goal: string, redactor: Redactor): Fact {
  return makeFact('goal', redactor.redactText(goal, { byHuman: true }), { by: 'human', pinned: false });
}

/** What was given on purpose stands first. */
function addFirst(draft: UnstampedDraft, given: readonly Fact[]): UnstampedDraft {
  const ids = new Set(given.map((fact) => fact.id));
  return { ...draft, facts: [...given, ...draft.facts.filter((fact) => !ids.has(fact.id))] };
}

/** Only a hook knows the terminal; whoever reads the same session later goes on with what the hook knew. */
function placeInTerminal(
  draft: UnstampedDraft,
  line: Predecessors | null,
  terminal: string | undefined,
): UnstampedDraft {
  const before = line?.previous.session;
  const known = before?.id === draft.session.id ? (before?.terminal ?? null) : null;
  return { ...draft, session: { ...draft.session, terminal: terminal ?? known } };
}
