import { setTimeout as delay } from 'node:timers/promises';
import { findStore } from '../../../app/context.ts';
import { bold, dim, green, yellow } from '../../../app/describe/styled-text.ts';
import { toHandoverError } from '../../../app/failure.ts';
import {
  chooseRemotes,
  describeWaiting,
  isFirstSync,
  isPassing,
  previewRemote,
  syncRemote,
} from '../../../app/sync.ts';
import { HandoverError, usageError } from '../../../errors.ts';
import { fingerprint, parsePublicKey } from '../../../exchange/bundle/minisign.ts';
import { generateKeys, readOwnKeys } from '../../../exchange/bundle/own-keys.ts';
import { suggestSignerName, trustKey } from '../../../exchange/bundle/trust-list.ts';
import type { Outgoing } from '../../../exchange/remote/push.ts';
import type { Waiting } from '../../../exchange/remote/state.ts';
import type { SyncResult } from '../../../exchange/remote/sync.ts';
import type { SyncCounts } from '../../../exchange/remote/sync-run.ts';
import { countNouns } from '../../../model/text.ts';
import { describeFileState } from '../../../platform/durable-file.ts';
import type { RemoteSettings } from '../../../platform/remote-settings.ts';
import { listJournalFiles } from '../../../store/store.ts';
import type { CliContext } from '../context.ts';
import { command, conflictError, type FlagValues, json, optionalArgument, toggle, tuple } from '../flags.ts';
import { shorten } from '../questions.ts';

const flags = {
  watch: toggle('Keep syncing: after each change here, and every half minute'),
  dryRun: toggle('Show exactly what would leave, without sending or asking'),
  verify: toggle('Read again what was sent, and send again what is missing or damaged there'),
  yes: toggle('The first time: send without asking'),
  json,
};
type SyncFlags = FlagValues<typeof flags>;

export const sync = command('sync', runSync, {
  positional: tuple(optionalArgument('A remote; default: the project’s, else all', 'name')),
  flags,
});

async function runSync(this: CliContext, values: SyncFlags, name?: string): Promise<void> {
  if (values.watch && values.dryRun) throw conflictError('--watch', '--dry-run');
  if (values.verify && values.dryRun) throw conflictError('--verify', '--dry-run');
  const remotes = chooseRemotes(this, name);
  if (values.dryRun) return await forEach(this, remotes, async (remote) => await show(this, values, remote));
  await ensureKeys(this);
  const declined: string[] = [];
  await forEach(this, remotes, async (remote) => {
    if (isFirstSync(this, remote) && !values.yes && !(await confirm(this, remote))) {
      declined.push(remote.name);
      return;
    }
    const result = await syncRemote(this, remote, { verifies: values.verify });
    print(this, values, { remote, result });
    const hasTrusted = await askForTrust(this, values, result.waiting);
    if (hasTrusted) print(this, values, { remote, result: await syncRemote(this, remote) });
  });
  if (declined.length > 0) throw new HandoverError('HANDOVER_CANCELLED', `nothing was sent to ${declined.join(', ')}`);
  if (values.watch) await watch(this, values, remotes);
}

/** One that fails keeps no other back: the first failure is thrown at the end, and the others are shown. */
async function forEach(
  context: CliContext,
  remotes: readonly RemoteSettings[],
  work: (remote: RemoteSettings) => Promise<void>,
): Promise<void> {
  const failures: HandoverError[] = [];
  for (const remote of remotes) {
    try {
      await work(remote);
    } catch (error) {
      const failure = toHandoverError(error);
      if (failure === null || failure.code === 'HANDOVER_CANCELLED') throw error;
      failures.push(failure);
    }
  }
  const [first, ...others] = failures;
  for (const { message, hint } of others)
    context.notify({ level: 'warning', text: message, ...(hint === undefined ? {} : { next: hint }) });
  if (first !== undefined) throw first;
}

async function ensureKeys(context: CliContext): Promise<void> {
  const { machine, interactive } = context;
  if (readOwnKeys(machine) !== null) return;
  const name = suggestSignerName(machine);
  const make = `handover keys generate --name ${name}`;
  if (!interactive)
    throw new HandoverError('HANDOVER_KEY_MISSING', 'there is no key to sign with', { hint: `Make one: ${make}` });
  const { askYesNo } = await import('../prompts.ts');
  const question = `What leaves is signed, and there is no key yet. Make one for ${name}?`;
  if (!(await askYesNo(question, true))) throw new HandoverError('HANDOVER_CANCELLED', 'nothing was sent');
  const { secret } = await generateKeys(machine, name);
  context.err.line(dim(`generated the keys of ${name}; others compare its fingerprint: ${fingerprint(secret)}`));
}

const MOST_SHOWN = 10;

/** The first time: a person sees what leaves, and says so. Later syncs do not ask. */
async function confirm(context: CliContext, remote: RemoteSettings): Promise<boolean> {
  const items = await previewRemote(context, remote);
  const { name, url, recipients } = remote;
  const counts = describeCounts(countItems(items));
  const how = recipients.length === 0 ? 'which it can read' : 'encrypted';
  const what = `${counts || 'nothing yet'} to ${name} (${url}), and from now on what you save, ${how}`;
  if (!context.interactive)
    throw usageError(
      `the first sync would send ${what}; there is no terminal to ask in`,
      `See it: handover sync ${name} --dry-run; do it: handover sync ${name} --yes`,
    );
  listItems(context.err, items.slice(0, MOST_SHOWN));
  if (items.length > MOST_SHOWN)
    context.err.line(dim(`  and ${items.length - MOST_SHOWN} more: handover sync ${name} --dry-run`));
  const { askYesNo } = await import('../prompts.ts');
  const later = `Nothing leaves yet. Send what you save from now on to ${name} (${url}), ${how}?`;
  return await askYesNo(counts === '' ? later : `Send ${what}?`, false);
}

/** Only a person can vouch for a key. True where one did. */
async function askForTrust(context: CliContext, values: SyncFlags, waiting: readonly Waiting[]): Promise<boolean> {
  let hasTrusted = false;
  for (const { name, key, fingerprint, why } of context.interactive && !values.json ? waiting : []) {
    const known = parsePublicKey(key);
    if (why !== 'unknown' || known === null) continue;
    const { askYesNo } = await import('../prompts.ts');
    if (!(await askYesNo(`Is ${fingerprint} the key of ${name}? Compare it with theirs: handover keys list`, false)))
      continue;
    trustKey(context.machine, known, name);
    hasTrusted = true;
  }
  return hasTrusted;
}

async function show(context: CliContext, values: SyncFlags, remote: RemoteSettings): Promise<void> {
  const { out } = context;
  const items = await previewRemote(context, remote);
  const { name, url, recipients } = remote;
  if (values.json) {
    const leaving = items.map(describeItem);
    return out.json({ remote: name, url, dry_run: true, encrypted: recipients.length > 0, leaving });
  }
  const counts = describeCounts(countItems(items)) || 'nothing';
  const how = recipients.length === 0 ? '' : ', encrypted';
  out.line(`${counts} would leave for `, bold(name), dim(`  ${url}${how}`));
  listItems(out, items);
  if (items.length > 0 && isFirstSync(context, remote))
    out.line(dim(`what ${name} has of it already is not sent again; that is only known once it is asked`));
}

function listItems(out: CliContext['out'], items: readonly Outgoing[]): void {
  for (const { entry, handover } of items) {
    if (entry.kind === 'handover')
      out.line(
        dim('  handover  '),
        entry.id,
        `  ${shorten(handover?.title ?? '')}`,
        dim(`  ${handover?.project.name ?? ''}, ${countNouns(entry.bytes, 'byte')}`),
      );
    else if (entry.kind === 'forgotten') out.line(dim('  forgotten '), entry.id);
    else {
      const { event, subject, fact, reason } = entry.entry;
      out.line(dim(`  ${event.padEnd(9)} `), fact ?? subject, reason === undefined ? '' : `  ${shorten(reason)}`);
    }
  }
}

function describeItem({ project, entry, handover }: Outgoing) {
  const what = entry.kind === 'journal' ? entry.entry.event : entry.kind;
  const id = entry.kind === 'journal' ? entry.entry.subject : entry.id;
  const bytes = entry.kind === 'handover' ? entry.bytes : null;
  return { kind: what, id, project, title: handover?.title ?? null, bytes };
}

function countItems(items: readonly Outgoing[]): SyncCounts {
  const of = (kind: Outgoing['entry']['kind']): number => items.filter(({ entry }) => entry.kind === kind).length;
  return { handovers: of('handover'), marks: of('journal'), forgotten: of('forgotten') };
}

function describeCounts({ handovers, marks, forgotten }: SyncCounts): string {
  return [
    ...(handovers === 0 ? [] : [countNouns(handovers, 'handover')]),
    ...(marks === 0 ? [] : [countNouns(marks, 'mark')]),
    ...(forgotten === 0 ? [] : [`${forgotten} forgotten`]),
  ].join(', ');
}

function print(
  context: CliContext,
  values: SyncFlags,
  { remote, result }: { remote: RemoteSettings; result: SyncResult },
): void {
  const { out } = context;
  const { sent, received, waiting, missing, notes } = result;
  if (values.json) {
    out.json({ remote: remote.name, url: remote.url, sent, received, waiting, missing, notes });
    return;
  }
  const [left, came] = [describeCounts(sent), describeCounts(received)];
  const what = [...(left === '' ? [] : [`sent ${left}`]), ...(came === '' ? [] : [`received ${came}`])];
  const state = missing === 0 ? green('in step with ') : yellow('in step, but for what is missing there, with ');
  out.line(state, bold(remote.name), what.length === 0 ? ': nothing new' : `: ${what.join('; ')}`);
  for (const note of notes) out.line(yellow('note: '), note);
  for (const signer of waiting) out.line(yellow('waits: '), describeWaiting(signer));
}

const LOOK_MS = 2000;
const LOOKS = 15;

/** Until it is ended. A remote that is away is tried again. */
async function watch(context: CliContext, values: SyncFlags, remotes: readonly RemoteSettings[]): Promise<void> {
  const store = findStore(context);
  const look = (): string => listJournalFiles(store).map(describeFileState).join(' ');
  for (let before = look(); ; before = look()) {
    for (let looks = 0; looks < LOOKS && look() === before; looks++) await delay(LOOK_MS);
    await forEach(context, remotes, async (remote) => {
      try {
        const result = await syncRemote(context, remote);
        const { sent, received, notes } = result;
        const isNew = [sent, received].some((counts) => describeCounts(counts) !== '') || notes.length > 0;
        if (isNew) print(context, values, { remote, result });
      } catch (error) {
        if (!isPassing(error)) throw error;
        context.notify({ level: 'note', text: `${error.message}; trying again` });
      }
    });
  }
}
