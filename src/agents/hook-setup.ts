import type { Env, Machine } from '../platform/machine.ts';
import { HOOK_EVENTS, type HookedAgent, type HookMoment } from './hook-input.ts';

/** What every hook starts: Node and our hook script, by their full paths. */
export type HookLauncher = Record<'node' | 'script', string>;

/** The command line of a hook. Names of agents and events need no quotes; paths may contain anything. */
export function formatHookCommand(
  { node, script }: HookLauncher,
  { agent, event, shell }: { agent: HookedAgent; event: string; shell?: 'posix' | 'powershell' },
): string {
  const isPosix = shell !== 'powershell';
  const quote = (path: string): string =>
    isPosix ? `"${path.replace(/[\\"$`]/g, '\\$&')}"` : `"${path.replace(/["$`]/g, '`$&')}"`;
  // Without the `&`, PowerShell prints a quoted program instead of running it.
  return `${isPosix ? '' : '& '}${quote(node)} ${quote(script)} ${agent} ${event}`;
}

const FORM = /^"((?:[^"\\]|\\.)+)" "((?:[^"\\]|\\.)*\/bin\/hook\.cjs)" ([a-z-]+) [\w.]+(?: |$)/s;

/** The launcher in a hook command of ours for this agent, from any installation; null for other commands. */
export function parseHookCommand(command: string, agent: HookedAgent): HookLauncher | null {
  const [, node, script, named] = FORM.exec(command) ?? [];
  if (node === undefined || script === undefined || named !== agent) return null;
  const unquote = (path: string): string => path.replace(/\\([\\"$`])/g, '$1');
  return { node: unquote(node), script: unquote(script) };
}

/** For all projects of this user, or for one project. */
export type HookScope = 'user' | 'project';

export type HookHandler = Readonly<Record<string, string | number>>;

/** A JSON file that the user and other tools edit too: only the entries of ours are changed. */
export interface EntriesFile {
  kind: 'entries';
  agent: HookedAgent;
  path: string;
  /** Whether an event lists groups that list handlers, or the handlers themselves. */
  form: 'grouped' | 'flat';
  /** By the agent's names of its events. */
  handlers: ReadonlyMap<string, HookHandler>;
  /** What the file holds besides when we create it. */
  skeleton: Readonly<Record<string, number>>;
  /** Settings in the same file by which the user turns all hooks off. */
  offSwitches: readonly { path: readonly string[]; value: boolean }[];
  /** Our MCP server in the same file; null where the agent looks for servers elsewhere. */
  server: ServerEntry | null;
}

/** Our MCP server in a file of JSON: below `section`, by its name. */
export interface ServerEntry {
  section: string;
  value: Readonly<Record<string, unknown>>;
}

/** A TOML file that the user and other tools edit too: only the table of our MCP server is changed. */
export interface TableFile extends ServerEntry {
  kind: 'table';
  agent: HookedAgent;
  path: string;
}

/** A file that is entirely ours. */
export interface WholeFile {
  kind: 'whole';
  agent: HookedAgent;
  path: string;
  content: string;
  mode: number;
  /** The launcher in a file that we wrote; null for any other file. */
  parse(content: string): HookLauncher | null;
}

export type HookFile = EntriesFile | TableFile | WholeFile;

/** A file of JSON, with the entries that are given. */
export function describeEntries(agent: HookedAgent, path: string, own: Partial<EntriesFile>): EntriesFile {
  const none = { form: 'flat', handlers: new Map(), skeleton: {}, offSwitches: [], server: null } as const;
  return { kind: 'entries', agent, path, ...none, ...own };
}

/** Whether a file has hooks, and not the MCP server alone. */
export function holdsHooks(file: HookFile): boolean {
  return file.kind === 'whole' || (file.kind === 'entries' && file.handlers.size > 0);
}

/** Whether a file has the MCP server. */
export function holdsServer(file: HookFile): boolean {
  return file.kind === 'table' || (file.kind === 'entries' && file.server !== null);
}

/** An agent that hooks can be put into. */
export interface HookHost {
  agent: HookedAgent;
  /** What the agent calls itself. */
  title: string;
  /** Its name in PATH. */
  program: string;
  /** The folder with the user's settings of this agent; null on a machine without a home. */
  findHome(machine: Machine): string | null;
  /** The folder with its settings for one project, below the project's root. */
  projectFolder: string;
  /** The files that its hooks and our MCP server are put into. `folder` is one of the two above. */
  listFiles(place: HookPlace): HookFile[];
  /** For an agent that runs no hook before the user has reviewed it. */
  trust?: HookTrust;
}

export interface HookTrust {
  /** What the user has to do, as the end of a sentence. */
  step: string;
  /** What the agent has recorded as trusted, by its keys. `home` is the folder with the user's settings. */
  readNoted(home: string): Map<string, string>;
  nameKey(file: string, entry: EntryPlace): string;
}

/** The position of a handler: its event, the group there, and the index in the group. */
export type EntryPlace = { event: string; group: number; index: number };

export interface HookPlace {
  scope: HookScope;
  folder: string;
  launcher: HookLauncher;
  platform: NodeJS.Platform;
  env: Env;
}

/** After this the agent ends a hook that hangs; it usually takes milliseconds. */
export const TIMEOUT_SECONDS = 10;

/** One handler for each event that we use. */
export function makeHandlers(
  agent: HookedAgent,
  launcher: HookLauncher,
  describe: (hook: { event: string; moment: HookMoment; command: string }) => HookHandler,
): Map<string, HookHandler> {
  const moments: Readonly<Record<string, HookMoment>> = HOOK_EVENTS[agent];
  return new Map(
    Object.entries(moments).map(([event, moment]) => {
      const command = formatHookCommand(launcher, { agent, event });
      return [event, describe({ event, moment, command })];
    }),
  );
}

/** The name of our MCP server in the settings of every agent. */
export const SERVER_NAME = 'handover';

/** How an agent starts our MCP server: a Node and our command, which is in the same folder as the hook script. */
export function makeServerCommand(
  { node, script }: HookLauncher,
  agent: HookedAgent,
): { command: string; args: string[] } {
  return { command: node, args: [script.replace(/hook\.cjs$/, 'handover.cjs'), 'mcp', '--agent', agent] };
}

/** The launcher in the settings of our server for this agent, from any installation; null for other servers. */
export function parseServerCommand(settings: unknown, agent: HookedAgent): HookLauncher | null {
  if (typeof settings !== 'object' || settings === null) return null;
  const { command, args = [] }: { command?: unknown; args?: unknown } = settings;
  const [node, script, ...rest]: unknown[] = [command, args].flat();
  if (typeof node !== 'string' || typeof script !== 'string') return null;
  if (!/[\\/]bin[\\/]handover\.cjs$/.test(script) || rest.join(' ') !== `mcp --agent ${agent}`) return null;
  return { node, script };
}
