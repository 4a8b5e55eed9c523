import { isDeepStrictEqual } from 'node:util';
import { getNodeValue, type Node } from 'jsonc-parser';
import {
  type EntriesFile,
  type EntryPlace,
  type HookHandler,
  type HookLauncher,
  parseHookCommand,
  parseServerCommand,
  SERVER_NAME,
  type ServerEntry,
} from '../../agents/hook-setup.ts';
import { HandoverError } from '../../errors.ts';
import * as jsonText from './json-text.ts';

/** One of our handlers in a file. */
interface Entry {
  place: EntryPlace;
  /** The list it is in, and its group, where an event lists groups. */
  list: Node;
  group: Node | null;
  handler: Node;
  launcher: HookLauncher;
}

/** What a file has of our hooks and our server. */
interface EntriesState {
  /** Events whose hook is exactly as it would be written today, is different, or is missing. */
  same: string[];
  differing: string[];
  missing: string[];
  launchers: HookLauncher[];
  places: EntryPlace[];
  /** The user turned all hooks off in this file. */
  off: boolean;
  server: ServerInspection;
}

export function inspectEntries(file: EntriesFile, text: string | null): EntriesState {
  const root = text === null ? null : jsonText.parseJsonText(text, file.path);
  const entries = root === null ? [] : findEntries(file, root);
  const state: EntriesState = {
    same: [],
    differing: [],
    missing: [],
    launchers: entries.map(({ launcher }) => launcher),
    places: entries.map(({ place }) => place),
    off: root !== null && file.offSwitches.some(({ path, value }) => readSetting(root, path) === value),
    server: inspectServer(file, root),
  };
  for (const [event, handler] of file.handlers) {
    const own = entries.filter(({ place }) => place.event === event);
    if (own.length === 0) state.missing.push(event);
    else if (own.length === 1 && own.every((entry) => isEqual(entry.handler, handler))) state.same.push(event);
    else state.differing.push(event);
  }
  const others = entries.map(({ place }) => place.event).filter((event) => !file.handlers.has(event));
  state.differing.push(...new Set(others));
  return state;
}

/** An existing entry keeps its place, as Codex trusts hooks by it; new ones are appended. Null for no file. */
export function addEntries(file: EntriesFile, text: string | null): string {
  if (text === null || jsonText.parseJsonText(text, file.path) === null) return printNew(file, text ?? '');
  let result = removeSurplus(file, text);
  for (const entry of file.handlers) result = addEntry(file, result, entry);
  return addServer(file, result);
}

function printNew(file: EntriesFile, blank: string): string {
  const events = [...file.handlers].map(([event, handler]) => [event, [wrap(file, handler)]]);
  const hooks = events.length === 0 ? {} : { hooks: Object.fromEntries(events) };
  const server = file.server === null ? {} : { [file.server.section]: { [SERVER_NAME]: file.server.value } };
  return jsonText.printDocument({ ...file.skeleton, ...hooks, ...server }, blank);
}

function wrap(file: EntriesFile, handler: HookHandler): unknown {
  return file.form === 'grouped' ? { hooks: [handler] } : handler;
}

function addEntry(file: EntriesFile, text: string, [event, handler]: [string, HookHandler]): string {
  const root = jsonText.requireRoot(text, file.path);
  const entry = findEntries(file, root).find(({ place }) => place.event === event);
  if (entry !== undefined)
    return isEqual(entry.handler, handler) ? text : jsonText.replaceValue(text, entry.handler, handler);
  const value = wrap(file, handler);
  const list = jsonText.findNode(root, ['hooks', event]);
  if (list === null) return addProperty(file, text, { section: 'hooks', key: event, value: [value] });
  if (list.type === 'array') return jsonText.append(text, list, { value });
  throw jsonText.jsonTextError(text, file.path, { offset: list.offset, wrong: `"${event}" is not a list` });
}

/** Adds a property to a section of the file, and the section where it is missing. */
function addProperty(
  file: EntriesFile,
  text: string,
  { section, key, value }: { section: string; key: string; value: unknown },
): string {
  const root = jsonText.requireRoot(text, file.path);
  const object = jsonText.findNode(root, [section]);
  if (object === null) return jsonText.append(text, root, { key: section, value: { [key]: value } });
  if (object.type === 'object') return jsonText.append(text, object, { key, value });
  throw jsonText.jsonTextError(text, file.path, { offset: object.offset, wrong: `"${section}" is not an object` });
}

/** Removes duplicates, and hooks for events that are no longer used. */
function removeSurplus(file: EntriesFile, text: string): string {
  const seen = new Set<string>();
  const surplus = findEntries(file, jsonText.requireRoot(text, file.path)).find(({ place: { event } }) => {
    if (!file.handlers.has(event) || seen.has(event)) return true;
    seen.add(event);
    return false;
  });
  return surplus === undefined ? text : removeSurplus(file, removeEntry(file, { text, before: null }, surplus));
}

/** Containers that are empty then go too, unless they were in `before`, the text that ours were once added to. */
export function removeEntries(file: EntriesFile, text: string, before: string | null): string {
  let result = removeServer(file, text, before);
  for (;;) {
    const root = jsonText.parseJsonText(result, file.path);
    const [entry] = root === null ? [] : findEntries(file, root);
    if (entry === undefined) return result;
    result = removeEntry(file, { text: result, before }, entry);
  }
}

type Removal = { text: string; before: string | null };

function removeEntry(file: EntriesFile, removal: Removal, { list, group, handler, place }: Entry): string {
  const node = group !== null && list.children?.length === 1 ? group : handler;
  return removeValue(file, removal, { node, parents: ['hooks', place.event] });
}

/** Removes a value, then from the inside out those of the objects and lists at `parents` that are empty now. */
function removeValue(
  file: EntriesFile,
  { text, before }: Removal,
  { node, parents }: { node: Node; parents: readonly string[] },
): string {
  const old = before === null ? null : jsonText.parseJsonText(before, file.path);
  let result = jsonText.remove(text, node);
  for (let depth = parents.length; depth > 0; depth--) {
    const path = parents.slice(0, depth);
    const parent = jsonText.findNode(jsonText.requireRoot(result, file.path), path);
    const wasThere = old !== null && jsonText.findNode(old, path) !== null;
    if (parent === null || wasThere || (parent.children ?? []).length > 0) break;
    result = jsonText.remove(result, parent);
  }
  return result;
}

/** Whether a file that we made holds nothing but what we put into it besides the entries. */
export function holdsOnlySkeleton(file: EntriesFile, text: string): boolean {
  const root = jsonText.parseJsonText(text, file.path);
  return root === null || isEqual(root, file.skeleton);
}

function findEntries(file: EntriesFile, root: Node): Entry[] {
  const hooks = jsonText.findNode(root, ['hooks']);
  if (hooks?.type !== 'object') return [];
  return (hooks.children ?? []).flatMap(({ children: [key, list] = [] }): Entry[] => {
    if (list?.type !== 'array') return [];
    const event = String(key?.value);
    if (file.form === 'flat') return findHandlers(file, list, { event, group: null, groupIndex: 0 });
    return (list.children ?? []).flatMap((group, groupIndex) => {
      const inner = jsonText.findNode(group, ['hooks']);
      return inner?.type === 'array' ? findHandlers(file, inner, { event, group, groupIndex }) : [];
    });
  });
}

function findHandlers(
  file: EntriesFile,
  list: Node,
  { event, group, groupIndex }: { event: string; group: Node | null; groupIndex: number },
): Entry[] {
  return (list.children ?? []).flatMap((handler, index) => {
    if (handler.type !== 'object') return [];
    const command: unknown = (jsonText.findNode(handler, ['command']) ?? jsonText.findNode(handler, ['bash']))?.value;
    const launcher = typeof command === 'string' ? parseHookCommand(command, file.agent) : null;
    if (launcher === null) return [];
    return [{ place: { event, group: groupIndex, index }, list, group, handler, launcher }];
  });
}

function isEqual(node: Node, value: object): boolean {
  return JSON.stringify(getNodeValue(node)) === JSON.stringify(value);
}

function readSetting(root: Node, path: readonly string[]): unknown {
  const node = jsonText.findNode(root, path);
  return node === null ? undefined : getNodeValue(node);
}

/** What a file has of our MCP server. `foreign`: somebody else's server has its name. */
export interface ServerInspection {
  state: 'same' | 'differing' | 'missing' | 'foreign';
  /** What ours starts. */
  launcher: HookLauncher | null;
}

export const NO_SERVER: ServerInspection = { state: 'missing', launcher: null };

function inspectServer(file: EntriesFile, root: Node | null): ServerInspection {
  const { server } = file;
  const node = server === null || root === null ? null : jsonText.findNode(root, [server.section, SERVER_NAME]);
  if (server === null || node === null) return NO_SERVER;
  return compareServer(getNodeValue(node), file, server.value);
}

/** Only what we write is compared: keys that the user added do not count. */
export function compareServer(
  settings: unknown,
  { agent }: Pick<EntriesFile, 'agent'>,
  wanted: ServerEntry['value'],
): ServerInspection {
  const launcher = parseServerCommand(settings, agent);
  if (launcher === null || typeof settings !== 'object' || settings === null)
    return { state: 'foreign', launcher: null };
  const found = new Map<string, unknown>(Object.entries(settings));
  const isSame = Object.entries(wanted).every(([key, value]) => isDeepStrictEqual(found.get(key), value));
  return { state: isSame ? 'same' : 'differing', launcher };
}

/** The text with our server in it. One of ours that is there already is updated where it is. */
function addServer(file: EntriesFile, text: string): string {
  const { server } = file;
  if (server === null) return text;
  const path = [server.section, SERVER_NAME];
  const root = jsonText.requireRoot(text, file.path);
  if (jsonText.findNode(root, path) === null)
    return addProperty(file, text, { section: server.section, key: SERVER_NAME, value: server.value });
  if (inspectServer(file, root).state === 'foreign') throw foreignServerError(file.path);
  return Object.entries(server.value).reduce((result, [key, value]) => {
    const entry = jsonText.findNode(jsonText.requireRoot(result, file.path), path);
    const node = entry === null ? null : jsonText.findNode(entry, [key]);
    if (node !== null)
      return isDeepStrictEqual(getNodeValue(node), value) ? result : jsonText.replaceValue(result, node, value);
    return entry === null ? result : jsonText.append(result, entry, { key, value });
  }, text);
}

function removeServer(file: EntriesFile, text: string, before: string | null): string {
  const { server } = file;
  const root = jsonText.parseJsonText(text, file.path);
  if (server === null || root === null || inspectServer(file, root).launcher === null) return text;
  const node = jsonText.findNode(root, [server.section, SERVER_NAME]);
  return node === null ? text : removeValue(file, { text, before }, { node, parents: [server.section] });
}

export function foreignServerError(path: string): HandoverError {
  const message = `${path} has a server with the name "${SERVER_NAME}" that is not ours`;
  const hint = 'Nothing was changed. Rename that server, or leave ours out with --no-mcp.';
  return new HandoverError('HANDOVER_PATH_UNSAFE', message, { hint });
}
