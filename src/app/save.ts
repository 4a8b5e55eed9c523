import type { FoundSession } from '../agents/agent.ts';
import { usageError } from '../errors.ts';
import type { Declaration } from '../handover/declare.ts';
import { assertNotPaused } from '../memory/runs/run-config.ts';
import { cleanText } from '../model/text.ts';
import { describePlace, type Place } from '../platform/project.ts';
import { findProjectFolder } from '../platform/project-folder.ts';
import type { SaveResult } from '../store/handovers.ts';
import type { AgentDeclaration, DeclarationResult } from './capture/save-session.ts';
import { type Context, findStore, listRunningSessions } from './context.ts';
import { listJournalNotices } from './notices.ts';

/**
 * Saves a handover that was written by hand. It adds to the line of work that it is about: the session that it is written
 * in, or else the newest work of the worktree, which is captured first.
 */
export async function saveDeclaration(context: Context, folder: string, declaration: Declaration): Promise<SaveResult> {
  const { title, summary, facts, files, pins } = declaration;
  const texts = [title ?? '', summary, ...facts.map((fact) => fact.text), ...files, ...pins];
  if (texts.every((text) => text.trim() === ''))
    throw usageError('there is nothing to save', 'handover save "where things stand" --next "what to do next"');
  const store = findStore(context);
  const place = describePlace(folder, context.machine);
  const running = listRunningSessions(context.machine.env);
  const { saveWritten } = await import('./capture/save-session.ts');
  const { catchUpHere } = await import('./capture/catch-up.ts');
  const { findNewestOwn } = await import('../store/find-handover.ts');
  await catchUpHere(context, place, running);
  const worktree = { project: place.project.id, root: place.workspace.root };
  const base = await findNewestOwn(store, worktree, ({ session }) => running.size === 0 || running.has(session ?? ''));
  const saved = saveWritten(store, declaration, { place, base });
  for (const notice of listJournalNotices(saved)) context.notify(notice);
  return saved;
}

/** One step a line, without list markers. Secrets are out before it is split: one may go over several lines. */
export async function splitSteps({ machine }: Context, steps: string): Promise<string[]> {
  const { openRedactor } = await import('../redact/open-redactor.ts');
  const redactor = openRedactor(machine, { folder: machine.cwd, makesKey: true });
  const lines = redactor.redactText(cleanText(steps), { byHuman: true }).split('\n');
  return lines.map((line) => line.replace(/^\s*(?:[-*+]|\d+[.)])\s+/, '').trim()).filter((line) => line !== '');
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
