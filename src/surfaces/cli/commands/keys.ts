import { resolve } from 'node:path';
import { buildCommand } from '@stricli/core';
import { bold, dim, green, red, yellow } from '../../../app/describe/styled-text.ts';
import { usageError } from '../../../errors.ts';
import { toRecipient } from '../../../exchange/bundle/age.ts';
import { fingerprint, formatPublicKey, isSameKey, readPublicKey } from '../../../exchange/bundle/minisign.ts';
import * as ownKeys from '../../../exchange/bundle/own-keys.ts';
import { findTrustList, readTrustList, revokeKeys, trustKey } from '../../../exchange/bundle/trust-list.ts';
import { readHead } from '../../../platform/external-file.ts';
import { COMMAND_SUMMARIES } from '../command-summaries.ts';
import type { CliContext } from '../context.ts';
import { actionArgument, type FlagValues, json, optionalArgument, text, tuple } from '../flags.ts';

const KEY_ACTIONS = ['generate', 'list', 'trust', 'revoke', 'export'] as const;
type KeyAction = (typeof KEY_ACTIONS)[number];

const flags = { name: text('The signer’s name; yours for generate', 'name'), json };
type KeysFlags = FlagValues<typeof flags>;

export const keys = buildCommand<KeysFlags, [KeyAction, string?], CliContext>({
  func: runKeys,
  parameters: {
    positional: tuple(
      actionArgument('keys', KEY_ACTIONS),
      optionalArgument('To trust: a public key or its file. To revoke: a name, key or fingerprint', 'key'),
    ),
    flags,
  },
  docs: { brief: COMMAND_SUMMARIES.keys },
});

async function runKeys(this: CliContext, values: KeysFlags, action: KeyAction, word?: string): Promise<void> {
  const actions = { generate, list, trust, revoke, export: exportKeys };
  await actions[action](this, values, word);
}

async function generate(context: CliContext, values: KeysFlags): Promise<void> {
  const { machine, out } = context;
  const name = values.name ?? machine.env.USER ?? machine.env.LOGNAME ?? 'me';
  const own = await ownKeys.generateKeys(machine, name);
  if (values.json) out.json({ ...(await describeOwn(own)), folder: ownKeys.findKeysFolder(machine) });
  else {
    out.line('generated the keys of ', bold(name), dim(`  (${ownKeys.findKeysFolder(machine)})`));
    await printOwn(context, own);
  }
}

async function list({ machine, out }: CliContext, values: KeysFlags): Promise<void> {
  const own = ownKeys.readOwnKeys(machine);
  const trusted = readTrustList(machine);
  if (values.json)
    return out.json({
      own: own === null ? null : await describeOwn(own),
      trust_list: findTrustList(machine),
      keys: trusted.map(({ name, state, key }) => ({ name, state, ...describeKey(key) })),
    });
  out.line(own === null ? 'you have no key; generate one: handover keys generate' : `you sign as ${own.name}`);
  if (trusted.length === 0) out.line('no key is trusted yet');
  for (const { name, state, key } of trusted)
    out.line(state === 'trusted' ? green('trusted  ') : red('revoked  '), fingerprint(key), '  ', bold(name));
}

function trust({ machine, out }: CliContext, values: KeysFlags, word?: string): void {
  const key = readPublicKey(readKeyText(requireWord(word, 'keys trust needs a public key or its file'), machine.cwd));
  const known = readTrustList(machine).find((entry) => isSameKey(entry.key, key));
  const name = values.name ?? known?.name;
  if (name === undefined) throw usageError('the key needs a name', 'Add --name, such as --name alice');
  trustKey(machine, key, name);
  if (values.json) out.json({ name, ...describeKey(key) });
  else out.line('bundles of ', bold(name), ` are trusted from now on: ${fingerprint(key)}`);
}

function revoke({ machine, out }: CliContext, values: KeysFlags, word?: string): void {
  const revoked = revokeKeys(machine, requireWord(word, 'keys revoke needs a name, a key or a fingerprint'));
  if (values.json) out.json({ revoked: revoked.map(({ name, key }) => ({ name, fingerprint: fingerprint(key) })) });
  for (const { name, key } of values.json ? [] : revoked)
    out.line(yellow('revoked '), bold(name), `  ${fingerprint(key)}`);
}

async function exportKeys(context: CliContext, values: KeysFlags): Promise<void> {
  const own = ownKeys.requireOwnKeys(context.machine);
  if (values.json) context.out.json(await describeOwn(own));
  else await printOwn(context, own);
}

function describeKey(key: Parameters<typeof fingerprint>[0]) {
  return { fingerprint: fingerprint(key), public_key: formatPublicKey(key) };
}

async function describeOwn({ name, secret, identity }: ownKeys.OwnKeys) {
  const recipient = await toRecipient(identity);
  return { name, public_key: formatPublicKey(secret), fingerprint: fingerprint(secret), recipient };
}

async function printOwn({ out }: CliContext, own: ownKeys.OwnKeys): Promise<void> {
  const { public_key, recipient } = await describeOwn(own);
  out.line(dim('fingerprint: '), fingerprint(own.secret));
  out.line(dim('others trust it with: '), `handover keys trust ${public_key} --name "${own.name}"`);
  out.line(dim('others encrypt to you with: '), `handover export --encrypt-to ${recipient}`);
}

function requireWord(word: string | undefined, otherwise: string): string {
  if (word !== undefined) return word;
  throw usageError(otherwise, 'See what there is: handover keys list. See: handover keys --help');
}

const MAX_KEY_BYTES = 16 * 1024;

/** The words themselves, unless a file of that name is there. */
function readKeyText(words: string, cwd: string): string {
  return readHead(resolve(cwd, words), MAX_KEY_BYTES)?.bytes.toString('utf8') ?? words;
}
