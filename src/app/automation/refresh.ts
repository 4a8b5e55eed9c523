import { join } from 'node:path';
import { markHandover } from '../../handover/link.ts';
import { isHandoverId } from '../../model/id.ts';
import { writeCacheFile } from '../../platform/cache-file.ts';
import { listFolder } from '../../platform/folders.ts';
import { readIntact } from '../../store/handovers.ts';
import { readMarks } from '../../store/marks.ts';
import { READY, type Store } from '../../store/store.ts';
import { keyOfSession, pathOfReady, READY_FOLDERS } from './folders.ts';
import { compileBriefs } from './prepare.ts';
import { KEY_NAME, openReady, printReady } from './ready.ts';
import { readSmallFile } from './small-records.ts';

/** No session is likely to go on from one that so many came after. */
const MOST_REFRESHED = 100;

/** Writes the briefs anew that lie ready of a project: something was said of its facts. */
export function refreshReady(store: Store, project: string): void {
  const key = readSmallFile(join(store.root, READY, KEY_NAME));
  if (key === null) return;
  const marks = readMarks(store, project);
  const ids = listFolder(join(store.root, ...READY_FOLDERS.handovers))
    .filter(isHandoverId)
    .sort();
  for (const id of ids.slice(-MOST_REFRESHED)) {
    const handover = readIntact(store, id);
    if (handover === null || handover.session.id === null || handover.project.id !== project) continue;
    const { agent, id: session } = handover.session;
    const { ready } = openReady(store.root, { agent, session });
    if (ready?.handover !== id) continue;
    const { marks: _, ...head } = ready;
    const briefs = compileBriefs(agent, markHandover(handover, marks));
    writeCacheFile(pathOfReady(store.root, keyOfSession(ready)), [
      Buffer.from(printReady(key, head, briefs)),
    ]);
  }
}
