import { isDeepStrictEqual } from 'node:util';
import { getNodeValue, type Node } from 'jsonc-parser';
import {
  type EntriesFile,
  type HookLauncher,
  parseServerCommand,
  SERVER_NAME,
  type ServerEntry,
} from '../../agents/hook-setup.ts';
import { HandoverError } from '../../errors.ts';
import { append, findProperty, parseJsonText, refuseText, remove, replaceValue } from './json-text.ts';

/** What stands of our MCP server in a file. `foreign`: somebody else's has its name. */
export interface ServerSight {
  state: 'same' | 'differing' | 'missing' | 'foreign';
  /** What ours starts. */
  launcher: HookLauncher | null;
}

export const NO_SERVER: ServerSight = { state: 'missing', launcher: null };

/** What the server's settings are to be in a new file. */
export function describeServer({ section, value }: ServerEntry): Record<string, unknown> {
  return { [section]: { [SERVER_NAME]: value } };
}

export function inspectServer(file: EntriesFile, root: Node | null): ServerSight {
  if (file.server === null || root === null) return NO_SERVER;
  const entry = findEntry(file.server, root);
  if (entry === null) return NO_SERVER;
  const settings: unknown = getNodeValue(entry);
  return judgeServer(settings, file, file.server.value);
}

/** Only what we write is compared: what the user added to it stays the user's. */
export function judgeServer(
  settings: unknown,
  { agent }: Pick<EntriesFile, 'agent'>,
  wanted: ServerEntry['value'],
): ServerSight {
  const launcher = parseServerCommand(settings, agent);
  if (launcher === null || typeof settings !== 'object' || settings === null)
    return { state: 'foreign', launcher: null };
  const known = new Map<string, unknown>(Object.entries(settings));
  const isSame = Object.entries(wanted).every(([key, value]) => isDeepStrictEqual(known.get(key), value));
  return { state: isSame ? 'same' : 'differing', launcher };
}

/** The text with our server in it; one of ours that is there already is brought up to date where it stands. */
export function addServer(file: EntriesFile, text: string): string {
  const { server } = file;
  if (server === null) return text;
  const root = requireRoot(file, text);
  const section = findProperty(root, server.section);
  if (section === null)
    return append(text, root, { key: server.section, value: { [SERVER_NAME]: server.value } });
  if (section.type !== 'object') {
    const wrong = `"${server.section}" is not an object`;
    throw refuseText(text, file.path, { offset: section.offset, wrong });
  }
  const entry = findProperty(section, SERVER_NAME);
  if (entry === null) return append(text, section, { key: SERVER_NAME, value: server.value });
  if (inspectServer(file, root).state === 'foreign') throw refuseForeign(file.path);
  return Object.entries(server.value).reduce(
    (result, [key, value]) => setKey(file, result, { key, value }),
    text,
  );
}

function setKey(file: EntriesFile, text: string, { key, value }: { key: string; value: unknown }): string {
  const entry = file.server === null ? null : findEntry(file.server, requireRoot(file, text));
  if (entry === null) return text;
  const node = findProperty(entry, key);
  if (node === null) return append(text, entry, { key, value });
  return isDeepStrictEqual(getNodeValue(node), value) ? text : replaceValue(text, node, value);
}

/** The text without our server. A section that it leaves empty goes too, unless it was in `before`. */
export function removeServer(file: EntriesFile, text: string, before: string | null): string {
  const { server } = file;
  const root = parseJsonText(text, file.path);
  if (server === null || root === null || inspectServer(file, root).launcher === null) return text;
  const section = findProperty(root, server.section);
  const property = findEntry(server, root)?.parent;
  if (section === null || property === undefined) return text;
  const rest = remove(text, section, property);
  const old = before === null ? null : parseJsonText(before, file.path);
  const restRoot = requireRoot(file, rest);
  const restSection = findProperty(restRoot, server.section);
  const isKept = old !== null && findProperty(old, server.section) !== null;
  if (isKept || restSection?.parent === undefined || (restSection.children ?? []).length > 0) return rest;
  return remove(rest, restRoot, restSection.parent);
}

function findEntry({ section }: ServerEntry, root: Node): Node | null {
  const servers = findProperty(root, section);
  return servers === null ? null : findProperty(servers, SERVER_NAME);
}

function requireRoot(file: EntriesFile, text: string): Node {
  const root = parseJsonText(text, file.path);
  if (root !== null) return root;
  throw refuseText(text, file.path, { offset: 0, wrong: 'it holds no object' });
}

export function refuseForeign(path: string): HandoverError {
  return new HandoverError(
    'HANDOVER_PATH_UNSAFE',
    `${path} has a server with the name "${SERVER_NAME}" that is not ours`,
    { hint: 'Nothing was changed. Give that one another name, or leave ours out with --no-mcp.' },
  );
}
