import { resolve } from 'node:path';
import { buildCommand, type Command } from '@stricli/core';
import { HandoverError } from '../../../errors.ts';
import { toRecipient } from '../../../exchange/bundle/age.ts';
import { fingerprint, formatPublicKey, isSameKey } from '../../../exchange/bundle/minisign.ts';
import {
  findKeysFolder,
  generateKeys,
  type OwnKeys,
  readOwnKeys,
  requireOwnKeys,
} from '../../../exchange/bundle/own-keys.ts';
import { readPublicKey } from '../../../exchange/bundle/read-key.ts';
import { findTrustList, readTrustList, revokeKeys, trustKey } from '../../../exchange/bundle/trust-list.ts';
import { readHead } from '../../../platform/external-file.ts';
import type { CliContext } from '../context.ts';
import { bold, dim, green, red, yellow } from '../output.ts';

const KEY_ACTIONS = ['generate', 'list', 'trust', 'revoke', 'export'] as const;
export type KeyAction = (typeof KEY_ACTIONS)[number];

export interface KeysFlags {
  name?: string;
  json: boolean;
}

const text = (input: string): string => input;

function parseAction(input: string): KeyAction {
  const action = KEY_ACTIONS.find((known) => known === input);
  if (action !== undefined) return action;
  throw new SyntaxError(`it is one of ${KEY_ACTIONS.join(', ')}`);
}

export const keys: Command<CliContext> = buildCommand<KeysFlags, [KeyAction, string?], CliContext>({
  func: runKeys,
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        { parse: parseAction, brief: KEY_ACTIONS.join(', '), placeholder: 'action' },
        {
          parse: text,
          optional: true,
          brief: 'To trust: a public key or its file. To revoke: a name, key or fingerprint',
          placeholder: 'key',
        },
      ],
    },
    flags: {
      name: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'The name of the signer; yours for generate',
        placeholder: 'name',
      },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Keys to sign bundles with, and whose bundles to trust' },
});

export async function runKeys(
  this: CliContext,
  flags: KeysFlags,
  action: KeyAction,
  word?: string,
): Promise<void> {
  await ACTIONS[action](this, flags, word);
}

const ACTIONS: Record<
  KeyAction,
  (context: CliContext, flags: KeysFlags, word?: string) => void | Promise<void>
> = {
  generate,
  list,
  trust,
  revoke,
  export: exportKeys,
};

async function generate(context: CliContext, flags: KeysFlags): Promise<void> {
  const { machine, out } = context;
  const name = flags.name ?? machine.env.USER ?? machine.env.LOGNAME ?? 'me';
  const keys = await generateKeys(machine, name);
  if (flags.json) out.json({ ...(await describeOwn(keys)), folder: findKeysFolder(machine) });
  else {
    out.line('made the keys of ', bold(name), dim(`  (${findKeysFolder(machine)})`));
    await printOwn(context, keys);
  }
}

async function list({ machine, out }: CliContext, flags: KeysFlags): Promise<void> {
  const own = readOwnKeys(machine);
  const trusted = readTrustList(machine);
  if (flags.json) {
    out.json({
      own: own === null ? null : await describeOwn(own),
      trust_list: findTrustList(machine),
      keys: trusted.map(({ name, state, key }) => ({
        name,
        state,
        fingerprint: fingerprint(key),
        public_key: formatPublicKey(key),
      })),
    });
    return;
  }
  out.line(
    own === null ? 'you have no key; make one with: handover keys generate' : `you sign as ${own.name}`,
  );
  if (trusted.length === 0) out.line('no key is trusted yet');
  for (const { name, state, key } of trusted)
    out.line(state === 'trusted' ? green('trusted  ') : red('revoked  '), fingerprint(key), '  ', bold(name));
}

function trust({ machine, out }: CliContext, flags: KeysFlags, word?: string): void {
  const key = readPublicKey(readKeyText(requireWord(word, 'a public key, or its file'), machine.cwd));
  const known = readTrustList(machine).find((entry) => isSameKey(entry.key, key));
  const name = flags.name ?? known?.name;
  if (name === undefined) {
    throw new HandoverError('HANDOVER_USAGE', 'whose key is it?', {
      hint: 'Add --name, such as --name alice',
    });
  }
  trustKey(machine, key, name);
  if (flags.json) out.json({ name, fingerprint: fingerprint(key), public_key: formatPublicKey(key) });
  else out.line('bundles of ', bold(name), ` are trusted from now on: ${fingerprint(key)}`);
}

function revoke({ machine, out }: CliContext, flags: KeysFlags, word?: string): void {
  const revoked = revokeKeys(machine, requireWord(word, 'a name, a key or a fingerprint'));
  if (flags.json)
    out.json({ revoked: revoked.map(({ name, key }) => ({ name, fingerprint: fingerprint(key) })) });
  for (const { name, key } of flags.json ? [] : revoked)
    out.line(yellow('revoked '), bold(name), `  ${fingerprint(key)}`);
}

async function exportKeys(context: CliContext, flags: KeysFlags): Promise<void> {
  const keys = requireOwnKeys(context.machine);
  if (flags.json) context.out.json(await describeOwn(keys));
  else await printOwn(context, keys);
}

async function describeOwn({ name, secret, identity }: OwnKeys): Promise<Record<string, string>> {
  return {
    name,
    public_key: formatPublicKey(secret),
    fingerprint: fingerprint(secret),
    recipient: await toRecipient(identity),
  };
}

async function printOwn({ out }: CliContext, keys: OwnKeys): Promise<void> {
  const { public_key = '', recipient = '' } = await describeOwn(keys);
  out.line(dim('fingerprint  '), fingerprint(keys.secret));
  out.line(dim('others type  '), `handover keys trust ${public_key} --name "${keys.name}"`);
  out.line(dim('to lock for  '), recipient);
}

function requireWord(word: string | undefined, what: string): string {
  if (word !== undefined) return word;
  throw new HandoverError('HANDOVER_USAGE', `give ${what}`, { hint: 'See: handover keys --help' });
}

const MAX_KEY_BYTES = 16 * 1024;

/** The words themselves, unless a file of that name is there. */
function readKeyText(words: string, cwd: string): string {
  return readHead(resolve(cwd, words), MAX_KEY_BYTES)?.bytes.toString('utf8') ?? words;
}
