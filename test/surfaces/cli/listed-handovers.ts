import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { describePlace } from '../../../src/platform/project.ts';
import { openStore } from '../../../src/store/store.ts';
import { makeSandbox, runGit, type Sandbox } from '../../support/cli.ts';
import { saveSample } from '../../support/samples.ts';

export const HOUR = 3_600_000;

const SAMPLES = [
  { name: 'ancient', hoursAgo: 24 * 400, parts: { title: 'Ancient work', agent: 'aider' } },
  { name: 'week', hoursAgo: 24 * 6, parts: { title: 'Last week', agent: 'Codex', summary: 'Rewrote the PARSER' } },
  {
    name: 'day',
    hoursAgo: 30,
    parts: { title: 'Yesterday', facts: [{ kind: 'decision' as const, text: 'Use 100% of _it_' }] },
  },
  {
    name: 'now',
    hoursAgo: 0.5,
    parts: { title: 'Just now', facts: [{ kind: 'next' as const, text: 'Write tests\nsecond line' }] },
  },
];

interface ListedHandovers {
  sandbox: Sandbox;
  /** The repository that the samples `week` and `now` belong to; the others belong to the sandbox's project. */
  app: string;
  /** By the name of the sample. */
  ids: Readonly<Record<string, string>>;
  /** The samples that `handover list` shows, in order; the same with the index and without. */
  names(...args: string[]): Promise<string[]>;
}

export function saveSamples(): ListedHandovers {
  const sandbox = makeSandbox();
  const app = join(sandbox.folder, 'App');
  mkdirSync(join(app, 'sub'), { recursive: true });
  runGit(app, 'init', '--quiet');
  const elsewhere = describePlace('.', sandbox.machine);
  const inApp = describePlace(app, sandbox.machine);
  const ids: Record<string, string> = {};
  for (const { name, hoursAgo, parts } of SAMPLES) {
    const clock = { now: () => Date.now() - hoursAgo * HOUR };
    const store = openStore({ ...sandbox.machine, clock });
    ids[name] = saveSample(store, parts, name === 'week' || name === 'now' ? inApp : elsewhere).id;
  }
  const list = async (args: string[], HANDOVER_SQLITE?: string): Promise<string[]> => {
    const rows = await sandbox.json<{ id: string }[]>(['list', ...args], { env: { HANDOVER_SQLITE } });
    return rows.map((row) => Object.keys(ids).find((name) => ids[name] === row.id) ?? row.id);
  };
  const names = async (...args: string[]): Promise<string[]> => {
    const [indexed, scanned] = await Promise.all([list(args), list(args, 'none')]);
    expect(scanned).toEqual(indexed);
    return indexed;
  };
  return { sandbox, app, ids, names };
}
