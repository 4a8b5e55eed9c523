import { cleanLine } from '../model/text.ts';
import { formatTimestamp } from '../model/time.ts';
import type { Finding, FixedFinding } from '../store/doctor/check-files.ts';
import { type Examination, examineStore, fixFindings } from '../store/doctor/doctor.ts';
import type { Store } from '../store/store.ts';
import { listFailures } from './automation/records.ts';
import { findDrift } from './capture/drift.ts';
import { type Context, findStore } from './context.ts';
import { toDriftFinding } from './notices.ts';
import { readHookStatus } from './setup/status.ts';
import { findLauncher } from './setup/targets.ts';

export interface Diagnosis {
  /** `transcripts`: how many of the agents' newest were read, to see whether they are still understood. */
  examined: Examination & { transcripts: number };
  findings: FixedFinding[];
}

/** Checks the store, the transcripts and the hooks; with `fix`, repairs what can be repaired safely. */
export async function diagnose(context: Context, fix: boolean): Promise<Diagnosis> {
  const store = findStore(context);
  const { checkTexts } = await import('../search/sessions/maintenance.ts');
  const texts = await checkTexts(store);
  const examination = await examineStore(store, context.progress('checking'));
  const { drifted, looked } = await findDrift(context.machine);
  // Texts come first: what is left of one may be in a damaged cache that a later fix removes.
  const found = [
    ...texts,
    ...examination.findings,
    ...drifted.map(toDriftFinding),
    ...findBrokenHooks(store),
    ...findHookFailures(store),
  ];
  const findings = fix ? fixFindings(store, found) : found.map((finding) => ({ ...finding, fixed: false }));
  return { examined: { ...examination, transcripts: looked }, findings };
}

/** Hooks in the user's settings that start a missing program, so that the agents would fail at them. */
function findBrokenHooks(store: Store): Finding[] {
  const { machine } = store;
  const site = { scope: 'user', project: machine.cwd, launcher: findLauncher(machine), withServer: true } as const;
  return readHookStatus(store, { ...site, agents: [] }).flatMap(({ agent, files }) =>
    files.flatMap(({ path, missing }) =>
      missing.map((program) => ({
        code: 'broken-hook',
        level: 'warning' as const,
        path,
        message: `${path}: the hook of ${agent} starts ${program}, which does not exist; repair it: handover hooks install --agent ${agent}`,
        remedy: null,
      })),
    ),
  );
}

const LOOKBACK_MS = 7 * 24 * 60 * 60 * 1000;

/** Failures of hooks in the last week, one finding for each kind: nobody saw them happen. */
export function findHookFailures(store: Store): Finding[] {
  const failures = listFailures(store.root, store.machine.clock.now() - LOOKBACK_MS);
  const kinds = new Map<string, typeof failures>();
  for (const failure of failures) {
    const kind = `${failure.where} ${failure.code}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), failure]);
  }
  return [...kinds].map(([kind, of]) => {
    const last = of.at(-1);
    const times = of.length === 1 ? 'once' : `${of.length} times`;
    const message = `the hook ${cleanLine(kind)} failed ${times} in the last week, last at ${formatTimestamp(last?.atMs ?? 0)}: ${cleanLine(last?.message ?? '')}`;
    return { code: 'hook-failure', level: 'warning', path: null, message, remedy: null };
  });
}
