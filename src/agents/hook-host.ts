import type { Env, Machine } from '../platform/machine.ts';
import { formatHookCommand, type HookLauncher } from './hook-command.ts';
import { HOOK_EVENTS, type HookedAgent, type HookMoment } from './hook-events.ts';

/** For all projects of this user, or for one project. */
export type HookScope = 'user' | 'project';

export type HookHandler = Readonly<Record<string, string | number>>;

/** A file that the user and other tools write in too: only our own entries in it are ours. */
export interface EntriesFile {
  kind: 'entries';
  agent: HookedAgent;
  path: string;
  /** Whether an event lists groups that list handlers, or the handlers themselves. */
  form: 'grouped' | 'flat';
  /** By the agent's names of its events. */
  handlers: ReadonlyMap<string, HookHandler>;
  /** What the file holds besides, when it is made by us. */
  skeleton: Readonly<Record<string, number>>;
  /** Settings in the same file by which the user turns all hooks off. */
  offSwitches: readonly OffSwitch[];
  /** Our MCP server in the same file; null where the agent looks for servers elsewhere. */
  server: ServerEntry | null;
}

/** Our MCP server in a file of JSON: below `section`, by its name. */
export interface ServerEntry {
  section: string;
  value: Readonly<Record<string, unknown>>;
}

/** A file of TOML that the user and other tools write in too: only the table of our MCP server is ours. */
export interface TableFile {
  kind: 'table';
  agent: HookedAgent;
  path: string;
  section: string;
  value: Readonly<Record<string, unknown>>;
}

export interface OffSwitch {
  path: readonly string[];
  value: boolean;
}

/** A file that is ours as a whole. */
export interface WholeFile {
  kind: 'whole';
  agent: HookedAgent;
  path: string;
  content: string;
  mode: number;
  /** The launcher of a file that we wrote; null for one that somebody else did. */
  parse(content: string): HookLauncher | null;
}

export type HookFile = EntriesFile | TableFile | WholeFile;

/** A file of JSON that holds our MCP server, and no hooks. */
export function describeServerFile(agent: HookedAgent, path: string, server: ServerEntry): EntriesFile {
  return {
    kind: 'entries',
    agent,
    path,
    form: 'flat',
    handlers: new Map(),
    skeleton: {},
    offSwitches: [],
    server,
  };
}

/** Whether a file has hooks, and not the MCP server alone. */
export function holdsHooks(file: HookFile): boolean {
  return file.kind === 'whole' || (file.kind === 'entries' && file.handlers.size > 0);
}

/** Whether a file has the MCP server. */
export function holdsServer(file: HookFile): boolean {
  return file.kind === 'table' || (file.kind === 'entries' && file.server !== null);
}

/** An agent as far as hooks are put into it. */
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
  /** For an agent that runs no hook before the user has looked at it. */
  trust?: HookTrust;
}

export interface HookTrust {
  /** What the user has to do, as the end of a sentence. */
  step: string;
  /** What the agent has noted as trusted, by its keys. `home` is the folder with the user's settings. */
  readNoted(home: string): Map<string, string>;
  nameKey(file: string, entry: EntryPlace): string;
}

/** Where a handler stands: its event, its group there, and its place in the group. */
export interface EntryPlace {
  event: string;
  group: number;
  index: number;
}

export interface HookPlace {
  scope: HookScope;
  folder: string;
  launcher: HookLauncher;
  platform: NodeJS.Platform;
  env: Env;
}

/** A hook is done long before; what hangs is ended by the agent after this. */
export const TIMEOUT_SECONDS = 10;

type DescribeHandler = (hook: { event: string; moment: HookMoment; command: string }) => HookHandler;

/** One handler for each event that is made use of. */
export function makeHandlers(
  agent: HookedAgent,
  launcher: HookLauncher,
  describe: DescribeHandler,
): Map<string, HookHandler> {
  const moments: Readonly<Record<string, HookMoment>> = HOOK_EVENTS[agent];
  return new Map(
    Object.entries(moments).map(([event, moment]) => {
      const command = formatHookCommand(launcher, { agent, event });
      return [event, describe({ event, moment, command })];
    }),
  );
}
