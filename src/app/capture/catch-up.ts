import type { FoundSession } from '../../agents/agent.ts';
import { findSessions } from '../../agents/find-session.ts';
import { loadAgent } from '../../agents/table.ts';
import { takeRows } from '../../store/catalog.ts';
import { readEntriesOf } from '../../store/journal.ts';
import { withCatalogOpener } from '../../store/open-catalog.ts';
import type { Store } from '../../store/store.ts';
import type { CaptureResult } from './save-session.ts';

export type CatchUpResult = { session: FoundSession; result: CaptureResult };

/** Older sessions are not captured by themselves, except the last one. */
const MAX_AGE_MS = 7 * 24 * 60 * 60 * 1000;
const MAX_CAPTURES = 5;
const MAX_ROWS = 500;

/** Captures, the oldest first, what went on after its last capture. `except`: sessions that are not over. */
export async function catchUp(
  store: Store,
  { project, root }: { project: string; root: string },
  except: ReadonlySet<string> = new Set(),
): Promise<CatchUpResult[]> {
  const found = await findSessions(store.machine, { project, root });
  const recent = found
    .filter(({ id }) => !except.has(id))
    .filter(({ changedMs }, index) => index === 0 || changedMs > store.machine.clock.now() - MAX_AGE_MS);
  if (recent.length === 0) return [];
  const captured = await readCaptured(store, project);
  const uncaptured = recent.filter((session) => session.changedMs > (captured.get(nameSession(session)) ?? 0));
  const behind = skipForgotten(store, uncaptured).slice(0, MAX_CAPTURES).reverse();
  if (behind.length === 0) return [];
  const caughtUp: CatchUpResult[] = [];
  const { saveSession } = await import('./save-session.ts');
  for (const session of behind)
    caughtUp.push({ session, result: await saveSession(store, { agent: await loadAgent(session.agent), session }) });
  return caughtUp;
}

async function readCaptured(store: Store, project: string): Promise<Map<string, number>> {
  const rows = await withCatalogOpener(store, async (open) =>
    takeRows((await open()).rows({ project: { id: project } }), MAX_ROWS),
  );
  const times = new Map<string, number>();
  for (const { agent, session, created_at } of rows) {
    if (session === null) continue;
    const name = nameSession({ agent, id: session });
    times.set(name, Math.max(times.get(name) ?? 0, Date.parse(created_at)));
  }
  return times;
}

/** A session whose handover was forgotten is not captured again, unless it went on since. */
function skipForgotten(store: Store, sessions: readonly FoundSession[]): readonly FoundSession[] {
  if (sessions.length === 0) return sessions;
  const times = new Map<string, number>();
  for (const { session, detail, at } of readEntriesOf(store, ['forgotten']))
    if (session !== undefined) times.set(nameSession({ agent: String(detail?.agent), id: session }), Date.parse(at));
  return sessions.filter((session) => session.changedMs > (times.get(nameSession(session)) ?? 0));
}

function nameSession({ agent, id }: { agent: string; id: string }): string {
  return `${agent.toLowerCase()}\n${id}`;
}
