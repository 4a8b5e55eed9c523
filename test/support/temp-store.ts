import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { declareHandover } from '../../src/handover/declare.ts';
import { sealHandover } from '../../src/handover/seal.ts';
import type { Handover, HandoverDraft } from '../../src/model/handover.ts';
import type { Machine } from '../../src/platform/machine.ts';
import { describePlace } from '../../src/platform/project.ts';
import { saveHandover } from '../../src/store/handovers.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { removeFolder } from './remove-folder.ts';

/** A folder of the test's own, removed when the test has finished. */
export function makeFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'handover-test-')));
  onTestFinished(() => removeFolder(folder));
  return folder;
}

/** A clock that moves only when it is set. */
export interface TestClock {
  now(): number;
  set(ms: number): void;
}

export function makeClock(start: number): TestClock {
  let time = start;
  return {
    now: () => time,
    set: (ms) => {
      time = ms;
    },
  };
}

/** The same bytes in the same order every time. */
export function makeRandom(seed = 1): { bytes(count: number): Uint8Array } {
  let state = seed;
  const next = (): number => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >>> 16) & 0xff;
  };
  return { bytes: (count) => Uint8Array.from({ length: count }, next) };
}

export const NOON: number = Date.UTC(2026, 0, 31, 12);

export function makeMachine(folder: string, changes: Partial<Machine> = {}): Machine {
  return {
    clock: makeClock(NOON),
    random: makeRandom(),
    env: { HANDOVER_HOME: join(folder, 'store'), PATH: process.env.PATH, GIT_CEILING_DIRECTORIES: folder },
    platform: process.platform,
    home: join(folder, 'home'),
    cwd: folder,
    ...changes,
  };
}

export function makeStore(changes: Partial<Machine> = {}): Store {
  return openStore(makeMachine(makeFolder(), changes));
}

/** Saves a handover with the given title and facts, as `save` would. */
export function saveOne(store: Store, title: string, changes: Partial<HandoverDraft> = {}): Handover {
  const place = describePlace(store.machine.cwd, store.machine);
  const declared = declareHandover(
    {
      title,
      summary: `All about ${title}`,
      agent: 'codex',
      by: 'human',
      sessionId: null,
      facts: [{ kind: 'next', text: `continue ${title}` }],
      files: [],
      pins: [],
      pinAll: false,
    },
    place,
    store.machine,
  );
  return saveHandover(store, (stamp) => sealHandover({ ...declared, ...changes, ...stamp })).handover;
}
