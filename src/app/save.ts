import type { FoundSession } from '../agents/agent.ts';
import { HandoverError } from '../errors.ts';
import { type Declaration, declareHandover } from '../handover/declare.ts';
import { sealRated } from '../handover/seal.ts';
import { assertNotPaused } from '../memory/runs/pause-guard.ts';
import { describePlace, type Place } from '../platform/project.ts';
import { findProjectFolder } from '../platform/project-folder.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import { redactDraft } from '../redact/redact-draft.ts';
import { type SaveResult, saveHandover } from '../store/handovers.ts';
import type { AgentDeclaration, DeclarationResult } from './capture/save-session.ts';
import { type Context, findStore } from './context.ts';
import { listJournalNotices } from './notices.ts';

/** Saves a handover that was written by hand. */
export function saveDeclaration(context: Context, folder: string, declaration: Declaration): SaveResult {
  const { title, summary, facts, files, pins } = declaration;
  const texts = [title ?? '', summary, ...facts.map((fact) => fact.text), ...files, ...pins];
  if (texts.every((text) => text.trim() === ''))
    throw new HandoverError('HANDOVER_USAGE', 'there is nothing to save', {
      hint: 'handover save --summary "where things stand" --next "what to do next"',
    });
  const { machine } = context;
  const place = describePlace(folder, machine);
  const redactor = openRedactor(machine, { folder: place.root, makesKey: true });
  const draft = redactDraft(declareHandover(declaration, place, machine), redactor);
  const saved = saveHandover(findStore(context), (stamp) => sealRated({ ...draft, ...stamp }));
  for (const notice of listJournalNotices(saved)) context.notify(notice);
  return saved;
}

/** Saves what an agent declares while it works; its session is null when it is unknown. Loads what captures need only here. */
export async function saveFromAgent(
  context: Context,
  save: Omit<AgentDeclaration, 'session'> & { place: Place; session: FoundSession | null },
): Promise<DeclarationResult> {
  const { place, session: found, ...declaration } = save;
  assertNotPaused(context.machine, findProjectFolder(place.root));
  const { loadAgent } = await import('../agents/table.ts');
  const { saveDeclared } = await import('./capture/save-session.ts');
  const session = found === null ? null : { agent: await loadAgent(found.agent), session: found };
  const saved = await saveDeclared(findStore(context), { ...declaration, session }, place);
  for (const notice of listJournalNotices(saved)) context.notify(notice);
  return saved;
}
