import { getNodeValue, type Node } from 'jsonc-parser';
import {
  type EntriesFile,
  type EntryPlace,
  type HookHandler,
  type HookLauncher,
  parseHookCommand,
} from '../../agents/hook-setup.ts';
import {
  append,
  findProperty,
  parseJsonText,
  printDocument,
  refuseText,
  remove,
  replaceValue,
} from './json-text.ts';
import { addServer, describeServer, inspectServer, removeServer, type ServerSight } from './server-entry.ts';

/** One of our handlers where it stands. */
interface Entry {
  event: string;
  /** The list it is in, and, where that belongs to a group, the group and the list of groups. */
  list: Node;
  group: { node: Node; list: Node } | null;
  handler: Node;
  launcher: HookLauncher;
}

/** What stands of our hooks in a text. */
export interface EntriesState {
  /** By event: as it would be written today, or not. */
  same: string[];
  differing: string[];
  missing: string[];
  launchers: HookLauncher[];
  places: EntryPlace[];
  /** The user turned all hooks off in this file. */
  off: boolean;
  server: ServerSight;
}

export function inspectEntries(file: EntriesFile, text: string | null): EntriesState {
  const root = text === null ? null : parseJsonText(text, file.path);
  const entries = root === null ? [] : findEntries(file, root);
  const state: EntriesState = {
    same: [],
    differing: [],
    missing: [],
    launchers: entries.map(({ launcher }) => launcher),
    places: entries.map(locate),
    off: root !== null && file.offSwitches.some(({ path, value }) => readSetting(root, path) === value),
    server: inspectServer(file, root),
  };
  for (const [event, handler] of file.handlers) {
    const own = entries.filter((entry) => entry.event === event);
    if (own.length === 0) state.missing.push(event);
    else if (own.length === 1 && own.every((entry) => isSame(entry, handler))) state.same.push(event);
    else state.differing.push(event);
  }
  const known = (event: string): boolean => file.handlers.has(event);
  state.differing.push(...new Set(entries.map(({ event }) => event).filter((event) => !known(event))));
  return state;
}

function locate({ event, list, group, handler }: Entry): EntryPlace {
  return {
    event,
    group: group?.list.children?.indexOf(group.node) ?? 0,
    index: list.children?.indexOf(handler) ?? 0,
  };
}

/**
 * The text with our hooks and our server in it. An entry of ours that is there already keeps its place, since Codex trusts hooks by
 * their place; new ones come last. Null stands for no file.
 */
export function addEntries(file: EntriesFile, text: string | null): string {
  if (text === null || parseJsonText(text, file.path) === null) return printNew(file, text ?? '');
  let result = removeSurplus(file, text);
  for (const [event, handler] of file.handlers) result = addEntry(file, result, { event, handler });
  return addServer(file, result);
}

function printNew(file: EntriesFile, blank: string): string {
  const events = [...file.handlers].map(([event, handler]) => [event, [wrap(file, handler)]]);
  const hooks = events.length === 0 ? {} : { hooks: Object.fromEntries(events) };
  const server = file.server === null ? {} : describeServer(file.server);
  return printDocument({ ...file.skeleton, ...hooks, ...server }, blank);
}

function wrap(file: EntriesFile, handler: HookHandler): unknown {
  return file.form === 'grouped' ? { hooks: [handler] } : handler;
}

function addEntry(file: EntriesFile, text: string, added: { event: string; handler: HookHandler }): string {
  const root = requireRoot(file, text);
  const [entry] = findEntries(file, root).filter(({ event }) => event === added.event);
  if (entry !== undefined) {
    return isSame(entry, added.handler) ? text : replaceValue(text, entry.handler, added.handler);
  }
  const value = wrap(file, added.handler);
  const hooks = findProperty(root, 'hooks');
  if (hooks === null) return append(text, root, { key: 'hooks', value: { [added.event]: [value] } });
  if (hooks.type !== 'object') {
    throw refuseText(text, file.path, { offset: hooks.offset, wrong: '"hooks" is not an object' });
  }
  const list = findProperty(hooks, added.event);
  if (list === null) return append(text, hooks, { key: added.event, value: [value] });
  if (list.type !== 'array') {
    throw refuseText(text, file.path, { offset: list.offset, wrong: `"${added.event}" is not a list` });
  }
  return append(text, list, { value });
}

/** Doubles, and hooks for events that are no longer made use of. */
function removeSurplus(file: EntriesFile, text: string): string {
  const met = new Set<string>();
  const surplus = (entry: Entry): boolean => {
    if (!file.handlers.has(entry.event) || met.has(entry.event)) return true;
    met.add(entry.event);
    return false;
  };
  const at = findEntries(file, requireRoot(file, text)).findIndex(surplus);
  return at === -1 ? text : removeSurplus(file, removeEntry(file, { text, at, before: null }));
}

/**
 * The text without our hooks and our server. What they leave empty goes too, unless it was there, by `before`, the text that they once
 * were added to.
 */
export function removeEntries(file: EntriesFile, text: string, before: string | null): string {
  let result = removeServer(file, text, before);
  while (
    parseJsonText(result, file.path) !== null &&
    findEntries(file, requireRoot(file, result)).length > 0
  ) {
    result = removeEntry(file, { text: result, at: 0, before });
  }
  return result;
}

/** Whether nothing is left but what we put into a file that was not there. */
export function isBare(file: EntriesFile, text: string): boolean {
  const root = parseJsonText(text, file.path);
  return root === null || isEqual(root, file.skeleton);
}

function removeEntry(file: EntriesFile, from: { text: string; at: number; before: string | null }): string {
  const { text, at, before } = from;
  const entry = findEntries(file, requireRoot(file, text))[at];
  if (entry === undefined) return text;
  const { list, group, handler, event } = entry;
  const isLast = (list.children ?? []).length === 1;
  if (group !== null && !isLast) return remove(text, list, handler);
  const groups = group?.list ?? list;
  const freed = remove(text, groups, group?.node ?? handler);
  const old = before === null ? null : parseJsonText(before, file.path);
  return removeEmpty(file, freed, { event, old });
}

function removeEmpty(
  file: EntriesFile,
  text: string,
  { event, old }: { event: string; old: Node | null },
): string {
  const root = requireRoot(file, text);
  const hooks = findProperty(root, 'hooks');
  const oldHooks = old === null ? null : findProperty(old, 'hooks');
  if (hooks === null) return text;
  const list = findProperty(hooks, event);
  if (list === null || !isEmpty(list) || (oldHooks !== null && findProperty(oldHooks, event) !== null))
    return text;
  const rest = remove(text, hooks, propertyOf(hooks, list));
  const restRoot = requireRoot(file, rest);
  const restHooks = findProperty(restRoot, 'hooks');
  if (restHooks === null || !isEmpty(restHooks) || oldHooks !== null) return rest;
  return remove(rest, restRoot, propertyOf(restRoot, restHooks));
}

function findEntries(file: EntriesFile, root: Node): Entry[] {
  const hooks = findProperty(root, 'hooks');
  if (hooks?.type !== 'object') return [];
  return (hooks.children ?? []).flatMap((property): Entry[] => {
    const [key, list] = property.children ?? [];
    if (list?.type !== 'array') return [];
    const event = String(key?.value);
    if (file.form === 'flat')
      return findHandlers(file, list).map((found) => ({ event, list, group: null, ...found }));
    return (list.children ?? []).flatMap((node) => {
      const inner = findProperty(node, 'hooks');
      if (inner?.type !== 'array') return [];
      return findHandlers(file, inner).map((found) => ({
        event,
        list: inner,
        group: { node, list },
        ...found,
      }));
    });
  });
}

function findHandlers(file: EntriesFile, list: Node): { handler: Node; launcher: HookLauncher }[] {
  return (list.children ?? []).flatMap((handler) => {
    if (handler.type !== 'object') return [];
    const command: unknown = (findProperty(handler, 'command') ?? findProperty(handler, 'bash'))?.value;
    const launcher = typeof command === 'string' ? parseHookCommand(command, file.agent) : null;
    return launcher === null ? [] : [{ handler, launcher }];
  });
}

function isSame({ handler }: Entry, wanted: HookHandler): boolean {
  return isEqual(handler, wanted);
}

function isEqual(node: Node, value: object): boolean {
  return JSON.stringify(getNodeValue(node)) === JSON.stringify(value);
}

function readSetting(root: Node, path: readonly string[]): unknown {
  const node = path.reduce<Node | null>((at, key) => (at === null ? null : findProperty(at, key)), root);
  return node === null ? undefined : getNodeValue(node);
}

function requireRoot(file: EntriesFile, text: string): Node {
  const root = parseJsonText(text, file.path);
  if (root !== null) return root;
  throw refuseText(text, file.path, { offset: 0, wrong: 'it holds no object' });
}

function isEmpty(node: Node): boolean {
  return (node.children ?? []).length === 0;
}

function propertyOf(object: Node, value: Node): Node {
  return value.parent ?? object;
}
