import { type Declaration, declareHandover } from '../../src/handover/declare.ts';
import { sealHandover } from '../../src/handover/seal.ts';
import type { Handover } from '../../src/model/handover.ts';
import type { Machine } from '../../src/platform/machine.ts';
import type { Place } from '../../src/platform/project.ts';
import { saveHandover } from '../../src/store/handovers.ts';
import { openStore, type Store } from '../../src/store/store.ts';

export const PLACE: Place = {
  project: { id: 'p-0000000000000000', name: 'sample', remote: null },
  workspace: { root: '/sample', folder: '', worktree: null, git: null },
  root: '/sample',
};

export function makeDeclaration(parts: Partial<Declaration> = {}): Declaration {
  return {
    title: 'A sample',
    summary: '',
    agent: 'manual',
    by: 'human',
    sessionId: null,
    facts: [],
    files: [],
    pins: [],
    pinAll: false,
    ...parts,
  };
}

/** Saves through the library, as `handover save` does. */
export function saveSample(target: Machine | Store, parts: Partial<Declaration> = {}, place: Place = PLACE): Handover {
  const store = 'root' in target ? target : openStore(target);
  const draft = declareHandover(makeDeclaration(parts), place, store.machine);
  return saveHandover(store, (stamp) => sealHandover({ ...draft, ...stamp })).handover;
}
