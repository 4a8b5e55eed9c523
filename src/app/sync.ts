import { basename } from 'node:path';
import { type HandoverError, hasCode, isFailure, usageError } from '../errors.ts';
import { toRecipient } from '../exchange/bundle/age.ts';
import { makePassingKeys, readOwnKeys, requireSigner } from '../exchange/bundle/own-keys.ts';
import { describeCustody, parseCustody, readCustody } from '../exchange/remote/custody.ts';
import { openRemote } from '../exchange/remote/open-remote.ts';
import { countUnsent, isRestored, type Outgoing } from '../exchange/remote/push.ts';
import type { Remote } from '../exchange/remote/remote.ts';
import { type RemoteState, readRemoteState, type Waiting } from '../exchange/remote/state.ts';
import { isShared, previewSync, type SyncResult, syncStore } from '../exchange/remote/sync.ts';
import type { SyncFilter, SyncOptions } from '../exchange/remote/sync-run.ts';
import type { Handover } from '../model/handover.ts';
import { PROJECT_ID } from '../model/id.ts';
import { countNouns } from '../model/text.ts';
import { listAliases, readKnownProjects } from '../platform/known-projects.ts';
import type { Machine } from '../platform/machine.ts';
import { identifyProject } from '../platform/project.ts';
import {
  type RemoteSettings,
  readProjectSync,
  readRemotes,
  readSyncSettings,
  requireRemote,
} from '../platform/remote-settings.ts';
import { prepareRedactors } from '../redact/open-redactor.ts';
import type { Finding } from '../store/doctor/check-files.ts';
import { listHeldTasks } from '../store/held-tasks.ts';
import type { Store } from '../store/store.ts';
import { refreshPreparedBriefs } from './automation/prepare-briefs.ts';
import { type Context, findStore, withCatalog } from './context.ts';
import { forgetDerived, forgetVectorsOf } from './forget-derived.ts';

/** The named remote; else the one that this project asks for; else all of the user's. */
export function chooseRemotes({ machine }: Pick<Context, 'machine'>, name: string | undefined): RemoteSettings[] {
  if (name !== undefined) return [requireRemote(machine, name)];
  const project = readProjectSync(machine.cwd);
  if (!project.enabled)
    throw usageError('this project says that nothing of it leaves', 'Name a remote to sync other projects with it.');
  if (project.remote !== undefined) return [requireRemote(machine, project.remote)];
  const remotes = readRemotes(machine);
  if (remotes.length > 0) return remotes;
  throw usageError('there is no remote yet', 'Add one: handover remote add NAME URL');
}

/** Whether nothing was ever sent to or taken from it. */
export function isFirstSync(context: Pick<Context, 'machine'>, { name }: RemoteSettings): boolean {
  return readRemoteState(findStore(context), name) === null;
}

/** Opens a remote for the work and closes it afterwards. */
export async function withRemote<T>(
  { machine }: Pick<Context, 'machine'>,
  settings: RemoteSettings,
  work: (remote: Remote) => Promise<T>,
): Promise<T> {
  const remote = await openRemote(settings, machine);
  try {
    return await work(remote);
  } finally {
    await remote.close();
  }
}

/** Syncs the store with a remote. What was forgotten elsewhere is also removed from the caches. */
export async function syncRemote(
  context: Context,
  settings: RemoteSettings,
  { verifies = false }: { verifies?: boolean } = {},
): Promise<SyncResult> {
  const store = findStore(context);
  return await withRemote(context, settings, async (remote) => {
    const result = await syncStore({
      ...(await describeSync(context, settings, { remote, makesKey: true })),
      verifies,
    });
    if (result.received.forgotten > 0) await forgetDerived(context, store);
    for (const project of result.projects) refreshPreparedBriefs(store, project);
    const nameProject = makeNames(context.machine);
    const refused = result.refused.map((id) => {
      return `nothing of ${nameProject(id)} (${id}) was sent: ${settings.name} does not let you write it; ask its owner`;
    });
    const tasks = result.isRewound ? await findLostStates(store, settings, remote.openRegister()) : [];
    return { ...result, notes: [...result.notes, ...refused, ...tasks] };
  });
}

/** What a remote that was put back no longer knows of the tasks that this store took. */
async function findLostStates(
  store: Store,
  { name }: RemoteSettings,
  register: ReturnType<Remote['openRegister']>,
): Promise<string[]> {
  const lost: string[] = [];
  if ('why' in register) return lost;
  for (const { task, remote, custody } of listHeldTasks(store)) {
    if (remote !== name) continue;
    const newest = await readCustody(register, task);
    if (newest !== null && newest.number >= custody.number) continue;
    const { state } = parseCustody(custody, task);
    const say = `handover release ${task} --remote ${name}${state === 'done' ? ' --done' : ''}`;
    const known = newest === null ? 'nothing of it' : describeCustody(newest);
    lost.push(`task ${task} was ${state} here, and ${name} knows ${known}: if that is not so any more, ${say}`);
  }
  return lost;
}

export type NameProject = (id: string) => string;

/** Remotes know projects by their ids alone. Those that were seen on this machine have names. */
export function makeNames(machine: Machine): NameProject {
  const here = identifyProject('.', machine);
  const names = new Map(
    readKnownProjects(machine).flatMap(({ ids, folders, remotes }) => {
      const name = basename(remotes.at(-1) ?? folders[0] ?? '');
      return ids.map((id): [string, string] => [id, name]);
    }),
  );
  return (id) => (id === here.id ? here.name : names.get(id) || id);
}

/** What would be sent, as far as this machine knows. */
export async function previewRemote(context: Context, settings: RemoteSettings): Promise<Outgoing[]> {
  return await withRemote(
    context,
    settings,
    async (remote) => await previewSync(await describeSync(context, settings, { remote, makesKey: false })),
  );
}

/** Whether the remote has this handover, by what the last sync knows. */
export async function isSharedWith(context: Context, settings: RemoteSettings, handover: Handover): Promise<boolean> {
  return await withRemote(context, settings, async (remote) =>
    isShared(await describeSync(context, settings, { remote, makesKey: false }), handover),
  );
}

async function describeSync(
  context: Context,
  settings: RemoteSettings,
  { remote, makesKey }: { remote: Remote; makesKey: boolean },
): Promise<SyncOptions> {
  const { machine } = context;
  const store = findStore(context);
  // What would leave can be seen before there are keys, which sending needs.
  const keys = makesKey ? requireSigner(machine) : (readOwnKeys(machine) ?? (await makePassingKeys()));
  const { name, recipients } = settings;
  const { self } = readSyncSettings(machine);
  return {
    ...{ store, remote, name, keys, self },
    recipients: recipients.length === 0 ? [] : [...new Set([await toRecipient(keys.identity), ...recipients])],
    filter: await findFilter(context, settings),
    makeRedactor: prepareRedactors(machine, { folder: null, makesKey }),
    beforeForget: (ids) => forgetVectorsOf(store, ids),
    onProgress: context.progress(name),
    onWait: () => context.notify({ level: 'note', text: 'waiting for another sync of this store' }),
  };
}

/** Projects by all of their ids, without those whose own settings forbid it. */
async function findFilter(context: Context, { projects, agents }: RemoteSettings): Promise<SyncFilter> {
  const { machine } = context;
  const ids = new Set<string>();
  if (projects.length > 0)
    await withCatalog(context, findStore(context), async (catalog) => {
      for (const word of projects)
        if (PROJECT_ID.test(word)) ids.add(word);
        else for await (const row of catalog.rows({ project: { name: word } })) ids.add(row.project.id);
    });
  const all = new Set([...ids].flatMap((id) => listAliases(machine, id)));
  return {
    projects: projects.length === 0 ? null : [...all].sort(),
    except: listClosed(machine),
    agents: agents.length === 0 ? null : agents.map((agent) => agent.toLowerCase()).sort(),
  };
}

function listClosed(machine: Machine): string[] {
  const isClosed = (folder: string): boolean => !readProjectSync(folder).enabled;
  const closed = readKnownProjects(machine).filter(({ folders }) => folders.some(isClosed));
  return closed.flatMap(({ ids }) => ids).sort();
}

/** Whether the next sync may well succeed: the remote is away or busy, or this store is. */
export function isPassing(error: unknown): error is HandoverError {
  const codes = ['HANDOVER_REMOTE_UNREACHABLE', 'HANDOVER_REMOTE_BUSY', 'HANDOVER_LOCKED'] as const;
  return codes.some((code) => hasCode(error, code));
}

/** By a worker, where the user's settings say so: with remotes that were synced by hand before. One that fails keeps no other back. */
export async function syncAfterCapture(store: Store): Promise<void> {
  const { machine } = store;
  if (!readSyncSettings(machine).auto) return;
  const context: Context = { machine, notify: () => undefined, progress: () => undefined };
  const failures: Error[] = [];
  for (const settings of readRemotes(machine)) {
    if (isFirstSync(context, settings)) continue;
    try {
      await syncRemote(context, settings);
    } catch (error) {
      if (!isFailure(error)) throw error;
      // The next capture tries again; `status` says since when it is not in step.
      if (!isPassing(error)) failures.push(error);
    }
  }
  const [first] = failures;
  if (first !== undefined) throw first;
}

export interface RemoteStatus {
  name: string;
  url: string;
  last_sync: string | null;
  /** Entries of the journal that have not left, as far as they may. */
  unsent: number;
  waiting: Waiting[];
  missing: number;
}

/** What is known without asking anybody. */
export function listRemoteStatuses(store: Store): RemoteStatus[] {
  return readRemotes(store.machine).map(({ name, url }) => {
    const state = readRemoteState(store, name);
    return {
      ...{ name, url, last_sync: state?.last_sync ?? null },
      unsent: countUnsent(store, state?.journal ?? {}),
      waiting: state?.waiting ?? [],
      missing: (state?.missing.length ?? 0) + (state?.holes.length ?? 0),
    };
  });
}

/** Problems with the user's remotes. Contacts them. */
export async function findRemoteTrouble(store: Store): Promise<Finding[]> {
  const findings: Finding[] = [];
  const warn = (code: string, message: string): void => {
    findings.push({ code, level: 'warning', path: null, message, remedy: null });
  };
  for (const settings of readRemotes(store.machine)) {
    const { name } = settings;
    const checks = await withRemote(store, settings, async (remote) => await remote.check());
    for (const check of checks) if (!check.isGood) warn('remote', `the remote ${name}: ${check.name}: ${check.found}`);
    const state = readRemoteState(store, name);
    if (state === null) warn('remote-unused', `the remote ${name} was never synced: handover sync ${name}`);
    else for (const message of describeState(store, name, state)) warn('remote-state', message);
  }
  return findings;
}

function describeState(store: Store, name: string, state: RemoteState): string[] {
  const { waiting, rewound, missing, holes, journal, sealed } = state;
  const unread = Object.values(sealed).reduce((sum, count) => sum + count, 0);
  const [contents, pages] = [countNouns(missing.length, 'handover'), countNouns(holes.length, 'page')];
  const older = `this store is older than what it sent to ${name}, as from a backup: handover sync ${name} compares everything`;
  const found: [boolean, string][] = [
    [rewound !== null, `the remote ${name} was behind what it had shown before, at ${rewound}: an old backup?`],
    [isRestored(store, journal), older],
    [missing.length > 0, `${name} lacks the content of ${contents} that others sent: handover sync names them`],
    [
      unread > 0,
      `${countNouns(unread, 'page')} on ${name} cannot be read with your key: their writers did not encrypt to it`,
    ],
    [holes.length > 0, `${name} lacks ${pages} that others wrote, or has them damaged`],
  ];
  return [...waiting.map(describeWaiting), ...found.flatMap(([isSo, message]) => (isSo ? [message] : []))];
}

/** Why a signer's pages are not taken, and what to type. */
export function describeWaiting({ name, key, fingerprint, why, pages }: Waiting): string {
  const what = `${countNouns(pages, 'page')} of ${name} (${fingerprint})`;
  if (why === 'revoked') return `${what} not taken: the key was revoked`;
  const next = `handover keys trust ${key} --name "${name}"`;
  if (why === 'unknown') return `${what} not taken yet: compare the fingerprint with ${name}, then: ${next}`;
  const rename = `handover keys trust ${key} --name OTHER-NAME`;
  return `${what} not taken: the name looks like one on your trust list, with another key. Compare the fingerprint in person, then give it another name: ${rename}`;
}
