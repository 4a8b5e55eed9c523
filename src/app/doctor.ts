import { findUsualPause } from '../memory/runs/run-config.ts';
import { cleanLine } from '../model/text.ts';
import { DAY_MS, formatTimestamp } from '../model/time.ts';
import { pathExists } from '../platform/folders.ts';
import { readKnownProjects } from '../platform/known-projects.ts';
import { abbreviateHome, pathOfRemotes } from '../platform/paths.ts';
import { suggestUnpause } from '../platform/pause.ts';
import { findProjectFolder } from '../platform/project-folder.ts';
import { type CatalogRow, takeRows } from '../store/catalog.ts';
import type { Finding, FixedFinding } from '../store/doctor/check-files.ts';
import { type Examination, examineStore, fixFindings } from '../store/doctor/doctor.ts';
import { withCatalogOpener } from '../store/open-catalog.ts';
import type { Store } from '../store/store.ts';
import { listFailures } from './automation/records.ts';
import { findDrift } from './capture/drift.ts';
import { type Context, findStore } from './context.ts';
import { listHookReviews } from './init.ts';
import { toDriftFinding } from './notices.ts';
import { findReceipt } from './setup/receipts.ts';
import { type HookStatus, readHookStatus } from './setup/status.ts';
import { findLauncher } from './setup/targets.ts';

export interface Diagnosis {
  /** `transcripts`: how many of the agents' newest were read, to see whether they are still understood. `hooks`: whose are installed. */
  examined: Examination & { transcripts: number; hooks: string[] };
  findings: FixedFinding[];
}

/** Checks the store, the transcripts and the hooks; with `fix`, repairs what can be repaired safely. */
export async function diagnose(context: Context, fix: boolean): Promise<Diagnosis> {
  const store = findStore(context);
  const { checkTexts } = await import('../search/sessions/maintenance.ts');
  const texts = await checkTexts(store);
  const examination = await examineStore(store, context.progress('checking'));
  const { drifted, looked } = await findDrift(context.machine);
  const { machine } = store;
  const site = { scope: 'user', project: machine.cwd, launcher: findLauncher(machine), withServer: true } as const;
  const hooks = readHookStatus(store, { ...site, agents: [] });
  // Texts first: the rest of a damaged one may be in a cache that a later fix removes.
  const found = [
    ...texts,
    ...examination.findings,
    ...drifted.map(toDriftFinding),
    ...hooks.flatMap((status) => findHookTrouble(store, status)),
    ...findPauses(store),
    ...findHookFailures(store),
    ...(await findAliases(store)),
    ...(pathExists(pathOfRemotes(store.machine)) ? await (await import('./sync.ts')).findRemoteTrouble(store) : []),
  ];
  const findings = fix ? fixFindings(store, found) : found.map((finding) => ({ ...finding, fixed: false }));
  const installed = hooks
    .filter(({ state }) => state === 'installed' || state === 'outdated')
    .map(({ title }) => title);
  return { examined: { ...examination, transcripts: looked, hooks: installed }, findings };
}

const warn = (code: string, path: string | null, message: string): Finding => {
  return { code, level: 'warning', path, message, remedy: null };
};

function findPauses({ machine }: Store): Finding[] {
  const pause = findUsualPause(machine, findProjectFolder(machine.cwd));
  if (pause === null) return [];
  const why = pause.why === null ? '' : ` (${pause.why})`;
  const message = `nothing is captured or written automatically: paused by ${pause.path}${why}; go on: ${suggestUnpause(pause.path)}`;
  return [warn('paused', pause.path, message)];
}

/** What keeps the hooks in the user's settings from working, as far as they were installed. */
function findHookTrouble(store: Store, status: HookStatus): Finding[] {
  const { agent, title, detected } = status;
  const install = `handover hooks install --agent ${agent}`;
  return [
    ...status.files.flatMap(({ path, problem, missing, off, state, server }) => {
      const wasInstalled = detected && problem === null && findReceipt(store, agent, path) !== null;
      const lacks = [
        ...(state === 'none' ? ['the hooks'] : state === 'partly' ? ['some hooks'] : []),
        ...(server === 'none' ? ['the MCP server'] : []),
      ];
      const broken = missing.map((program) => `the hook of ${agent} starts ${program}, which does not exist`);
      return [
        ...(problem === null ? [] : [warn('unreadable-hooks', path, `${problem}; mend that, then: ${install}`)]),
        ...broken.map((each) => warn('broken-hook', path, `${path}: ${each}; repair it: ${install}`)),
        ...(wasInstalled && lacks.length > 0
          ? [warn('missing-hook', path, `${path} lacks ${lacks.join(' and ')} of ${title}; put back: ${install}`)]
          : []),
        ...(off && state !== 'none'
          ? [warn('hooks-off', path, `${path} turns all hooks of ${title} off; ours run when it no longer does`)]
          : []),
      ];
    }),
    ...listHookReviews([status]).map((message) => warn('untrusted-hook', null, message)),
  ];
}

/** Projects whose handovers have several ids, since their remote or folder changed. */
async function findAliases(store: Store): Promise<Finding[]> {
  const findings: Finding[] = [];
  const projects = readKnownProjects(store.machine).filter(({ ids }) => ids.length > 1);
  if (projects.length === 0) return [];
  await withCatalogOpener(store, async (open) => {
    const catalog = await open();
    for (const { ids, remotes, folders } of projects) {
      const used: CatalogRow[] = [];
      for (const id of ids) used.push(...(await takeRows(catalog.rows({ project: { id, aliases: [] } }), 1)));
      if (used.length < 2) continue;
      const seen = [...remotes, ...folders.map((folder) => abbreviateHome(folder, store.machine))].map(cleanLine);
      const message = `${cleanLine(used.at(-1)?.project.name ?? '')} is one project under ${used.length} ids: ${used.map((row) => row.project.id).join(', ')}; it was seen as ${seen.join(', ')}`;
      findings.push({ code: 'project-aliases', level: 'notice', path: null, message, remedy: null });
    }
  });
  return findings;
}

const LOOKBACK_MS = 7 * DAY_MS;

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
