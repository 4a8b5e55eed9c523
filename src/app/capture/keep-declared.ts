import { linkHandover } from '../../handover/chain.ts';
import { type DeclarableKind, declareHandover, makeFact } from '../../handover/declare.ts';
import { sealRated } from '../../handover/seal.ts';
import type { Fact } from '../../model/fact.ts';
import { type Handover, isForeign } from '../../model/handover.ts';
import { cleanLine, cutAtWord } from '../../model/text.ts';
import type { Place } from '../../platform/project.ts';
import { openRedactor } from '../../redact/open-redactor.ts';
import { redactDraft } from '../../redact/redact-draft.ts';
import type { CatalogRow } from '../../store/catalog.ts';
import { withCatalogOpener } from '../../store/catalog-opener.ts';
import { keepNewHandover, readIntact } from '../../store/handovers.ts';
import { readMarks } from '../../store/marks.ts';
import type { Store } from '../../store/store.ts';
import { listOfWorktree } from '../../store/worktree.ts';
import { keepSession, type SessionOfAgent } from './keep-session.ts';

/** What an agent says on purpose while it works. */
export interface AgentDeclaration {
  /** Who says it, by its name. */
  agent: string;
  facts: readonly { kind: DeclarableKind; text: string }[];
  /** Whether they are to be in every brief until they are resolved. */
  pinned: boolean;
  /** The session that it is said in; null when that is not known. */
  session: SessionOfAgent | null;
}

/** `known`: the newest handover of the session says all of it already, and nothing was written. */
export interface KeptDeclaration {
  outcome: 'kept' | 'known';
  handover: Handover;
  facts: Fact[];
  journalFailure: Error | null;
}

/**
 * Keeps what an agent declares. Where its session is known, the session is captured as far as it has come, so that what
 * is declared stands beside the rest. Else it is a handover by hand that goes on from the one before it.
 */
export async function keepDeclared(
  store: Store,
  declaration: AgentDeclaration,
  place: Place,
): Promise<KeptDeclaration> {
  const { session } = declaration;
  const facts = makeFacts(store, declaration, place);
  const newest = await findNewest(store, place, session);
  if (newest !== null && facts.every((fact) => isDeclaredIn(newest, fact)))
    return { outcome: 'known', handover: newest, facts, journalFailure: null };
  if (session !== null) {
    const kept = await keepSession(store, session, { declared: facts });
    if (kept.outcome === 'known') return { ...kept, facts, journalFailure: null };
    if (kept.outcome === 'kept') return { ...kept, facts };
  }
  return { outcome: 'kept', facts, ...keepByHand(store, declaration, { place, newest }) };
}

function makeFacts(store: Store, { facts, pinned }: AgentDeclaration, { root }: Place): Fact[] {
  const redactor = openRedactor(store.machine, { folder: root, makesKey: true });
  const made = facts.map(({ kind, text }) =>
    redactor.redactFact(makeFact(kind, text, { by: 'agent', pinned })),
  );
  return [...new Map(made.map((fact) => [fact.id, fact])).values()];
}

function isDeclaredIn({ facts }: Handover, { id, pinned = false }: Fact): boolean {
  return facts.some(
    (fact) => fact.id === id && fact.trust === 'declared' && (!pinned || fact.pinned === true),
  );
}

/** The newest handover of the session; without one, the newest of the worktree, if that was written by hand. */
async function findNewest(
  store: Store,
  { project, workspace }: Place,
  session: SessionOfAgent | null,
): Promise<Handover | null> {
  const isOfSession = (row: CatalogRow): boolean =>
    row.session === session?.session.id && row.agent.toLowerCase() === session.agent.name;
  const id = await withCatalogOpener(store, async (open) => {
    const worktree = { project: project.id, root: workspace.root };
    for await (const row of listOfWorktree(store, await open(), worktree)) {
      if (session === null) return row.session === null ? row.id : null;
      if (isOfSession(row)) return row.id;
    }
    return null;
  });
  const handover = id === null ? null : readIntact(store, id);
  return handover === null || isForeign(handover) ? null : handover;
}

const MAX_TITLE_BYTES = 100;

function keepByHand(
  store: Store,
  { agent, facts, pinned }: AgentDeclaration,
  { place, newest }: { place: Place; newest: Handover | null },
): Pick<KeptDeclaration, 'handover' | 'journalFailure'> {
  const [first] = facts;
  const declared = declareHandover(
    {
      title: cutAtWord(cleanLine(first?.text ?? ''), MAX_TITLE_BYTES),
      summary: '',
      agent,
      by: 'agent',
      sessionId: null,
      facts: [...facts],
      files: [],
      pins: [],
      pinAll: pinned,
    },
    place,
    store.machine,
  );
  const redactor = openRedactor(store.machine, { folder: place.root, makesKey: true });
  const line = newest === null || newest.session.id !== null ? null : { previous: newest, byHand: null };
  const marks = readMarks(store, place.project.id);
  const draft = linkHandover(redactDraft(declared, redactor), line, marks);
  return keepNewHandover(store, (stamp) => sealRated({ ...draft, ...stamp }));
}
