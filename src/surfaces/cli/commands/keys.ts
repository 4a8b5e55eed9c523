import { buildCommand, type Command } from '@stricli/core';
import type { CliContext } from '../context.ts';

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
  loader: async () => (await import('./keys.run.ts')).runKeys,
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
