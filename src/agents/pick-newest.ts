import type { FoundSession } from './agent.ts';

/** Of the sessions in one file the one that changed last; a sub-agent's only when there is nothing else. */
export function pickNewest(sessions: Iterable<FoundSession>): FoundSession | null {
  let newest: FoundSession | null = null;
  for (const session of sessions) if (newest === null || isNewer(session, newest)) newest = session;
  return newest;
}

function isNewer(a: FoundSession, b: FoundSession): boolean {
  if ((a.parent === null) !== (b.parent === null)) return a.parent === null;
  return a.changedMs > b.changedMs;
}
