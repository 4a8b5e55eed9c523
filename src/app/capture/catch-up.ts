import type { FoundSession } from '../../agents/agent.ts';
import { findSessions, listByLastEvent } from '../../agents/find-session.ts';
import { loadAgent } from '../../agents/table.ts';
import { findUsualPause } from '../../memory/runs/run-config.ts';
import { countNouns } from '../../model/text.ts';
import type { Place } from '../../platform/project.ts';
import { findProjectFolder } from '../../platform/project-folder.ts';
import { type Filter, takeRows } from '../../store/catalog.ts';
import { nameSession, skipForgotten } from '../../store/journal.ts';
import { withCatalogOpener } from '../../store/open-catalog.ts';
import type { Store } from '../../store/store.ts';
import type { CapturedSession } from '../automation/prepare-briefs.ts';
import { type Context, findStore } from '../context.ts';
import { listDriftNotices, listJournalNotices } from '../notices.ts';
import type { CaptureResult } from './save-session.ts';

export type CatchUpResult = { session: FoundSession; result: CaptureResult };

/** Older sessions are not captured by themselves, except the last one. */
const MAX_AGE_MS = 7 * 24 * 60 * 60 * 1000;
const MAX_CAPTURES = 5;
/** Of old files, the end of so many is read to find the one that was worked on last. */
const MAX_DATED = 50;
const MAX_ROWS = 500;

/** Captures what sessions of this worktree did since they were last captured. Nothing while there is a PAUSE file. */
export async function catchUpHere(
  context: Context,
  { project, root }: Place,
  except: ReadonlySet<string> = new Set(),
): Promise<CatchUpResult[]> {
  const pause = findUsualPause(context.machine, findProjectFolder(root));
  if (pause !== null) {
    context.notify({ level: 'info', text: `paused by ${pause.path}: no session is captured` });
    return [];
  }
  const store = findStore(context);
  const caughtUp: CatchUpResult[] = [];
  for (const session of await findUncaptured(store, { project: project.id, root }, except)) {
    const { saveSession } = await import('./save-session.ts');
    const result = await saveSession(store, { agent: await loadAgent(session.agent), session });
    caughtUp.push({ session, result });
    if (result.outcome === 'saved') await prepareOpen(store, { root, session, ...result });
  }
  const saved: string[] = [];
  for (const { session, result } of caughtUp) {
    for (const notice of listDriftNotices(session.agent, result.judgement)) context.notify(notice);
    if (result.outcome !== 'saved') continue;
    for (const notice of listJournalNotices(result)) context.notify(notice);
    saved.push(`${result.handover.id} (${session.agent})`);
  }
  if (saved.length > 0) {
    const which = saved.length === 1 ? `: ${saved[0]}` : '; list them: handover list';
    const text = `captured ${countNouns(saved.length, 'session')} that no hook had saved${which}`;
    context.notify({ level: 'info', text });
  }
  return caughtUp;
}

/** A session that hooks know needs its brief after a compaction: prepares it, as the worker does. */
async function prepareOpen(store: Store, captured: Omit<CapturedSession, 'job'>): Promise<void> {
  const { root, session } = captured;
  const { listOpenSessions } = await import('../automation/session-state.ts');
  const isSame = (one: { agent: string; session: string }) => one.agent === session.agent && one.session === session.id;
  const open = listOpenSessions(store.root, root).find(isSame);
  if (open === undefined) return;
  const { describeCaptureJob } = await import('../automation/jobs.ts');
  const { prepareBriefs } = await import('../automation/prepare-briefs.ts');
  const times = { atMs: store.machine.clock.now(), lastMs: session.changedMs };
  prepareBriefs(store, { ...captured, job: describeCaptureJob(open, { moment: 'turn', ...times }) });
}

/** What went on after its last capture, the oldest first. `except`: sessions that are not over. */
async function findUncaptured(
  store: Store,
  { project, root }: { project: string; root: string },
  except: ReadonlySet<string>,
): Promise<FoundSession[]> {
  const found = await findSessions(store.machine, { project, root });
  const over = found.filter(({ id }) => !except.has(id));
  const young = over.filter(({ changedMs }) => changedMs > store.machine.clock.now() - MAX_AGE_MS);
  const last = listByLastEvent(young.length > 0 ? young : over.slice(0, MAX_DATED)).map(({ session }) => session);
  const recent = young.length > 0 ? last : last.slice(0, 1);
  if (recent.length === 0) return [];
  const captured = await readCaptured(store, { project: { id: project } }, MAX_ROWS);
  const uncaptured = recent.filter((session) => session.changedMs > (captured.get(nameSession(session)) ?? 0));
  return skipForgotten(store, uncaptured).slice(0, MAX_CAPTURES).reverse();
}

/** By the name of a session, when it was last captured, as the newest `most` handovers show it. */
export async function readCaptured(
  store: Store,
  filter: Filter = {},
  most = Number.POSITIVE_INFINITY,
): Promise<Map<string, number>> {
  const rows = await withCatalogOpener(store, async (open) => takeRows((await open()).rows(filter), most));
  const times = new Map<string, number>();
  for (const { agent, session, created_at } of rows) {
    if (session === null) continue;
    const name = nameSession({ agent, id: session });
    times.set(name, Math.max(times.get(name) ?? 0, Date.parse(created_at)));
  }
  return times;
}
