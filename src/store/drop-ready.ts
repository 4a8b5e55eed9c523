import { join } from 'node:path';
import { HandoverError, isErrno } from '../errors.ts';
import { readRegularFile, removeFile } from '../platform/durable-file.ts';
import { READY, type Store } from './store.ts';

/** Which file holds what lies ready of a handover, by the handover's id. */
export const READY_BY_HANDOVER: readonly string[] = [READY, 'handovers'];
export const READY_SESSIONS: readonly string[] = [READY, 'sessions'];

const MAX_BYTES = 1024 * 1024;
const NAME = /^[0-9a-f]{16}\.json$/;

/** Takes away what lies ready of a handover: who forgets it wants it to be told to nobody. */
export function dropReady(store: Store, id: string): void {
  const note = join(store.root, ...READY_BY_HANDOVER, id);
  const name = readOrNothing(note);
  if (NAME.test(name)) {
    const path = join(store.root, ...READY_SESSIONS, name);
    // The session may have gone on since, and lie ready with a later handover.
    if (readOrNothing(path).includes(`"handover":"${id}"`)) removeFile(path);
  }
  removeFile(note);
}

function readOrNothing(path: string): string {
  try {
    return readRegularFile(path, MAX_BYTES).toString('utf8');
  } catch (error) {
    if (isErrno(error) || error instanceof HandoverError) return '';
    throw error;
  }
}
