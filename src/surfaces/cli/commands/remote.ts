import { buildCommand } from '@stricli/core';
import { findStore, withCatalog } from '../../../app/context.ts';
import { listHolding } from '../../../app/describe/held-task.ts';
import { bold, dim, green, red } from '../../../app/describe/styled-text.ts';
import { requireProject } from '../../../app/find-handover.ts';
import { requireAgent } from '../../../app/parse.ts';
import { listRemoteStatuses, withRemote } from '../../../app/sync.ts';
import { EXIT, usageError } from '../../../errors.ts';
import { assertRecipient } from '../../../exchange/bundle/age.ts';
import { ADDRESSES, acceptAddress } from '../../../exchange/remote/open-remote.ts';
import { removeRemoteState } from '../../../exchange/remote/state.ts';
import { NO_AGENT } from '../../../model/fact-roles.ts';
import { describeAge } from '../../../model/time.ts';
import { addRemote, readRemotes, removeRemote, requireRemote } from '../../../platform/remote-settings.ts';
import { takeRows } from '../../../store/catalog.ts';
import { COMMAND_SUMMARIES } from '../command-summaries.ts';
import type { CliContext } from '../context.ts';
import { actionArgument, type FlagValues, json, optionalArgument, texts, tuple } from '../flags.ts';

const ACTIONS = ['add', 'list', 'remove', 'test'] as const;
type Action = (typeof ACTIONS)[number];

const flags = {
  project: texts('Only this project leaves: folder, name or id; may be repeated', 'project'),
  agent: texts('Only what this agent did leaves; may be repeated', 'agent'),
  encryptTo: texts('Only this age key can read what is stored there; may be repeated', 'recipient'),
  json,
};
type RemoteFlags = FlagValues<typeof flags>;

export const remote = buildCommand<RemoteFlags, [Action, string?, string?], CliContext>({
  func: runRemote,
  parameters: {
    positional: tuple(
      actionArgument('remote', ACTIONS),
      optionalArgument('Your name for the remote', 'name'),
      optionalArgument('To add: a folder, s3://…, git+ssh://… or postgres://…', 'url'),
    ),
    flags,
  },
  docs: { brief: COMMAND_SUMMARIES.remote },
});

async function runRemote(this: CliContext, values: RemoteFlags, action: Action, name?: string, url?: string) {
  const actions = { add, list, remove, test };
  await actions[action](this, values, { name, url });
}

type Words = { name: string | undefined; url: string | undefined };

async function add(context: CliContext, values: RemoteFlags, { name, url }: Words): Promise<void> {
  const { machine, out } = context;
  if (name === undefined || url === undefined) throw usageError('remote add needs a name and an address', ADDRESSES);
  const projects: string[] = [];
  for (const words of values.project ?? []) {
    const { id, name: known } = await requireProject(context, words);
    projects.push(id ?? known ?? words);
  }
  const agents: string[] = [];
  for (const words of values.agent ?? []) agents.push(await requireKnownAgent(context, words));
  const recipients = [...(values.encryptTo ?? [])];
  for (const recipient of recipients) await assertRecipient(recipient);
  const settings = { name, url: acceptAddress(url, machine), projects, agents, recipients };
  addRemote(machine, settings);
  if (values.json) out.json(describe(settings));
  else {
    out.line('added ', bold(name), dim(`  ${settings.url}`));
    out.line(dim('nothing leaves before you sync; what would: '), `handover sync ${name} --dry-run`);
  }
}

/** One that can be captured, or that a handover here is of. */
async function requireKnownAgent(context: CliContext, words: string): Promise<string> {
  const agent = words.trim().toLowerCase();
  if (agent === NO_AGENT) return agent;
  const isUsed = await withCatalog(context, findStore(context), async (catalog) => {
    return (await takeRows(catalog.rows({ agent }), 1)).length > 0;
  });
  return isUsed ? agent : requireAgent(words);
}

function list(context: CliContext, values: RemoteFlags): void {
  const { machine, out } = context;
  const statuses = new Map(listRemoteStatuses(findStore(context)).map((status) => [status.name, status]));
  const remotes = readRemotes(machine).map((settings) => ({ settings, status: statuses.get(settings.name) }));
  if (values.json) {
    const shown = remotes.map(({ settings, status }) => ({
      ...describe(settings),
      ...{ last_sync: status?.last_sync ?? null, unsent: status?.unsent ?? 0 },
    }));
    out.json({ remotes: shown });
    return;
  }
  if (remotes.length === 0) out.line('there is no remote; add one: handover remote add NAME URL');
  for (const { settings, status } of remotes) {
    const { name, url, projects, agents, recipients } = settings;
    const last = status?.last_sync ?? null;
    const age = last === null ? 'never synced' : `synced ${describeAge(machine.clock.now() - Date.parse(last))}`;
    out.line(bold(name), `  ${url}`, dim(`  ${age}`));
    if (projects.length > 0) out.line(dim('  only projects: '), projects.join(', '));
    if (agents.length > 0) out.line(dim('  only agents: '), agents.join(', '));
    if (recipients.length > 0) out.line(dim('  encrypted to: '), recipients.join(', '));
  }
}

function remove(context: CliContext, values: RemoteFlags, { name }: Words): void {
  const { machine, out } = context;
  if (name === undefined) throw usageError('remote remove needs a name', 'List them: handover remote list');
  const store = findStore(context);
  for (const { remote, task, state, custody } of listHolding(store))
    if (remote === name && state === 'held') {
      const text = `you hold task ${task} there: it is free again at ${custody.until}, unless you add ${name} again and release it`;
      context.notify({ level: 'warning', text });
    }
  removeRemote(machine, name);
  removeRemoteState(store, name);
  if (values.json) out.json({ removed: name });
  else out.line('removed ', bold(name), dim('  (what is stored there stays)'));
}

/** Exit status 69 if anything is not as it should be. */
async function test(context: CliContext, values: RemoteFlags, { name }: Words): Promise<void> {
  const { machine, out } = context;
  const remotes = name === undefined ? readRemotes(machine) : [requireRemote(machine, name)];
  for (const settings of remotes) {
    const checks = await withRemote(context, settings, async (opened) => await opened.check());
    if (checks.some(({ isGood }) => !isGood)) context.process.exitCode = EXIT.unavailable;
    if (values.json) {
      const shown = checks.map(({ name: what, isGood, found }) => ({ name: what, good: isGood, found }));
      out.json({ name: settings.name, url: settings.url, checks: shown });
      continue;
    }
    out.line(bold(settings.name), `  ${settings.url}`);
    for (const { name: what, isGood, found } of checks)
      out.line(isGood ? green('  good  ') : red('  bad   '), `${what}: ${found}`);
  }
}

function describe({ name, url, projects, agents, recipients }: ReturnType<typeof requireRemote>) {
  return { name, url, projects, agents, recipients };
}
