import * as v from 'valibot';
import { notFoundError, usageError } from '../errors.ts';
import { quoteInput } from '../model/text.ts';
import { writeFileDurably } from './durable-file.ts';
import { readHead } from './external-file.ts';
import { ensurePrivateFolder } from './folders.ts';
import { withLock } from './lock.ts';
import type { Machine } from './machine.ts';
import { findConfigFolder, pathOfRemotes } from './paths.ts';
import { configError, parseSection, readNearestConfig, readUserConfig } from './settings-file.ts';

const NAME = /^[a-z0-9][a-z0-9._-]{0,31}$/;
const RemoteName = v.pipe(v.string(), v.regex(NAME, 'is not the name of a remote'));
const Words = v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(1000)));

const RemoteSettings = v.strictObject({
  name: RemoteName,
  /** Without a password: those are for libpq, AWS and git to know. */
  url: v.pipe(v.string(), v.minLength(1), v.maxLength(4000)),
  /** What may be sent: projects by id or name, and agents. Empty for all. */
  projects: Words,
  agents: Words,
  /** For age: who can read what is stored there. Empty where the remote may. */
  recipients: Words,
});
export type RemoteSettings = v.InferOutput<typeof RemoteSettings>;

const MAX_BYTES = 1024 * 1024;
const RemotesText = v.pipe(
  v.string(),
  v.parseJson(),
  v.strictObject({ schema: v.literal('remotes/1'), remotes: v.array(RemoteSettings) }),
);

/** The user's remotes, as they were added. */
export function readRemotes(machine: Machine): RemoteSettings[] {
  const path = pathOfRemotes(machine);
  const head = readHead(path, MAX_BYTES);
  if (head === null) return [];
  const { success, output } = v.safeParse(RemotesText, head.bytes.toString('utf8'));
  if (!success || head.size > MAX_BYTES) throw configError(path, 'cannot be read');
  return output.remotes;
}

export function requireRemote(machine: Machine, name: string): RemoteSettings {
  const found = readRemotes(machine).find((remote) => remote.name === name);
  if (found !== undefined) return found;
  throw notFoundError(`there is no remote ${quoteInput(name)}`, 'List them: handover remote list');
}

export function addRemote(machine: Machine, remote: RemoteSettings): void {
  if (!NAME.test(remote.name))
    throw usageError('a remote’s name has 1 to 32 small letters, digits or ._-', 'Choose another, such as team.');
  changeRemotes(machine, (remotes) => {
    const known = remotes.some(({ name }) => name === remote.name);
    const hint = `To change it: handover remote remove ${remote.name}, then add it again.`;
    if (known) throw usageError(`there is a remote called ${remote.name}`, hint);
    return [...remotes, remote];
  });
}

export function removeRemote(machine: Machine, name: string): void {
  requireRemote(machine, name);
  changeRemotes(machine, (remotes) => remotes.filter((remote) => remote.name !== name));
}

function changeRemotes(machine: Machine, change: (remotes: RemoteSettings[]) => RemoteSettings[]): void {
  const folder = ensurePrivateFolder(findConfigFolder(machine), 'locks');
  withLock({ folder, name: 'remotes', waitMs: 2000, clock: machine.clock }, () => {
    const remotes = change(readRemotes(machine));
    writeFileDurably(pathOfRemotes(machine), `${JSON.stringify({ schema: 'remotes/1', remotes }, null, 2)}\n`);
  });
}

const UserSection = v.strictObject({
  /** Whether captures are followed by a sync. */
  auto: v.optional(v.boolean(), false),
  /** The names of signers that are the same person as this user. */
  self: v.optional(Words, []),
  /** Signers whose work may be restored without being asked for. */
  team: v.optional(Words, []),
});
export type SyncSettings = v.InferOutput<typeof UserSection>;

export function readSyncSettings(machine: Machine): SyncSettings {
  return parseSection(readUserConfig(machine), 'sync', UserSection);
}

/** A project's own file is untrusted: it can name one of the user's remotes, or switch syncing off. */
const ProjectSection = v.strictObject({ remote: v.exactOptional(RemoteName), enabled: v.optional(v.boolean(), true) });

export function readProjectSync(folder: string): v.InferOutput<typeof ProjectSection> {
  return parseSection(readNearestConfig(folder), 'sync', ProjectSection);
}
