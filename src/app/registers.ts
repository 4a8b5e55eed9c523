import { HandoverError, usageError } from '../errors.ts';
import { requireSigner } from '../exchange/bundle/own-keys.ts';
import type { Holder } from '../exchange/remote/custody.ts';
import { nameWriter } from '../exchange/remote/page.ts';
import { findSigner } from '../exchange/remote/pull.ts';
import type { Register, Writer } from '../exchange/remote/register.ts';
import type { LogHead } from '../exchange/remote/remote.ts';
import type { Handover } from '../model/handover.ts';
import type { RemoteSettings } from '../platform/remote-settings.ts';
import type { Context } from './context.ts';
import { chooseRemotes, describeWaiting, isFirstSync, isSharedWith, syncRemote, withRemote } from './sync.ts';

/** The register of one of the user's remotes, and who acts. */
export interface OpenRegister {
  /** The user's name for the remote. */
  name: string;
  register: Register;
  by: Holder;
  /** Syncs this store with the remote. */
  sync(): Promise<void>;
  /** The name that this writer signs with there; null where nothing was sent yet. */
  findSignerName(writer: Writer): Promise<string | null>;
  /** Whether the remote has this handover, by what the last sync knows. */
  isShared(handover: Handover): Promise<boolean>;
}

/** Opens a remote for `work`: the named one, that of the project, or the only one that the user has. */
export async function withRegister<T>(
  context: Context,
  name: string | undefined,
  work: (opened: OpenRegister) => Promise<T>,
): Promise<T> {
  const [settings, ...others] = chooseRemotes(context, name);
  if (settings === undefined || others.length > 0) {
    const names = [settings, ...others].map((one) => one?.name).join(', ');
    throw usageError('there are several remotes', `Name one with --remote: ${names}`);
  }
  const keys = requireSigner(context.machine);
  return await withRemote(context, settings, async (remote) => {
    let heads: LogHead[] | null = null;
    const register = remote.openRegister();
    if ('why' in register) throw noRegisterError(settings.name, register.why);
    const by = { writer: nameWriter(keys.secret), name: keys.name };
    return await work({
      ...{ name: settings.name, register, by },
      sync: async () => await syncOnce(context, settings),
      findSignerName: async (writer) => {
        heads ??= await remote.listLogs();
        const logs = heads.filter((log) => log.writer === writer);
        return (await findSigner(remote, logs))?.name ?? null;
      },
      isShared: async (handover) => await isSharedWith(context, settings, handover),
    });
  });
}

/** Refuses the first sync: the user is to see first what would be sent. */
async function syncOnce(context: Context, settings: RemoteSettings): Promise<void> {
  const { name } = settings;
  if (isFirstSync(context, settings))
    throw usageError(`${name} was never synced with this store`, `Do it first: handover sync ${name}`);
  const { waiting, notes } = await syncRemote(context, settings);
  for (const text of notes) context.notify({ level: 'note', text });
  for (const signer of waiting) context.notify({ level: 'note', text: describeWaiting(signer) });
}

function noRegisterError(name: string, why: string): HandoverError {
  const hint = 'Use another remote for tasks; handovers can be synced with this one.';
  return new HandoverError('HANDOVER_REMOTE_REFUSED', `${name} cannot promise one holder of a task: ${why}`, { hint });
}
