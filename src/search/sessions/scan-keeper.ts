import { pathExists } from '../../platform/folders.ts';
import type { Store } from '../../store/store.ts';
import { listNewestTexts, readText, type SessionHead, type SessionText } from './archive.ts';
import type { TextKeeper } from './follow-sessions.ts';
import { SCANNED } from './scanned.ts';

/** Keeps the archives alone. Nothing is left for the next reading: sessions that have grown are read anew. */
export function openScanKeeper(store: Store): TextKeeper {
  const known = new Map<string, SessionHead>();
  const damaged = new Set<string>();
  for (const name of listNewestTexts(store, SCANNED.sessions)) {
    const text = readText(store, name);
    if (text === null) damaged.add(name);
    else known.set(name, text.head);
  }
  return {
    waiting: new Set(),
    damaged,
    known: () => known,
    reading: () => null,
    put: (name, head) => void known.set(name, head),
    settle: () => undefined,
  };
}

/** The sessions whose text was kept last, the newest first. */
export function scanTexts(store: Store): (SessionText & { gone: boolean })[] {
  return listNewestTexts(store, SCANNED.sessions)
    .flatMap((name) => {
      const text = readText(store, name);
      return text === null ? [] : [{ ...text, gone: !pathExists(text.head.path) }];
    })
    .sort((a, b) => b.head.changedMs - a.head.changedMs || (a.head.id < b.head.id ? -1 : 1));
}
