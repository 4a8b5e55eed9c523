import { statFile } from '../../platform/external-file.ts';
import { lookForChanges } from './evidence.ts';
import type { Ready } from './ready.ts';

/** What a session that is resumed can go on from. */
export interface Resumed {
  /** Whether its agent still has what it wrote down of it. Else there is nothing that it could have in its context. */
  hasTranscript: boolean;
  /** Whether its files or the head changed since it was captured, and not by itself. */
  isOvertaken: boolean;
}

export function judgeResumed(ready: Ready, named: string | null): Resumed {
  const { transcript, transcriptBytes } = ready;
  const sight = transcript === null ? null : statFile(transcript);
  const isShort = transcript !== null && (sight?.size ?? 0) < transcriptBytes;
  const isElsewhere = named !== null && named !== transcript && statFile(named) !== null;
  // A session that went on after it was captured may have made the changes itself.
  const isAsCaptured = sight?.size === transcriptBytes;
  return { hasTranscript: !isShort || isElsewhere, isOvertaken: isAsCaptured && isChanged(ready) };
}

function isChanged(ready: Ready): boolean {
  const { files, head } = lookForChanges(ready);
  return files.length > 0 || head !== null;
}
