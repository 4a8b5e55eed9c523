import { resolve, sep } from 'node:path';
import { catchError } from '../errors.ts';
import { cleanLine } from '../model/text.ts';
import { resolveRealPath } from './folders.ts';

const ON_WINDOWS = sep === '\\';
/** Longer than any path or URL in use; keeps hostile ones cheap. */
const MAX_REMOTE_LENGTH = 4096;
/** Shown in the place of a secret, and of an address whose parts cannot be told apart. */
const HIDDEN = '(hidden)';

/** Hosts that forges offer for ssh through port 443. */
const HOST_ALIASES: ReadonlyMap<string, string> = new Map([
  ['ssh.github.com', 'github.com'],
  ['altssh.gitlab.com', 'gitlab.com'],
  ['altssh.bitbucket.org', 'bitbucket.org'],
]);

/**
 * `host/owner/name` for every way to write one remote, without user, password, port, query or `.git`. A remote on this
 * machine becomes its real absolute path, relative ones taken from `root`. Null for what has no address, such as an `ext::` command.
 */
export function normaliseRemote(url: string, root: string): string | null {
  const remote = splitRemote(url);
  if (remote === null || remote.kind === 'opaque') return null;
  if (remote.kind === 'local') return normalisePath(remote.path, root);
  const host = cleanLine(remote.host).toLowerCase().replace(/\.$/, '');
  const path = remote.scheme === '' ? remote.path : decodePercent(remote.path);
  return host === '' ? null : [HOST_ALIASES.get(host) ?? host, ...listSegments(path)].join('/');
}

/** The address of a remote for people: without user info, query and fragment. */
export function hideCredentials(url: string): string {
  const remote = splitRemote(url);
  if (remote === null) return HIDDEN;
  if (remote.kind === 'opaque') return `${remote.prefix}${HIDDEN}`;
  if (remote.kind === 'local') return remote.shown;
  const { prefix, scheme, shownHost, separator, path } = remote;
  return `${prefix}${scheme}${shownHost}${separator}${path}`;
}

/** What git says, with every URL in it, and whatever else is secret in the addresses of its remotes, hidden. */
export function hideRemotesIn(text: string, urls: readonly string[]): string {
  const secrets = urls.flatMap(listSecrets).sort((a, b) => b.length - a.length);
  const shown = [...new Set(urls)].reduce((rest, url) => rest.replaceAll(url, () => hideCredentials(url)), text);
  const plain = shown
    .replace(/'([a-z][a-z0-9+.-]*:\/\/[^'\n]*)'/gi, (_quoted, url: string) => `'${hideCredentials(url)}'`)
    .replace(/[a-z][a-z0-9+.-]*:\/\/[^\s'"<>]*/gi, hideCredentials);
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), plain);
}

/** Shorter parts of a password are too common in other words. They are hidden where they stand in a URL. */
const MIN_SECRET_LENGTH = 4;
/** A name alone, such as `git`, is secret when it is as long as a token. */
export const MIN_TOKEN_LENGTH = 12;

/** What `hideCredentials` removes from an address, in whole and in the parts that git may take it apart into. */
function listSecrets(url: string): string[] {
  const text = withoutScheme(url.trim());
  const shown = withoutScheme(hideCredentials(url));
  const start = text.lastIndexOf(shown);
  const [userInfo, query] = start === -1 ? [text, ''] : [text.slice(0, start), text.slice(start + shown.length)];
  const [user = '', ...others] = userInfo.replace(/@$/, '').split(/[:@/]/);
  const tails = [...userInfo.matchAll(/[:@/]/g)].map(({ index }) => userInfo.slice(index + 1).replace(/@$/, ''));
  const parts = [...tails, ...others, query, ...query.split(/[?&#]/), ...query.split(/[?&#]|(?<=[?&#][^=]*)=/)];
  const tokens = [user].filter((name) => name.length >= MIN_TOKEN_LENGTH);
  const long = [...parts, ...parts.map(decodePercent)].filter((part) => part.length >= MIN_SECRET_LENGTH);
  return [...new Set([...long, ...tokens])];
}

function withoutScheme(address: string): string {
  return address.replace(/^[a-z][a-z0-9+.-]*:(?::|\/\/)/i, '');
}

interface HostedRemote {
  kind: 'hosted';
  /** A remote helper, as in `gcrypt::`, or nothing. */
  prefix: string;
  /** With `://`; empty in the form `host:path`. */
  scheme: string;
  /** In lower or upper case, without port. */
  host: string;
  /** With port. */
  shownHost: string;
  separator: '' | ':';
  /** Without query. */
  path: string;
}

type Remote =
  | HostedRemote
  | { kind: 'local'; path: string; shown: string }
  /** A command, or an address in which user info and host cannot be told apart. */
  | { kind: 'opaque'; prefix: string };

/** Null for what is no address at all. */
function splitRemote(url: string): Remote | null {
  const text = url.trim();
  if (text.length > MAX_REMOTE_LENGTH) return null;
  const [, helper, address = ''] = /^([a-z0-9][a-z0-9+.-]*)::(.*)$/is.exec(text) ?? [];
  if (helper === undefined) return isLocal(text) ? splitLocal(text) : splitHosted(text, '');
  const prefix = `${helper}::`;
  return helper.toLowerCase() === 'ext' ? { kind: 'opaque', prefix } : splitHosted(address, prefix);
}

const FILE_URL = /^file:\/\/[^/]*(\/.*)$/is;

/** A scheme, or a colon before the first slash as in `git@host:owner/name`, is of a host; git tells them from paths the same way. */
function isLocal(text: string): boolean {
  return FILE_URL.test(text) || !/^[^/]*:/.test(text) || (ON_WINDOWS && /^[a-z]:[\\/]/i.test(text));
}

function splitLocal(text: string): Remote {
  const [, path] = FILE_URL.exec(text) ?? [];
  return path === undefined
    ? { kind: 'local', path: text, shown: text }
    : { kind: 'local', path: decodePercent(path), shown: `file://${path}` };
}

function normalisePath(path: string, root: string): string | null {
  if (path === '' || path.includes('\0')) return null;
  const absolute = resolve(root, ON_WINDOWS ? path.replace(/^\/(?=[a-z]:)/i, '') : path);
  return resolveRealPath(absolute) ?? absolute;
}

function splitHosted(text: string, prefix: string): Remote {
  const [, scheme = '', rest = text] = /^([a-z][a-z0-9+.-]*:\/\/)(.*)$/is.exec(text) ?? [];
  const address = scheme === '' ? splitScp(text) : splitUrl(rest);
  if (address === null) return { kind: 'opaque', prefix: `${prefix}${scheme}` };
  return { kind: 'hosted', prefix, scheme, ...address };
}

type HostAndPath = Pick<HostedRemote, 'host' | 'shownHost' | 'separator' | 'path'>;

/** In brackets or not; without the characters that start a query, so that no token in one passes for a host. */
const HOST = String.raw`\[[^\]/@?#=]*\]|[^:/@\s[\]?#=&]+`;
const URL_ADDRESS = new RegExp(`^((${HOST})(?::(\\d*))?)(?=[/?#]|$)([^?#]*)(.*)$`, 's');
const SCP_ADDRESS = new RegExp(`^([^/]*@)?(${HOST}):(.*)$`, 's');

/** What follows the scheme. A password may hold any character unescaped: what precedes the last `@` is never believed to be a host. */
function splitUrl(text: string): HostAndPath | null {
  // A name without a password may precede the host: `git@host.example/@scope/name`.
  const address = splitPlainUrl(text.replace(/^[^:/?#@]+@(?=[^:/?#@]+\.[^@]*(?:\/@[^@]*)?$)/s, ''));
  if (address !== null && !isUserInfo(text, address)) return address;
  const last = text.lastIndexOf('@');
  // An @ behind a ? can be of the password or of a query, which may be secret both.
  const isAmbiguous = /^[^/]*\/.*[?#]/s.test(text.slice(0, last)) || (address !== null && /^[^/]*[?#]/.test(text));
  return last === -1 || isAmbiguous ? null : splitPlainUrl(text.slice(last + 1));
}

function splitPlainUrl(text: string): HostAndPath | null {
  const [, shownHost, host, , path = ''] = URL_ADDRESS.exec(text) ?? [];
  return shownHost === undefined || host === undefined ? null : { host, shownHost, separator: '', path };
}

/** Whether what looks like `host/path` is a token or password with a slash in it: an `@` follows within a segment. */
function isUserInfo(text: string, { host, shownHost, path }: HostAndPath): boolean {
  if (path === '') return shownHost !== host && text.includes('@');
  return isNameOnly(host) && /[^/]@/.test(path);
}

/** A name without a domain, which may as well be that of a user. */
function isNameOnly(host: string): boolean {
  return !/[.[]/.test(host) && host.toLowerCase() !== 'localhost';
}

/** `user@host:path`. A user with a password, as in `user:password@host:path`, is cut off too. */
function splitScp(text: string): HostAndPath | null {
  const [, user, host, rest] = SCP_ADDRESS.exec(text) ?? [];
  if (host === undefined || rest === undefined) return null;
  const isPassword =
    user === undefined ? /^[^/]+@/.test(rest) || (isNameOnly(host) && /[^/]@/.test(rest)) : user.includes(':');
  const behind = isPassword ? text.slice(text.lastIndexOf('@') + 1) : text;
  if (behind !== text) return splitPlainUrl(behind) ?? splitScp(behind);
  const bare = host.replace(/^\[([^:\]]*):\d+\]$/, '$1');
  return { host: bare, shownHost: host, separator: ':', path: rest.replace(/\?.*$/s, '') };
}

function listSegments(path: string): string[] {
  const segments: string[] = [];
  // `user:password@` is never part of a repository's path.
  for (const segment of cleanLine(path)
    .replace(/^.*:.*@/s, '')
    .split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  const last = segments.pop()?.replace(/\.git$/i, '') ?? '';
  return last === '' ? segments : [...segments, last];
}

function decodePercent(text: string): string {
  return catchError(URIError, text, () => decodeURIComponent(text));
}
