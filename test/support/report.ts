import { existsSync } from 'node:fs';
import { sealHandover } from '../../src/handover/seal.ts';
import type { Fact } from '../../src/model/fact.ts';
import type { Handover, UnstampedDraft } from '../../src/model/handover.ts';
import { saveHandover } from '../../src/store/handovers.ts';
import { openStore } from '../../src/store/store.ts';
import type { Sandbox } from './cli.ts';
import { makeDraft } from './facts.ts';

export const PROJECT = { id: 'p-0000000000000000', name: 'shop', remote: null };

export interface Work {
  agent?: string;
  session?: string | null;
  /** When it was done. */
  at: string;
  facts: Fact[];
  more?: Partial<UnstampedDraft>;
}

/** Saves a handover as a capture at that time would have. */
export function saveWork(
  { machine }: Sandbox,
  { agent = 'claude-code', session = null, at, facts, more }: Work,
): Handover {
  const ran = { agent, id: session, terminal: null, model: null, transcript: null, started_at: null };
  const title = facts.find(({ kind }) => kind === 'goal')?.text ?? 'A sample';
  const draft = makeDraft(facts, { title, project: PROJECT, session: { ...ran, last_at: at }, ...more });
  const store = openStore({ ...machine, clock: { now: () => Date.parse(at) } });
  return saveHandover(store, (stamp) => sealHandover({ ...draft, ...stamp })).handover;
}

/** What a handover continues. */
export function joinWork(joined: string): Partial<UnstampedDraft> {
  return { chain: { carried: 0, resolved: [], superseded: [], dropped: [], joined } };
}

const CHROMIUM = [
  process.env.CHROMIUM ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/** Null where there is none. */
export function findChromium(): string | null {
  return CHROMIUM.find((path) => path !== '' && existsSync(path)) ?? null;
}
