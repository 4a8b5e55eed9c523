import { isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type HandoverError, isHandoverError, rescue, usageError } from '../../errors.ts';
import { isFolder, isInside, pathExists } from '../../platform/folders.ts';
import type { Machine } from '../../platform/machine.ts';
import { expandHome, findConfigFolder, findDataFolder } from '../../platform/paths.ts';
import { parseS3Settings } from '../../platform/publish-settings.ts';
import { MIN_TOKEN_LENGTH } from '../../platform/remote-address.ts';
import type { BlobStore } from './blobs.ts';
import { openObjectRegister } from './object-register.ts';
import { openObjectRemote } from './object-remote.ts';
import { assertPostgresAddress } from './postgres/settings.ts';
import type { Remote } from './remote.ts';

/** Opens a remote by its address. Loads only the code of its kind. */
export async function openRemote({ name, url }: { name: string; url: string }, machine: Machine): Promise<Remote> {
  const kind = kindOf(url);
  if (kind === 'postgres')
    return await (await import('./postgres/remote.ts')).openPostgresRemote(new URL(url), machine);
  const blobs = await openBlobs(kind, { name, url }, machine);
  const { findFolderTrouble } = await import('./folder-blobs.ts');
  return openObjectRemote(blobs, () => {
    const why = kind === 'folder' ? findFolderTrouble(blobs.address) : null;
    return why === null ? openObjectRegister(blobs, { machine, triesCreation: kind === 's3' }) : { why };
  });
}

export const ADDRESSES = 'Use a folder, s3://BUCKET/PREFIX?endpoint=URL, git+ssh://…, git+https://… or postgres://…';

type Kind = 'folder' | 's3' | 'git' | 'postgres';

const SCHEMES: readonly (readonly [scheme: RegExp, kind: Kind])[] = [
  [/^file:\/\//i, 'folder'],
  [/^s3:\/\//i, 's3'],
  [/^git\+(?:ssh|https|file):\/\//i, 'git'],
  [/^postgres(?:ql)?:\/\//i, 'postgres'],
];

function kindOf(url: string): Kind {
  if (url.trim() === '') throw usageError('the address is empty', ADDRESSES);
  const known = SCHEMES.find(([scheme]) => scheme.test(url));
  if (known !== undefined) return known[1];
  if (/^[a-z][a-z0-9+.-]+:/i.test(url)) throw usageError('this is not an address of a remote', ADDRESSES);
  return 'folder';
}

/** The address as it is stored: checked, without secrets, and independent of the current folder. */
export function acceptAddress(text: string, machine: Machine): string {
  const kind = kindOf(text);
  if (kind === 'folder') {
    const given = /^file:\/\//i.test(text) ? fileURLToPath(text) : text;
    const path = isAbsolute(given) || given.startsWith('~/') ? given : resolve(machine.cwd, given);
    assertFolderOfItsOwn(expandHome(path, machine), machine);
    return path;
  }
  if (!URL.canParse(text)) throw usageError('this is not an address of a remote', ADDRESSES);
  const url = new URL(text);
  if (holdsPassword(url) || SECRET_PARAMETERS.some((name) => url.searchParams.has(name)))
    throw usageError('the address has a password in it, and would be kept with it', SECRETS[kind]);
  if (kind === 's3') readS3Settings(text);
  if (kind === 'postgres') assertPostgresAddress(url);
  return text;
}

/** Logs and bodies are written there: not into a repository, nor into what is private to this machine. */
function assertFolderOfItsOwn(folder: string, machine: Machine): void {
  if (pathExists(folder) && !isFolder(folder)) throw usageError(`${folder} is not a folder`, ADDRESSES);
  if (['.git', 'HEAD'].some((name) => pathExists(join(folder, name))))
    throw usageError(
      `${folder} is a git repository`,
      `To keep it on a branch there: git+file://${folder}; or name a folder that is nothing else.`,
    );
  const own = [findDataFolder(machine), findConfigFolder(machine)];
  if (own.some((one) => isInside(folder, one)))
    throw usageError(`${folder} holds what is private to this machine`, 'Name a folder of its own, on a shared disk.');
}

/** Git hosts accept a token in place of the user name. */
function holdsPassword({ protocol, username, password, searchParams }: URL): boolean {
  if (password !== '' || (protocol === 'git+https:' && username.length >= MIN_TOKEN_LENGTH)) return true;
  return [...searchParams.values()].some((value) => URL.canParse(value) && holdsUser(new URL(value)));
}

function holdsUser({ username, password }: URL): boolean {
  return username !== '' || password !== '';
}

const SECRET_PARAMETERS = ['password', 'passfile_password', 'secret', 'secretAccessKey', 'access_key', 'token'];

const SECRETS: Readonly<Record<Exclude<Kind, 'folder'>, string>> = {
  s3: 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a credentials file: ?credentials_file=PATH',
  git: 'Use a key in the ssh agent, or a credential helper of git.',
  postgres: 'Use a password file (~/.pgpass or PGPASSFILE), PGSERVICE, or the environment (PGPASSWORD).',
};

async function openBlobs(
  kind: Exclude<Kind, 'postgres'>,
  { name, url }: { name: string; url: string },
  machine: Machine,
): Promise<BlobStore> {
  if (kind === 'folder') return (await import('./folder-blobs.ts')).openFolderBlobs(url, machine);
  if (kind === 's3') return (await import('./s3-blobs.ts')).openS3Blobs(readS3Settings(url), machine);
  return (await import('./git-blobs.ts')).openGitBlobs({ name, url }, machine);
}

/** `s3://BUCKET/PREFIX?endpoint=…&region=…&credentials_file=…&profile=…` */
function readS3Settings(text: string) {
  const { host, pathname, searchParams } = new URL(text);
  const prefix = pathname.replace(/^\/+|\/+$/g, '');
  const given = Object.fromEntries(searchParams);
  const hint = 'Use s3://BUCKET/PREFIX?endpoint=https://HOST; also region, credentials_file and profile.';
  if (!searchParams.get('endpoint')) throw usageError('the address names no endpoint', hint);
  const refuse = ({ message }: HandoverError): never => {
    throw usageError(`the address of the bucket cannot be used: ${message}`, hint);
  };
  return rescue(isHandoverError, refuse, () =>
    parseS3Settings({ bucket: host, ...(prefix === '' ? {} : { prefix }), ...given }),
  );
}
