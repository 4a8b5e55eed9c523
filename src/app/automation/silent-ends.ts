import { statFile } from '../../platform/external-file.ts';
import { type Begun, judgeLife, listBegun, unmarkBegun } from './begun.ts';
import { keyOfSession } from './folders.ts';
import { openReady } from './ready.ts';
import { type CaptureNote, describeCapture } from './spool.ts';
import type { Visit } from './visit.ts';

const MOST_AT_ONCE = 3;
/** Where the system does not tell whether an agent still runs, one that wrote nothing for so long counts as over. */
const QUIET_MS = 15 * 60 * 1000;

/**
 * Sessions of this worktree that are over without having said so, and went on after they were last captured: killed,
 * crashed, or closed with the lid. They are to be captured now. Marks of others that are over are cleared away.
 */
export function findSilentEnds(visit: Visit): { key: string; note: CaptureNote }[] {
  const { store, root, input } = visit;
  const found: { key: string; note: CaptureNote }[] = [];
  for (const begun of listBegun(store, root)) {
    if (begun.session === input.session || !isOver(begun, visit)) continue;
    const lastMs = findUncaptured(begun, visit);
    if (lastMs === null) unmarkBegun(store, begun);
    else if (found.length < MOST_AT_ONCE) {
      const note = describeCapture(begun, { moment: 'end', atMs: visit.nowMs, lastMs });
      found.push({ key: keyOfSession(begun), note });
    }
  }
  return found;
}

function isOver(begun: Begun, { process, nowMs }: Visit): boolean {
  if (begun.process !== null && begun.process === process) return false;
  const life = judgeLife(begun.process);
  if (life !== 'unknown') return life === 'over';
  const sight = begun.transcript === null ? null : statFile(begun.transcript);
  return nowMs - (sight?.changedMs ?? begun.atMs) > QUIET_MS;
}

/** When the session last wrote something that is not captured; null when all of it is. */
function findUncaptured(begun: Begun, { store }: Visit): number | null {
  const { ready } = openReady(store, begun);
  const transcript = begun.transcript ?? ready?.transcript ?? null;
  const sight = transcript === null ? null : statFile(transcript);
  if (ready === null) return transcript !== null && sight === null ? null : (sight?.changedMs ?? begun.atMs);
  return sight !== null && sight.size > ready.transcriptBytes ? sight.changedMs : null;
}
